/*
 * The paper's tables 1, 3, 7, 8 and 9 from the published turns, beside the published values.
 *
 * The data folder holds paper_turns.csv, paper_runs.csv, paper_dynamic_sass_by_run.csv and paper_tables.json
 * (docs/formats/turns.md). Rates are percent with one decimal, speed-ups have three; a dash is 0.
 */
#ifndef PTXBENCH_REPORT_PAPER_TABLES_H
#define PTXBENCH_REPORT_PAPER_TABLES_H

#include "report/metrics.h"
#include "report/table.h"

enum { PAPER_LIMITS = 3 };

/* One cell of a table of the paper: up to six values. */
struct paper_cell {
    const char *table;  /* "1", "3", "7", "8", "9" */
    const char *gpu;    /* "" where the paper's table has none */
    const char *row;    /* model, checkpoint or prompt */
    const char *column; /* definition, or for table 3 the metric */
    uint32_t series;
    uint32_t *variants; /* blocks of 4 trajectories that the paper used; none: all */
    size_t variant_count;
    bool speedup;
    bool has_target; /* the published values of target instructions are known */
    struct table_triplet published;
    struct metrics ours[PAPER_LIMITS];
};

struct paper_tables {
    int limits[PAPER_LIMITS];
    struct paper_cell *cells;
    size_t cell_count;
    const char **differences; /* "what: why", as the data folder explains them */
    size_t difference_count;
    const struct turn_set *set; /* borrowed */
};

/* Reads paper_tables.json (its root is `at`) and computes our values. */
MUST_CHECK bool paper_tables_read(struct json at, const struct turn_set *set, const struct metric_options *options,
                                  struct arena *arena, struct paper_tables *out, struct error *error);

/* Our value in the paper's unit, and whether it equals the published one to the paper's decimals. */
struct metric_value paper_cell_value(const struct paper_cell *cell, size_t limit_index, bool target);
bool paper_cell_agrees(const struct paper_cell *cell, size_t limit_index, bool target);

/* A table in the paper's layout with our values. */
struct table *paper_layout(const struct paper_tables *paper, const char *number, struct arena *arena);

/* A row per line of a cell of rates or of speed-ups: our values with intervals, the published ones, whether they agree.
 * NULL when the table has none of that kind. */
struct table *paper_comparison(const struct paper_tables *paper, const char *number, bool speedup, struct arena *arena);

/* How the aggregates by run derive from the turns: a row per count that does not, none when all do. `*checked` is the
 * number of compared counts. */
struct table *paper_aggregates(const struct turn_set *set, struct arena *arena, int64_t *checked);

/* Everything, in the order of docs/paper-tables.md: tables in the arena, NULL behind the last. */
struct table **paper_all(const struct paper_tables *paper, struct arena *arena);

#endif
