#include "report/figure_render.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/process.h"

enum { SCRIPT_MAX = 1 << 28, FILE_MAX = 1 << 26, OUTPUT_MAX = 1 << 16, PAINTERS_MAX = 8 };

#define TIMEOUT_NS INT64_C(300000000000)

static const char *const format_texts[] = {
#define X(name, text) text,
    FIGURE_FORMATS(X)
#undef X
};

const char *figure_format_text(enum figure_format format)
{
    return format_texts[format];
}

static void write_terminal(struct buffer *out, const struct drawing *drawing, enum figure_format format)
{
    static const char *const terminals[] = {
        /* cairo takes 96 px for the inch of a font, and half lines on paper */
        [FIGURE_AS_SVG] = "svg noenhanced",
        [FIGURE_AS_PDF] = "pdfcairo noenhanced fontscale 0.75 linewidth 2",
        [FIGURE_AS_PNG] = "pngcairo noenhanced fontscale 0.75",
    };

    (void)buffer_printf(out, "set terminal %s font \"DejaVu Sans,11\" ", terminals[format]);
    if (format == FIGURE_AS_PDF) /* a px is a point there */
        (void)buffer_printf(out, "size %.3fin,%.3fin\n", drawing->width / 72, drawing->height / 72);
    else
        (void)buffer_printf(out, "size %.0f,%.0f\n", drawing->width, drawing->height);
    (void)buffer_printf(out, "set output \"%s.%s\"\n", drawing->id, format_texts[format]);
}

static bool missing(struct error *error)
{
    (void)error_set(error, ERROR_TOOL, "figures need gnuplot, and there is none");
    return error_hint(error, "install it (Debian: apt-get install gnuplot-nox), or leave --figures out");
}

/* A gnuplot at work: every `stride`-th figure from `first` on, in one format. */
struct painter {
    enum figure_format format;
    size_t first;
    size_t stride;
    struct process child;
};

static bool write_script(const struct painter *painter, const struct figures *figures, const char *path,
                         struct error *error)
{
    AUTO_BUFFER script = buffer_new(SCRIPT_MAX);

    (void)buffer_append_text(&script, "set encoding utf8\nset samples 2\n");
    for (size_t i = painter->first; i < figures->count; i += painter->stride) {
        write_terminal(&script, figures->items[i], painter->format);
        drawing_write_gnuplot(&script, figures->items[i]);
        (void)buffer_append_text(&script, "set output\n");
    }
    if (script.dropped)
        return error_set(error, ERROR_LIMIT, "the figures need more than %d bytes of commands", SCRIPT_MAX);
    return file_write(path, script.data, script.length, 0600, error);
}

static bool start(struct painter *painter, const struct figures *figures, const char *folder, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const char *script = arena_printf(arena, "%s-%zu.gp", format_texts[painter->format], painter->first);
    const char *argv[] = {"gnuplot", "-d", script, NULL};
    const char *writable[] = {folder, NULL};
    const struct process_sandbox sandbox = {.writable = writable};
    const struct process_spec spec = {.argv = argv, .folder = folder, .no_core = true, .sandbox = &sandbox};

    if (!write_script(painter, figures, file_join(arena, folder, script), error))
        return false;
    if (!process_start(&spec, &painter->child, error))
        return error->code == ERROR_NOT_FOUND ? missing(error) : false;
    return true;
}

/* What gnuplot says when it fails: the line with the reason comes behind the quoted command. */
static bool explain(const struct process_end *end, const struct buffer *errors, struct error *error)
{
    const char *at = strstr(errors->data, "line ");
    AUTO_BUFFER clean = buffer_new(400);
    char how[128];

    at = at ? at : errors->data;
    at += strspn(at, "\n ");
    (void)buffer_append_sanitized(&clean, at, strcspn(at, "\n"));
    process_end_text(end, how, sizeof how);
    (void)error_set(error, ERROR_TOOL, "gnuplot %s: %s", how, clean.data);
    return error_hint(error, "figures need a gnuplot with the terminals svg, pdfcairo and pngcairo (Debian: "
                             "gnuplot-nox); `gnuplot -e 'set terminal'` lists what yours has");
}

/* Waits for the end of a painter; its streams are read meanwhile, so that it never waits for us. */
static bool finish(struct painter *painter, struct error *error)
{
    enum { STEP_NS = 5000000 };
    AUTO_BUFFER output = buffer_new(OUTPUT_MAX);
    AUTO_BUFFER errors = buffer_new(OUTPUT_MAX);
    struct process_end end = {0};
    bool ended = false;

    for (int64_t waited = 0; !ended && waited < TIMEOUT_NS; waited += STEP_NS) {
        ended = process_wait(&painter->child, STEP_NS, &end);
        (void)process_drain(painter->child.output, &output);
        (void)process_drain(painter->child.errors, &errors);
    }
    if (!ended)
        process_kill(&painter->child, &end);
    process_close_streams(&painter->child);
    return end.exit_status == 0 || explain(&end, &errors, error);
}

static bool run(struct painter *painters, size_t count, const struct figures *figures, const char *folder,
                struct error *error)
{
    size_t started = 0;
    bool done = true;

    while (started < count && (done = start(&painters[started], figures, folder, error)))
        started++;
    for (size_t i = 0; i < started; i++) {
        struct error later;
        if (!finish(&painters[i], done ? error : &later))
            done = false;
    }
    return done;
}

static bool move_files(const struct figures *figures, const char *from, const char *to, unsigned formats,
                       struct error *error)
{
    for (size_t i = 0; i < figures->count; i++) {
        for (unsigned format = 0; format < FIGURE_FORMAT_COUNT; format++) {
            AUTO_ARENA *arena = arena_new();
            AUTO_FREE char *bytes = NULL;
            const char *name = arena_printf(arena, "%s.%s", figures->items[i]->id, format_texts[format]);
            size_t length;
            if (!(formats & 1u << format))
                continue;
            if (!file_read(file_join(arena, from, name), FILE_MAX, &bytes, &length, error) ||
                !file_write(file_join(arena, to, name), bytes, length, 0644, error))
                return false;
        }
    }
    return true;
}

bool figures_render(const struct figures *figures, const char *folder, unsigned formats, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct painter painters[PAINTERS_MAX] = {{0}};
    size_t count = 0;
    char *work;
    bool done;

    if (!file_find_program(arena, "gnuplot"))
        return missing(error);
    for (unsigned format = 0; format < FIGURE_FORMAT_COUNT; format++)
        for (size_t half = 0; half < 2 && formats & 1u << format; half++)
            painters[count++] = (struct painter){.format = (enum figure_format)format, .first = half, .stride = 2};
    if (!file_make_folder(folder, error) ||
        !file_make_temporary_folder(arena, file_temporary_root(), "ptxbench-figures", &work, error))
        return false;
    done = run(painters, count, figures, work, error) && move_files(figures, work, folder, formats, error);
    (void)file_remove_tree(work);
    return done;
}
