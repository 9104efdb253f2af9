/*
 * The trajectories of a run, in order: models x tasks x workloads x variants x trajectories. Pure; the same configuration
 * and tasks give the same plan.
 */
#ifndef PTXBENCH_AGENT_PLAN_H
#define PTXBENCH_AGENT_PLAN_H

#include "agent/run_config.h"
#include "llm/model.h"
#include "trace/trace_set.h"

struct planned {
    const char *name; /* of its folder, unique: "gpt-5.4.gemm_n7168_k5120.v0.t2" */
    const struct model_config *model;
    const struct workload *workload; /* with the task's own axes */
    const char *variant_name;        /* as configured */
    int64_t variant;                 /* position in the list of variants */
    int64_t index;                   /* among trajectories that differ in nothing else */
};

struct plan {
    struct planned *items;
    size_t count;
};

enum { PLAN_MAX = 100000 };

/* `models` are those of the configuration, in order. Texts go to the arena; models and tasks are borrowed. Unknown
 * definitions and workloads are errors; so are two trajectories of one name (equal model names, tasks given twice). */
MUST_CHECK bool plan_make(struct arena *arena, const struct run_config *config, const struct model_config *models,
                          const struct trace_set *tasks, struct plan *out, struct error *error);

/* One object a trajectory: name, model, definition, workload, variant, variant_name, index. The caller owns it. */
json_object *plan_to_json(const struct plan *plan);

#endif
