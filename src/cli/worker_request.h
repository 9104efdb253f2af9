/*
 * Lines of `ptxbench worker` (docs/formats/worker.md): a request line becomes a judge_request, a verdict or an error
 * becomes an answer line.
 */
#ifndef PTXBENCH_CLI_WORKER_REQUEST_H
#define PTXBENCH_CLI_WORKER_REQUEST_H

#include "judge/worker.h"
#include "trace/trace_set.h"

enum { WORKER_LINE_MAX = 32 << 20 };

/* Resized workloads, kept as long as the worker, so that what was prepared for one is found again. */
struct worker_workloads {
    const struct trace_set *tasks;
    struct arena *arena;
    RECORD_LIST(struct workload *) resized;
};

/* Reads a request. `*id` is set as soon as it is known (NULL: none). Texts go to the arena or are borrowed from the line's
 * document. Unknown members are errors, so that a mistyped option is not silently a default. */
MUST_CHECK bool worker_request_read(struct json at, struct arena *arena, struct worker_workloads *workloads,
                                    struct judge_request *out, const char **id, struct error *error);

/* Answers; the caller owns them. `id` NULL: not said. */
json_object *worker_answer(const struct verdict *verdict, const char *id);
json_object *worker_refusal(const struct error *error, const char *id);

#endif
