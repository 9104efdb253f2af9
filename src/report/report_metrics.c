/* Long tables of numbers: one row per series and limit, or per step of a curve. */
#include "report/report.h"

static void put_names(struct table *table, const struct series *series)
{
    table_text(table, report_arch_words(series->arch));
    table_text(table, series->model);
    table_text(table, series->definition);
    table_text(table, series->run);
}

#define NAME_COLUMNS                                                                                                   \
    {"arch", "GPU", TABLE_TEXT, 0}, {"model", "model", TABLE_TEXT, 0}, {"definition", "definition", TABLE_TEXT, 0},    \
    {                                                                                                                  \
        "run", "run", TABLE_TEXT, 0                                                                                    \
    }

static void put_rate(struct table *table, const struct metric_value *value)
{
    table_range(table, (struct number){value->value.known, 100 * value->value.value},
                (struct interval){value->ci95.known, 100 * value->ci95.low, 100 * value->ci95.high});
}

static void put_metrics(struct table *table, const struct metrics *metrics)
{
    table_count(table, metrics->limit);
    table_count(table, metrics->trajectories);
    table_count(table, metrics->turns);
    table_count(table, metrics->missing);
    table_count(table, metrics->infrastructure);
    table_count(table, metrics->correct);
    table_count(table, metrics->target);
    table_count(table, metrics->unknown);
    put_rate(table, &metrics->turn_correctness);
    put_rate(table, &metrics->target_turn_correctness);
    table_range(table, metrics->best_speedup.value, metrics->best_speedup.ci95);
    table_range(table, metrics->target_best_speedup.value, metrics->target_best_speedup.ci95);
    put_rate(table, &metrics->trajectory_correctness);
    put_rate(table, &metrics->target_trajectory_correctness);
}

bool report_make_metrics(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        NAME_COLUMNS,
        {"turn_limit", "turns", TABLE_COUNT, 0},
        {"trajectories", "trajectories", TABLE_COUNT, 0},
        {"denominator", "N", TABLE_COUNT, 0},
        {"missing_turns", "missing", TABLE_COUNT, 0},
        {"infrastructure_turns", "infra", TABLE_COUNT, 0},
        {"correct_turns", "correct", TABLE_COUNT, 0},
        {"target_turns", "target", TABLE_COUNT, 0},
        {"unknown_target_turns", "unknown", TABLE_COUNT, 0},
        {"turn_correctness_percent", "turn correctness %", TABLE_RANGE, 1},
        {"target_turn_correctness_percent", "target turn correctness %", TABLE_RANGE, 1},
        {"best_speedup", "best speed-up", TABLE_RANGE, 3},
        {"target_best_speedup", "target best speed-up", TABLE_RANGE, 3},
        {"trajectory_correctness_percent", "trajectory correctness %", TABLE_RANGE, 1},
        {"target_trajectory_correctness_percent", "target trajectory correctness %", TABLE_RANGE, 1},
    };
    struct table *table =
        table_new(report->arena, "metrics", "Metrics with 95 % intervals", columns, ARRAY_LEN(columns));

    (void)error;
    for (size_t g = 0; g < report->group_count; g++) {
        for (size_t i = 0; i < report->groups[g].series_count; i++) {
            uint32_t number = report->groups[g].series[i];
            for (size_t l = 0; l < report->options.limit_count; l++) {
                put_names(table, &report->set->series[number]);
                put_metrics(table, report_metrics(report, number, l));
            }
        }
    }
    *out = table;
    return true;
}

bool report_make_pass_at_k(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        NAME_COLUMNS,
        {"turn_limit", "turns", TABLE_COUNT, 0},
        {"k", "k", TABLE_COUNT, 0},
        {"pass_at_k_percent", "pass@k %", TABLE_NUMBER, 1},
        {"target_pass_at_k_percent", "target pass@k %", TABLE_NUMBER, 1},
    };
    static const int64_t sizes[] = {1, 2, 4, 8};
    struct table *table = table_new(report->arena, "pass_at_k", "Chance that one of k trajectories succeeds", columns,
                                    ARRAY_LEN(columns));

    (void)error;
    for (uint32_t s = 0; s < report->set->series_count; s++) {
        for (size_t l = 0; l < report->options.limit_count; l++) {
            const struct metrics *metrics = report_metrics(report, s, l);
            double n = (double)metrics->trajectories;
            if (!metrics->trajectory_correctness.value.known)
                continue;
            int64_t c = (int64_t)(metrics->trajectory_correctness.value.value * n + 0.5);
            int64_t target = (int64_t)(metrics->target_trajectory_correctness.value.value * n + 0.5);
            for (size_t k = 0; k < ARRAY_LEN(sizes) && sizes[k] <= metrics->trajectories; k++) {
                struct number all = metric_pass_at_k(metrics->trajectories, c, sizes[k]);
                struct number with = metric_pass_at_k(metrics->trajectories, target, sizes[k]);
                put_names(table, &report->set->series[s]);
                table_count(table, metrics->limit);
                table_count(table, sizes[k]);
                table_number(table, (struct number){all.known, 100 * all.value});
                table_number(table, (struct number){with.known, 100 * with.value});
            }
        }
    }
    *out = table;
    return true;
}

static void put_variant(struct table *table, const struct report *report, const struct metric_scope *scope, int limit)
{
    struct metric_options options = report->options.metric;
    struct metrics metrics;

    options.resamples = -1; /* four trajectories are too few for an interval */
    metrics = metrics_of(scope, limit, &options);
    put_names(table, &report->set->series[scope->series]);
    table_count(table, scope->variants[0]);
    table_count(table, metrics.trajectories);
    table_number(table,
                 (struct number){metrics.turn_correctness.value.known, 100 * metrics.turn_correctness.value.value});
    table_number(table, (struct number){metrics.target_turn_correctness.value.known,
                                        100 * metrics.target_turn_correctness.value.value});
    table_number(table, metrics.best_speedup.value);
    table_number(table, metrics.target_best_speedup.value);
}

bool report_make_variants(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        NAME_COLUMNS,
        {"variant", "variant", TABLE_COUNT, 0},
        {"trajectories", "trajectories", TABLE_COUNT, 0},
        {"turn_correctness_percent", "correct %", TABLE_NUMBER, 1},
        {"target_turn_correctness_percent", "target %", TABLE_NUMBER, 1},
        {"best_speedup", "best", TABLE_NUMBER, 3},
        {"target_best_speedup", "target best", TABLE_NUMBER, 3},
    };
    int limit = report->options.limits[report->options.limit_count - 1];
    struct table *table =
        table_new(report->arena, "variants", arena_printf(report->arena, "Prompt variants, %d turns", limit), columns,
                  ARRAY_LEN(columns));

    (void)error;
    for (uint32_t s = 0; s < report->set->series_count; s++) {
        AUTO_ARENA *arena = arena_new();
        struct metric_scope scope = {.set = report->set, .series = s};
        size_t count;
        const uint32_t *variants = metric_variants(arena, &scope, &count);
        for (size_t i = 0; i < count; i++) {
            struct metric_scope one = {report->set, s, &variants[i], 1};
            put_variant(table, report, &one, limit);
        }
    }
    *out = table;
    return true;
}

bool report_make_leaderboard(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        {"author", "author", TABLE_TEXT, 0},
        {"score", "score", TABLE_NUMBER, 4},
        {"win_rate_percent", "wins %", TABLE_NUMBER, 1},
        {"definitions", "definitions", TABLE_COUNT, 0},
        {"workloads", "workloads", TABLE_COUNT, 0},
        {"failed_solutions", "failed", TABLE_COUNT, 0},
    };
    const char *baseline = report->options.baseline;
    struct leaderboard_rows rows;
    struct table *table;

    *out = NULL;
    if (!report->board || leaderboard_trace_count(report->board) == 0)
        return true;
    if (!leaderboard_rank(report->board, baseline, report->arena, &rows, error))
        return false;
    table = table_new(
        report->arena, "leaderboard",
        arena_printf(report->arena, "Leaderboard of traces, against %s", baseline ? baseline : "the reference"),
        columns, ARRAY_LEN(columns));
    for (size_t i = 0; i < rows.count; i++) {
        table_text(table, rows.items[i].author);
        table_number(table, rows.items[i].score);
        table_number(table, (struct number){true, 100 * rows.items[i].win_rate.value});
        table_count(table, rows.items[i].definitions);
        table_count(table, rows.items[i].workloads);
        table_count(table, rows.items[i].failed);
    }
    *out = table;
    return true;
}
