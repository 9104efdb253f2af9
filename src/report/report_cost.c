#include "report/report.h"
#include "report/solved_cost.h"

static void put_cost(struct table *table, const struct solved_cost *cost)
{
    double reasoning = cost->turns ? (double)cost->reasoning_tokens / (double)cost->turns : 0;

    table_count(table, cost->turns);
    table_count(table, cost->tasks);
    table_count(table, cost->solved);
    table_count(table, cost->solved_target);
    table_number(table, (struct number){cost->reasoning_known && cost->turns, reasoning});
    table_number(table, solved_cost_reasoning(cost));
    table_number(table, solved_cost_tokens(cost));
    table_number(table, (struct number){cost->cost_known, cost->cost_usd});
    table_number(table, solved_cost_usd(cost));
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
        struct solved_cost cost = solved_cost_new();
        for (size_t i = 0; i < group->series_count; i++) {
            struct metric_scope scope = {.set = report->set, .series = group->series[i]};
            solved_cost_add(&cost, &scope, limit);
        }
        table_text(table, report_arch_words(group->arch));
        table_text(table, group->model);
        put_cost(table, &cost);
    }
    table_note(table,
               "A task is one definition in one run; it is solved when a turn is correct. All turns of the run are "
               "paid for, also those of unsolved tasks.");
    *out = table;
    return true;
}
