/* What a run would do, without a folder, a model call or an evaluation. */
#ifndef PTXBENCH_AGENT_RUN_PREVIEW_H
#define PTXBENCH_AGENT_RUN_PREVIEW_H

#include "agent/plan.h"

struct run_preview {
    struct plan plan;
    int64_t *prompt_tokens; /* per trajectory, estimated: system and first message */
    struct trace_set *tasks;
};

/* Checks the configuration, finds models, tasks and packs, and assembles every prompt once. */
MUST_CHECK bool run_preview_make(struct arena *arena, const struct run_config *config,
                                 const struct run_names *default_tasks, struct run_preview *out, struct error *error);
void run_preview_free(struct run_preview *preview);

#endif
