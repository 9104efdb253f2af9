#include "toolchain/sass.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/process.h"
#include "toolchain/fatbin.h"
#include "toolchain/sass_internal.h"

enum { OBJECT_BYTES_MAX = 1 << 30, LISTING_BYTES_MAX = 1 << 30 };
static const int64_t disassemble_timeout_ns = 120000000000;
static const uint64_t disassemble_memory_bytes = 16ull << 30;

void sass_count_families(struct sass_report *report)
{
    memset(report->family_count, 0, sizeof report->family_count);
    for (size_t i = 0; i < report->count; i++) {
        struct sass_function *function = &report->functions[i];
        const char *known = NULL;
        enum sass_family family = SASS_OTHER;
        memset(function->family_count, 0, sizeof function->family_count);
        for (size_t j = 0; j < function->count; j++) {
            if (function->instructions[j].opcode != known) {
                known = function->instructions[j].opcode;
                family = sass_family(known, report->arch);
            }
            function->family_count[family]++;
        }
        for (size_t j = 0; j < SASS_FAMILY_COUNT; j++)
            report->family_count[j] += function->family_count[j];
    }
}

/* Runs nvdisasm on a cubin that lies in `folder`. */
static bool disassemble(const struct toolchain *toolchain, struct arena *arena, const char *folder, const char *cubin,
                        struct buffer *listing, struct error *error)
{
    AUTO_BUFFER errors = buffer_new(0);
    const char *const argv[] = {toolchain->nvdisasm, "-c", cubin, NULL};
    const char *const environment[] = {arena_printf(arena, "TMPDIR=%s", folder), "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",
                                       NULL};
    const struct process_spec spec = {
        .argv = argv,
        .environment = environment,
        .folder = folder,
        .memory_bytes = disassemble_memory_bytes,
        .no_core = true,
        .timeout_ns = disassemble_timeout_ns,
        .output_limit = LISTING_BYTES_MAX,
    };
    struct process_end end;
    char text[128];

    if (!process_run(&spec, listing, &errors, &end, error)) {
        if (error->code == ERROR_NOT_FOUND)
            error->code = ERROR_TOOL;
        return false;
    }
    if (!end.timed_out && end.exit_status == 0 && !listing->dropped)
        return true;
    process_end_text(&end, text, sizeof text);
    (void)error_set(error, ERROR_TOOL, "nvdisasm %s: %.300s", listing->dropped ? "printed too much" : text,
                    errors.data);
    return error_hint(error, "check that nvdisasm is at least as new as nvcc (13.0)");
}

static bool analyze_cubin(const struct toolchain *toolchain, struct arena *arena, const char *folder,
                          const struct fatbin_entry *entry, uint32_t index, struct sass_report *out,
                          struct error *error)
{
    AUTO_BUFFER listing = buffer_new(0);
    char *cubin = arena_printf(arena, "%s/%u.cubin", folder, index);

    if (!file_write(cubin, entry->bytes, entry->length, 0600, error) ||
        !disassemble(toolchain, arena, folder, cubin, &listing, error))
        return false;
    return sass_parse_listing(arena, listing.data, listing.length, index, out, error);
}

static bool analyze_object(const struct toolchain *toolchain, const void *bytes, size_t length, struct arena *arena,
                           struct sass_report *out, struct error *error)
{
    AUTO_ARENA *scratch = arena_new();
    struct fatbin fatbin;
    char *folder;
    bool ok = true;
    uint32_t wanted = (uint32_t)strtoul(out->arch + 3, NULL, 10);

    if (!fatbin_read_object(scratch, bytes, length, &fatbin, error) ||
        !file_make_temporary_folder(scratch, file_temporary_root(), "ptxbench-sass", &folder, error))
        return false;
    for (size_t i = 0; ok && i < fatbin.count; i++) {
        const struct fatbin_entry *entry = &fatbin.entries[i];
        if (entry->kind != FATBIN_CUBIN || entry->arch != wanted)
            continue;
        if (!entry->bytes)
            ok = error_set(error, ERROR_UNSUPPORTED, "cubin %zu: %s", i, entry->problem);
        else
            ok = analyze_cubin(toolchain, arena, folder, entry, (uint32_t)i, out, error);
    }
    (void)file_remove_tree(folder);
    return ok;
}

bool sass_analyze(const struct toolchain *toolchain, const char *object_path, const char *arch,
                  const char *cache_folder, struct arena *arena, struct sass_report *out, struct error *error)
{
    AUTO_FREE char *bytes = NULL;
    char object_hash[HASH_TEXT_BYTES];
    size_t length;

    *out = (struct sass_report){.arch = arena_strdup(arena, arch)};
    out->nvdisasm_version = arena_strdup(arena, toolchain->nvdisasm_version);
    if (!file_read(object_path, OBJECT_BYTES_MAX, &bytes, &length, error))
        return false;
    hash_bytes(bytes, length, object_hash);
    if (cache_folder && sass_cache_read(arena, cache_folder, object_hash, out)) {
        sass_count_families(out);
        out->from_cache = true;
        return true;
    }
    if (!toolchain_require_nvdisasm(toolchain, error))
        return false;
    if (!analyze_object(toolchain, bytes, length, arena, out, error))
        return error_prefix(error, "%s", object_path);
    sass_count_families(out);
    if (cache_folder)
        sass_cache_write(cache_folder, object_hash, out);
    return true;
}

const struct sass_function *sass_find_function(const struct sass_report *report, const char *name)
{
    for (size_t i = 0; i < report->count; i++)
        if (strcmp(report->functions[i].name, name) == 0)
            return &report->functions[i];
    return NULL;
}

static const char *opcode_in(const struct sass_function *function, uint32_t offset)
{
    size_t low = 0, high = function->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (function->instructions[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low < function->count && function->instructions[low].offset == offset ? function->instructions[low].opcode
                                                                                 : NULL;
}

const char *sass_opcode_at(const struct sass_report *report, const char *function, uint32_t offset)
{
    const struct sass_function *found = sass_find_function(report, function);

    if (found)
        return opcode_in(found, offset);
    for (size_t i = 0; i < report->symbol_count; i++) {
        const struct sass_symbol *symbol = &report->symbols[i];
        if (strcmp(symbol->name, function) == 0 && symbol->offset <= UINT32_MAX - offset)
            return opcode_in(&report->functions[symbol->function], symbol->offset + offset);
    }
    return NULL;
}

static json_object *families_to_json(const uint64_t *counts)
{
    json_object *object = json_object_new_object();

    for (int i = SASS_OTHER + 1; i < SASS_FAMILY_COUNT; i++)
        json_put_u64(object, sass_family_text((enum sass_family)i), counts[i]);
    return object;
}

json_object *sass_report_to_json(const struct sass_report *report)
{
    json_object *object = json_object_new_object();
    json_object *functions = json_object_new_array();

    for (size_t i = 0; i < report->count; i++) {
        const struct sass_function *function = &report->functions[i];
        json_object *item = json_object_new_object();
        json_put_string(item, "name", function->name);
        json_put_u64(item, "instructions", function->count);
        json_put(item, "families", families_to_json(function->family_count));
        (void)json_object_array_add(functions, item);
    }
    json_put_string(object, "arch", report->arch);
    json_put_string(object, "nvdisasm", report->nvdisasm_version);
    json_put(object, "families", families_to_json(report->family_count));
    json_put(object, "functions", functions);
    return object;
}
