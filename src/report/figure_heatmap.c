/* Heat maps, as in the paper's figures 5 and 6. */
#include <math.h>
#include <string.h>

#include "report/figure.h"
#include "report/figure_chart.h"

enum { CELL_WIDTH = 62, CELL_HEIGHT = 24, ROW_NAME_MAX = 300, GAP = 26 };

/* From light to dark blue: one hue, so that it is read without colours too. */
static color heat(double share)
{
    static const color stops[] = {0xf7fbff, 0xc6dbef, 0x6baed6, 0x2171b5, 0x08306b};
    const size_t last = ARRAY_LEN(stops) - 1;
    double at = fmin(fmax(share, 0), 1) * (double)last;
    size_t i = (size_t)at < last ? (size_t)at : last - 1;

    return chart_mix(stops[i], stops[i + 1], at - (double)i);
}

/* Of every row and definition; unknown where there is no run. */
struct grid {
    struct number *values;
    double most;
    const char *heading;
    int decimals;
};

static void fill_grids(const struct figure_view *view, bool target, struct arena *arena, struct grid grids[2])
{
    struct metric_options options = *view->options;

    options.resamples = -1;
    for (int i = 0; i < 2; i++)
        grids[i].values = arena_calloc(arena, view->row_count * view->definition_count, sizeof(struct number));
    for (size_t row = 0; row < view->row_count; row++) {
        for (size_t d = 0; d < view->definition_count; d++) {
            const struct metric_scope *scope = figure_scope(view, row, d);
            struct number *rate = &grids[0].values[row * view->definition_count + d];
            struct number *speedup = &grids[1].values[row * view->definition_count + d];
            if (!scope)
                continue;
            struct metrics metrics = metrics_of(scope, view->limit, &options);
            *rate = (target ? metrics.target_turn_correctness : metrics.turn_correctness).value;
            *speedup = (target ? metrics.target_best_speedup : metrics.best_speedup).value;
            rate->value *= 100;
            grids[0].most = fmax(grids[0].most, rate->known ? rate->value : 0);
            grids[1].most = fmax(grids[1].most, speedup->known ? speedup->value : 0);
        }
    }
}

static void draw_cell(struct drawing *drawing, const struct grid *grid, struct number value, struct point at)
{
    struct point end = {at.x + CELL_WIDTH - 1, at.y + CELL_HEIGHT - 1};
    color fill = value.known ? heat(grid->most > 0 ? value.value / grid->most : 0) : 0xeeeeee;
    const char *text = "\xc2\xb7"; /* no run */

    if (value.known)
        text = value.value > 0 ? chart_number(drawing->arena, value.value, grid->decimals) : "\xe2\x80\x93";
    drawing_rect(drawing, at, end, fill);
    drawing_text(drawing, (struct point){at.x + CELL_WIDTH / 2.0, at.y + CELL_HEIGHT / 2.0}, text, TEXT_NORMAL,
                 chart_contrast(fill), ALIGN_CENTER);
}

static double name_height(const struct figure_view *view)
{
    double height = 0;

    for (size_t d = 0; d < view->definition_count; d++)
        height = fmax(height, drawing_text_width(view->definitions[d], TEXT_NORMAL));
    return fmin(height, 260);
}

static double name_width(const struct figure_view *view)
{
    double width = 40;

    for (size_t row = 0; row < view->row_count; row++)
        width = fmax(width, drawing_text_width(view->rows[row].label, TEXT_NORMAL));
    return fmin(width, ROW_NAME_MAX);
}

static void draw_grid(struct drawing *drawing, const struct figure_view *view, const struct grid *grid, struct point at,
                      double height)
{
    drawing_text(drawing, (struct point){at.x, at.y - height - 22}, grid->heading, TEXT_HEADING, INK_TEXT, ALIGN_LEFT);
    for (size_t d = 0; d < view->definition_count && height > 0; d++)
        drawing_text_upwards(drawing, (struct point){at.x + ((double)d + 0.5) * CELL_WIDTH, at.y - 6},
                             chart_fit(drawing->arena, view->definitions[d], TEXT_NORMAL, height), TEXT_NORMAL,
                             INK_TEXT, ALIGN_LEFT);
    for (size_t row = 0; row < view->row_count; row++)
        for (size_t d = 0; d < view->definition_count; d++)
            draw_cell(drawing, grid, grid->values[row * view->definition_count + d],
                      (struct point){at.x + (double)d * CELL_WIDTH, at.y + (double)row * CELL_HEIGHT});
}

struct drawing *figure_heatmap(struct arena *arena, const char *id, const char *title, const struct figure_view *view,
                               bool target)
{
    struct grid grids[2] = {{.heading = "turn correctness, %", .decimals = 1},
                            {.heading = "best speed-up", .decimals = 3}};
    double names = name_width(view);
    double height = name_height(view);
    double grid_width = fmax((double)view->definition_count * CELL_WIDTH, 150);
    double left = CHART_MARGIN + names + 8;
    bool below = view->definition_count > 10; /* two wide grids stand one below the other */
    double width = left + grid_width * (below ? 1 : 2) + (below ? 0 : GAP) + CHART_MARGIN;
    struct drawing *drawing = drawing_new(arena, id, title, fmax(width, 420), 0);
    double y = chart_title(drawing, title) + height + 36;

    fill_grids(view, target, arena, grids);
    for (int i = 0; i < 2; i++) {
        if (i == 0 || below)
            for (size_t row = 0; row < view->row_count; row++)
                drawing_text(drawing, (struct point){left - 8, y + ((double)row + 0.5) * CELL_HEIGHT},
                             chart_fit(arena, view->rows[row].label, TEXT_NORMAL, names), TEXT_NORMAL, INK_TEXT,
                             ALIGN_RIGHT);
        draw_grid(drawing, view, &grids[i], (struct point){left + (i && !below ? grid_width + GAP : 0), y},
                  i && below ? 0 : height); /* the columns of a grid below have their names above the first */
        if (i == 0 && below)
            y += (double)view->row_count * CELL_HEIGHT + 48;
    }
    y += (double)view->row_count * CELL_HEIGHT + 14;
    drawing_text(drawing, (struct point){CHART_MARGIN, y},
                 "\xe2\x80\x93: none; grey: no run; (2): a further run of the model", TEXT_SMALL, INK_SOFT, ALIGN_LEFT);
    drawing->height = y + 16;
    return drawing;
}
