#include "trace/trace_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "trace/trace_set_internal.h"

bool trace_set_open(const char *const *roots, size_t root_count, struct trace_set **out, struct error *error)
{
    struct arena *arena = arena_new();
    AUTO_TRACE_SET *set = arena_alloc(arena, sizeof *set);

    set->arena = arena;
    set->roots = arena_calloc(arena, root_count, sizeof *set->roots);
    set->root_count = root_count;
    for (size_t i = 0; i < root_count; i++) {
        set->roots[i] = arena_strdup(arena, roots[i]);
        if (!file_is_folder(roots[i])) {
            (void)error_set(error, ERROR_NOT_FOUND, "%s: no such trace set folder", roots[i]);
            return error_hint(error, "a trace set holds the folders definitions/ and workloads/");
        }
    }
    if (!trace_set_load(set, error))
        return false;
    *out = steal(&set);
    return true;
}

void trace_set_free(struct trace_set *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->document_count; i++)
        json_document_free(set->documents[i]);
    arena_free(set->arena);
}

const struct trace_set_item *trace_set_search(const struct trace_set_list *list, const char *key)
{
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->items[middle].key, key);
        if (!order)
            return &list->items[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

size_t trace_set_definition_count(const struct trace_set *set)
{
    return set->definitions.count;
}

const struct definition *trace_set_definition(const struct trace_set *set, size_t index)
{
    return set->definitions.items[index].object;
}

static struct trace_set_range range_of(const struct trace_set *set, const struct definition *definition)
{
    const struct trace_set_item *item = trace_set_search(&set->definitions, definition->name);

    return item ? set->ranges[item - set->definitions.items] : (struct trace_set_range){0};
}

size_t trace_set_workload_count(const struct trace_set *set, const struct definition *definition)
{
    return range_of(set, definition).count;
}

const struct workload *trace_set_workload(const struct trace_set *set, const struct definition *definition,
                                          size_t index)
{
    return set->workloads.items[range_of(set, definition).first + index].object;
}

size_t trace_set_solution_count(const struct trace_set *set)
{
    return set->solutions.count;
}

const struct solution *trace_set_solution(const struct trace_set *set, size_t index)
{
    return set->solutions.items[index].object;
}

static size_t common_prefix(const char *a, const char *b)
{
    size_t length = 0;

    while (a[length] && a[length] == b[length])
        length++;
    return length;
}

static bool not_found(const struct trace_set_list *list, const char *what, const char *name, struct error *error)
{
    const char *nearest = NULL;
    size_t best = 2;

    for (size_t i = 0; i < list->count; i++) {
        size_t shared = common_prefix(list->items[i].key, name);
        if (shared > best) {
            best = shared;
            nearest = list->items[i].key;
        }
    }
    (void)error_set(error, ERROR_NOT_FOUND, "no %s is named \"%s\"", what, name);
    if (nearest)
        return error_hint(error, "did you mean \"%s\"?", nearest);
    return error_hint(error, "the trace set holds %zu %ss", list->count, what);
}

bool trace_set_find_definition(const struct trace_set *set, const char *name, const struct definition **out,
                               struct error *error)
{
    const struct trace_set_item *item = trace_set_search(&set->definitions, name);

    if (!item)
        return not_found(&set->definitions, "definition", name, error);
    *out = item->object;
    return true;
}

bool trace_set_find_solution(const struct trace_set *set, const char *name, const struct solution **out,
                             struct error *error)
{
    const struct trace_set_item *item = trace_set_search(&set->solutions, name);

    if (!item)
        return not_found(&set->solutions, "solution", name, error);
    *out = item->object;
    return true;
}

bool trace_set_find_workload(const struct trace_set *set, const char *definition_name, const char *uuid,
                             const struct workload **out, struct error *error)
{
    const struct definition *definition;
    const struct workload *found = NULL;

    if (!trace_set_find_definition(set, definition_name, &definition, error))
        return false;
    struct trace_set_range range = range_of(set, definition);
    if (!range.count)
        return error_set(error, ERROR_NOT_FOUND, "%s has no workloads", definition_name);
    size_t length = uuid ? strlen(uuid) : 0;
    for (size_t i = 0; i < range.count; i++) {
        const struct workload *workload = set->workloads.items[range.first + i].object;
        if (!uuid || !strcmp(workload->uuid, uuid)) {
            *out = workload;
            return true;
        }
        if (length < 4 || strncmp(workload->uuid, uuid, length) != 0)
            continue;
        if (found)
            return error_set(error, ERROR_USAGE, "%s: several workloads start with \"%s\"", definition_name, uuid);
        found = workload;
    }
    if (!found) {
        (void)error_set(error, ERROR_NOT_FOUND, "%s has no workload \"%s\"", definition_name, uuid);
        return error_hint(error, "ptxbench task show %s lists its %zu workloads", definition_name, range.count);
    }
    *out = found;
    return true;
}

struct trace_reader {
    trace_set_visit *visit;
    void *context;
};

static bool read_trace(struct json_document *line, void *context, struct error *error)
{
    struct trace_reader *reader = context;
    AUTO_JSON_DOCUMENT *document = line;
    AUTO_ARENA *arena = arena_new();
    struct trace trace;

    if (!trace_parse(json_root(document), arena, &trace, error))
        return false;
    return !trace.has_evaluation || reader->visit(&trace, reader->context, error);
}

bool trace_set_each_trace(const struct trace_set *set, enum jsonl_broken broken, trace_set_visit *visit, void *context,
                          struct error *error)
{
    struct trace_reader reader = {.visit = visit, .context = context};
    AUTO_ARENA *arena = arena_new();

    for (size_t r = 0; r < set->root_count; r++) {
        const char *folder = file_join(arena, set->roots[r], "traces");
        char **files;
        size_t count;
        if (!file_list(arena, folder, ".jsonl", &files, &count, error))
            return false;
        for (size_t i = 0; i < count; i++)
            if (!jsonl_each(file_join(arena, folder, files[i]), TRACE_SET_LINE_BYTES, broken, read_trace, &reader,
                            error))
                return false;
    }
    return true;
}
