/* Reading a run, finished or under way, without touching it. */
#ifndef PTXBENCH_AGENT_RUN_VIEW_H
#define PTXBENCH_AGENT_RUN_VIEW_H

#include "agent/run_config.h"
#include "judge/verdict.h"

struct run_view {
    struct arena *arena; /* borrowed */
    const char *path;
    struct run_config config;
    const char **names; /* of the trajectories, in the order of the plan; NULL-terminated */
    size_t count;
};

/* One trajectory with everything that its log holds. */
struct run_view_trajectory {
    struct trajectory state;
    const struct verdict **verdicts; /* one per turn taken; NULL: nothing was judged */
    const char **times;              /* UTC: when each turn was over */
    const char **reply_times;        /* and when its answer came */
    const char *system;
    const char *task;
};

MUST_CHECK bool run_view_open(struct arena *arena, const char *path, struct run_view *out, struct error *error);

/* The trajectory of a name, or of a part of it that only one has; ERROR_NOT_FOUND. */
MUST_CHECK bool run_view_find(const struct run_view *view, const char *name, size_t *index, struct error *error);

/* Replays a log into the arena; `verdicts` false leaves them out (much faster). A trajectory that has not begun has
 * step STEP_START. */
MUST_CHECK bool run_view_load(const struct run_view *view, size_t index, bool verdicts, struct arena *arena,
                              struct run_view_trajectory *out, struct error *error);

#endif
