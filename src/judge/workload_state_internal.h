/* The inside of `struct workload_state`; only src/judge/workload_*.c include it. */
#ifndef PTXBENCH_JUDGE_WORKLOAD_STATE_INTERNAL_H
#define PTXBENCH_JUDGE_WORKLOAD_STATE_INTERNAL_H

#include "judge/workload_state.h"

struct placed_tensor {
    struct tensor_shape shape;
    int64_t offset;          /* in an input set or an output slot */
    int64_t expected_offset; /* outputs: in an expected set */
};

struct workload_state {
    struct device *device;
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

#endif
