#include "agent/plan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct plan_builder {
    struct arena *arena;
    const struct run_config *config;
    const struct trace_set *tasks;
    struct plan *plan;
};

/* Names become folders. */
static const char *clean(struct arena *arena, const char *text)
{
    char *name = arena_strdup(arena, text);

    for (char *at = name; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr("._-", *at))
            *at = '_';
    return name;
}

static bool add(struct plan_builder *builder, const struct model_config *model, const struct workload *workload,
                bool name_workload, struct error *error)
{
    const struct run_config *config = builder->config;
    struct arena *arena = builder->arena;
    struct plan *plan = builder->plan;
    const char *middle = name_workload ? arena_printf(arena, ".%.8s", workload->uuid) : "";
    const char *axes = strchr(workload->uuid, '+');

    for (size_t v = 0; v < config->variants.count; v++)
        for (int64_t i = 0; i < config->trajectories; i++) {
            if (plan->count == PLAN_MAX)
                return error_set(error, ERROR_USAGE, "more than %d trajectories", PLAN_MAX);
            *LIST_APPEND(arena, plan) = (struct planned){
                .name =
                    clean(arena, arena_printf(arena, "%s.%s%s%s.v%zu.t%lld", model->name, workload->definition->name,
                                              middle, name_workload && axes ? axes : "", v, (long long)i)),
                .model = model,
                .workload = workload,
                .variant_name = config->variants.items[v].name,
                .variant = (int64_t)v,
                .index = i,
            };
        }
    return true;
}

static bool add_workload(struct plan_builder *builder, const struct model_config *model, const struct run_task *task,
                         const char *uuid, struct error *error)
{
    const struct workload *workload;
    struct workload *resized;
    size_t same = 0;

    if (!trace_set_find_workload(builder->tasks, task->definition, uuid, &workload, error))
        return false;
    for (size_t i = 0; i < builder->config->tasks.count; i++)
        same += !strcmp(builder->config->tasks.items[i].definition, task->definition);
    if (task->axes) {
        if (!workload_resize(workload, task->axes, builder->arena, &resized, error))
            return false;
        workload = resized;
    }
    return add(builder, model, workload, task->workloads.count > 1 || same > 1, error);
}

static int compare_names(const void *left, const void *right)
{
    const struct planned *const *a = left, *const *b = right;

    return strcmp((*a)->name, (*b)->name);
}

static bool check_unique(struct arena *arena, const struct plan *plan, struct error *error)
{
    const struct planned **sorted = arena_calloc(arena, plan->count + 1, sizeof *sorted);

    for (size_t i = 0; i < plan->count; i++)
        sorted[i] = &plan->items[i];
    qsort(sorted, plan->count, sizeof *sorted, compare_names);
    for (size_t i = 1; i < plan->count; i++)
        if (!strcmp(sorted[i - 1]->name, sorted[i]->name)) {
            (void)error_set(error, ERROR_USAGE, "two trajectories would be called %s", sorted[i]->name);
            return error_hint(error, "is a model or a workload listed twice? more trajectories: 'trajectories: N'");
        }
    return true;
}

bool plan_make(struct arena *arena, const struct run_config *config, const struct model_config *models,
               const struct trace_set *tasks, struct plan *out, struct error *error)
{
    struct plan_builder builder = {arena, config, tasks, out};
    const struct definition *definition;

    *out = (struct plan){0};
    for (size_t m = 0; m < config->models.count; m++)
        for (size_t t = 0; t < config->tasks.count; t++) {
            const struct run_task *task = &config->tasks.items[t];
            if (!trace_set_find_definition(tasks, task->definition, &definition, error))
                return false;
            for (size_t w = 0; w < (task->workloads.count ? task->workloads.count : 1); w++)
                if (!add_workload(&builder, &models[m], task,
                                  task->workloads.count ? task->workloads.items[w].name : NULL, error))
                    return false;
        }
    return check_unique(arena, out, error);
}

json_object *plan_to_json(const struct plan *plan)
{
    json_object *list = json_object_new_array();

    for (size_t i = 0; i < plan->count; i++) {
        const struct planned *planned = &plan->items[i];
        json_object *object = json_object_new_object();
        json_put_string(object, "name", planned->name);
        json_put_string(object, "model", planned->model->name);
        json_put_string(object, "definition", planned->workload->definition->name);
        json_put_string(object, "workload", planned->workload->uuid);
        json_put_i64(object, "variant", planned->variant);
        json_put_string(object, "variant_name", planned->variant_name);
        json_put_i64(object, "index", planned->index);
        (void)json_object_array_add(list, object);
    }
    return list;
}
