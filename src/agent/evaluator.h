/*
 * A pool of `ptxbench worker` children that judge candidates: one per device, or several for devices that share nothing
 * (emulators). Requests wait in a queue, in order; a child that crashes is started again and its request goes to the next
 * free one, once. Nothing here blocks: poll evaluator_fd, then ask evaluator_next.
 *
 * One thread. Requests and answers are the lines of docs/formats/worker.md.
 */
#ifndef PTXBENCH_AGENT_EVALUATOR_H
#define PTXBENCH_AGENT_EVALUATOR_H

#include "base/json.h"
#include "judge/verdict.h"

struct evaluator;

struct evaluator_options {
    const char *const *program; /* argv of a worker without its device, NULL-terminated: {"ptxbench", "worker", NULL} */
    const char *const *devices; /* one child each; a name may repeat */
    size_t device_count;        /* 1..EVALUATOR_SLOTS_MAX */
    const char *scratch;        /* folder for temporary files of the children, emptied by the caller; NULL: default */
    int64_t timeout_ns;         /* longest evaluation; then the child is killed; 0: 15 minutes */
};

enum { EVALUATOR_SLOTS_MAX = 64, EVALUATOR_CRASHES_MAX = 3 };

/* A finished evaluation. Valid until the next call of evaluator_next. */
struct judgement {
    void *context; /* as given to evaluator_submit */
    const char *device;
    struct verdict *verdict; /* NULL: no verdict came, `trouble` says why; never the candidate's fault */
    struct json at;          /* the verdict's object */
    struct error trouble;
    int64_t elapsed_ns; /* since a child took it */
};

struct evaluator_load {
    size_t waiting;
    size_t running;
    size_t slots; /* that can still work */
};

/* No child is started before it has something to do. Returns new. */
MUST_CHECK bool evaluator_new(const struct evaluator_options *options, struct evaluator **out, struct error *error);

/* Ends the children; evaluations under way are dropped. Accepts NULL. */
void evaluator_free(struct evaluator *evaluator);

/* Queues a request (a tree that the caller keeps). */
MUST_CHECK bool evaluator_submit(struct evaluator *evaluator, json_object *request, void *context, struct error *error);

/* Readable when evaluator_next may have something to do. */
int evaluator_fd(const struct evaluator *evaluator);

/* When evaluator_next must be called at the latest (clock_now_ns), for time-outs; INT64_MAX: never. */
int64_t evaluator_deadline_ns(const struct evaluator *evaluator);

/* Does what can be done without waiting; the next finished evaluation, or NULL. */
const struct judgement *evaluator_next(struct evaluator *evaluator);

struct evaluator_load evaluator_load(const struct evaluator *evaluator);

#endif
