#include "report/flow.h"

#include <string.h>

#include "judge/statistics.h"

const char *flow_state_key(int state)
{
    return state == FLOW_MISSING ? "missing" : outcome_key((enum turn_outcome)state);
}

const char *flow_state_words(int state)
{
    return state == FLOW_MISSING ? "turn not taken" : outcome_words((enum turn_outcome)state);
}

struct flow_shares flow_shares_new(struct arena *arena, int limit)
{
    return (struct flow_shares){arena_calloc(arena, (size_t)limit * FLOW_STATES, sizeof(int64_t)), limit};
}

/* Walks a trajectory turn by turn, naming the state of each planned turn below `limit`. */
struct walk {
    const struct turn *turns;
    uint32_t count;
    uint32_t next;
    int index;
    int limit;
};

static struct walk walk_start(const struct metric_scope *scope, const struct trajectory *trajectory, int limit)
{
    int planned = scope->set->series[scope->series].planned_turns;

    return (struct walk){trajectory_turns(scope->set, trajectory), trajectory->turn_count, 0, 0,
                         limit < planned ? limit : planned};
}

static bool walk_next(struct walk *walk, int *state)
{
    if (walk->index >= walk->limit)
        return false;
    *state = FLOW_MISSING;
    if (walk->next < walk->count && walk->turns[walk->next].index == walk->index)
        *state = walk->turns[walk->next++].outcome;
    walk->index++;
    return true;
}

void flow_shares_add(struct flow_shares *shares, const struct metric_scope *scope)
{
    const struct series *series = &scope->set->series[scope->series];
    const struct trajectory *trajectories = series_trajectories(scope->set, series);

    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        struct walk walk = walk_start(scope, &trajectories[i], shares->limit);
        int state;
        if (!metric_scope_holds(scope, &trajectories[i]))
            continue;
        for (int turn = 0; walk_next(&walk, &state); turn++)
            shares->counts[turn * FLOW_STATES + state]++;
    }
}

void flow_transitions_add(struct flow_transitions *transitions, const struct metric_scope *scope, int limit)
{
    const struct series *series = &scope->set->series[scope->series];
    const struct trajectory *trajectories = series_trajectories(scope->set, series);

    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        struct walk walk = walk_start(scope, &trajectories[i], limit);
        int from;
        int to;
        if (!metric_scope_holds(scope, &trajectories[i]) || !walk_next(&walk, &from))
            continue;
        for (; walk_next(&walk, &to); from = to)
            transitions->counts[from][to]++;
    }
}

struct flow_steps flow_steps_new(struct arena *arena, int limit)
{
    size_t turns = limit > 1 ? (size_t)limit - 1 : 1;

    return (struct flow_steps){arena_calloc(arena, turns * FLOW_STATES * FLOW_STATES, sizeof(int64_t)), limit};
}

void flow_steps_add(struct flow_steps *steps, const struct metric_scope *scope)
{
    const struct series *series = &scope->set->series[scope->series];
    const struct trajectory *trajectories = series_trajectories(scope->set, series);

    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        struct walk walk = walk_start(scope, &trajectories[i], steps->limit);
        int from;
        int to;
        if (!metric_scope_holds(scope, &trajectories[i]) || !walk_next(&walk, &from))
            continue;
        for (int turn = 0; walk_next(&walk, &to); turn++, from = to)
            steps->counts[(turn * FLOW_STATES + from) * FLOW_STATES + to]++;
    }
}

size_t flow_reasoning_collect(const struct metric_scope *scope, int first, int last, double *values, size_t count)
{
    const struct series *series = &scope->set->series[scope->series];
    const struct trajectory *trajectories = series_trajectories(scope->set, series);

    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        const struct turn *turns = trajectory_turns(scope->set, &trajectories[i]);
        if (!metric_scope_holds(scope, &trajectories[i]))
            continue;
        for (uint32_t t = 0; t < trajectories[i].turn_count; t++)
            if (turns[t].index >= first && turns[t].index <= last && turns[t].reasoning_tokens >= 0)
                values[count++] = turns[t].reasoning_tokens;
    }
    return count;
}

struct flow_reasoning flow_reasoning_of(const double *values, size_t count)
{
    struct flow_reasoning out = {.turns = (int64_t)count};

    for (int i = 0; i < 3; i++)
        out.quartile[i] = statistics_quantile(values, count, 0.25 * (i + 1));
    out.percentile5 = statistics_quantile(values, count, 0.05);
    out.percentile95 = statistics_quantile(values, count, 0.95);
    out.mean = statistics_mean(values, count);
    return out;
}
