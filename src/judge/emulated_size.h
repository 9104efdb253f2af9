/*
 * Sizes at which a task is emulated when its own do not do. A definition is one for all sizes of its variable axes (M of a
 * GEMM, S of attention), so a candidate that is wrong at one of them is wrong. Pure.
 */
#ifndef PTXBENCH_JUDGE_EMULATED_SIZE_H
#define PTXBENCH_JUDGE_EMULATED_SIZE_H

#include "base/arena.h"
#include "trace/workload.h"

/* Of inputs, outputs and expected outputs together. */
#define EMULATED_MEMORY_MAX INT64_C(3000000000)

/* For workload_resize: a whole grid takes seconds, tiles of 128 rows fit, and there are several blocks of keys. */
const char *emulated_small_sizes(const struct workload *workload);

/* The largest size, halved from the task's own, that stays within `most_bytes`; NULL when the task's own does. */
const char *emulated_fitting_sizes(struct arena *arena, const struct workload *workload, int64_t most_bytes);

#endif
