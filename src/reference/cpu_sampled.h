/*
 * Expected outputs where a candidate has written, and only there: on the emulator a few clusters of a large grid run,
 * and the whole result would take hours.
 */
#ifndef PTXBENCH_REFERENCE_CPU_SAMPLED_H
#define PTXBENCH_REFERENCE_CPU_SAMPLED_H

#include "trace/workload.h"

/*
 * `inputs` and `got` are host buffers in declared order, dense. An element of `got` whose bytes all are `poison` counts
 * as not written. Writes the expected values of the others to `expected` (same shapes), and of some of their neighbours;
 * the rest stays as it is. One thread; thread-safe.
 *
 * ERROR_UNSUPPORTED when there is no CPU reference for the definition.
 */
MUST_CHECK bool cpu_sampled_outputs(const struct workload *workload, const void *const *inputs, const void *const *got,
                                    uint8_t poison, void *const *expected, struct error *error);

#endif
