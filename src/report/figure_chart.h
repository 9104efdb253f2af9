/* What charts have in common: titles, legends, axes. Coordinates are those of the page (drawing.h). */
#ifndef PTXBENCH_REPORT_FIGURE_CHART_H
#define PTXBENCH_REPORT_FIGURE_CHART_H

#include "report/drawing.h"

#define INK_TEXT 0x1a1a1au
#define INK_SOFT 0x5a5a5au
#define INK_GRID 0xe3e3e3u
#define INK_AXIS 0x8a8a8au

enum { TEXT_TITLE = 15, TEXT_HEADING = 12, TEXT_NORMAL = 11, TEXT_SMALL = 10, CHART_MARGIN = 14 };

/* A rectangle on the page with a linear scale in each direction. */
struct chart {
    struct drawing *drawing;
    double left;
    double right;
    double top;
    double bottom;
    double x_low;
    double x_high;
    double y_low;
    double y_high;
};

/* A place on the page; never outside of the chart. */
double chart_x(const struct chart *chart, double x);
double chart_y(const struct chart *chart, double y);

/* Where the panel, row or cell `number` begins, `pitch` px apart. */
static inline double chart_offset(size_t number, double pitch)
{
    return (double)number * pitch;
}

/* A distance between ticks, of the form 1, 2 or 5 x 10^n, that gives at most `most` of them on [0, range]. */
double chart_step(double range, int most);

/* Title at the top of the page; returns the y below it. */
double chart_title(struct drawing *drawing, const char *title);

/* Frame, horizontal grid, ticks and their labels. `x_ticks` false: the caller labels that axis. */
void chart_axes(const struct chart *chart, int y_ticks, int x_ticks);

/* Heading above a chart, cut to its width. */
void chart_heading(const struct chart *chart, const char *text);

struct legend_item {
    const char *label;
    color ink;
};

/* Lines of marks with labels from `top` on, wrapped at the page's width; returns the y below it. */
double chart_legend(struct drawing *drawing, const struct legend_item *items, size_t count, double top);

/* The text cut to a width, an ellipsis in its middle, because names often differ at the end; in the arena. */
const char *chart_fit(struct arena *arena, const char *text, double size, double width);

/* A number for people; a huge one is short, too. In the arena. */
const char *chart_number(struct arena *arena, double value, int decimals);

/* A mix of two colours; share 0: the first. */
color chart_mix(color a, color b, double share);

/* Black or white, whichever is read better on it. */
color chart_contrast(color background);

#endif
