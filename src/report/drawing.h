/*
 * A drawing: rectangles, lines, areas, dots and texts on a page, measured in px from the top left corner. Figures are
 * pure functions that return one; gnuplot only paints it (figure_render.h). So every place is known before anything is
 * painted, and a test can see that no two texts overlap.
 *
 * Painted in this order: rectangles, areas, lines, raised rectangles, dots, texts. All memory is the arena's; texts are
 * copied. Not thread-safe.
 */
#ifndef PTXBENCH_REPORT_DRAWING_H
#define PTXBENCH_REPORT_DRAWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/record.h"

struct point {
    double x;
    double y;
};

/* 0xTTRRGGBB; TT is transparency, 0 opaque. */
typedef uint32_t color;

enum text_align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT };

struct drawing_rect {
    struct point from;
    struct point to;
    color fill;
    bool raised;
};

/* How a line or an area looks. */
struct drawing_style {
    color ink;
    double width; /* px; 0: an area */
    bool dashed;
};

struct drawing_path {
    struct drawing_style style;
    size_t begin; /* in points */
    size_t count;
};

struct drawing_dot {
    struct point at;
    double radius;
    color fill;
};

/* `at` is the middle of the text's height at the aligned end. */
struct drawing_text {
    struct point at;
    const char *text;
    double size; /* px */
    color ink;
    enum text_align align;
    int degrees; /* 0, or 90: reads upwards */
};

struct drawing {
    struct arena *arena;
    const char *id;    /* "fastp_hopper": also the name of the file */
    const char *title; /* one line */
    double width;
    double height;
    RECORD_LIST(struct drawing_rect) rects;
    RECORD_LIST(struct drawing_path) paths;
    RECORD_LIST(struct point) points;
    RECORD_LIST(struct drawing_dot) dots;
    RECORD_LIST(struct drawing_text) texts;
};

enum { DRAWING_TEXT_MAX = 240 }; /* characters of a text; longer ones end with an ellipsis */

struct drawing *drawing_new(struct arena *arena, const char *id, const char *title, double width, double height);

void drawing_rect(struct drawing *drawing, struct point from, struct point to, color fill);
void drawing_raised_rect(struct drawing *drawing, struct point from, struct point to, color fill);
void drawing_line(struct drawing *drawing, struct point from, struct point to, color ink, double width);

/* Starts a line or an area (width 0); points are added to the newest one. */
void drawing_path(struct drawing *drawing, struct drawing_style style);
void drawing_point(struct drawing *drawing, double x, double y);

void drawing_dot(struct drawing *drawing, struct point at, double radius, color fill);
void drawing_text(struct drawing *drawing, struct point at, const char *text, double size, color ink,
                  enum text_align align);
void drawing_text_upwards(struct drawing *drawing, struct point at, const char *text, double size, color ink,
                          enum text_align align);

/* Upper estimate of the width of a text in DejaVu Sans, the widest of the usual fonts. px. */
double drawing_text_width(const char *text, double size);

/* Names of the first two texts that overlap or leave the page, in the arena; NULL: there are none. */
const char *drawing_overlap(const struct drawing *drawing);

/* Commands that paint it with the terminal that is set. Every text is escaped: it cannot be a command. */
void drawing_write_gnuplot(struct buffer *out, const struct drawing *drawing);

#endif
