#include <string.h>

#include "report/read.h"

#define TURN_SCHEMA "ptxbench.turn.v1"

struct json_file {
    struct turn_set *set;
    struct leaderboard *board;
    const char *name;
};

/* Fills what a verdict knows of a turn. */
static void take_verdict(const struct verdict *verdict, struct turn_row *row)
{
    row->outcome = outcome_of_verdict(verdict);
    row->definition = verdict->task.definition;
    row->arch = verdict->task.arch;
    row->workload = verdict->task.workload;
    if (outcome_is_correct(row->outcome))
        row->speedup = verdict->performance.speedup;
}

/* A verdict by itself: a trajectory of one turn, and its solution stands for the model. */
static bool read_verdict(const struct json_file *file, struct json at, struct arena *arena, struct error *error)
{
    struct turn_row row = {.variant = -1, .run = file->name};
    struct verdict *verdict;
    size_t line = (size_t)json_line(at);

    if (!verdict_from_json(at, arena, &verdict, error))
        return false;
    take_verdict(verdict, &row);
    row.model = verdict->task.solution;
    row.trajectory = arena_printf(arena, "line %zu", line);
    return turn_set_add(file->set, &row, file->name, line, error);
}

static bool optional_count(struct json object, const char *key, struct count *out, struct error *error)
{
    struct json at;

    *out = (struct count){0};
    if (!json_optional(object, key, &at))
        return true;
    out->known = true;
    return json_i64(at, &out->value, error);
}

static bool optional_text(struct json object, const char *key, const char **out, struct error *error)
{
    struct json at;

    return !json_optional(object, key, &at) || json_string(at, out, error);
}

/* What a turn line says about the model call. */
static bool read_call(struct json_file *file, struct json at, struct turn_row *row, struct error *error)
{
    struct count index;
    struct count variant;
    struct count planned;
    struct json cost;

    if (!json_member_string(at, "model", &row->model, error) || !json_member_string(at, "run", &row->run, error) ||
        !json_member_string(at, "trajectory", &row->trajectory, error) || !optional_count(at, "turn", &index, error) ||
        !optional_count(at, "variant", &variant, error) || !optional_count(at, "planned_turns", &planned, error) ||
        !optional_count(at, "reasoning_tokens", &row->reasoning_tokens, error) ||
        !optional_count(at, "tokens", &row->tokens, error) || !optional_text(at, "arch", &row->arch, error) ||
        !optional_text(at, "definition", &row->definition, error) ||
        !optional_text(at, "workload", &row->workload, error))
        return false;
    if (!index.known)
        return json_error(at, error, "a turn line needs \"turn\"");
    if (variant.known && variant.value < 0)
        return json_error(at, error, "\"variant\" is negative");
    if (json_optional(at, "cost_usd", &cost)) {
        row->cost_usd.known = true;
        if (!json_double(cost, &row->cost_usd.value, error))
            return false;
    }
    row->index = index.value;
    row->variant = variant.known ? variant.value : -1;
    if (planned.known && planned.value > 0 && planned.value <= TURN_INDEX_MAX + 1)
        turn_set_plan(file->set, (int)planned.value);
    else if (planned.known)
        return json_error(at, error, "\"planned_turns\" is not between 1 and %d", TURN_INDEX_MAX + 1);
    return true;
}

static bool read_turn_line(struct json_file *file, struct json at, struct arena *arena, struct error *error)
{
    struct turn_row row = {.variant = -1};
    const char *outcome = NULL;
    struct json verdict_at;
    struct verdict *verdict;

    if (!read_call(file, at, &row, error) || !optional_text(at, "outcome", &outcome, error))
        return false;
    if (json_optional(at, "verdict", &verdict_at)) {
        if (!verdict_from_json(verdict_at, arena, &verdict, error))
            return false;
        take_verdict(verdict, &row);
    } else if (outcome && !outcome_parse(outcome, &row.outcome)) {
        (void)json_error(at, error, "\"%.80s\" is no outcome", outcome);
        return error_hint(error, "docs/metrics.md lists the outcomes");
    } else if (!outcome) {
        return json_error(at, error, "a turn without a verdict needs an \"outcome\" such as \"extraction\"");
    } else if (outcome_is_correct(row.outcome)) {
        return json_error(at, error, "only a verdict can say that a turn is correct");
    }
    return turn_set_add(file->set, &row, file->name, (size_t)json_line(at), error);
}

/* A trace is a turn of its solution; its workloads are joined. Lines without evaluation are workloads. */
static bool read_trace(const struct json_file *file, struct json at, struct arena *arena, struct error *error)
{
    struct turn_row row = {.variant = -1, .run = file->name, .repeatable = true};
    struct trace trace;

    if (!trace_parse(at, arena, &trace, error))
        return false;
    if (!trace.has_evaluation)
        return true;
    if (!json_member_string(trace.workload, "uuid", &row.workload, error))
        return false;
    row.outcome = outcome_of_evaluation(trace.evaluation.status);
    row.definition = trace.definition;
    row.model = trace.solution;
    row.trajectory = trace.solution;
    row.arch = trace.evaluation.hardware;
    if (trace.evaluation.has_performance)
        row.speedup = number_of(trace.evaluation.speedup_factor);
    if (file->board)
        leaderboard_add(file->board, &trace, row.workload);
    return turn_set_add(file->set, &row, file->name, (size_t)json_line(at), error);
}

static bool read_value(struct json_file *file, struct json at, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const char *schema = NULL;

    if (!json_expect(at, JSON_OBJECT, error) || !optional_text(at, "schema", &schema, error))
        return false;
    if (schema && !strcmp(schema, VERDICT_SCHEMA))
        return read_verdict(file, at, arena, error);
    if (schema && !strcmp(schema, TURN_SCHEMA))
        return read_turn_line(file, at, arena, error);
    if (!schema && json_has(at, "definition") && json_has(at, "workload"))
        return read_trace(file, at, arena, error);
    (void)json_error(at, error, "neither a verdict nor a turn nor a trace%s%s", schema ? ": schema " : "",
                     schema ? schema : "");
    return error_hint(error, "docs/formats/turns.md lists what can be read");
}

static size_t line_length(const char *text, size_t length)
{
    const char *end = memchr(text, '\n', length);

    return end ? (size_t)(end - text) : length;
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (!strchr(" \t\r", text[i]) || !text[i])
            return false;
    return true;
}

/* One line; only the last, without a newline behind it, may fail to parse. */
static bool read_line(struct json_file *file, const char *text, size_t length, int line, bool cut, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = NULL;

    if (length > READ_LINE_MAX)
        return error_set(error, ERROR_LIMIT, "%s:%d: a line of more than %d bytes", file->name, line, READ_LINE_MAX);
    if (is_blank(text, length))
        return true;
    if (!json_parse(text, length, file->name, line, &document, error)) {
        if (!cut)
            return false;
        turn_set_warn(file->set, file->name, (size_t)line, "the last line is cut; left out");
        return true;
    }
    return read_value(file, json_root(document), error);
}

/* A file that holds one value, as `ptxbench eval --out` writes it: its first line is no value by itself. */
static bool is_one_value(const char *text, size_t length)
{
    size_t first = line_length(text, length);
    AUTO_JSON_DOCUMENT *document = NULL;
    struct error ignored;

    if (is_blank(text, first) || first == length || first > READ_LINE_MAX || length > READ_LINE_MAX)
        return false;
    return !json_parse(text, first, "", 1, &document, &ignored) && json_parse(text, length, "", 1, &document, &ignored);
}

bool read_json_text(struct turn_set *set, struct leaderboard *board, const char *text, size_t length, const char *name,
                    struct error *error)
{
    struct json_file file = {set, board, name};
    int line = 1;

    if (is_one_value(text, length)) {
        AUTO_JSON_DOCUMENT *document = NULL;
        return json_parse(text, length, name, 1, &document, error) && read_value(&file, json_root(document), error);
    }
    for (size_t at = 0; at < length; line++) {
        size_t size = line_length(text + at, length - at);
        if (!read_line(&file, text + at, size, line, at + size == length, error))
            return false;
        at += size + 1;
    }
    return true;
}
