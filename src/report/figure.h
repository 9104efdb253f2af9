/*
 * The figures of a report: drawings of the same numbers that its tables hold.
 *
 * A view is what a figure compares: rows (models, checkpoints, conditions) on definitions, up to a turn limit. The
 * views of a report are its architectures; those of the paper's figures are lists of runs (paper_figures.h). Pure.
 */
#ifndef PTXBENCH_REPORT_FIGURE_H
#define PTXBENCH_REPORT_FIGURE_H

#include "report/drawing.h"
#include "report/report.h"

struct figure_row {
    const char *label;
    struct metric_scope *scopes; /* one for each definition of the view; `set` NULL: no run */
};

struct figure_view {
    const char *id;   /* end of the figures' ids: "hopper" */
    const char *name; /* in titles: "Hopper" */
    int limit;
    const struct metric_options *options;
    const char **definitions;
    size_t definition_count;
    struct figure_row *rows;
    size_t row_count;
};

/* One line of panels of a Fast_p figure. The strips of a figure have the same rows. */
struct figure_strip {
    const struct figure_view *view;
    bool target; /* Fast_p^Inst */
};

struct figures {
    struct drawing **items; /* arena */
    size_t count;
};

/* Rows that a Fast_p figure holds: as many as there are inks. */
enum { FIGURE_ROWS_MAX = 6 };

/* An ink for each row, told apart also by the colour-blind (after Okabe and Ito), on white. */
color figure_ink(size_t row);
color figure_outcome_ink(int flow_state);

/* An empty view in the arena. */
struct figure_view *figure_view_new(struct arena *arena, const char *id, const char *name, size_t rows,
                                    const char **definitions, size_t definition_count);

/* The scope of a row on a definition, or NULL. */
const struct metric_scope *figure_scope(const struct figure_view *view, size_t row, size_t definition);

/* Rows [begin, end) of a view, and the definitions that any of them has. */
struct figure_view *figure_view_slice(struct arena *arena, const struct figure_view *view, const char *id, size_t begin,
                                      size_t end);

/* Curves with the band between prompt variants, and the best speed-up of each row. */
struct drawing *figure_fastp(struct arena *arena, const char *id, const char *title, const struct figure_strip *strips,
                             size_t strip_count);

/* Correctness and best speed-up, a cell for each row and definition. */
struct drawing *figure_heatmap(struct arena *arena, const char *id, const char *title, const struct figure_view *view,
                               bool target);

/* Shares of outcomes, turn by turn, a panel for each row. */
struct drawing *figure_outcomes(struct arena *arena, const char *id, const char *title, const struct figure_view *view);

/* Quartiles of reasoning tokens: a panel for each row with a box for each turn, or a panel for each definition with a
 * box for each row. NULL when no length is known. */
struct drawing *figure_reasoning_by_turn(struct arena *arena, const char *id, const char *title,
                                         const struct figure_view *view);
struct drawing *figure_reasoning_by_row(struct arena *arena, const char *id, const char *title,
                                        const struct figure_view *view);

/* What becomes of trajectories from turn to turn, a panel for each row: states are lines of boxes with the number of
 * trajectories in them, the width of a connection is their share. */
struct drawing *figure_transitions(struct arena *arena, const char *id, const char *title,
                                   const struct figure_view *view);

/* Tokens, and money where it is known, per solved task. NULL when neither is known. */
struct drawing *figure_cost(struct arena *arena, const char *id, const char *title, const struct figure_view *view);

/* Every figure of a report, architecture by architecture. */
struct figures figures_of_report(const struct report *report, struct arena *arena);

#endif
