/*
 * One workload made ready on a device: reference plans, several sets of seeded inputs with their expected outputs, and
 * slots for a candidate's outputs. Kept between evaluations; nothing of it is inside a runner except the two shared
 * allocations, of which a runner maps the inputs read-only.
 *
 *     inputs    [set 0: tensors][set 1: tensors]...             shared, read-only in the runner
 *     outputs   [slot 0: guard tensor guard tensor ... guard]   shared, writable
 *     expected  [set 0: tensors]...                             private to the worker
 *     private   [one set: tensors]                              inputs as the reference reads them
 *
 * The reference never reads shared memory: a runner can raise its own rights to a mapping (cuMemSetAccess), and inputs
 * that it changed in time would make the expected outputs what it likes.
 *
 * All functions belong to the thread that opened the device.
 */
#ifndef PTXBENCH_JUDGE_WORKLOAD_STATE_H
#define PTXBENCH_JUDGE_WORKLOAD_STATE_H

#include "device/channel.h"
#include "device/device.h"
#include "reference/reference.h"
#include "trace/workload.h"

enum { WORKLOAD_MAX_SETS = 4, WORKLOAD_MAX_OUTPUTS = 8, WORKLOAD_MAX_INPUTS = 16, WORKLOAD_MAX_REFERENCE_SAMPLES = 64 };

struct workload_state;

/*
 * The same for an emulated device: host memory, one set and one slot, no timing. Expected outputs are computed when they
 * are compared, and where the candidate has written (reference/cpu_sampled.h). ERROR_UNSUPPORTED: no CPU reference, or
 * derived inputs that would take more than about a minute.
 */
MUST_CHECK bool workload_state_open_host(const struct workload *workload, struct workload_state **out,
                                         struct error *error);

/* Whether its derived inputs, if there are any, take no more than that. */
bool workload_state_is_derivable(const struct workload *workload);

/* Whether only some clusters ran: then an element that was not written is not wrong, and the counts are those of the
 * written ones. Emulated devices only. */
void workload_state_set_sampled(struct workload_state *state, bool sampled);

/* Plans the reference, allocates, checks the reference against naive fp32 kernels (refuses when it is wrong) and times
 * it. At most `memory_share` of the device's free memory is taken. Returns new. ERROR_UNSUPPORTED when there is no
 * reference for the definition. */
MUST_CHECK bool workload_state_open(struct device *device, const struct workload *workload, double memory_share,
                                    struct workload_state **out, struct error *error);
void workload_state_close(struct workload_state *state); /* accepts NULL */

const struct workload *workload_state_workload(const struct workload_state *state);
int workload_state_sets(const struct workload_state *state);  /* >= 2 */
int workload_state_slots(const struct workload_state *state); /* >= 1 */
struct reference_identity workload_state_identity(const struct workload_state *state);
struct reference_agreement workload_state_agreement(const struct workload_state *state);
double workload_state_baseline_ms(const struct workload_state *state); /* reference latency when opened, cold L2 */
int64_t workload_state_bytes(const struct workload_state *state);      /* device memory held */

/* What a runner needs: the message but for binding and entry, and the two descriptors (borrowed). */
void workload_state_fill_load(const struct workload_state *state, struct message_load *load);
int workload_state_inputs_fd(const struct workload_state *state);
int workload_state_outputs_fd(const struct workload_state *state);

/* Fills the inputs of every set from its seed (seeds[sets]), derived ones included, and computes expected outputs. Then
 * runs the reference `samples` times with a cold L2 each and returns the latencies. */
MUST_CHECK bool workload_state_generate(struct workload_state *state, const uint64_t *seeds, int samples,
                                        double *reference_ms, struct error *error);

/* Idle time behind each reference run from now on (struct judge_request). */
void workload_state_set_pause(struct workload_state *state, int64_t pause_ns);

/* Runs the reference `samples` more times on the last set that generate has made, with a cold L2 each. */
MUST_CHECK bool workload_state_time_reference(struct workload_state *state, int samples, double *reference_ms,
                                              struct error *error);

/* What surrounded a reference run in the last loop, by the worker's clock: flush, two synchronisations, launch, pause.
 * A candidate's call is surrounded by the same in its runner. */
int64_t workload_state_overhead_ns(const struct workload_state *state);

/* Poisons slots [0, count) with their guards. */
MUST_CHECK bool workload_state_poison(struct workload_state *state, int count, struct error *error);

/* What happened to one slot. */
struct slot_comparison {
    struct compare_stats outputs[WORKLOAD_MAX_OUTPUTS];
    uint64_t guard_bytes;                   /* guard bytes that were overwritten */
    int64_t compared[WORKLOAD_MAX_OUTPUTS]; /* elements that were looked at; 0: all */
};

/* Compares slots [0, count); slot i against the expected outputs of set items[i].input_set. `order` is a permutation of
 * the slots, in which they are looked at. Waits for the result. `full`: device_compare, else device_check. */
MUST_CHECK bool workload_state_compare(struct workload_state *state, const struct run_item *items, const int *order,
                                       int count, const struct compare_rule *rule, bool full,
                                       struct slot_comparison *results, struct error *error);

/* One element of an output in a slot and its expected value in a set, as double. */
MUST_CHECK bool workload_state_element(struct workload_state *state, struct run_item item, int output, int64_t index,
                                       double *got, double *expected, struct error *error);

/* Mismatches per tile of one output (row-major map of rows x columns tiles; arena). */
struct tile_map {
    uint32_t *counts;
    int64_t rows;
    int64_t columns;
    int64_t element_rows; /* the output as a matrix: all leading dims x last dim */
    int64_t element_columns;
};
MUST_CHECK bool workload_state_tiles(struct workload_state *state, struct arena *arena, struct run_item item,
                                     int output, const struct compare_rule *rule, struct tile_map *map,
                                     struct error *error);

/* Whether the inputs of `set` in shared memory differ from those of the seed; `*changed` is the index of the first such
 * input or -1. */
MUST_CHECK bool workload_state_inputs_changed(struct workload_state *state, int set, uint64_t seed, int *changed,
                                              struct error *error);

#endif
