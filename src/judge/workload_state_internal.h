/* The inside of `struct workload_state`; only src/judge/workload_*.c include it. */
#ifndef PTXBENCH_JUDGE_WORKLOAD_STATE_INTERNAL_H
#define PTXBENCH_JUDGE_WORKLOAD_STATE_INTERNAL_H

#include "judge/workload_state.h"

struct placed_tensor {
    struct tensor_shape shape;
    int64_t offset;          /* in an input set or an output slot */
    int64_t expected_offset; /* outputs: in an expected set */
};

/* Of an emulated device. */
struct workload_host {
    uint8_t *inputs; /* shared mappings of the descriptors */
    uint8_t *outputs;
    uint8_t *expected; /* private; poison where not yet computed for these inputs */
    bool sampled;
};

struct workload_state {
    struct device *device;      /* NULL: an emulated one, */
    struct workload_host *host; /* then this is set */
    const struct workload *workload;
    struct reference_problem problem;
    struct reference *reference;
    struct reference *forward; /* yields derived inputs; NULL when there are none */
    bool has_derived;
    struct placed_tensor inputs[WORKLOAD_MAX_INPUTS];
    struct placed_tensor outputs[WORKLOAD_MAX_OUTPUTS];
    int input_count;
    int output_count;
    int set_count;
    int slot_count;
    int64_t set_bytes;
    int64_t slot_bytes;
    int64_t expected_bytes; /* of one set */
    struct shared_memory input_memory;
    struct shared_memory output_memory;
    CUdeviceptr expected_memory;
    CUdeviceptr private_inputs; /* one set */
    int private_set;            /* which set they are */
    CUdeviceptr stats;          /* struct slot_comparison[slot_count] */
    struct reference_agreement agreement;
    double baseline_ms;
    int64_t overhead_ns; /* around each reference run of the last loop */
    int64_t pause_ns;    /* behind each reference run */
};

/* Addresses of the inputs of a set that starts at `base`, in shared or private memory. */
void workload_state_input_pointers(const struct workload_state *state, CUdeviceptr base, CUdeviceptr *inputs);

/* Fills the private inputs with those of a set from its seed, derived ones included. */
MUST_CHECK bool workload_state_fill_private(struct workload_state *state, int set, uint64_t seed, struct error *error);

/* Shapes and offsets of all tensors of a set and a slot. */
MUST_CHECK bool workload_state_lay_out(struct workload_state *state, struct error *error);

/* What the functions of workload_state.h do for an emulated device (workload_host.c). */
void workload_host_close(struct workload_state *state);
MUST_CHECK bool workload_host_generate(struct workload_state *state, uint64_t seed, struct error *error);
void workload_host_poison(struct workload_state *state);
MUST_CHECK bool workload_host_compare(struct workload_state *state, const struct compare_rule *rule,
                                      struct slot_comparison *result, struct error *error);
void workload_host_element(const struct workload_state *state, int output, int64_t index, double *got,
                           double *expected);
void workload_host_tiles(const struct workload_state *state, int output, const struct compare_rule *rule,
                         struct tile_map *map);

#endif
