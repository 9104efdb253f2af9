#include "report/figure_chart.h"

#include <math.h>
#include <string.h>

static double share_of(double value, double low, double high)
{
    return fmin(fmax((value - low) / (high - low), 0), 1);
}

double chart_x(const struct chart *chart, double x)
{
    return chart->left + share_of(x, chart->x_low, chart->x_high) * (chart->right - chart->left);
}

double chart_y(const struct chart *chart, double y)
{
    return chart->bottom - share_of(y, chart->y_low, chart->y_high) * (chart->bottom - chart->top);
}

double chart_step(double range, int most)
{
    static const double factors[] = {1, 2, 5, 10};
    double power = pow(10, floor(log10(range / most)));

    for (size_t i = 0; i < ARRAY_LEN(factors); i++)
        if (range / (factors[i] * power) <= most)
            return factors[i] * power;
    return 10 * power;
}

double chart_title(struct drawing *drawing, const char *title)
{
    drawing_text(drawing, (struct point){CHART_MARGIN, CHART_MARGIN + TEXT_TITLE / 2.0},
                 chart_fit(drawing->arena, title, TEXT_TITLE, drawing->width - 2 * CHART_MARGIN), TEXT_TITLE, INK_TEXT,
                 ALIGN_LEFT);
    return CHART_MARGIN + TEXT_TITLE + 8;
}

/* Decimals that tell multiples of the step apart. */
static int decimals_of(double step)
{
    int decimals = 0;

    while (decimals < 6 && fabs(step - round(step)) > 1e-9) {
        step *= 10;
        decimals++;
    }
    return decimals;
}

static void draw_y_ticks(const struct chart *chart, int most)
{
    struct drawing *drawing = chart->drawing;
    double step = chart_step(chart->y_high - chart->y_low, most);
    int decimals = decimals_of(step);

    for (int i = 0; chart->y_low + i * step <= chart->y_high * (1 + 1e-9); i++) {
        double value = chart->y_low + i * step;
        double y = chart_y(chart, value);
        drawing_line(drawing, (struct point){chart->left, y}, (struct point){chart->right, y}, INK_GRID, 1);
        drawing_text(drawing, (struct point){chart->left - 5, y}, chart_number(drawing->arena, value, decimals),
                     TEXT_SMALL, INK_SOFT, ALIGN_RIGHT);
    }
}

static void draw_x_ticks(const struct chart *chart, int most)
{
    struct drawing *drawing = chart->drawing;
    double step = chart_step(chart->x_high - chart->x_low, most);
    int decimals = decimals_of(step);

    for (int i = 0; chart->x_low + i * step <= chart->x_high * (1 + 1e-9); i++) {
        double value = chart->x_low + i * step;
        double x = chart_x(chart, value);
        drawing_line(drawing, (struct point){x, chart->bottom}, (struct point){x, chart->bottom + 4}, INK_AXIS, 1);
        drawing_text(drawing, (struct point){x, chart->bottom + 12}, chart_number(drawing->arena, value, decimals),
                     TEXT_SMALL, INK_SOFT, ALIGN_CENTER);
    }
}

void chart_axes(const struct chart *chart, int y_ticks, int x_ticks)
{
    struct drawing *drawing = chart->drawing;

    if (y_ticks)
        draw_y_ticks(chart, y_ticks);
    if (x_ticks)
        draw_x_ticks(chart, x_ticks);
    drawing_line(drawing, (struct point){chart->left, chart->bottom}, (struct point){chart->right, chart->bottom},
                 INK_AXIS, 1);
    drawing_line(drawing, (struct point){chart->left, chart->top}, (struct point){chart->left, chart->bottom}, INK_AXIS,
                 1);
}

void chart_heading(const struct chart *chart, const char *text)
{
    double width = chart->right - chart->left;

    drawing_text(chart->drawing, (struct point){chart->left, chart->top - 9},
                 chart_fit(chart->drawing->arena, text, TEXT_HEADING, width), TEXT_HEADING, INK_TEXT, ALIGN_LEFT);
}

double chart_legend(struct drawing *drawing, const struct legend_item *items, size_t count, double top)
{
    enum { MARK = 12, LINE = 18 };
    double x = CHART_MARGIN;
    double y = top + LINE / 2.0;

    for (size_t i = 0; i < count; i++) {
        const char *label =
            chart_fit(drawing->arena, items[i].label, TEXT_NORMAL, drawing->width - 2 * CHART_MARGIN - 2 * MARK);
        double width = MARK + 5 + drawing_text_width(label, TEXT_NORMAL) + 14;
        if (x > CHART_MARGIN && x + width > drawing->width - CHART_MARGIN + 14) {
            x = CHART_MARGIN;
            y += LINE;
        }
        drawing_rect(drawing, (struct point){x, y - 5}, (struct point){x + MARK, y + 5}, items[i].ink);
        drawing_text(drawing, (struct point){x + MARK + 5, y}, label, TEXT_NORMAL, INK_TEXT, ALIGN_LEFT);
        x += width;
    }
    return y + LINE / 2.0 + 4;
}

/* The nearest start of a character at or before `at`. */
static size_t character_at(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80)
        at--;
    return at;
}

const char *chart_fit(struct arena *arena, const char *text, double size, double width)
{
    size_t length = strlen(text);

    if (drawing_text_width(text, size) <= width)
        return text;
    for (size_t kept = length < 200 ? length : 200; kept > 0; kept--) {
        size_t head = character_at(text, kept - kept / 2);
        size_t tail = character_at(text, length - kept / 2);
        const char *cut = arena_printf(arena, "%.*s\xe2\x80\xa6%s", (int)head, text, text + tail);
        if (drawing_text_width(cut, size) <= width)
            return cut;
    }
    return "";
}

const char *chart_number(struct arena *arena, double value, int decimals)
{
    return arena_printf(arena, fabs(value) < 1e6 ? "%.*f" : "%.*g", fabs(value) < 1e6 ? decimals : 3, value);
}

static unsigned channel(color value, int shift)
{
    return value >> shift & 0xff;
}

color chart_mix(color a, color b, double share)
{
    color mixed = 0;

    for (int shift = 0; shift <= 16; shift += 8) {
        double value = channel(a, shift) * (1 - share) + channel(b, shift) * share;
        mixed |= (color)lround(value) << shift;
    }
    return mixed;
}

color chart_contrast(color background)
{
    double light = 0.299 * channel(background, 16) + 0.587 * channel(background, 8) + 0.114 * channel(background, 0);

    return light > 140 ? 0x000000 : 0xffffff;
}
