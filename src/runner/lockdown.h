/*
 * What a runner gives up after its warm-up and before it loads the candidate: new processes, sockets, tracing, other
 * processes' memory, and all files but the ones that libraries and the driver need. Irrevocable.
 */
#ifndef PTXBENCH_RUNNER_LOCKDOWN_H
#define PTXBENCH_RUNNER_LOCKDOWN_H

#include "base/error.h"

/* A call that ends the process is reported as VIOLATION on `channel` first. */
MUST_CHECK bool lockdown_apply(int channel, struct error *error);

#endif
