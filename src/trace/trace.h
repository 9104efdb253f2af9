/*
 * A FlashInfer-Trace trace: one line of JSONL that joins definition, workload, solution and evaluation. Lines of
 * workloads/ have neither solution nor evaluation. Format: docs/formats/trace-set.md.
 */
#ifndef PTXBENCH_TRACE_TRACE_H
#define PTXBENCH_TRACE_TRACE_H

#include "trace/evaluation.h"
#include "trace/workload.h"

struct trace {
    const char *definition;
    struct json workload;         /* the object; workload_parse reads it */
    const char *solution;         /* name; NULL in a workload line */
    bool has_evaluation;          /* false in a workload line */
    struct evaluation evaluation; /* valid when has_evaluation */
    struct json source;
};

/* Checks and reads a trace. Solution and evaluation are both present or both null. */
MUST_CHECK bool trace_parse(struct json at, struct arena *arena, struct trace *out, struct error *error);

/* JSON of a trace of `solution` on `workload`; the workload appears as it was read, unknown members included. The
 * caller owns the tree; append it with json_append_line. */
MUST_CHECK bool trace_to_json(const struct workload *workload, const char *solution,
                              const struct evaluation *evaluation, json_object **out, struct error *error);

#endif
