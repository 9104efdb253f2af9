/* Fast_p curves, as in the paper's figures 2, 3, 8, 10, 13 and 14. */
#include <math.h>

#include "report/figure.h"
#include "report/figure_chart.h"

enum {
    PANEL_WIDTH = 236,
    PANEL_HEIGHT = 176,
    GAP_LEFT = 44,
    GAP_TOP = 40,
    GAP_BOTTOM = 22,
    COLUMNS_MAX = 5,
    BEST_LINE = 14,  /* height of a line of the list of best speed-ups */
    BEST_WIDTH = 62, /* width of that list */
    STEPS_MAX = 400  /* of a painted curve; there are no more pixels */
};

struct panel {
    struct chart chart;
    struct fastp_band bands[FIGURE_ROWS_MAX];
    size_t row_count;
    size_t listed; /* rows with a best speed-up */
};

static void read_bands(struct panel *panel, const struct figure_strip *strip, size_t definition, struct arena *arena)
{
    const struct figure_view *view = strip->view;

    panel->row_count = view->row_count;
    for (size_t row = 0; row < view->row_count; row++) {
        const struct metric_scope *scope = figure_scope(view, row, definition);
        if (scope)
            panel->bands[row] = metric_fastp_band(arena, scope, view->limit, strip->target, view->options);
        panel->listed += panel->bands[row].best > 0;
    }
}

/* Highest value of any band from p on. */
static double top_from(const struct panel *panel, double p)
{
    double top = 0;

    for (size_t row = 0; row < panel->row_count; row++) {
        const struct fastp_band *band = &panel->bands[row];
        for (size_t i = 0; i < band->count; i++)
            if (i + 1 == band->count || band->steps[i + 1].p > p)
                top = fmax(top, 100 * band->steps[i].high);
    }
    return top;
}

/* Scales that hold all curves, and leave the upper right corner to the list of best speed-ups. */
static void scale(struct panel *panel)
{
    struct chart *chart = &panel->chart;
    double best = 0;
    double free_from;
    double share;

    for (size_t row = 0; row < panel->row_count; row++)
        best = fmax(best, panel->bands[row].best);
    chart->x_high = best > 0 ? fmin(fmax(best * 1.04, 1e-6), 1e300) : 1;
    chart->y_high = fmax(top_from(panel, 0) * 1.05, 1);
    free_from = chart->x_high * (1 - (double)BEST_WIDTH / PANEL_WIDTH);
    share = 1 - ((double)panel->listed * BEST_LINE + 4) / PANEL_HEIGHT;
    if (panel->listed && share > 0.1)
        chart->y_high = fmax(chart->y_high, top_from(panel, free_from) * 1.03 / share);
}

static void draw_band(const struct chart *chart, const struct fastp_band *band, color ink)
{
    size_t stride = band->count / STEPS_MAX + 1;
    double end = chart_x(chart, band->best);

    if (band->variants < 2)
        return;
    drawing_path(chart->drawing, (struct drawing_style){0xd0000000u | ink, 0, false});
    for (size_t i = 0; i < band->count; i += stride) {
        double right = i + stride < band->count ? chart_x(chart, band->steps[i + stride].p) : end;
        double y = chart_y(chart, 100 * band->steps[i].high);
        drawing_point(chart->drawing, chart_x(chart, band->steps[i].p), y);
        drawing_point(chart->drawing, right, y);
    }
    for (size_t n = (band->count + stride - 1) / stride; n-- > 0;) {
        size_t i = n * stride;
        double right = i + stride < band->count ? chart_x(chart, band->steps[i + stride].p) : end;
        double y = chart_y(chart, 100 * band->steps[i].low);
        drawing_point(chart->drawing, right, y);
        drawing_point(chart->drawing, chart_x(chart, band->steps[i].p), y);
    }
}

static void draw_mean(const struct chart *chart, const struct fastp_band *band, color ink)
{
    size_t stride = band->count / STEPS_MAX + 1;

    drawing_path(chart->drawing, (struct drawing_style){ink, 1.8, false});
    for (size_t i = 0; i < band->count; i += stride) {
        double right =
            i + stride < band->count ? chart_x(chart, band->steps[i + stride].p) : chart_x(chart, band->best);
        double y = chart_y(chart, 100 * band->steps[i].mean);
        drawing_point(chart->drawing, chart_x(chart, band->steps[i].p), y);
        drawing_point(chart->drawing, right, y);
    }
    drawing_point(chart->drawing, chart_x(chart, band->best), chart->bottom);
    drawing_dot(chart->drawing, (struct point){chart_x(chart, band->best), chart->bottom}, 3, ink);
}

/* The reference's own speed; below the list of best speed-ups. */
static void draw_par(const struct chart *chart, double top)
{
    double x = chart_x(chart, 1);

    if (chart->x_high <= 1 || x > chart->right)
        return;
    drawing_path(chart->drawing, (struct drawing_style){INK_AXIS, 1, true});
    drawing_point(chart->drawing, x, top);
    drawing_point(chart->drawing, x, chart->bottom);
}

static void draw_panel(struct panel *panel, const char *heading)
{
    struct chart *chart = &panel->chart;
    size_t line = 0;

    scale(panel);
    chart_heading(chart, heading);
    chart_axes(chart, panel->listed ? 5 : 0, panel->listed ? 5 : 0);
    if (panel->listed)
        draw_par(chart, fmin(chart->top + 4 + (double)panel->listed * BEST_LINE, chart->bottom));
    for (size_t row = 0; row < panel->row_count; row++)
        if (panel->bands[row].best > 0)
            draw_band(chart, &panel->bands[row], figure_ink(row));
    for (size_t row = 0; row < panel->row_count; row++) {
        const struct fastp_band *band = &panel->bands[row];
        if (!(band->best > 0))
            continue;
        draw_mean(chart, band, figure_ink(row));
        double y = chart->top + 4 + BEST_LINE * ((double)line++ + 0.5);
        drawing_raised_rect(chart->drawing, (struct point){chart->right - 12, y - 4},
                            (struct point){chart->right - 2, y + 4}, figure_ink(row));
        drawing_text(chart->drawing, (struct point){chart->right - 16, y},
                     chart_number(chart->drawing->arena, band->best, 3), TEXT_NORMAL, INK_TEXT, ALIGN_RIGHT);
    }
    if (!panel->listed)
        drawing_text(chart->drawing, (struct point){(chart->left + chart->right) / 2, (chart->top + chart->bottom) / 2},
                     "no such turn", TEXT_NORMAL, INK_SOFT, ALIGN_CENTER);
}

/* Definitions without a qualifying turn have a panel only where that costs no further line of panels. */
static bool is_left_out(const struct figure_view *view, const struct panel *panel)
{
    return panel->listed == 0 && view->definition_count > COLUMNS_MAX;
}

static double note_left_out(struct drawing *drawing, const char *names, double y)
{
    const char *text = arena_printf(drawing->arena, "no such turn: %s", names + 2);

    drawing_text(drawing, (struct point){CHART_MARGIN, y},
                 chart_fit(drawing->arena, text, TEXT_SMALL, drawing->width - 2 * CHART_MARGIN), TEXT_SMALL, INK_SOFT,
                 ALIGN_LEFT);
    return y + 14;
}

/* A strip's name above its panels; then the panels, in as many lines as they need. Returns the y below it. */
static double draw_strip(struct drawing *drawing, const struct figure_strip *strip, size_t columns, double top)
{
    const struct figure_view *view = strip->view;
    const char *left_out = "";
    size_t drawn = 0;
    double y = top + 6;

    drawing_text(drawing, (struct point){CHART_MARGIN, top + 8},
                 arena_printf(drawing->arena, "%s%s%s", view->name, *view->name ? ", " : "",
                              strip->target ? "only turns that execute target instructions" : "all correct turns"),
                 TEXT_HEADING, INK_SOFT, ALIGN_LEFT);
    for (size_t d = 0; d < view->definition_count; d++) {
        AUTO_ARENA *arena = arena_new();
        struct panel panel = {.chart = {.drawing = drawing}};
        read_bands(&panel, strip, d, arena);
        if (is_left_out(view, &panel)) {
            left_out = arena_printf(drawing->arena, "%s, %s", left_out, view->definitions[d]);
            continue;
        }
        panel.chart.left = CHART_MARGIN + chart_offset(drawn % columns, PANEL_WIDTH + GAP_LEFT) + GAP_LEFT;
        panel.chart.right = panel.chart.left + PANEL_WIDTH;
        panel.chart.top = y + chart_offset(drawn / columns, PANEL_HEIGHT + GAP_TOP + GAP_BOTTOM) + GAP_TOP;
        panel.chart.bottom = panel.chart.top + PANEL_HEIGHT;
        draw_panel(&panel, view->definitions[d]);
        drawn++;
    }
    y += chart_offset((drawn + columns - 1) / columns, PANEL_HEIGHT + GAP_TOP + GAP_BOTTOM) + 10;
    return *left_out ? note_left_out(drawing, left_out, y + (drawn ? 0 : 14)) : y;
}

struct drawing *figure_fastp(struct arena *arena, const char *id, const char *title, const struct figure_strip *strips,
                             size_t strip_count)
{
    struct legend_item items[FIGURE_ROWS_MAX] = {{0}};
    const struct figure_view *first = strips[0].view;
    size_t columns = 2;
    double y;

    for (size_t i = 0; i < strip_count; i++)
        columns = strips[i].view->definition_count > columns ? strips[i].view->definition_count : columns;
    columns = columns < COLUMNS_MAX ? columns : COLUMNS_MAX;
    double width = 2 * CHART_MARGIN + (double)columns * (PANEL_WIDTH + GAP_LEFT) + 10;
    struct drawing *drawing = drawing_new(arena, id, title, fmax(width, 720), 0);
    for (size_t row = 0; row < first->row_count; row++)
        items[row] = (struct legend_item){first->rows[row].label, figure_ink(row)};
    y = chart_legend(drawing, items, first->row_count, chart_title(drawing, title));
    for (size_t i = 0; i < strip_count; i++)
        y = draw_strip(drawing, &strips[i], columns, y);
    drawing_text(
        drawing, (struct point){CHART_MARGIN, y + 4},
        "x: speed-up p over the reference; y: % of turns above p, mean over prompt variants; band: from the least "
        "to the greatest variant",
        TEXT_SMALL, INK_SOFT, ALIGN_LEFT);
    drawing->height = y + 22;
    return drawing;
}
