#include "trace/solution.h"

#include <string.h>

#include "trace/fields.h"

static const char *const language_texts[] = {
#define X(name, text) [name] = text,
    SOLUTION_LANGUAGES(X)
#undef X
};

static const char *const binding_texts[] = {
#define X(name, text) [name] = text,
    SOLUTION_BINDINGS(X)
#undef X
};

const char *solution_language_text(enum solution_language language)
{
    return language_texts[language];
}

const char *solution_binding_text(enum solution_binding binding)
{
    return binding_texts[binding];
}

static int find_text(const char *const *texts, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(texts[i], text))
            return (int)i;
    return -1;
}

const char *solution_path_problem(const char *path)
{
    if (!*path)
        return "is empty";
    if (*path == '/' || *path == '\\' || (path[1] == ':' && (path[2] == '/' || path[2] == '\\')))
        return "is absolute";
    if (strchr(path, '\\'))
        return "contains a backslash";
    if (strlen(path) > 255)
        return "is longer than 255 bytes";
    for (const char *part = path; part;) {
        size_t length = strcspn(part, "/");
        if (length == 2 && !strncmp(part, "..", 2))
            return "contains \"..\"";
        if (!length || (length == 1 && *part == '.'))
            return "is not normal (empty or \".\" part)";
        part = part[length] ? part + length + 1 : NULL;
    }
    for (const char *at = path; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return "contains a control character";
    return NULL;
}

static bool parse_source(struct json at, struct solution *solution, size_t index, struct error *error)
{
    struct solution_source *source = &solution->sources[index];
    struct json path;

    if (!json_member(at, "path", &path, error) || !json_string(path, &source->path, error))
        return false;
    const char *problem = solution_path_problem(source->path);
    if (problem)
        return json_error(path, error, "source path \"%s\" %s", source->path, problem);
    for (size_t i = 0; i < index; i++)
        if (!strcmp(solution->sources[i].path, source->path))
            return json_error(path, error, "duplicate source path \"%s\"", source->path);
    return field_text(at, "content", &source->content, error);
}

static bool parse_sources(struct json at, struct arena *arena, struct solution *solution, struct error *error)
{
    struct json sources;

    if (!json_member(at, "sources", &sources, error) || !json_expect(sources, JSON_ARRAY, error))
        return false;
    solution->source_count = json_length(sources);
    if (!solution->source_count)
        return json_error(sources, error, "a solution needs at least one source");
    if (solution->source_count > 1000)
        return json_error(sources, error, "more than 1000 sources");
    solution->sources = arena_calloc(arena, solution->source_count, sizeof *solution->sources);
    for (size_t i = 0; i < solution->source_count; i++)
        if (!parse_source(json_at(sources, i), solution, i, error))
            return false;
    return true;
}

static bool parse_entry_point(struct json spec, struct arena *arena, struct solution *solution, struct error *error)
{
    struct json at;

    if (!json_member(spec, "entry_point", &at, error) || !json_string(at, &solution->entry_point, error))
        return false;
    const char *separator = strstr(solution->entry_point, "::");
    if (!separator || separator == solution->entry_point || !separator[2] || strstr(separator + 2, "::"))
        return json_error(at, error, "expected \"file::symbol\" with exactly one \"::\", found \"%s\"",
                          solution->entry_point);
    solution->entry_file = arena_strndup(arena, solution->entry_point, (size_t)(separator - solution->entry_point));
    solution->entry_symbol = separator + 2;
    for (size_t i = 0; i < solution->source_count; i++)
        if (!strcmp(solution->sources[i].path, solution->entry_file))
            return true;
    return json_error(at, error, "entry file \"%s\" is not among the sources", solution->entry_file);
}

static bool parse_choice(struct json at, const char *const *texts, size_t count, const char *what, int *out,
                         struct error *error)
{
    const char *text;

    if (!json_string(at, &text, error))
        return false;
    *out = find_text(texts, count, text);
    return *out >= 0 ? true : json_error(at, error, "unknown %s \"%s\"", what, text);
}

static bool parse_spec(struct json at, struct arena *arena, struct solution *solution, struct error *error)
{
    struct json spec;
    struct json member;
    int choice;

    if (!json_member(at, "spec", &spec, error) || !json_member(spec, "language", &member, error) ||
        !parse_choice(member, language_texts, ARRAY_LEN(language_texts), "language", &choice, error))
        return false;
    solution->language = (enum solution_language)choice;
    if (json_optional(spec, "binding", &member)) {
        if (!parse_choice(member, binding_texts, ARRAY_LEN(binding_texts), "binding", &choice, error))
            return false;
        solution->binding = (enum solution_binding)choice;
    }
    solution->destination_passing_style = true;
    if (json_optional(spec, "destination_passing_style", &member) &&
        !json_boolean(member, &solution->destination_passing_style, error))
        return false;
    if (!field_text_list(spec, "target_hardware", arena, &solution->target_hardware, &solution->target_hardware_count,
                         error) ||
        !field_text_list(spec, "dependencies", arena, &solution->dependencies, &solution->dependency_count, error))
        return false;
    if (!solution->target_hardware_count)
        return json_error(spec, error, "target_hardware must name at least one device");
    return parse_entry_point(spec, arena, solution, error);
}

static void hash_solution(struct solution *solution)
{
    struct hash *hash = hash_new();

    hash_add_text(hash, solution->definition);
    hash_add_text(hash, solution_language_text(solution->language));
    hash_add_text(hash, solution->entry_point);
    hash_add_text(hash, solution_binding_text(solution->binding));
    hash_add(hash, &solution->dependency_count, sizeof solution->dependency_count);
    for (size_t i = 0; i < solution->dependency_count; i++)
        hash_add_text(hash, solution->dependencies[i]);
    for (size_t i = 0; i < solution->source_count; i++) {
        hash_add_text(hash, solution->sources[i].path);
        hash_add_text(hash, solution->sources[i].content);
    }
    hash_finish(hash, solution->hash);
}

bool solution_parse(struct json at, struct arena *arena, struct solution **out, struct error *error)
{
    struct solution *solution = arena_alloc(arena, sizeof *solution);

    solution->source = at;
    if (!json_expect(at, JSON_OBJECT, error) || !field_text(at, "name", &solution->name, error) ||
        !field_text(at, "definition", &solution->definition, error) ||
        !field_text(at, "author", &solution->author, error) ||
        !field_optional_text(at, "description", &solution->description, error) ||
        !parse_sources(at, arena, solution, error) || !parse_spec(at, arena, solution, error))
        return false;
    hash_solution(solution);
    *out = solution;
    return true;
}

const char *solution_unique_name(const struct solution *solution, struct arena *arena)
{
    return arena_printf(arena, "%s_%.8s", solution->name, solution->hash);
}

json_object *solution_new_cuda(const char *name, const char *definition, const char *author,
                               enum solution_binding binding, const char *file, const char *symbol,
                               const char *target_hardware, const char *content)
{
    AUTO_ARENA *arena = arena_new();
    json_object *solution = json_object_new_object();
    json_object *spec = json_object_new_object();
    json_object *hardware = json_object_new_array();
    json_object *sources = json_object_new_array();
    json_object *source = json_object_new_object();

    json_put_string(solution, "name", name);
    json_put_string(solution, "definition", definition);
    json_put_string(solution, "author", author);
    json_put_string(spec, "language", language_texts[LANGUAGE_CUDA]);
    if (binding != BINDING_NONE)
        json_put_string(spec, "binding", binding_texts[binding]);
    (void)json_object_array_add(hardware, json_object_new_string(target_hardware));
    json_put(spec, "target_hardware", hardware);
    json_put_string(spec, "entry_point", arena_printf(arena, "%s::%s", file, symbol));
    json_put(spec, "dependencies", json_object_new_array());
    json_put_bool(spec, "destination_passing_style", true);
    json_put(solution, "spec", spec);
    json_put_string(source, "path", file);
    json_put_string(source, "content", content);
    (void)json_object_array_add(sources, source);
    json_put(solution, "sources", sources);
    return solution;
}
