#define _GNU_SOURCE
#include "toolchain/diagnostics.h"

#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "toolchain/diagnostics_internal.h"

enum { LINE_BYTES_MAX = 64 * 1024 };

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* The front end runs once for host and once for the device and says most things twice. */
static bool is_repeated(const struct diagnostics *out, const struct diagnostic *candidate)
{
    for (size_t i = 0; i < out->count; i++) {
        const struct diagnostic *known = &out->items[i];
        if (known->line == candidate->line && known->severity == candidate->severity &&
            same_text(known->message, candidate->message) && same_text(known->file, candidate->file))
            return true;
    }
    return false;
}

struct diagnostic *diagnostics_add(struct diagnostics_parser *parser, const struct diagnostic *diagnostic)
{
    struct diagnostics *out = parser->out;

    parser->last = NULL;
    if (is_repeated(out, diagnostic))
        return NULL;
    if (out->count >= DIAGNOSTICS_MAX) {
        out->dropped++;
        return NULL;
    }
    if (out->count == parser->capacity) {
        parser->capacity = parser->capacity ? 2 * parser->capacity : 16;
        struct diagnostic *grown = arena_calloc(parser->arena, parser->capacity, sizeof *grown);
        if (out->count)
            memcpy(grown, out->items, out->count * sizeof *grown);
        out->items = grown;
    }
    struct diagnostic *added = &out->items[out->count++];
    *added = *diagnostic;
    if (!added->hint)
        added->hint = diagnostics_hint_of(added->code, added->message);
    parser->last = added;
    return added;
}

const char *diagnostics_source_name(struct diagnostics_parser *parser, const char *path, size_t length)
{
    const struct diagnostics_paths *paths = parser->paths;
    size_t folder = paths && paths->folder ? strlen(paths->folder) : 0;

    if (memmem(path, length, "tmpxft_", 7))
        return paths ? paths->entry : NULL;
    if (folder && length > folder && memcmp(path, paths->folder, folder) == 0 && path[folder] == '/') {
        path += folder + 1;
        length -= folder + 1;
    }
    while (length > 2 && path[0] == '.' && path[1] == '/') {
        path += 2;
        length -= 2;
    }
    return arena_strndup(parser->arena, path, length);
}

static void take_line(struct diagnostics_parser *parser, const char *line)
{
    typedef bool take_function(struct diagnostics_parser *, const char *);
    static take_function *const takers[] = {
        diagnostics_take_resources, diagnostics_take_ptxas, diagnostics_take_driver,       diagnostics_take_linker,
        diagnostics_take_frontend,  diagnostics_take_gcc,   diagnostics_take_continuation,
    };

    for (size_t i = 0; i < ARRAY_LEN(takers); i++)
        if (takers[i](parser, line))
            return;
}

void diagnostics_parse(struct arena *arena, const char *text, size_t length, const struct diagnostics_paths *paths,
                       struct diagnostics *out)
{
    struct diagnostics_parser parser = {.arena = arena, .paths = paths, .out = out};
    AUTO_BUFFER line = buffer_new(LINE_BYTES_MAX);

    *out = (struct diagnostics){0};
    if (paths && paths->ptx)
        parser.ptx_lines = ptx_lines_new(arena, paths->ptx, paths->ptx_length);
    for (const char *at = text, *end = text + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = (size_t)((newline ? newline : end) - at);
        buffer_reset(&line);
        (void)buffer_append_sanitized(&line, at, bytes < LINE_BYTES_MAX / 4 ? bytes : LINE_BYTES_MAX / 4);
        take_line(&parser, line.data);
        at += bytes + 1;
    }
}

size_t diagnostics_count(const struct diagnostics *diagnostics, enum diagnostic_severity severity)
{
    size_t count = 0;

    for (size_t i = 0; i < diagnostics->count; i++)
        count += diagnostics->items[i].severity == severity;
    return count;
}

const struct diagnostic *diagnostics_first(const struct diagnostics *diagnostics, enum diagnostic_severity severity)
{
    for (size_t i = 0; i < diagnostics->count; i++)
        if (diagnostics->items[i].severity == severity)
            return &diagnostics->items[i];
    return NULL;
}

const char *diagnostic_severity_text(enum diagnostic_severity severity)
{
    static const char *const texts[] = {"error", "warning", "advisory", "note"};

    return (unsigned)severity < ARRAY_LEN(texts) ? texts[severity] : "?";
}

const char *diagnostic_tool_text(enum diagnostic_tool tool)
{
    static const char *const texts[] = {"nvcc", "ptxas", "gcc", "ld", "nvlink"};

    return (unsigned)tool < ARRAY_LEN(texts) ? texts[tool] : "?";
}

json_object *diagnostics_to_json(const struct diagnostics *diagnostics)
{
    json_object *array = json_object_new_array();

    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *item = &diagnostics->items[i];
        json_object *object = json_object_new_object();
        json_put_string(object, "severity", diagnostic_severity_text(item->severity));
        json_put_string(object, "tool", diagnostic_tool_text(item->tool));
        json_put_string(object, "code", item->code);
        json_put_string(object, "file", item->file);
        json_put(object, "line", item->line ? json_object_new_int(item->line) : NULL);
        json_put(object, "column", item->column ? json_object_new_int(item->column) : NULL);
        json_put_bool(object, "ptx_line", item->ptx_line);
        json_put_string(object, "message", item->message);
        json_put_string(object, "kernel", item->kernel);
        json_put_string(object, "hint", item->hint);
        (void)json_object_array_add(array, object);
    }
    return array;
}

json_object *diagnostics_kernels_to_json(const struct diagnostics *diagnostics)
{
    json_object *array = json_object_new_array();

    for (size_t i = 0; i < diagnostics->kernel_count; i++) {
        const struct kernel_resources *kernel = &diagnostics->kernels[i];
        json_object *object = json_object_new_object();
        json_put_string(object, "kernel", kernel->kernel);
        json_put_string(object, "arch", kernel->arch);
        json_put_bool(object, "entry", kernel->entry);
        json_put_u64(object, "registers", kernel->registers);
        json_put_u64(object, "barriers", kernel->barriers);
        json_put_u64(object, "stack_bytes", kernel->stack_bytes);
        json_put_u64(object, "spill_store_bytes", kernel->spill_store_bytes);
        json_put_u64(object, "spill_load_bytes", kernel->spill_load_bytes);
        json_put_u64(object, "shared_bytes", kernel->shared_bytes);
        json_put_u64(object, "constant_bytes", kernel->constant_bytes);
        (void)json_object_array_add(array, object);
    }
    return array;
}
