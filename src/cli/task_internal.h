/* What the files of `ptxbench task` share: cmd_task.c reads the command line, one file per action does the work. */
#ifndef PTXBENCH_CLI_TASK_INTERNAL_H
#define PTXBENCH_CLI_TASK_INTERNAL_H

#include "trace/trace_set.h"

enum { TASK_MAX_ROOTS = 64, TASK_MAX_ARGUMENTS = 1024 };

struct task_options {
    const char *roots[TASK_MAX_ROOTS];
    size_t root_count;
    const char *arguments[TASK_MAX_ARGUMENTS]; /* behind the action */
    size_t argument_count;
    const char *op_type;
    const char *workload;
    const char *axes;
    const char *out;
    uint64_t seed;
    bool json;
};

/* Each prints its result to standard output and returns false with `error` when it could not do what was asked. */
MUST_CHECK bool task_list(const struct trace_set *set, const struct task_options *options, struct error *error);
MUST_CHECK bool task_show(const struct trace_set *set, const struct task_options *options, struct error *error);
MUST_CHECK bool task_materialize(const struct trace_set *set, const struct task_options *options, struct error *error);

/* Checks every path and reports each on its own line; returns the exit status. */
int task_validate(const struct task_options *options);

/* Prints a tree as pretty JSON with a newline. */
MUST_CHECK bool task_print_json(json_object *value, struct error *error);

/* "bfloat16[M, K]" as declared, or "float32 scalar"; into `out`. */
void task_spec_text(const struct definition *definition, const struct tensor_spec *spec, char *out, size_t size);

/* "155 MB" (decimal). */
void task_bytes_text(int64_t bytes, char *out, size_t size);

#endif
