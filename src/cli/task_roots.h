/* Where trace sets are looked for. */
#ifndef PTXBENCH_CLI_TASK_ROOTS_H
#define PTXBENCH_CLI_TASK_ROOTS_H

#include "trace/trace_set.h"

/* Opens the trace set of `given` (the --tasks options, in order). Without any: of $PTXBENCH_TASKS, a list separated by
 * colons; without that, the tasks that ship with the program (base/resource.h). */
MUST_CHECK bool task_roots_open(const char *const *given, size_t count, struct trace_set **out, struct error *error);

/* The roots without any given; texts in the arena. */
MUST_CHECK bool task_roots_default(struct arena *arena, const char *const **roots, size_t *count, struct error *error);

#endif
