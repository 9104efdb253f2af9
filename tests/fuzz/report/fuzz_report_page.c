/* Per-turn CSV as figures and as a page: whatever names say, figures are commands of ours with finite numbers, and a
 * page has the scripts that it should have and no other. */
#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/figure.h"
#include "report/html.h"
#include "report/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_point(struct point point)
{
    if (!isfinite(point.x) || !isfinite(point.y) || fabs(point.x) > 1e6 || fabs(point.y) > 1e6)
        abort();
}

static void check_drawing(const struct drawing *drawing)
{
    static const char *const starts[] = {"set ", "unset ", "plot NaN", "$b", "EOD\n"};
    AUTO_BUFFER script = buffer_new(1 << 24);

    for (const char *c = drawing->id; *c; c++)
        if (!islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_')
            abort();
    for (size_t i = 0; i < drawing->points.count; i++)
        check_point(drawing->points.items[i]);
    for (size_t i = 0; i < drawing->texts.count; i++)
        check_point(drawing->texts.items[i].at);
    for (size_t i = 0; i < drawing->dots.count; i++)
        check_point(drawing->dots.items[i].at);
    for (size_t i = 0; i < drawing->rects.count; i++) {
        check_point(drawing->rects.items[i].from);
        check_point(drawing->rects.items[i].to);
    }
    drawing_write_gnuplot(&script, drawing);
    for (const char *line = script.data; *line; line += strcspn(line, "\n") + 1) {
        bool known = *line == '\n' || *line == '-' || isdigit((unsigned char)*line);
        for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
            known |= !strncmp(line, starts[i], strlen(starts[i]));
        if (!known || memchr(line, '`', strcspn(line, "\n")))
            abort();
    }
}

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text++)
        count++;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_TURN_SET *set = turn_set_new();
    AUTO_BUFFER page = buffer_new(1 << 26);
    struct report_options options = {.limits = {1, 4, 8}, .limit_count = 3, .metric = {.resamples = -1}};
    const struct html_options html = {.title = "fuzz", .folder = "/nonexistent"};
    struct table *tables[2] = {NULL};
    struct error error;

    if (!read_csv_text(set, (const char *)data, size, "fuzz", &error) || !turn_set_close(set, &error))
        return 0;
    const struct report *report = report_new(arena, set, NULL, &options);
    struct figures figures = figures_of_report(report, arena);
    for (size_t i = 0; i < figures.count; i++)
        check_drawing(figures.items[i]);
    if (!report_make_metrics(report, &tables[0], &error))
        abort();
    html_write(&page, report, tables, set, &html);
    if (occurrences(page.data, "<script") != 2 || occurrences(page.data, "</script") != 2 ||
        occurrences(page.data, "<img"))
        abort();
    return 0;
}
