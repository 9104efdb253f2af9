/* One candidate's life in a runner: warm-up, LOAD, RUN..., end (channel.h has the conversation). */
#ifndef PTXBENCH_RUNNER_SESSION_H
#define PTXBENCH_RUNNER_SESSION_H

#include <stdint.h>

#include "base/error.h"

/* Serves the worker at the other end of `channel`. Returns the exit status of the process: 0 after a failure that the
 * worker was told, 1 when the warm-up failed, CHANNEL_LOST_STATUS when the channel is closed: by the worker's end, or
 * by the candidate. */
int session_serve(int channel, const char *device_name, int64_t started_ns);

#endif
