/*
 * Where the program finds what ships with it: tasks, headers, tools, and its own second program. The first match wins.
 * E is the folder of the running executable, so that the build folder of a source tree, an installation and a portable
 * bundle work without configuration:
 *
 *     $PTXBENCH_HOME/NAME        a tree that the user names (also $PTXBENCH_HOME/.venv/wheels/NAME)
 *     E/NAME                     bundle: everything flat beside the program
 *     E/../share/ptxbench/NAME   installation: bin/ptxbench, share/ptxbench/tasks
 *     E/../NAME                  source tree: build/ptxbench, tasks
 *     E/../.venv/wheels/NAME     what tools/setup fetched for a source tree
 *     E/../../NAME               nested build folders (build/sanitize, build/tests), likewise with .venv/wheels
 *
 * Known names: "tasks", "kernels", "models", "packs", "prompts", "include" (holds ptxbench/candidate.h), "tvm_ffi" (holds include/,
 * lib/), "nvidia/cu13" (CUDA compiler from wheels: bin/, include/, lib/, nvvm/), "ptxbench-runner".
 */
#ifndef PTXBENCH_BASE_RESOURCE_H
#define PTXBENCH_BASE_RESOURCE_H

#include "base/arena.h"

/* Absolute path of the file or folder `name`, in the arena, or NULL when it is nowhere. Thread-safe. */
char *resource_find(struct arena *arena, const char *name);

/* An executable: on PATH, then as resource NAME, bin/NAME or nvidia/cu13/bin/NAME, then in $CUDA_HOME/bin and
 * /usr/local/cuda/bin. In the arena; NULL when it is nowhere. Thread-safe. */
char *resource_find_program(struct arena *arena, const char *name);

#endif
