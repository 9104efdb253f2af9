#include "cli/report_output.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "report/html.h"

enum { OUTPUT_MAX = 1 << 30 };

static json_object *list_of_texts(const char *const *texts, size_t count)
{
    json_object *list = json_object_new_array();

    for (size_t i = 0; i < count; i++) {
        AUTO_BUFFER clean = buffer_new(1 << 16);
        (void)buffer_append_sanitized(&clean, texts[i], strlen(texts[i]));
        (void)json_object_array_add(list, json_object_new_string(clean.data));
    }
    return list;
}

static bool write_json(struct buffer *out, const struct report_output *output, struct error *error)
{
    const struct turn_set *set = output->set;
    AUTO_JSON_OBJECT *report = json_object_new_object();
    AUTO_FREE char *text = NULL;
    json_object *list = json_object_new_array();
    size_t kept = set->warning_count < TURN_WARNINGS_MAX ? set->warning_count : TURN_WARNINGS_MAX;

    json_put_string(report, "schema", "ptxbench.report.v1");
    json_put_u64(report, "seed", output->options->metric.seed);
    json_put_string(report, "speedup", speedup_kind_text(output->options->metric.speedup));
    json_put(report, "warnings", list_of_texts(set->warnings, kept));
    for (size_t i = 0; output->tables[i]; i++)
        (void)json_object_array_add(list, table_to_json(output->tables[i]));
    json_put(report, "tables", list);
    if (!json_to_text(report, true, &text, error))
        return false;
    (void)buffer_append_text(out, text);
    (void)buffer_append_text(out, "\n");
    return true;
}

static bool write_tables(struct buffer *out, struct table *const *tables, enum table_format format, struct error *error)
{
    static void (*const writers[])(struct buffer *, const struct table *) = {
        [TABLE_AS_TEXT] = table_write_text,
        [TABLE_AS_MARKDOWN] = table_write_markdown,
        [TABLE_AS_CSV] = table_write_csv,
        [TABLE_AS_LATEX] = table_write_latex,
    };

    if (format == TABLE_AS_CSV && tables[0] && tables[1]) {
        (void)error_set(error, ERROR_USAGE, "CSV holds one table");
        return error_hint(error, "choose one with --metric, or take --format json");
    }
    for (size_t i = 0; tables[i]; i++)
        writers[format](out, tables[i]);
    return true;
}

/* Links on the page are relative to the folder that it will be in. */
static void write_page(struct buffer *out, const struct report_output *output)
{
    AUTO_ARENA *arena = arena_new();
    const char *slash = output->path ? strrchr(output->path, '/') : NULL;
    struct html_options options = {.title = output->title};

    if (slash)
        options.folder =
            slash == output->path ? "/" : arena_strndup(arena, output->path, (size_t)(slash - output->path));
    html_write(out, output->report, output->tables, output->set, &options);
}

static bool write_output(struct buffer *out, const struct report_output *output, struct error *error)
{
    if (output->format == TABLE_AS_JSON)
        return write_json(out, output, error);
    if (output->format == TABLE_AS_HTML) {
        write_page(out, output);
        return true;
    }
    return write_tables(out, output->tables, output->format, error);
}

bool report_output(const struct report_output *output, struct error *error)
{
    AUTO_BUFFER out = buffer_new(OUTPUT_MAX);

    if (!write_output(&out, output, error))
        return false;
    if (out.dropped)
        return error_set(error, ERROR_LIMIT, "the report is larger than %d bytes", OUTPUT_MAX);
    if (output->path)
        return file_write(output->path, out.data, out.length, 0644, error);
    (void)fwrite(out.data, 1, out.length, stdout);
    return true;
}
