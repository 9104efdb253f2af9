/* From a definition to the reference operator that answers it. */
#ifndef PTXBENCH_JUDGE_TASK_PROBLEM_H
#define PTXBENCH_JUDGE_TASK_PROBLEM_H

#include "reference/reference.h"
#include "trace/workload.h"

/* ERROR_UNSUPPORTED names the definition when no operator fits. */
MUST_CHECK bool task_problem(const struct workload *workload, struct reference_problem *out, struct error *error);

/* The forward problem that yields derived inputs of a backward one. */
struct reference_problem task_forward_problem(const struct reference_problem *backward);

#endif
