#include <string.h>

#include "agent/run_internal.h"

static struct trajectory_limits limits_of(const struct run *run, const struct planned *planned)
{
    const struct run_budget *budget = &run->config.trajectory_budget;

    return (struct trajectory_limits){
        .tokens = budget->tokens,
        .cost_usd = budget->usd,
        .elapsed_ms = (int64_t)(budget->hours * 3600e3),
        .retry_limit = (int)run->config.retries,
        .context_tokens = planned->model->context_tokens,
    };
}

/* A text that outlives the trajectory's arena. */
static const char *static_status(const char *text)
{
    static const char *const outcomes[] = {"extraction"};
    enum verdict_status status;

    if (text && verdict_status_parse(text, &status))
        return verdict_status_text(status);
    for (size_t i = 0; text && i < ARRAY_LEN(outcomes); i++)
        if (!strcmp(text, outcomes[i]))
            return outcomes[i];
    return NULL;
}

void run_member_show(struct member *member)
{
    const struct trajectory *trajectory = &member->trajectory;
    struct run_line *line = &member->line;
    const struct trajectory_turn *last = trajectory->turn ? &trajectory->turns[trajectory->turn - 1] : NULL;

    line->started = trajectory->step != STEP_START;
    line->step = trajectory->step;
    line->turn = trajectory->turn;
    if (line->started)
        line->planned_turns = trajectory->plan.planned_turns;
    line->passed = trajectory->passed;
    line->best_speedup = trajectory->best_speedup;
    line->end_reason = trajectory->end_reason;
    line->sums = trajectory->sums;
    line->last_status = last ? static_status(last->status ? last->status : last->outcome) : NULL;
}

static bool apply_event(const struct event *event, void *context, struct error *error)
{
    return trajectory_apply(context, event, error);
}

static bool check_same(const struct member *member, struct error *error)
{
    const struct event_started *plan = &member->trajectory.plan;
    const struct planned *planned = member->planned;

    if (member->trajectory.step == STEP_START)
        return true;
    if (plan->definition && plan->workload && plan->model &&
        !strcmp(plan->definition, planned->workload->definition->name) &&
        !strcmp(plan->workload, planned->workload->uuid) && !strcmp(plan->model, planned->model->name))
        return true;
    return error_set(error, ERROR_INPUT, "%s: the log is of another model or task than the plan", member->log);
}

bool run_member_load(struct run *run, struct member *member, struct error *error)
{
    struct trajectory_limits limits = limits_of(run, member->planned);
    bool repaired;

    member->arena = arena_new();
    trajectory_init(&member->trajectory, member->arena, &limits);
    if (!event_log_repair(member->log, &repaired, error) ||
        !event_log_read(member->log, apply_event, &member->trajectory, error) || !check_same(member, error))
        return false;
    run_member_show(member);
    return true;
}

void run_member_unload(struct member *member)
{
    arena_free(member->arena);
    member->arena = NULL;
    member->trajectory = (struct trajectory){0};
}
