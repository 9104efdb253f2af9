/*
 * A run: hundreds of trajectories in one thread, model calls overlapping with evaluations, everything that happened in
 * logs before it is acted upon. Whatever ends the process, run_open with `resume` goes on from the logs.
 *
 *     run_open -> run_execute -> run_close
 */
#ifndef PTXBENCH_AGENT_RUN_H
#define PTXBENCH_AGENT_RUN_H

#include "agent/evaluator.h"
#include "agent/plan.h"
#include "llm/chat.h"

struct run;

enum run_state {
    RUN_WAITING, /* not yet begun in this session */
    RUN_ACTIVE,
    RUN_DONE
};

/* What is known of one trajectory, for progress and summaries. */
struct run_line {
    const char *name;
    enum run_state state;
    enum trajectory_step step;
    int turn; /* turns taken */
    int64_t planned_turns;
    bool started;
    bool passed;
    struct number best_speedup;
    enum end_reason end_reason; /* RUN_DONE */
    const char *last_status;    /* of the last turn: that of its verdict, or its outcome; static or NULL */
    struct trajectory_sums sums;
};

struct run_totals {
    size_t trajectories;
    size_t done;
    size_t active;
    int64_t turns;         /* taken */
    int64_t turns_planned; /* not counting those that early stops saved */
    int64_t session_turns; /* taken since run_execute began */
    int64_t elapsed_ns;    /* of run_execute */
    struct trajectory_sums sums;
    size_t calls_open;
    struct evaluator_load evaluations;
    size_t ended[16];  /* by end_reason, of those done */
    const char *pause; /* why no further turn is begun; NULL: going on */
};

/* Called from run_execute. */
struct run_observer {
    void *context;
    void (*event)(void *context, const struct run_line *line,
                  const struct event *event);           /* just written; may be NULL */
    void (*tick)(void *context, const struct run *run); /* at least every tick_ns; may be NULL */
    int64_t tick_ns;
};

/* What may differ from session to session of one run; what is not given stays as planned. */
struct run_session {
    struct run_names devices; /* none: as planned */
    int64_t parallel;         /* 0: as planned */
    int64_t retry_delay_ms;   /* < 0: as planned */
    int64_t call_attempts;    /* 0: as planned */
    struct run_budget budget; /* of each member < 0: as planned */
};

struct run_options {
    const struct run_config *config; /* resume: NULL */
    struct run_session session;
    const char *folder;
    bool resume;
    int64_t extend_turns; /* resume: more turns for each trajectory; 0: none */
    const char *version;
    struct run_names default_tasks; /* trace sets when the configuration names none */
    const char *const *worker;      /* argv of a worker, without its device and task roots */
    struct run_observer observer;
    struct chat_client_options chat; /* wake_fd is set by the run */
};

/* Nothing given. */
struct run_session run_session_none(void);

/* Makes the folder and the plan, or reads them back and replays the logs. Returns new. */
MUST_CHECK bool run_open(const struct run_options *options, struct run **out, struct error *error);

/* Works until nothing is left to do, the budget is spent, or interrupt_requested. False only for trouble that ends the
 * run, such as a full disk; what is on disk stays good. */
MUST_CHECK bool run_execute(struct run *run, struct error *error);

void run_close(struct run *run); /* accepts NULL */

const struct run_config *run_config_of(const struct run *run);
const struct plan *run_plan_of(const struct run *run);
size_t run_line_count(const struct run *run);
const struct run_line *run_line_at(const struct run *run, size_t index);
struct run_totals run_totals_of(const struct run *run);

#endif
