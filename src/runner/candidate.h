/* The candidate's object inside its runner: load, bind, call. */
#ifndef PTXBENCH_RUNNER_CANDIDATE_H
#define PTXBENCH_RUNNER_CANDIDATE_H

#include <stdint.h>

#include "base/error.h"
#include "device/channel.h"
#include "device/cuda_driver.h"

struct candidate;

/* Loads libcudart.so.13 and, when it is installed, libtvm_ffi.so, so that objects find them by their names. Part of
 * the warm-up. Missing TVM-FFI is no error: candidate_load reports it when a candidate needs it. */
MUST_CHECK bool candidate_preload_libraries(struct error *error);

/* Opens the object at `path` and looks up `entry`. Runs its constructors. ERROR_INPUT: the candidate's fault. */
MUST_CHECK bool candidate_load(const char *path, const char *entry, enum runner_binding binding, int ordinal,
                               struct candidate **out, struct error *error);

/* One argument of a call: what the load message said, and where its data is now. */
struct candidate_argument {
    const struct message_argument *spec;
    CUdeviceptr address; /* tensors */
};

/* Calls the entry on the default stream. Returns 0, or the entry's own code with a text (the message of a TVM-FFI
 * error). The call enqueues work; the caller synchronises. */
int candidate_call(struct candidate *candidate, const struct candidate_argument *arguments, int count, char *text,
                   size_t text_bytes);

#endif
