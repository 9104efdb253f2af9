#include "cli/worker_request.h"

#include <string.h>

#include "cli/candidate_input.h"

enum { SOURCES_MAX = 64 };

/* What a line says; kept apart from judge_request, which has other types. */
struct line {
    const char *definition;
    const char *workload;
    const char *axes;
    const char *solution;
    const char *path;
    const char *source;
    const char *entry;
    const char *entry_symbol;
    const char *binding;
    const char *arch;
    const char *sanitizer;
    const char *tolerance;
    const char *verify_with;
};

struct text_member {
    const char *key;
    size_t offset;
};

#define TEXT_MEMBER(name)                                                                                              \
    {                                                                                                                  \
#name, offsetof(struct line, name)                                                                             \
    }
static const struct text_member text_members[] = {
    TEXT_MEMBER(definition),  TEXT_MEMBER(workload), TEXT_MEMBER(axes),      TEXT_MEMBER(solution),
    TEXT_MEMBER(path),        TEXT_MEMBER(source),   TEXT_MEMBER(entry),     TEXT_MEMBER(entry_symbol),
    TEXT_MEMBER(binding),     TEXT_MEMBER(arch),     TEXT_MEMBER(sanitizer), TEXT_MEMBER(tolerance),
    TEXT_MEMBER(verify_with),
};

struct number_member {
    const char *key;
    int64_t least;
    int64_t most;
};

enum { NUMBER_TRIALS, NUMBER_WARMUP, NUMBER_ITERATIONS, NUMBER_PAUSE, NUMBER_SEED, NUMBER_COMPILE_TIMEOUT, NUMBERS };
static const struct number_member number_members[NUMBERS] = {
    [NUMBER_TRIALS] = {"trials", 1, 16},           [NUMBER_WARMUP] = {"warmup", 1, 1000},
    [NUMBER_ITERATIONS] = {"iterations", 5, 1000}, [NUMBER_PAUSE] = {"pause_us", 0, 100000},
    [NUMBER_SEED] = {"seed", 0, INT64_MAX},        [NUMBER_COMPILE_TIMEOUT] = {"compile_timeout_s", 1, 3600},
};

static const char *const other_members[] = {"id", "sources", "allow_libraries"};

static bool is_known(const char *key)
{
    for (size_t i = 0; i < ARRAY_LEN(text_members); i++)
        if (!strcmp(key, text_members[i].key))
            return true;
    for (size_t i = 0; i < NUMBERS; i++)
        if (!strcmp(key, number_members[i].key))
            return true;
    for (size_t i = 0; i < ARRAY_LEN(other_members); i++)
        if (!strcmp(key, other_members[i]))
            return true;
    return false;
}

static bool read_texts(struct json at, struct line *line, struct error *error)
{
    struct json member;
    const char *key;

    for (size_t i = 0; i < json_length(at); i++) {
        (void)json_entry(at, i, &key);
        if (!is_known(key)) {
            (void)json_error(at, error, "unknown member \"%.60s\"", key);
            return error_hint(error, "docs/formats/worker.md lists the members");
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(text_members); i++)
        if (json_optional(at, text_members[i].key, &member) &&
            !json_string(member, (const char **)((char *)line + text_members[i].offset), error))
            return false;
    return line->definition || json_error(at, error, "\"definition\" is missing");
}

static bool read_numbers(struct json at, struct judge_request *out, struct error *error)
{
    int64_t values[NUMBERS] = {0};
    bool given[NUMBERS] = {false};
    struct json member;

    for (size_t i = 0; i < NUMBERS; i++) {
        const struct number_member *number = &number_members[i];
        if (!json_optional(at, number->key, &member))
            continue;
        if (!json_i64(member, &values[i], error))
            return false;
        if (values[i] < number->least || values[i] > number->most)
            return json_error(member, error, "not between %lld and %lld", (long long)number->least,
                              (long long)number->most);
        given[i] = true;
    }
    out->trials = (int)values[NUMBER_TRIALS];
    out->warmup = (int)values[NUMBER_WARMUP];
    out->iterations = (int)values[NUMBER_ITERATIONS];
    out->seed = (uint64_t)values[NUMBER_SEED];
    out->compile_timeout_ns = values[NUMBER_COMPILE_TIMEOUT] * 1000000000;
    if (given[NUMBER_PAUSE])
        out->pause_ns = values[NUMBER_PAUSE] ? values[NUMBER_PAUSE] * 1000 : -1;
    return !json_optional(at, "allow_libraries", &member) || json_boolean(member, &out->allow_libraries, error);
}

static bool read_choices(struct json at, const struct line *line, struct judge_request *out, struct error *error)
{
    if (line->binding && !compile_binding_parse(line->binding, &out->binding))
        return json_error(at, error, "binding \"%.40s\" is none of auto, tvm-ffi, c", line->binding);
    if (line->arch && !compile_arch_known(line->arch))
        return json_error(at, error, "arch \"%.40s\" is none of sm_90a, sm_100a", line->arch);
    if (line->verify_with && strcmp(line->verify_with, "ncu") != 0)
        return json_error(at, error, "verify_with \"%.40s\" is not ncu", line->verify_with);
    if (line->tolerance) {
        out->tolerance = tolerance_paper();
        if (!strcmp(line->tolerance, "flashinfer"))
            out->tolerance.rule = TOLERANCE_FLASHINFER;
        else if (strcmp(line->tolerance, "paper") != 0)
            return json_error(at, error, "tolerance \"%.40s\" is none of paper, flashinfer", line->tolerance);
    }
    if (line->sanitizer) {
        out->sanitizer = !strcmp(line->sanitizer, "on")    ? SANITIZER_ALWAYS
                         : !strcmp(line->sanitizer, "off") ? SANITIZER_NEVER
                                                           : SANITIZER_AUTO;
        if (out->sanitizer == SANITIZER_AUTO && strcmp(line->sanitizer, "auto") != 0)
            return json_error(at, error, "sanitizer \"%.40s\" is none of auto, on, off", line->sanitizer);
    }
    out->arch = line->arch;
    out->verify_with_ncu = line->verify_with != NULL;
    return true;
}

static bool read_sources(struct json list, struct arena *arena, struct judge_request *out, struct error *error)
{
    size_t count = json_length(list);
    struct compile_source *sources = arena_calloc(arena, count + 1, sizeof *sources);

    if (!json_expect(list, JSON_ARRAY, error))
        return false;
    if (!count || count > SOURCES_MAX)
        return json_error(list, error, "between 1 and %d files are judged", SOURCES_MAX);
    for (size_t i = 0; i < count; i++) {
        struct json source = json_at(list, i);
        if (!json_member_string(source, "path", &sources[i].path, error) ||
            !json_member_string(source, "content", &sources[i].content, error))
            return false;
        const char *problem = solution_path_problem(sources[i].path);
        if (problem)
            return json_error(source, error, "path: %s", problem);
        sources[i].length = strlen(sources[i].content);
    }
    out->sources = sources;
    out->source_count = count;
    return true;
}

static bool take_file(const struct line *line, struct arena *arena, struct judge_request *out, struct error *error)
{
    struct candidate_input input;

    if (!candidate_input_read(arena, line->path, &input, error))
        return false;
    out->sources = input.sources;
    out->source_count = input.source_count;
    out->solution = input.name;
    out->entry_file = input.entry_file;
    out->entry_symbol = input.entry_symbol;
    if (out->binding == COMPILE_BINDING_AUTO)
        out->binding = input.binding;
    return true;
}

/* Exactly one of path, source and sources. */
static bool read_candidate(struct json at, const struct line *line, struct arena *arena, struct judge_request *out,
                           struct error *error)
{
    struct json list;
    bool many = json_optional(at, "sources", &list);

    if ((line->path != NULL) + (line->source != NULL) + many != 1)
        return json_error(at, error, "one of \"path\", \"source\" and \"sources\" is needed");
    if (line->path && !take_file(line, arena, out, error))
        return false;
    if (line->source) {
        struct compile_source *source = arena_alloc(arena, sizeof *source);
        *source = (struct compile_source){"kernel.cu", line->source, strlen(line->source)};
        out->sources = source;
        out->source_count = 1;
    }
    if (many && !read_sources(list, arena, out, error))
        return false;
    out->entry_file = line->entry ? line->entry : out->entry_file ? out->entry_file : out->sources[0].path;
    out->entry_symbol = line->entry_symbol ? line->entry_symbol : out->entry_symbol ? out->entry_symbol : "run";
    out->solution = line->solution ? line->solution : out->solution ? out->solution : "candidate";
    return true;
}

static bool find_workload(const struct line *line, struct worker_workloads *workloads, struct judge_request *out,
                          struct error *error)
{
    const struct workload *workload;
    struct workload *resized;

    if (!trace_set_find_workload(workloads->tasks, line->definition, line->workload, &workload, error))
        return false;
    out->workload = workload;
    if (!line->axes)
        return true;
    if (!workload_resize(workload, line->axes, workloads->arena, &resized, error))
        return false;
    for (size_t i = 0; i < workloads->resized.count; i++)
        if (!strcmp(workloads->resized.items[i]->uuid, resized->uuid)) {
            out->workload = workloads->resized.items[i];
            return true;
        }
    *LIST_APPEND(workloads->arena, &workloads->resized) = resized;
    out->workload = resized;
    return true;
}

bool worker_request_read(struct json at, struct arena *arena, struct worker_workloads *workloads,
                         struct judge_request *out, const char **id, struct error *error)
{
    struct line line = {0};
    struct json member;

    *out = (struct judge_request){0};
    *id = NULL;
    if (!json_expect(at, JSON_OBJECT, error) || (json_optional(at, "id", &member) && !json_string(member, id, error)))
        return false;
    return read_texts(at, &line, error) && read_choices(at, &line, out, error) && read_numbers(at, out, error) &&
           read_candidate(at, &line, arena, out, error) && find_workload(&line, workloads, out, error);
}

json_object *worker_answer(const struct verdict *verdict, const char *id)
{
    json_object *answer = verdict_to_json(verdict);

    if (id)
        json_put_string(answer, "id", id);
    return answer;
}

json_object *worker_refusal(const struct error *error, const char *id)
{
    json_object *answer = json_object_new_object();
    json_object *inner = json_object_new_object();

    json_put_string(answer, "schema", "ptxbench.refusal.v1");
    json_put_string(answer, "id", id);
    json_put_string(inner, "code", error_code_text(error->code));
    json_put_string(inner, "message", error->message);
    json_put_string(inner, "hint", error->hint[0] ? error->hint : NULL);
    json_put(answer, "error", inner);
    return answer;
}
