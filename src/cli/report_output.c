#include "cli/report_output.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"

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

static bool write_json(struct buffer *out, struct table *const *tables, const struct turn_set *set,
                       const struct report_options *options, struct error *error)
{
    AUTO_JSON_OBJECT *report = json_object_new_object();
    AUTO_FREE char *text = NULL;
    json_object *list = json_object_new_array();
    size_t kept = set->warning_count < TURN_WARNINGS_MAX ? set->warning_count : TURN_WARNINGS_MAX;

    json_put_string(report, "schema", "ptxbench.report.v1");
    json_put_u64(report, "seed", options->metric.seed);
    json_put_string(report, "speedup", speedup_kind_text(options->metric.speedup));
    json_put(report, "warnings", list_of_texts(set->warnings, kept));
    for (size_t i = 0; tables[i]; i++)
        (void)json_object_array_add(list, table_to_json(tables[i]));
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

bool report_output(struct table *const *tables, const struct turn_set *set, const struct report_options *options,
                   enum table_format format, const char *path, struct error *error)
{
    AUTO_BUFFER out = buffer_new(OUTPUT_MAX);

    if (format == TABLE_AS_JSON ? !write_json(&out, tables, set, options, error)
                                : !write_tables(&out, tables, format, error))
        return false;
    if (out.dropped)
        return error_set(error, ERROR_LIMIT, "the report is larger than %d bytes", OUTPUT_MAX);
    if (path)
        return file_write(path, out.data, out.length, 0644, error);
    (void)fwrite(out.data, 1, out.length, stdout);
    return true;
}
