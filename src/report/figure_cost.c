/* Bars of what a solved task costs. */
#include <math.h>

#include "report/figure.h"
#include "report/figure_chart.h"
#include "report/solved_cost.h"

enum { ROWS_MAX = 60, BAR_LINE = 22, NAME_MAX = 300, BARS_WIDTH = 330, VALUE_WIDTH = 150, GAP = 40 };

struct bars {
    const char *heading;
    struct number values[ROWS_MAX];
    double most;
    int decimals;
};

static void fill(struct bars *bars, size_t row, struct number value, double factor)
{
    value.known &= isfinite(value.value);
    bars->values[row] = (struct number){value.known, value.value * factor};
    if (value.known)
        bars->most = fmax(bars->most, value.value * factor);
}

static void draw_bars(struct drawing *drawing, const struct bars *bars, const struct solved_cost *costs, size_t rows,
                      struct point at)
{
    drawing_text(drawing, (struct point){at.x, at.y - 12}, bars->heading, TEXT_HEADING, INK_TEXT, ALIGN_LEFT);
    for (size_t row = 0; row < rows; row++) {
        double y = at.y + ((double)row + 0.5) * BAR_LINE;
        double length = bars->values[row].known ? bars->values[row].value / bars->most * BARS_WIDTH : 0;
        const char *text = costs[row].solved ? "not known" : "no task solved";
        if (bars->values[row].known) {
            text = chart_number(drawing->arena, bars->values[row].value, bars->decimals);
            drawing_rect(drawing, (struct point){at.x, y - 8}, (struct point){at.x + fmax(length, 1), y + 8},
                         figure_ink(0));
        }
        drawing_text(drawing, (struct point){at.x + length + 6, y}, text, TEXT_NORMAL,
                     bars->values[row].known ? INK_TEXT : INK_SOFT, ALIGN_LEFT);
    }
    drawing_line(drawing, at, (struct point){at.x, at.y + (double)rows * BAR_LINE}, INK_AXIS, 1);
}

struct drawing *figure_cost(struct arena *arena, const char *id, const char *title, const struct figure_view *view)
{
    struct bars charts[] = {{.heading = "thousand tokens per solved task", .decimals = 0},
                            {.heading = "thousand reasoning tokens per solved task", .decimals = 0},
                            {.heading = "$ per solved task", .decimals = 2}};
    size_t rows = view->row_count < ROWS_MAX ? view->row_count : ROWS_MAX;
    struct solved_cost *costs = arena_calloc(arena, rows, sizeof *costs);
    struct drawing *drawing = drawing_new(arena, id, title, 0, 0);
    double names = 40;
    double y = CHART_MARGIN + TEXT_TITLE + 34;
    double x;
    size_t shown = 0;

    for (size_t row = 0; row < rows; row++) {
        costs[row] = solved_cost_new();
        for (size_t d = 0; d < view->definition_count; d++)
            if (figure_scope(view, row, d))
                solved_cost_add(&costs[row], figure_scope(view, row, d), view->limit);
        fill(&charts[0], row, solved_cost_tokens(&costs[row]), 1e-3);
        fill(&charts[1], row, solved_cost_reasoning(&costs[row]), 1e-3);
        fill(&charts[2], row, solved_cost_usd(&costs[row]), 1);
        names = fmax(names, drawing_text_width(view->rows[row].label, TEXT_NORMAL));
    }
    names = fmin(names, NAME_MAX);
    x = CHART_MARGIN + names + 8;
    for (size_t i = 0; i < ARRAY_LEN(charts); i++) {
        if (!(charts[i].most > 0))
            continue;
        draw_bars(drawing, &charts[i], costs, rows, (struct point){x, y});
        x += BARS_WIDTH + VALUE_WIDTH;
        shown++;
    }
    for (size_t row = 0; row < rows; row++)
        drawing_text(drawing, (struct point){CHART_MARGIN + names, y + ((double)row + 0.5) * BAR_LINE},
                     chart_fit(arena, view->rows[row].label, TEXT_NORMAL, names), TEXT_NORMAL, INK_TEXT, ALIGN_RIGHT);
    drawing->width = fmax(x, 560);
    (void)chart_title(drawing, title);
    y += (double)rows * BAR_LINE + 16;
    drawing_text(drawing, (struct point){CHART_MARGIN, y},
                 "a task is one definition in one run; the turns of unsolved tasks are paid for too", TEXT_SMALL,
                 INK_SOFT, ALIGN_LEFT);
    drawing->height = y + 16;
    return shown ? drawing : NULL;
}
