/* The inside of `struct worker` and of one evaluation; only src/judge/worker.c and evaluate_*.c include it. */
#ifndef PTXBENCH_JUDGE_WORKER_INTERNAL_H
#define PTXBENCH_JUDGE_WORKER_INTERNAL_H

#include "device/nvml.h"
#include "judge/runner_client.h"
#include "judge/worker.h"
#include "judge/workload_state.h"
#include "toolchain/sass.h"
#include "toolchain/toolchain.h"

enum { WORKER_MAX_RUNNERS = 8, WORKER_MAX_WORKLOADS = 8 };

struct worker {
    struct worker_options options;
    struct arena *arena; /* tools and paths */
    struct toolchain toolchain;
    struct device *device; /* NULL until needed */
    struct nvml *nvml;     /* NULL: not there */
    char driver_version[64];
    struct runner_client *runners[WORKER_MAX_RUNNERS]; /* oldest first */
    int runner_count;
    struct runner_client *stopped[WORKER_MAX_RUNNERS]; /* killed, their end not yet seen */
    int stopped_count;
    struct workload_state *workloads[WORKER_MAX_WORKLOADS]; /* most recent first */
    int workload_count;
    struct worker *explainer; /* the emulator, for failures on a GPU; NULL until needed */
    struct worker *owner;     /* of an explainer: whom it serves */
};

/* The architecture that an emulated device has, or NULL for a GPU. */
static inline const char *worker_emulated(const struct worker *worker)
{
    return device_emulated_arch(worker->options.device);
}

/* The architecture that the device runs; NULL as long as it is not known. */
const char *worker_arch(const struct worker *worker);

/* Opens the device and starts warm runners; nothing to do the second time. */
MUST_CHECK bool worker_open_device(struct worker *worker, struct error *error);

/* A prepared workload, from the cache or new. Borrowed. */
MUST_CHECK bool worker_take_workload(struct worker *worker, const struct workload *workload,
                                     struct workload_state **out, struct error *error);

/* A warm runner; the caller frees it. Starts its replacement. */
MUST_CHECK bool worker_take_runner(struct worker *worker, struct runner_client **out,
                                   const struct message_ready **ready, struct error *error);

/* Gets rid of a runner and everything that it may have left behind. Returns whether it had ended by itself, and then
 * how; otherwise it is killed and reaped in the background. */
bool worker_drop_runner(struct worker *worker, struct runner_client *runner, struct process_end *end);

/* One evaluation in progress. */
struct evaluation_run {
    struct worker *worker;
    const struct judge_request *request;
    struct arena *arena;
    struct verdict *verdict;
    struct compile_result compile;
    struct sass_report sass;
    bool sass_known;
    const char *sass_reason;
    struct workload_state *state;
    struct workload_state
        *own_state;               /* emulated device: `state` when it is made for this evaluation alone; else NULL */
    const char *own_sizes;        /* of that, in place of the task's: "M=128" */
    struct runner_client *runner; /* NULL once dropped */
    struct message_ready ready;
    bool is_loaded; /* the runner has answered LOADED; from now on a failed set-up is a lie */
    int object_fd;  /* memfd with the object; -1 */
    struct compare_rule rule;
    struct tolerance tolerance;
    uint64_t nonce; /* secret of this evaluation: seeds and orders derive from it */
    uint64_t seeds[WORKLOAD_MAX_SETS];
    int64_t hang_limit_ns; /* of one call */
    int64_t first_call_ns; /* wall time of the first call */
    int64_t phase_started_ns;
    bool failed;                  /* the status is final */
    const char *undefined_reason; /* why counts are no evidence */
    struct message_counts counts;
    struct target_count *target_counts;
    bool counted;
    const char *count_reason; /* why not counted */
    int64_t count_ns;         /* wall time of the counting call; 0: none */
};

/* The steps. Each returns whether to go on; when not, the verdict's status is set. */
bool evaluate_build(struct evaluation_run *run);      /* compile, screen, static SASS */
bool evaluate_load(struct evaluation_run *run);       /* runner with the object; takes a warm one unless there is one */
bool evaluate_first_call(struct evaluation_run *run); /* run once and compare */
bool evaluate_timing(struct evaluation_run *run);     /* trials, every output compared */
void evaluate_count(struct evaluation_run *run);      /* executed instructions */
void evaluate_sanitizer(struct evaluation_run *run);
void evaluate_target(struct evaluation_run *run); /* joins static and dynamic */

/* On a GPU: what the emulator finds in a candidate that has failed (evaluate_explain.c). */
void evaluate_explain(struct evaluation_run *run);

/* The whole of it on an emulated device, behind evaluate_build (evaluate_emulated.c). */
bool evaluate_prepare_emulated(struct evaluation_run *run);
void evaluate_emulated(struct evaluation_run *run);

/* Puts a runner's end into the verdict: status, finding, blame. `where` completes "... during the timed calls". */
void evaluate_outcome(struct evaluation_run *run, const struct runner_outcome *outcome, const char *where);

/* Compares slots; on mismatch fills correctness and sets the status. `timed` decides the finding. */
bool evaluate_compare(struct evaluation_run *run, const struct run_item *items, int count, bool timed);

/* Records our own trouble as INFRA_ERROR. Returns false. */
bool evaluate_trouble(struct evaluation_run *run, const struct error *error);

/* Copies what the runner printed, and how it ended, into the verdict; drops it. */
void evaluate_end_runner(struct evaluation_run *run);

/* A fresh number from the evaluation's secret. */
uint64_t evaluate_draw(struct evaluation_run *run);

/* Ends a phase: its time goes into the verdict under this name. */
void evaluate_phase(struct evaluation_run *run, const char *name);

/* What sanitizer and ncu wrap: argv of a standalone runner, in the arena. */
const char *const *evaluate_standalone_command(struct evaluation_run *run);

static inline void evaluate_progress(const struct evaluation_run *run, const char *step)
{
    if (run->request->progress)
        run->request->progress(run->request->progress_context, step);
}

#endif
