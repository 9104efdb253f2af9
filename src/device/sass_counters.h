/*
 * Executed instructions per program counter, by CUPTI SASS metrics: warp-level executions and predicated-on thread
 * executions. Kernels are patched lazily, at their next launch after sass_counters_start.
 *
 * Not together with activity recording: stop that first, but enable it once before (see sass_counters.c). One user per process.
 */
#ifndef PTXBENCH_DEVICE_SASS_COUNTERS_H
#define PTXBENCH_DEVICE_SASS_COUNTERS_H

#include <stdint.h>

#include "base/arena.h"
#include "device/cuda_driver.h"

struct sass_count {
    const char *function; /* mangled name; arena */
    uint32_t cubin_crc;
    uint32_t pc_offset; /* bytes from the start of the function */
    uint64_t warps;     /* smsp__sass_inst_executed */
    uint64_t threads;   /* smsp__sass_thread_inst_executed_pred_on */
};

/* Arms the counters for the current context of device `ordinal`. ERROR_UNSUPPORTED when CUPTI or the permission to
 * read counters is missing, with the remedy. */
MUST_CHECK bool sass_counters_start(int ordinal, CUcontext context, struct error *error);

/* Reads what was counted since the start and disarms. `counts` belongs to the arena. */
MUST_CHECK bool sass_counters_finish(struct arena *arena, CUcontext context, struct sass_count **counts, size_t *count,
                                     struct error *error);

#endif
