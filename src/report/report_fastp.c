/* Fast_p and Fast_p^Inst as tables of steps. */
#include "report/report.h"

#define NAME_COLUMNS                                                                                                   \
    {"arch", "GPU", TABLE_TEXT, 0}, {"model", "model", TABLE_TEXT, 0}, {"definition", "definition", TABLE_TEXT, 0},    \
        {"run", "run", TABLE_TEXT, 0},                                                                                 \
    {                                                                                                                  \
        "kind", "kind", TABLE_TEXT, 0                                                                                  \
    }

static void put_names(struct table *table, const struct series *series, bool target)
{
    table_text(table, report_arch_words(series->arch));
    table_text(table, series->model);
    table_text(table, series->definition);
    table_text(table, series->run);
    table_text(table, target ? "target" : "all");
}

static int last_limit(const struct report *report)
{
    return report->options.limits[report->options.limit_count - 1];
}

static void put_band(struct table *table, const struct series *series, const struct fastp_band *band, bool target)
{
    for (size_t i = 0; i < band->count; i++) {
        put_names(table, series, target);
        table_number(table, number_of(band->steps[i].p));
        table_number(table, number_of(100 * band->steps[i].mean));
        table_number(table, number_of(100 * band->steps[i].low));
        table_number(table, number_of(100 * band->steps[i].high));
        table_number(table, number_of(band->best));
    }
}

bool report_make_fastp(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        NAME_COLUMNS,
        {"p", "p", TABLE_NUMBER, 4},
        {"share_percent", "share %", TABLE_NUMBER, 2},
        {"least_variant_percent", "least variant %", TABLE_NUMBER, 2},
        {"greatest_variant_percent", "greatest variant %", TABLE_NUMBER, 2},
        {"best_speedup", "best", TABLE_NUMBER, 3},
    };
    struct table *table =
        table_new(report->arena, "fastp",
                  arena_printf(report->arena,
                               "Fast_p at %d turns: share of turns that are correct and faster than p, "
                               "mean over prompt variants",
                               last_limit(report)),
                  columns, ARRAY_LEN(columns));

    (void)error;
    for (uint32_t s = 0; s < report->set->series_count; s++) {
        struct metric_scope scope = {.set = report->set, .series = s};
        for (int target = 0; target < 2; target++) {
            AUTO_ARENA *arena = arena_new();
            struct fastp_band band =
                metric_fastp_band(arena, &scope, last_limit(report), target != 0, &report->options.metric);
            put_band(table, &report->set->series[s], &band, target != 0);
        }
    }
    *out = table;
    return true;
}

static void put_curve(struct table *table, const struct report *report, const struct metric_scope *scope, bool target,
                      const char *variant)
{
    AUTO_ARENA *arena = arena_new();
    struct fastp_curve curve = metric_fastp(arena, scope, last_limit(report), target, &report->options.metric);

    for (size_t i = 0; i < curve.count; i++) {
        put_names(table, &report->set->series[scope->series], target);
        table_text(table, variant);
        table_number(table, number_of(curve.steps[i].p));
        table_number(table, number_of(100 * curve.steps[i].share));
        table_number(table, number_of(curve.best));
    }
}

bool report_make_fastp_variants(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        NAME_COLUMNS,
        {"variant", "variant", TABLE_TEXT, 0},
        {"p", "p", TABLE_NUMBER, 4},
        {"share_percent", "share %", TABLE_NUMBER, 2},
        {"best_speedup", "best", TABLE_NUMBER, 3},
    };
    struct table *table = table_new(
        report->arena, "fastp_variants",
        arena_printf(report->arena, "Fast_p at %d turns, of all turns and of each prompt variant", last_limit(report)),
        columns, ARRAY_LEN(columns));

    (void)error;
    for (uint32_t s = 0; s < report->set->series_count; s++) {
        AUTO_ARENA *arena = arena_new();
        struct metric_scope pooled = {.set = report->set, .series = s};
        size_t count;
        const uint32_t *variants = metric_variants(arena, &pooled, &count);
        for (int target = 0; target < 2; target++) {
            put_curve(table, report, &pooled, target != 0, "pooled");
            for (size_t i = 0; i < count; i++) {
                struct metric_scope one = {report->set, s, &variants[i], 1};
                put_curve(table, report, &one, target != 0, arena_printf(arena, "%u", variants[i]));
            }
        }
    }
    *out = table;
    return true;
}
