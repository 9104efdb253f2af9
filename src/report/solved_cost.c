#include "report/solved_cost.h"

#include <math.h>

struct solved_cost solved_cost_new(void)
{
    return (struct solved_cost){.reasoning_known = true, .tokens_known = true, .cost_known = true};
}

static void add_turn(struct solved_cost *cost, const struct turn *turn)
{
    cost->turns++;
    cost->reasoning_known &= turn->reasoning_tokens >= 0;
    cost->reasoning_tokens += turn->reasoning_tokens;
    cost->tokens_known &= turn->tokens >= 0;
    cost->tokens += turn->tokens;
    cost->cost_known &= !isnan(turn->cost_usd);
    cost->cost_usd += turn->cost_usd;
}

void solved_cost_add(struct solved_cost *cost, const struct metric_scope *scope, int limit)
{
    const struct series *series = &scope->set->series[scope->series];
    bool solved = false;
    bool solved_target = false;

    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        const struct trajectory *trajectory = &series_trajectories(scope->set, series)[i];
        const struct turn *turns = trajectory_turns(scope->set, trajectory);
        if (!metric_scope_holds(scope, trajectory))
            continue;
        for (uint32_t t = 0; t < trajectory->turn_count && turns[t].index < limit; t++) {
            add_turn(cost, &turns[t]);
            solved |= outcome_is_correct(turns[t].outcome);
            solved_target |= turns[t].outcome == OUTCOME_CORRECT_TARGET;
        }
    }
    cost->tasks++;
    cost->solved += solved;
    cost->solved_target += solved_target;
}

static struct number per_task(bool known, double total, int64_t solved)
{
    return known && solved ? number_of(total / (double)solved) : (struct number){0};
}

struct number solved_cost_reasoning(const struct solved_cost *cost)
{
    return per_task(cost->reasoning_known, (double)cost->reasoning_tokens, cost->solved);
}

struct number solved_cost_tokens(const struct solved_cost *cost)
{
    return per_task(cost->tokens_known, (double)cost->tokens, cost->solved);
}

struct number solved_cost_usd(const struct solved_cost *cost)
{
    return per_task(cost->cost_known, cost->cost_usd, cost->solved);
}
