/*
 * sass.json in a cache entry. Opcodes are a table and instructions are indices into it; offsets are stored as runs,
 * since instructions lie 16 bytes apart:
 *   {"schema", "object_sha256", "nvdisasm", "arch", "opcodes": [...], "symbols": [[name, function, offset], ...],
 *    "functions": [{"name", "cubin", "first": offset, "step": 16, "code": [index, ...]}, ...]}
 */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "toolchain/sass_internal.h"

enum { CACHE_BYTES_MAX = 256 << 20, STEP_BYTES = 16 };

static const char cache_schema[] = "ptxbench.sass-cache.v1";
static const char cache_name[] = "sass.json";

/* Position of a pooled text in the table; added when new. Texts of one listing are shared, so the last ones hit. */
static size_t opcode_index(json_object *table, const char **known, size_t *count, const char *opcode)
{
    for (size_t i = *count; i-- > 0;)
        if (known[i] == opcode || strcmp(known[i], opcode) == 0)
            return i;
    known[*count] = opcode;
    (void)json_object_array_add(table, json_object_new_string(opcode));
    return (*count)++;
}

static size_t count_instructions(const struct sass_report *report)
{
    size_t count = 0;

    for (size_t i = 0; i < report->count; i++)
        count += report->functions[i].count;
    return count;
}

static bool is_regular(const struct sass_function *function)
{
    for (size_t i = 0; i < function->count; i++)
        if (function->instructions[i].offset != function->instructions[0].offset + i * STEP_BYTES)
            return false;
    return true;
}

void sass_cache_write(const char *folder, const char *object_hash, const struct sass_report *report)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_OBJECT *root = json_object_new_object();
    json_object *opcodes = json_object_new_array();
    json_object *symbols = json_object_new_array();
    json_object *functions = json_object_new_array();
    const char **known = arena_calloc(arena, count_instructions(report), sizeof *known);
    size_t known_count = 0;
    bool regular = true;

    for (size_t i = 0; i < report->count; i++) {
        const struct sass_function *function = &report->functions[i];
        json_object *item = json_object_new_object();
        json_object *code = json_object_new_array();
        for (size_t j = 0; j < function->count; j++) {
            size_t index = opcode_index(opcodes, known, &known_count, function->instructions[j].opcode);
            (void)json_object_array_add(code, json_object_new_int64((int64_t)index));
        }
        regular &= is_regular(function);
        json_put_string(item, "name", function->name);
        json_put_u64(item, "cubin", function->cubin);
        json_put_u64(item, "first", function->count ? function->instructions[0].offset : 0);
        json_put(item, "code", code);
        (void)json_object_array_add(functions, item);
    }
    for (size_t i = 0; i < report->symbol_count; i++) {
        json_object *item = json_object_new_object();
        json_put_string(item, "name", report->symbols[i].name);
        json_put_u64(item, "function", report->symbols[i].function);
        json_put_u64(item, "offset", report->symbols[i].offset);
        (void)json_object_array_add(symbols, item);
    }
    json_put_string(root, "schema", cache_schema);
    json_put_string(root, "object_sha256", object_hash);
    json_put_string(root, "nvdisasm", report->nvdisasm_version);
    json_put_string(root, "arch", report->arch);
    json_put(root, "opcodes", opcodes);
    json_put(root, "symbols", symbols);
    json_put(root, "functions", functions);
    AUTO_FREE char *text = NULL;
    struct error error;
    if (!regular) /* not what our targets produce; disassembling again is right, only slower */
        return;
    if (!json_to_text(root, false, &text, &error) ||
        !file_write(file_join(arena, folder, cache_name), text, strlen(text), 0644, &error))
        log_message(LOG_WARNING, "disassembly is not cached: %s", error.message);
}

struct cache_reader {
    struct arena *arena;
    struct sass_report *report;
    const char **opcodes;
    size_t opcode_count;
};

static bool text_is(struct json root, const char *key, const char *expected)
{
    const char *text;
    struct error ignored;

    return expected && json_member_string(root, key, &text, &ignored) && strcmp(text, expected) == 0;
}

static bool read_opcodes(struct cache_reader *reader, struct json array)
{
    struct error ignored;

    reader->opcode_count = json_length(array);
    reader->opcodes = arena_calloc(reader->arena, reader->opcode_count, sizeof *reader->opcodes);
    for (size_t i = 0; i < reader->opcode_count; i++) {
        const char *text;
        if (!json_string(json_at(array, i), &text, &ignored))
            return false;
        reader->opcodes[i] = arena_strdup(reader->arena, text);
    }
    return true;
}

static bool read_function(struct cache_reader *reader, struct json item, struct sass_function *out)
{
    const char *name;
    struct json code;
    uint64_t cubin, first;
    struct error ignored;

    if (!json_member_string(item, "name", &name, &ignored) || !json_member_u64(item, "cubin", &cubin, &ignored) ||
        !json_member_u64(item, "first", &first, &ignored) || !json_member(item, "code", &code, &ignored) ||
        !json_expect(code, JSON_ARRAY, &ignored))
        return false;
    out->name = arena_strdup(reader->arena, name);
    out->cubin = (uint32_t)cubin;
    out->count = json_length(code);
    if (first + out->count * STEP_BYTES > UINT32_MAX)
        return false;
    out->instructions = arena_calloc(reader->arena, out->count, sizeof *out->instructions);
    for (size_t i = 0; i < out->count; i++) {
        /* Straight from json-c: a cursor for each of a million numbers would cost more than nvdisasm. */
        json_object *value = json_object_array_get_idx(code.value, i);
        int64_t index = json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : -1;
        if (index < 0 || (uint64_t)index >= reader->opcode_count)
            return false;
        out->instructions[i].offset = (uint32_t)(first + i * STEP_BYTES);
        out->instructions[i].opcode = reader->opcodes[index];
    }
    return true;
}

static bool read_functions(struct cache_reader *reader, struct json array)
{
    struct sass_report *report = reader->report;
    size_t count = json_length(array);

    report->functions = arena_calloc(reader->arena, count, sizeof *report->functions);
    for (size_t i = 0; i < count; i++)
        if (!read_function(reader, json_at(array, i), &report->functions[i]))
            return false;
    report->count = count;
    return true;
}

static bool read_symbols(struct cache_reader *reader, struct json array)
{
    struct sass_report *report = reader->report;
    size_t count = json_length(array);
    struct error ignored;

    report->symbols = arena_calloc(reader->arena, count, sizeof *report->symbols);
    for (size_t i = 0; i < count; i++) {
        struct json item = json_at(array, i);
        const char *name;
        uint64_t function, offset;
        if (!json_member_string(item, "name", &name, &ignored) ||
            !json_member_u64(item, "function", &function, &ignored) ||
            !json_member_u64(item, "offset", &offset, &ignored) || function >= report->count || offset > UINT32_MAX)
            return false;
        report->symbols[i] =
            (struct sass_symbol){arena_strdup(reader->arena, name), (size_t)function, (uint32_t)offset};
    }
    report->symbol_count = count;
    return true;
}

bool sass_cache_read(struct arena *arena, const char *folder, const char *object_hash, struct sass_report *report)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    AUTO_ARENA *scratch = arena_new();
    struct cache_reader reader = {.arena = arena, .report = report};
    struct json root, opcodes, functions, symbols;
    struct error ignored;

    if (!json_read_file(file_join(scratch, folder, cache_name), CACHE_BYTES_MAX, &document, &ignored))
        return false;
    root = json_root(document);
    /* Without nvdisasm on this machine any version's listing will do. */
    if (!text_is(root, "schema", cache_schema) || !text_is(root, "object_sha256", object_hash) ||
        !text_is(root, "arch", report->arch) ||
        (report->nvdisasm_version && !text_is(root, "nvdisasm", report->nvdisasm_version)))
        return false;
    bool ok = json_member(root, "opcodes", &opcodes, &ignored) && json_expect(opcodes, JSON_ARRAY, &ignored) &&
              json_member(root, "functions", &functions, &ignored) && json_expect(functions, JSON_ARRAY, &ignored) &&
              json_member(root, "symbols", &symbols, &ignored) && json_expect(symbols, JSON_ARRAY, &ignored) &&
              read_opcodes(&reader, opcodes) && read_functions(&reader, functions) && read_symbols(&reader, symbols);
    if (!ok) {
        report->count = report->symbol_count = 0;
        report->functions = NULL;
        report->symbols = NULL;
    }
    return ok;
}
