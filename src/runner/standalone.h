/*
 * A candidate run by itself, without worker and lockdown: what compute-sanitizer and ncu wrap. Every tensor has its
 * own allocation, so that an access out of bounds leaves it. No CUPTI in this process.
 */
#ifndef PTXBENCH_RUNNER_STANDALONE_H
#define PTXBENCH_RUNNER_STANDALONE_H

#include <stdint.h>

#include "base/error.h"

struct standalone_options {
    const char *device;
    const char *object;
    const char *entry;
    const char *binding;          /* "tvm-ffi" or "c" */
    const char *const *arguments; /* "in:bfloat16:8192x5120", "out:float32:4x48x512", "scalar:float32:0.5" */
    int argument_count;
    uint64_t seed;
    int runs;
    bool quiet; /* discard what the candidate prints */
};

/* Loads, fills inputs with seeded random numbers, runs, waits. ERROR_INPUT or ERROR_DEVICE when the candidate failed. */
MUST_CHECK bool standalone_run(const struct standalone_options *options, struct error *error);

#endif
