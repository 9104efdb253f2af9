/* Tables in the paper's layout: a row per model, a column per definition. */
#include <string.h>

#include "report/report.h"

static struct number percent(struct number rate)
{
    return (struct number){rate.known, rate.value * 100};
}

/* The `skip`-th series of a group on a definition, or NULL. */
static const uint32_t *series_on(const struct report *report, const struct report_group *group, const char *definition,
                                 size_t skip)
{
    for (size_t i = 0; i < group->series_count; i++)
        if (!strcmp(report->set->series[group->series[i]].definition, definition) && skip-- == 0)
            return &group->series[i];
    return NULL;
}

/* Rows that a group needs: the most series that it has on one definition. */
static size_t rows_of(const struct report *report, const struct report_group *group)
{
    size_t most = 0;

    for (size_t d = 0; d < report->definition_count; d++) {
        size_t count = 0;
        while (series_on(report, group, report->definitions[d], count))
            count++;
        most = count > most ? count : most;
    }
    return most;
}

static struct table_triplet triplet_of(const struct report *report, uint32_t series, bool speedup)
{
    struct table_triplet triplet = {0};

    for (size_t l = 0; l < report->options.limit_count; l++) {
        const struct metrics *metrics = report_metrics(report, series, l);
        triplet.target[l] =
            speedup ? metrics->target_best_speedup.value : percent(metrics->target_turn_correctness.value);
        triplet.all[l] = speedup ? metrics->best_speedup.value : percent(metrics->turn_correctness.value);
    }
    return triplet;
}

static const char *row_name(const struct report *report, const struct report_group *group, size_t row)
{
    return row ? arena_printf(report->arena, "%s (%zu)", group->model, row + 1) : group->model;
}

static struct table *new_layout(const struct report *report, const char *id, const char *title, enum table_kind kind,
                                int decimals)
{
    size_t count = report->definition_count + 2;
    struct table_column *columns = arena_calloc(report->arena, count, sizeof *columns);
    struct table *table;

    columns[0] = (struct table_column){"arch", "GPU", TABLE_TEXT, 0};
    columns[1] = (struct table_column){"model", "model", TABLE_TEXT, 0};
    for (size_t d = 0; d < report->definition_count; d++)
        columns[d + 2] = (struct table_column){report->definitions[d], report->definitions[d], kind, decimals};
    table = table_new(report->arena, id, title, columns, count);
    table_set_limits(table, report->options.limits, report->options.limit_count);
    return table;
}

static const char *limits_text(const struct report *report)
{
    const char *text = "";

    for (size_t i = 0; i < report->options.limit_count; i++)
        text = arena_printf(report->arena, "%s%s\xe2\x89\xa4%d", text, i ? " / " : "", report->options.limits[i]);
    return text;
}

/* What of the whole set a reader of rates must know. */
static void note_counts(const struct report *report, struct table *table)
{
    int64_t infrastructure = 0;
    int64_t unknown = 0;
    int64_t missing = 0;
    bool several = false;

    for (uint32_t i = 0; i < report->set->series_count; i++) {
        const struct metrics *last = report_metrics(report, i, report->options.limit_count - 1);
        infrastructure += last->infrastructure;
        unknown += last->unknown;
        missing += last->planned ? last->missing : 0;
        several |= report->set->series[i].workload == NULL;
    }
    if (unknown)
        table_note(table, "%lld correct turns whose target instructions are unknown are not in the numerator.",
                   (long long)unknown);
    if (missing)
        table_note(table, "%lld turns were never taken (a trajectory ended early); they are in the denominator.",
                   (long long)missing);
    if (infrastructure)
        table_note(table, "%lld turns failed for infrastructure trouble; they are %s the denominator.",
                   (long long)infrastructure, report->options.metric.keep_infrastructure ? "in" : "not in");
    if (several)
        table_note(table, "Over several workloads a speed-up is the %s.",
                   speedup_kind_text(report->options.metric.speedup));
}

static struct table *make_layout(const struct report *report, const char *id, const char *title, bool speedup)
{
    struct table *table = new_layout(report, id, title, TABLE_TRIPLET, speedup ? 3 : 1);
    bool further = false;

    for (size_t g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        size_t rows = rows_of(report, group);
        further |= rows > 1;
        for (size_t row = 0; row < rows; row++) {
            table_text(table, report_arch_words(group->arch));
            table_text(table, row_name(report, group, row));
            for (size_t d = 0; d < report->definition_count; d++) {
                const uint32_t *series = series_on(report, group, report->definitions[d], row);
                struct table_triplet triplet = {0};
                if (series)
                    triplet = triplet_of(report, *series, speedup);
                table_put_triplet(table, series ? &triplet : NULL);
            }
        }
    }
    table_note(table,
               "Turns %s; with target instructions, and (unrestricted) in parentheses. \xe2\x80\x93: none; ?: not "
               "planned.",
               limits_text(report));
    if (further)
        table_note(table,
                   "(2), (3), ...: further runs of the model on the same definition; `--metric metrics` names them.");
    note_counts(report, table);
    return table;
}

bool report_make_correctness(const struct report *report, struct table **out, struct error *error)
{
    (void)error;
    *out = make_layout(report, "correctness", "Turn correctness rate (%)", false);
    return true;
}

bool report_make_speedup(const struct report *report, struct table **out, struct error *error)
{
    (void)error;
    *out = make_layout(report, "speedup", "Best speed-up over the reference", true);
    return true;
}

bool report_make_heatmap(const struct report *report, struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        {"arch", "GPU", TABLE_TEXT, 0},
        {"model", "model", TABLE_TEXT, 0},
        {"definition", "definition", TABLE_TEXT, 0},
        {"run", "run", TABLE_TEXT, 0},
        {"turn_correctness_percent", "correct %", TABLE_NUMBER, 1},
        {"target_turn_correctness_percent", "target %", TABLE_NUMBER, 1},
        {"best_speedup", "best", TABLE_NUMBER, 3},
        {"target_best_speedup", "target best", TABLE_NUMBER, 3},
    };
    size_t last = report->options.limit_count - 1;
    struct table *table =
        table_new(report->arena, "heatmap",
                  arena_printf(report->arena, "Correctness and best speed-up, %d turns", report->options.limits[last]),
                  columns, ARRAY_LEN(columns));

    (void)error;
    for (size_t g = 0; g < report->group_count; g++) {
        for (size_t i = 0; i < report->groups[g].series_count; i++) {
            uint32_t number = report->groups[g].series[i];
            const struct series *series = &report->set->series[number];
            const struct metrics *metrics = report_metrics(report, number, last);
            table_text(table, report_arch_words(series->arch));
            table_text(table, series->model);
            table_text(table, series->definition);
            table_text(table, series->run);
            table_number(table, percent(metrics->turn_correctness.value));
            table_number(table, percent(metrics->target_turn_correctness.value));
            table_number(table, metrics->best_speedup.value);
            table_number(table, metrics->target_best_speedup.value);
        }
    }
    *out = table;
    return true;
}
