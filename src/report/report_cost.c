/* What a solved task costs. A task is a definition of a run, solved when any turn below the limit is correct. */
#include <math.h>

#include "report/report.h"

struct totals {
    int64_t turns;
    int64_t tasks;
    int64_t solved;
    int64_t solved_target;
    int64_t reasoning_tokens;
    int64_t tokens;
    double cost_usd;
    bool reasoning_known; /* of every turn; likewise below */
    bool tokens_known;
    bool cost_known;
};

static void add_turn(struct totals *totals, const struct turn *turn)
{
    totals->turns++;
    totals->reasoning_known &= turn->reasoning_tokens >= 0;
    totals->reasoning_tokens += turn->reasoning_tokens;
    totals->tokens_known &= turn->tokens >= 0;
    totals->tokens += turn->tokens;
    totals->cost_known &= !isnan(turn->cost_usd);
    totals->cost_usd += turn->cost_usd;
}

static void add_series(struct totals *totals, const struct turn_set *set, const struct series *series, int limit)
{
    bool solved = false;
    bool solved_target = false;

    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        const struct trajectory *trajectory = &series_trajectories(set, series)[i];
        const struct turn *turns = trajectory_turns(set, trajectory);
        for (uint32_t t = 0; t < trajectory->turn_count && turns[t].index < limit; t++) {
            add_turn(totals, &turns[t]);
            solved |= outcome_is_correct(turns[t].outcome);
            solved_target |= turns[t].outcome == OUTCOME_CORRECT_TARGET;
        }
    }
    totals->tasks++;
    totals->solved += solved;
    totals->solved_target += solved_target;
}

static struct number per_task(bool known, double total, int64_t solved)
{
    return known && solved ? number_of(total / (double)solved) : (struct number){0};
}

static void put_totals(struct table *table, const struct totals *totals)
{
    table_count(table, totals->turns);
    table_count(table, totals->tasks);
    table_count(table, totals->solved);
    table_count(table, totals->solved_target);
    table_number(table, per_task(totals->reasoning_known, (double)totals->reasoning_tokens, totals->turns));
    table_number(table, per_task(totals->reasoning_known, (double)totals->reasoning_tokens, totals->solved));
    table_number(table, per_task(totals->tokens_known, (double)totals->tokens, totals->solved));
    table_number(table, (struct number){totals->cost_known, totals->cost_usd});
    table_number(table, per_task(totals->cost_known, totals->cost_usd, totals->solved));
}

bool report_make_cost(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        {"arch", "GPU", TABLE_TEXT, 0},
        {"model", "model", TABLE_TEXT, 0},
        {"turns", "turns", TABLE_COUNT, 0},
        {"tasks", "tasks", TABLE_COUNT, 0},
        {"solved_tasks", "solved", TABLE_COUNT, 0},
        {"target_solved_tasks", "with target inst.", TABLE_COUNT, 0},
        {"reasoning_tokens_per_turn", "reasoning tokens / turn", TABLE_NUMBER, 0},
        {"reasoning_tokens_per_solved_task", "reasoning tokens / solved task", TABLE_NUMBER, 0},
        {"tokens_per_solved_task", "tokens / solved task", TABLE_NUMBER, 0},
        {"cost_usd", "cost $", TABLE_NUMBER, 2},
        {"cost_usd_per_solved_task", "cost $ / solved task", TABLE_NUMBER, 2},
    };
    int limit = report->options.limits[report->options.limit_count - 1];
    struct table *table = table_new(report->arena, "cost",
                                    arena_printf(report->arena, "Tokens and cost per solved task, %d turns", limit),
                                    columns, ARRAY_LEN(columns));

    (void)error;
    for (size_t g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        struct totals totals = {.reasoning_known = true, .tokens_known = true, .cost_known = true};
        for (size_t i = 0; i < group->series_count; i++)
            add_series(&totals, report->set, &report->set->series[group->series[i]], limit);
        table_text(table, report_arch_words(group->arch));
        table_text(table, group->model);
        put_totals(table, &totals);
    }
    table_note(table,
               "A task is one definition in one run; it is solved when a turn is correct. All turns of the run are "
               "paid for, also those of unsolved tasks.");
    *out = table;
    return true;
}
