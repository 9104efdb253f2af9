/*
 * A report: every table that can be made of a closed turn set. Metrics are computed once, when the report is made;
 * tables are views of them. Pure; the report borrows the set.
 */
#ifndef PTXBENCH_REPORT_REPORT_H
#define PTXBENCH_REPORT_REPORT_H

#include "report/leaderboard.h"
#include "report/metrics.h"
#include "report/table.h"

struct report_options {
    int limits[TABLE_LIMITS_MAX]; /* turn limits, rising; at least one */
    size_t limit_count;
    struct metric_options metric;
    const char *baseline; /* author that a leaderboard compares with; NULL: the reference */
};

/* One model on one architecture: a row of the paper's tables. */
struct report_group {
    const char *arch;
    const char *model;
    uint32_t *series; /* numbers, in the order of the definitions */
    size_t series_count;
};

struct report {
    struct arena *arena; /* borrowed; holds everything below */
    const struct turn_set *set;
    const struct leaderboard *board; /* may be NULL */
    struct report_options options;
    struct metrics *metrics; /* series x limits */
    struct report_group *groups;
    size_t group_count;
    const char **definitions; /* distinct, forward before backward */
    size_t definition_count;
};

/* Computes all metrics. */
struct report *report_new(struct arena *arena, const struct turn_set *set, const struct leaderboard *board,
                          const struct report_options *options);

const struct metrics *report_metrics(const struct report *report, uint32_t series, size_t limit_index);

/* Order of definitions in tables: GEMM, attention forward, backward, others; then by name. For qsort of names. */
int report_compare_definitions(const char *a, const char *b);

/* Hopper before Blackwell, others behind by name. */
int report_compare_arches(const char *a, const char *b);

/* "Hopper" for "hopper"; any other text as it is. */
const char *report_arch_words(const char *arch);

/* One table of the list. */
struct report_table {
    const char *id;
    const char *words;
    bool brief; /* part of what people get unasked */
    bool (*make)(const struct report *report, struct table **out, struct error *error);
};

/* All of them, in the order of a whole report. */
const struct report_table *report_tables(size_t *count);
const struct report_table *report_table_find(const char *id);

/* Makers; see report_tables. */
bool report_make_correctness(const struct report *report, struct table **out, struct error *error);
bool report_make_speedup(const struct report *report, struct table **out, struct error *error);
bool report_make_metrics(const struct report *report, struct table **out, struct error *error);
bool report_make_pass_at_k(const struct report *report, struct table **out, struct error *error);
bool report_make_variants(const struct report *report, struct table **out, struct error *error);
bool report_make_heatmap(const struct report *report, struct table **out, struct error *error);
bool report_make_fastp(const struct report *report, struct table **out, struct error *error);
bool report_make_fastp_variants(const struct report *report, struct table **out, struct error *error);
bool report_make_outcomes(const struct report *report, struct table **out, struct error *error);
bool report_make_outcomes_by_turn(const struct report *report, struct table **out, struct error *error);
bool report_make_transitions(const struct report *report, struct table **out, struct error *error);
bool report_make_reasoning(const struct report *report, struct table **out, struct error *error);
bool report_make_cost(const struct report *report, struct table **out, struct error *error);
bool report_make_leaderboard(const struct report *report, struct table **out, struct error *error);

/* B against A at the highest limit that both planned: one block of rows per definition that both have, and the mean
 * over them. Two reports, which may be of one set. ERROR_INPUT when nothing is common, or when it is not clear which
 * of several series to compare. `margin` is what counts as the same, in points of a rate (0.05) and in speed-up. */
MUST_CHECK bool report_make_diff(const struct report *a, const struct report *b, const char *name, double margin,
                                 struct table **out, struct error *error);

/* Part of a report: the series whose model or run is `name`. ERROR_NOT_FOUND names what there is. */
MUST_CHECK bool report_select(struct report *report, const char *name, struct error *error);

#endif
