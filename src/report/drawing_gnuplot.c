/*
 * A drawing as gnuplot commands: one plot whose axes are the page's pixels. Rectangles, dots and paths of one style are
 * one data block each; texts are labels.
 */
#include <ctype.h>
#include <string.h>

#include "report/drawing.h"

struct writer {
    struct buffer *out;
    const struct drawing *drawing;
    struct buffer plot; /* elements of the plot command */
    int blocks;
};

/* A gnuplot string. Whatever could mean something to it is an octal escape. */
static void write_string(struct buffer *out, const char *text)
{
    (void)buffer_append_text(out, "\"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x80 && (isalnum(c) || strchr(" ._+-/()%,:", c)))
            (void)buffer_append(out, text, 1);
        else
            (void)buffer_printf(out, "\\%03o", c);
    }
    (void)buffer_append_text(out, "\"");
}

/* Our y goes down, gnuplot's up. */
static double up(const struct writer *writer, double y)
{
    return writer->drawing->height - y;
}

static void write_rects(struct writer *writer, bool raised)
{
    size_t count = 0;

    for (size_t i = 0; i < writer->drawing->rects.count; i++) {
        const struct drawing_rect *rect = &writer->drawing->rects.items[i];
        if (rect->raised != raised)
            continue;
        if (count++ == 0)
            (void)buffer_printf(writer->out, "$b%d << EOD\n", ++writer->blocks);
        (void)buffer_printf(writer->out, "%.1f %.1f %.1f %.1f %u\n", rect->from.x, rect->to.x, up(writer, rect->from.y),
                            up(writer, rect->to.y), rect->fill);
    }
    if (!count)
        return;
    (void)buffer_append_text(writer->out, "EOD\n");
    (void)buffer_printf(&writer->plot, ", $b%d using 1:3:1:2:3:4:5 with boxxyerror fs solid noborder lc rgb variable",
                        writer->blocks);
}

static bool is_same_style(const struct drawing_style *a, const struct drawing_style *b)
{
    return a->ink == b->ink && a->dashed == b->dashed && !(a->width < b->width) && !(a->width > b->width);
}

static void write_style(struct writer *writer, const struct drawing_style *style)
{
    if (style->width > 0)
        (void)buffer_printf(&writer->plot, ", $b%d using 1:2 with lines lw %.2f dt %d lc rgb 0x%08x", writer->blocks,
                            style->width, style->dashed ? 2 : 1, style->ink);
    else
        (void)buffer_printf(&writer->plot, ", $b%d using 1:2 with filledcurves closed fs solid noborder fc rgb 0x%08x",
                            writer->blocks, style->ink);
}

static void write_points(struct writer *writer, const struct drawing_path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        struct point point = writer->drawing->points.items[path->begin + i];
        (void)buffer_printf(writer->out, "%.1f %.1f\n", point.x, up(writer, point.y));
    }
    (void)buffer_append_text(writer->out, "\n");
}

/* All areas, or all lines: a block for each style, in the order of first use. */
static void write_paths(struct writer *writer, bool areas)
{
    const struct drawing_path *paths = writer->drawing->paths.items;
    size_t count = writer->drawing->paths.count;

    for (size_t i = 0; i < count; i++) {
        bool first = !(paths[i].style.width > 0) == areas;
        for (size_t j = 0; j < i && first; j++)
            first = !is_same_style(&paths[j].style, &paths[i].style);
        if (!first)
            continue;
        (void)buffer_printf(writer->out, "$b%d << EOD\n", ++writer->blocks);
        for (size_t j = i; j < count; j++)
            if (is_same_style(&paths[j].style, &paths[i].style))
                write_points(writer, &paths[j]);
        (void)buffer_append_text(writer->out, "EOD\n");
        write_style(writer, &paths[i].style);
    }
}

static void write_dots(struct writer *writer)
{
    if (!writer->drawing->dots.count)
        return;
    (void)buffer_printf(writer->out, "$b%d << EOD\n", ++writer->blocks);
    for (size_t i = 0; i < writer->drawing->dots.count; i++) {
        const struct drawing_dot *dot = &writer->drawing->dots.items[i];
        (void)buffer_printf(writer->out, "%.1f %.1f %.1f %u\n", dot->at.x, up(writer, dot->at.y), dot->radius,
                            dot->fill);
    }
    (void)buffer_append_text(writer->out, "EOD\n");
    (void)buffer_printf(&writer->plot, ", $b%d using 1:2:3:4 with circles fs solid noborder lc rgb variable",
                        writer->blocks);
}

static void write_texts(struct writer *writer)
{
    static const char *const aligns[] = {"left", "center", "right"};

    for (size_t i = 0; i < writer->drawing->texts.count; i++) {
        const struct drawing_text *text = &writer->drawing->texts.items[i];
        (void)buffer_append_text(writer->out, "set label ");
        write_string(writer->out, text->text);
        (void)buffer_printf(writer->out, " at %.1f,%.1f %s front font \",%.0f\" tc rgb 0x%06x%s\n", text->at.x,
                            up(writer, text->at.y), aligns[text->align], text->size, text->ink,
                            text->degrees ? " rotate by 90" : "");
    }
}

void drawing_write_gnuplot(struct buffer *out, const struct drawing *drawing)
{
    struct writer writer = {.out = out, .drawing = drawing, .plot = buffer_new(1 << 24)};

    (void)buffer_append_text(out, "unset border\nunset tics\nunset key\nunset label\nset margins 0,0,0,0\n");
    (void)buffer_printf(out, "set xrange [0:%.0f]\nset yrange [0:%.0f]\n", drawing->width, drawing->height);
    write_rects(&writer, false);
    write_paths(&writer, true);
    write_paths(&writer, false);
    write_rects(&writer, true);
    write_dots(&writer);
    write_texts(&writer);
    (void)buffer_printf(out, "plot NaN%s\n", writer.plot.data);
    out->dropped += writer.plot.dropped;
    buffer_free(&writer.plot);
}
