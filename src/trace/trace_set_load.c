#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/jsonl.h"
#include "trace/trace_set_internal.h"

static void keep_document(struct trace_set *set, struct json_document *document)
{
    if (set->document_count == set->document_capacity) {
        size_t capacity = set->document_capacity ? 2 * set->document_capacity : 64;
        struct json_document **documents = arena_calloc(set->arena, capacity, sizeof *documents);
        if (set->document_count)
            memcpy(documents, set->documents, set->document_count * sizeof *documents);
        set->documents = documents;
        set->document_capacity = capacity;
    }
    set->documents[set->document_count++] = document;
}

static void add_item(struct trace_set *set, struct trace_set_list *list, struct trace_set_item item)
{
    if (list->count == list->capacity) {
        size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct trace_set_item *items = arena_calloc(set->arena, capacity, sizeof *items);
        if (list->count)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    item.order = list->count;
    list->items[list->count++] = item;
}

static int compare_keys(const void *left, const void *right)
{
    const struct trace_set_item *a = left;
    const struct trace_set_item *b = right;
    int keys = strcmp(a->key, b->key);

    return keys ? keys : (a->order > b->order) - (a->order < b->order);
}

static int compare_groups(const void *left, const void *right)
{
    const struct trace_set_item *a = left;
    const struct trace_set_item *b = right;

    if (a->definition != b->definition)
        return a->definition < b->definition ? -1 : 1;
    return (a->order > b->order) - (a->order < b->order);
}

/* Sorts by key and drops equal duplicates; what was read first stays. */
static bool merge_list(struct trace_set_list *list, const char *what,
                       bool (*equal)(const struct trace_set_item *, const struct trace_set_item *), struct error *error)
{
    size_t kept = 0;

    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_keys);
    for (size_t i = 0; i < list->count; i++) {
        struct trace_set_item *item = &list->items[i];
        if (!kept || strcmp(list->items[kept - 1].key, item->key) != 0) {
            list->items[kept++] = *item;
            continue;
        }
        const struct trace_set_item *other = &list->items[kept - 1];
        if (equal(other, item))
            continue;
        (void)error_set(error, ERROR_INPUT, "conflicting %s \"%s\": %s:%d and %s:%d differ", what, item->key,
                        json_document_name(other->source.document), json_line(other->source),
                        json_document_name(item->source.document), json_line(item->source));
        return error_hint(error, "remove or rename one of them");
    }
    list->count = kept;
    return true;
}

static bool equal_json(const struct trace_set_item *a, const struct trace_set_item *b)
{
    return json_object_equal(a->source.value, b->source.value);
}

/* The order of inputs and outputs is part of a definition, and json_object_equal does not see it. */
static bool equal_definitions(const struct trace_set_item *a, const struct trace_set_item *b)
{
    const struct definition *left = a->object;
    const struct definition *right = b->object;

    if (!equal_json(a, b))
        return false;
    for (size_t i = 0; i < left->input_count; i++)
        if (strcmp(left->inputs[i].name, right->inputs[i].name) != 0)
            return false;
    for (size_t i = 0; i < left->output_count; i++)
        if (strcmp(left->outputs[i].name, right->outputs[i].name) != 0)
            return false;
    return true;
}

static bool equal_workloads(const struct trace_set_item *a, const struct trace_set_item *b)
{
    return a->definition == b->definition && equal_json(a, b);
}

static bool read_definition(struct trace_set *set, const char *path, struct error *error)
{
    struct json_document *document;
    struct definition *definition;

    if (!json_read_file(path, TRACE_SET_FILE_BYTES, &document, error))
        return false;
    keep_document(set, document);
    if (!definition_parse(json_root(document), set->arena, &definition, error))
        return false;
    add_item(set, &set->definitions,
             (struct trace_set_item){.key = definition->name, .object = definition, .source = definition->source});
    return true;
}

static bool read_solution(struct trace_set *set, const char *path, struct error *error)
{
    struct json_document *document;
    struct solution *solution;

    if (!json_read_file(path, TRACE_SET_FILE_BYTES, &document, error))
        return false;
    keep_document(set, document);
    if (!solution_parse(json_root(document), set->arena, &solution, error))
        return false;
    add_item(set, &set->solutions,
             (struct trace_set_item){.key = solution->name, .object = solution, .source = solution->source});
    return true;
}

struct workload_reader {
    struct trace_set *set;
    const char *root;
};

static bool read_workload(struct json_document *line, void *context, struct error *error)
{
    struct workload_reader *reader = context;
    struct trace_set *set = reader->set;
    struct json name;
    struct workload *workload;
    struct trace trace;

    keep_document(set, line);
    if (!trace_parse(json_root(line), set->arena, &trace, error))
        return false;
    const struct trace_set_item *item = trace_set_search(&set->definitions, trace.definition);
    if (!item)
        return json_member(trace.source, "definition", &name, error) &&
               json_error(name, error, "no definition is named \"%s\"", trace.definition);
    if (!workload_parse(trace.workload, item->object, reader->root, set->arena, &workload, error))
        return false;
    add_item(set, &set->workloads,
             (struct trace_set_item){.key = workload->uuid,
                                     .object = workload,
                                     .definition = (size_t)(item - set->definitions.items),
                                     .source = workload->source});
    return true;
}

static bool read_workloads(struct trace_set *set, const char *root, const char *path, struct error *error)
{
    struct workload_reader reader = {.set = set, .root = root};

    return jsonl_each(path, TRACE_SET_LINE_BYTES, JSONL_REFUSE, read_workload, &reader, error);
}

enum folder { FOLDER_DEFINITIONS, FOLDER_WORKLOADS, FOLDER_SOLUTIONS };

static bool read_folder(struct trace_set *set, enum folder folder, struct error *error)
{
    static const char *const names[] = {"definitions", "workloads", "solutions"};
    static const char *const suffixes[] = {".json", ".jsonl", ".json"};

    for (size_t r = 0; r < set->root_count; r++) {
        const char *path = file_join(set->arena, set->roots[r], names[folder]);
        char **files;
        size_t count;
        if (!file_list(set->arena, path, suffixes[folder], &files, &count, error))
            return false;
        for (size_t i = 0; i < count; i++) {
            const char *file = file_join(set->arena, path, files[i]);
            bool ok = folder == FOLDER_DEFINITIONS ? read_definition(set, file, error)
                      : folder == FOLDER_WORKLOADS ? read_workloads(set, set->roots[r], file, error)
                                                   : read_solution(set, file, error);
            if (!ok)
                return false;
        }
    }
    return true;
}

static void group_workloads(struct trace_set *set)
{
    struct trace_set_list *list = &set->workloads;

    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, compare_groups);
    set->ranges = arena_calloc(set->arena, set->definitions.count, sizeof *set->ranges);
    for (size_t i = 0; i < list->count; i++) {
        struct trace_set_range *range = &set->ranges[list->items[i].definition];
        if (!range->count++)
            range->first = i;
    }
}

bool trace_set_load(struct trace_set *set, struct error *error)
{
    if (!read_folder(set, FOLDER_DEFINITIONS, error) ||
        !merge_list(&set->definitions, "definition", equal_definitions, error) ||
        !read_folder(set, FOLDER_WORKLOADS, error) ||
        !merge_list(&set->workloads, "workload uuid", equal_workloads, error) ||
        !read_folder(set, FOLDER_SOLUTIONS, error) || !merge_list(&set->solutions, "solution", equal_json, error))
        return false;
    group_workloads(set);
    return true;
}
