/* How long models reason, as in the paper's figures 7 and 15. */
#include <math.h>

#include "report/figure.h"
#include "report/figure_chart.h"
#include "report/flow.h"

enum { PANELS_MAX = 24, PAGE_WIDTH = 1480, TURNS_MAX = 16, PANEL_HEIGHT = 160, GAP_LEFT = 50, GAP = 46 };

/* A panel: boxes side by side. */
struct boxes {
    const char *heading;
    struct flow_reasoning *items; /* turns 0: no box */
    const char **labels;          /* NULL: numbered from 0 */
    color *inks;
    size_t count;
};

static double highest(const struct boxes *panels, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++)
        for (size_t b = 0; b < panels[i].count; b++)
            if (panels[i].items[b].percentile95.known)
                most = fmax(most, panels[i].items[b].percentile95.value);
    return most;
}

/* Whiskers to the 5th and 95th percentile, a box between the quartiles, the median in it. In thousands. */
static void draw_box(const struct chart *chart, const struct flow_reasoning *item, double x, color ink)
{
    struct drawing *drawing = chart->drawing;
    double half = fmin((chart->right - chart->left) / (chart->x_high - chart->x_low) * 0.32, 16);
    double middle = chart_x(chart, x);
    double median = chart_y(chart, item->quartile[1].value / 1000);

    drawing_line(drawing, (struct point){middle, chart_y(chart, item->percentile5.value / 1000)},
                 (struct point){middle, chart_y(chart, item->percentile95.value / 1000)}, INK_SOFT, 1);
    drawing_raised_rect(drawing, (struct point){middle - half, chart_y(chart, item->quartile[2].value / 1000)},
                        (struct point){middle + half, chart_y(chart, item->quartile[0].value / 1000)}, ink);
    drawing_raised_rect(drawing, (struct point){middle - half, median - 1}, (struct point){middle + half, median + 1},
                        0x000000);
}

static void draw_boxes(struct drawing *drawing, const struct boxes *boxes, struct point at, double width, double most)
{
    struct chart chart = {
        drawing,           at.x, at.x + width, at.y, at.y + PANEL_HEIGHT, -0.5, (double)boxes->count - 0.5, 0,
        most / 1000 * 1.05};

    chart_heading(&chart, boxes->heading);
    chart_axes(&chart, 5, 0);
    for (size_t i = 0; i < boxes->count; i++) {
        if (boxes->items[i].turns)
            draw_box(&chart, &boxes->items[i], (double)i, boxes->inks[i]);
        if (!boxes->labels)
            drawing_text(drawing, (struct point){chart_x(&chart, (double)i), chart.bottom + 11},
                         arena_printf(drawing->arena, "%zu", i), TEXT_SMALL, INK_SOFT, ALIGN_CENTER);
    }
}

/* Lays the panels out; `legend_count` rows are told above them. */
static struct drawing *lay_out(struct arena *arena, const char *id, const char *title, const struct boxes *panels,
                               size_t count, double panel_width, const struct legend_item *legend, size_t legend_count,
                               const char *note)
{
    size_t shown = count < PANELS_MAX ? count : PANELS_MAX;
    size_t fitting = (size_t)(PAGE_WIDTH / (panel_width + GAP_LEFT));
    size_t columns = fitting ? fitting : 1;
    size_t lines;
    double most = highest(panels, count);
    struct drawing *drawing;
    double y;

    if (!(most > 0))
        return NULL;
    columns = shown < columns && shown ? shown : columns;
    lines = (shown + columns - 1) / columns;
    drawing = drawing_new(arena, id, title, 0, 0);
    drawing->width = fmax(2 * CHART_MARGIN + (double)columns * (panel_width + GAP_LEFT) + 10, 640);
    y = chart_title(drawing, title);
    y = legend_count ? chart_legend(drawing, legend, legend_count, y) : y;
    for (size_t i = 0; i < shown; i++)
        draw_boxes(drawing, &panels[i],
                   (struct point){CHART_MARGIN + chart_offset(i % columns, panel_width + GAP_LEFT) + GAP_LEFT,
                                  y + 24 + chart_offset(i / columns, PANEL_HEIGHT + GAP)},
                   panel_width, most);
    y += 16 + (double)lines * (PANEL_HEIGHT + GAP);
    drawing_text(drawing, (struct point){CHART_MARGIN, y}, note, TEXT_SMALL, INK_SOFT, ALIGN_LEFT);
    if (shown < count)
        drawing_text(drawing, (struct point){CHART_MARGIN, y + 14},
                     arena_printf(arena, "the first %zu of %zu", shown, count), TEXT_SMALL, INK_SOFT, ALIGN_LEFT);
    drawing->height = y + (shown < count ? 28 : 14);
    return drawing;
}

static size_t room_of(const struct figure_view *view)
{
    size_t room = 0;

    for (size_t row = 0; row < view->row_count; row++)
        for (size_t d = 0; d < view->definition_count; d++) {
            const struct metric_scope *scope = figure_scope(view, row, d);
            for (uint32_t i = 0; scope && i < scope->set->series[scope->series].trajectory_count; i++)
                room += series_trajectories(scope->set, &scope->set->series[scope->series])[i].turn_count;
        }
    return room;
}

/* Lengths of one row, on one definition (SIZE_MAX: all), of turns `first` to `last`. */
static struct flow_reasoning reasoning_of(const struct figure_view *view, size_t row, size_t definition, int first,
                                          int last, double *values)
{
    size_t count = 0;

    for (size_t d = 0; d < view->definition_count; d++)
        if ((definition == SIZE_MAX || d == definition) && figure_scope(view, row, d))
            count = flow_reasoning_collect(figure_scope(view, row, d), first, last, values, count);
    return count ? flow_reasoning_of(values, count) : (struct flow_reasoning){0};
}

static struct boxes boxes_new(struct arena *arena, const char *heading, size_t count)
{
    return (struct boxes){heading, arena_calloc(arena, count, sizeof(struct flow_reasoning)), NULL,
                          arena_calloc(arena, count, sizeof(color)), count};
}

struct drawing *figure_reasoning_by_turn(struct arena *arena, const char *id, const char *title,
                                         const struct figure_view *view)
{
    AUTO_ARENA *scratch = arena_new();
    size_t turns = (size_t)(view->limit < TURNS_MAX ? view->limit : TURNS_MAX);
    struct boxes *panels = arena_calloc(scratch, view->row_count, sizeof *panels);
    double *values = arena_calloc(scratch, room_of(view), sizeof *values);

    for (size_t row = 0; row < view->row_count; row++) {
        panels[row] = boxes_new(scratch, view->rows[row].label, turns);
        for (size_t turn = 0; turn < turns; turn++) {
            panels[row].items[turn] = reasoning_of(view, row, SIZE_MAX, (int)turn, (int)turn, values);
            panels[row].inks[turn] = figure_ink(0);
        }
    }
    return lay_out(arena, id, title, panels, view->row_count, 250, NULL, 0,
                   "x: turn; y: thousand tokens. Box: quartiles, line: 5 to 95 %, black: median");
}

struct drawing *figure_reasoning_by_row(struct arena *arena, const char *id, const char *title,
                                        const struct figure_view *view)
{
    AUTO_ARENA *scratch = arena_new();
    size_t rows = view->row_count < FIGURE_ROWS_MAX ? view->row_count : FIGURE_ROWS_MAX;
    struct boxes *panels = arena_calloc(scratch, view->definition_count, sizeof *panels);
    struct legend_item legend[FIGURE_ROWS_MAX] = {{0}};
    double *values = arena_calloc(scratch, room_of(view), sizeof *values);

    for (size_t row = 0; row < rows; row++)
        legend[row] = (struct legend_item){view->rows[row].label, figure_ink(row)};
    for (size_t d = 0; d < view->definition_count; d++) {
        panels[d] = boxes_new(scratch, view->definitions[d], rows);
        panels[d].labels = arena_calloc(scratch, rows, sizeof(char *));
        for (size_t row = 0; row < rows; row++) {
            panels[d].items[row] = reasoning_of(view, row, d, 0, view->limit - 1, values);
            panels[d].inks[row] = legend[row].ink;
        }
    }
    return lay_out(arena, id, title, panels, view->definition_count, 90 + 28 * (double)rows, legend, rows,
                   "y: thousand tokens of a turn. Box: quartiles, line: 5 to 95 %, black: median");
}
