/* Tables of what happens from turn to turn, pooled over the runs of one model on one architecture. */
#include <string.h>

#include "report/flow.h"
#include "report/report.h"

static int last_limit(const struct report *report)
{
    return report->options.limits[report->options.limit_count - 1];
}

static struct metric_scope scope_of(const struct report *report, const struct report_group *group, size_t index)
{
    return (struct metric_scope){.set = report->set, .series = group->series[index]};
}

/* Columns: architecture, model, further ones, then a share for each state. */
static struct table *new_shares(const struct report *report, const char *id, const char *title,
                                const struct table_column *front, size_t front_count)
{
    struct table_column *columns = arena_calloc(report->arena, front_count + FLOW_STATES, sizeof *columns);

    memcpy(columns, front, front_count * sizeof *columns);
    for (int state = 0; state < FLOW_STATES; state++)
        columns[front_count + (size_t)state] =
            (struct table_column){flow_state_key(state), flow_state_key(state), TABLE_NUMBER, 1};
    return table_new(report->arena, id, title, columns, front_count + FLOW_STATES);
}

static void put_shares(struct table *table, const int64_t *counts, int64_t total)
{
    table_count(table, total);
    for (int state = 0; state < FLOW_STATES; state++)
        table_number(table, total ? number_of(100 * (double)counts[state] / (double)total) : (struct number){0});
}

static void note_states(struct table *table)
{
    for (int state = 0; state < FLOW_STATES; state++)
        table_note(table, "%s: %s", flow_state_key(state), flow_state_words(state));
}

static struct flow_shares shares_of(const struct report *report, const struct report_group *group)
{
    struct flow_shares shares = flow_shares_new(report->arena, last_limit(report));

    for (size_t i = 0; i < group->series_count; i++) {
        struct metric_scope scope = scope_of(report, group, i);
        flow_shares_add(&shares, &scope);
    }
    return shares;
}

static int64_t sum_turn(const struct flow_shares *shares, int turn, int64_t counts[FLOW_STATES])
{
    int64_t total = 0;

    for (int state = 0; state < FLOW_STATES; state++) {
        counts[state] += flow_shares_at(shares, turn, state);
        total += flow_shares_at(shares, turn, state);
    }
    return total;
}

bool report_make_outcomes(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column front[] = {
        {"arch", "GPU", TABLE_TEXT, 0}, {"model", "model", TABLE_TEXT, 0}, {"turns", "turns", TABLE_COUNT, 0}};
    struct table *table = new_shares(report, "outcomes", "What became of the turns (%)", front, ARRAY_LEN(front));

    (void)error;
    for (size_t g = 0; g < report->group_count; g++) {
        struct flow_shares shares = shares_of(report, &report->groups[g]);
        int64_t counts[FLOW_STATES] = {0};
        int64_t total = 0;
        for (int turn = 0; turn < shares.limit; turn++)
            total += sum_turn(&shares, turn, counts);
        table_text(table, report_arch_words(report->groups[g].arch));
        table_text(table, report->groups[g].model);
        put_shares(table, counts, total);
    }
    note_states(table);
    *out = table;
    return true;
}

bool report_make_outcomes_by_turn(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column front[] = {{"arch", "GPU", TABLE_TEXT, 0},
                                                {"model", "model", TABLE_TEXT, 0},
                                                {"turn", "turn", TABLE_COUNT, 0},
                                                {"turns", "turns", TABLE_COUNT, 0}};
    struct table *table =
        new_shares(report, "outcomes_by_turn", "What became of the turns, turn by turn (%)", front, ARRAY_LEN(front));

    (void)error;
    for (size_t g = 0; g < report->group_count; g++) {
        struct flow_shares shares = shares_of(report, &report->groups[g]);
        for (int turn = 0; turn < shares.limit; turn++) {
            int64_t counts[FLOW_STATES] = {0};
            int64_t total = sum_turn(&shares, turn, counts);
            if (total == 0)
                continue;
            table_text(table, report_arch_words(report->groups[g].arch));
            table_text(table, report->groups[g].model);
            table_count(table, turn);
            put_shares(table, counts, total);
        }
    }
    *out = table;
    return true;
}

bool report_make_transitions(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        {"arch", "GPU", TABLE_TEXT, 0},
        {"model", "model", TABLE_TEXT, 0},
        {"definition", "definition", TABLE_TEXT, 0},
        {"run", "run", TABLE_TEXT, 0},
        {"from", "from", TABLE_TEXT, 0},
        {"to", "to", TABLE_TEXT, 0},
        {"count", "count", TABLE_COUNT, 0},
        {"share_percent", "share %", TABLE_NUMBER, 1},
    };
    struct table *table =
        table_new(report->arena, "transitions", "From one outcome to the next", columns, ARRAY_LEN(columns));

    (void)error;
    for (uint32_t s = 0; s < report->set->series_count; s++) {
        const struct series *series = &report->set->series[s];
        struct metric_scope scope = {.set = report->set, .series = s};
        struct flow_transitions flow = {0};
        flow_transitions_add(&flow, &scope, last_limit(report));
        for (int from = 0; from < FLOW_STATES; from++) {
            int64_t total = 0;
            for (int to = 0; to < FLOW_STATES; to++)
                total += flow.counts[from][to];
            for (int to = 0; to < FLOW_STATES; to++) {
                if (!flow.counts[from][to])
                    continue;
                table_text(table, report_arch_words(series->arch));
                table_text(table, series->model);
                table_text(table, series->definition);
                table_text(table, series->run);
                table_text(table, flow_state_key(from));
                table_text(table, flow_state_key(to));
                table_count(table, flow.counts[from][to]);
                table_number(table, number_of(100 * (double)flow.counts[from][to] / (double)total));
            }
        }
    }
    table_note(table, "share: of the steps that start from the same outcome.");
    *out = table;
    return true;
}

static void put_reasoning(struct table *table, const struct report_group *group, int turn,
                          const struct flow_reasoning *reasoning)
{
    table_text(table, report_arch_words(group->arch));
    table_text(table, group->model);
    table_count(table, turn);
    table_count(table, reasoning->turns);
    table_number(table, reasoning->mean);
    table_number(table, reasoning->percentile5);
    for (int i = 0; i < 3; i++)
        table_number(table, reasoning->quartile[i]);
    table_number(table, reasoning->percentile95);
}

bool report_make_reasoning(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        {"arch", "GPU", TABLE_TEXT, 0},    {"model", "model", TABLE_TEXT, 0},
        {"turn", "turn", TABLE_COUNT, 0},  {"known_turns", "turns", TABLE_COUNT, 0},
        {"mean", "mean", TABLE_NUMBER, 0}, {"p05", "5 %", TABLE_NUMBER, 0},
        {"p25", "25 %", TABLE_NUMBER, 0},  {"median", "median", TABLE_NUMBER, 0},
        {"p75", "75 %", TABLE_NUMBER, 0},  {"p95", "95 %", TABLE_NUMBER, 0},
    };
    struct table *table =
        table_new(report->arena, "reasoning", "Reasoning tokens, turn by turn", columns, ARRAY_LEN(columns));

    (void)error;
    for (size_t g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        size_t room = 0;
        AUTO_ARENA *arena = arena_new();
        for (size_t i = 0; i < group->series_count; i++)
            room += report->set->series[group->series[i]].trajectory_count;
        double *values = arena_calloc(arena, room, sizeof *values);
        for (int turn = 0; turn < last_limit(report); turn++) {
            size_t count = 0;
            for (size_t i = 0; i < group->series_count; i++) {
                struct metric_scope scope = scope_of(report, group, i);
                count = flow_reasoning_collect(&scope, turn, turn, values, count);
            }
            struct flow_reasoning reasoning = flow_reasoning_of(values, count);
            if (count)
                put_reasoning(table, group, turn, &reasoning);
        }
    }
    *out = table;
    return true;
}
