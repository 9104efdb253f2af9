/* The environment of a process that runs a candidate: what the driver, the loader and we need, and nothing else. A
 * candidate can print its environment, and what it prints is recorded; keys of a user's shell must not be in it. */
#ifndef PTXBENCH_JUDGE_RUNNER_ENVIRONMENT_H
#define PTXBENCH_JUDGE_RUNNER_ENVIRONMENT_H

#include "base/arena.h"

struct runner_emulation;

/* "NAME=value" list, NULL-terminated, for process_spec; the list is in the arena, its texts are the environment's. */
const char *const *runner_environment(struct arena *arena);

/* The same for a runner on an emulated device: its libraries come first, and what the device shall do. */
const char *const *runner_environment_emulated(struct arena *arena, const char *device,
                                               const struct runner_emulation *emulation);

#endif
