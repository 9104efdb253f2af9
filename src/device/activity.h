/*
 * Device-side times of everything a process runs, by CUPTI activity records, cut into iterations by the L2 flush
 * kernel: what starts between two flushes belongs to the earlier one, whatever stream or thread launched it. So no
 * work is free. A marker kernel behind the call tells work that did not wait for the call's stream.
 *
 * One recorder per process. The paper's measure is kept: an iteration lasts from its first record's start to its last
 * record's end (kernels, copies, memsets), gaps included.
 */
#ifndef PTXBENCH_DEVICE_ACTIVITY_H
#define PTXBENCH_DEVICE_ACTIVITY_H

#include <stdint.h>

#include "base/error.h"

struct activity_iteration {
    int64_t start_ns;    /* device clock */
    int64_t duration_ns; /* 0 when nothing ran */
    int32_t records;     /* kernels, copies and memsets of the iteration */
    int32_t kernels;
    int32_t late; /* records that ended after the marker behind the call had started */
    int32_t unused;
};

/* Starts recording. */
MUST_CHECK bool activity_enable(struct error *error);

/* Stops recording (needed before SASS counters). */
MUST_CHECK bool activity_disable(struct error *error);

/* Forgets what was recorded so far. */
MUST_CHECK bool activity_reset(struct error *error);

/* Flushes and cuts. `count` is the number of flush kernels since the reset; ERROR_DEVICE when records were dropped or
 * flushes are missing, ERROR_INPUT when there are too many flushes or markers: a candidate took their names. */
MUST_CHECK bool activity_collect(struct activity_iteration *iterations, int count, struct error *error);

/* The cut itself, pure: `spans` in any order. Returns the number of flushes. Exposed for tests. */
enum activity_span_kind { ACTIVITY_MEMORY, ACTIVITY_KERNEL, ACTIVITY_FLUSH, ACTIVITY_CALL_END };
struct activity_span {
    int64_t start_ns;
    int64_t end_ns;
    enum activity_span_kind kind;
};
int activity_cut(struct activity_span *spans, int span_count, struct activity_iteration *iterations, int count);

#endif
