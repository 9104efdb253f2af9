#include "trace/evaluation.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/clock.h"
#include "trace/fields.h"

struct status_facts {
    const char *text;
    bool correctness;
    bool performance;
};

static const struct status_facts statuses[] = {
#define X(name, text, correctness, performance) [name] = {text, correctness, performance},
    EVALUATION_STATUSES(X)
#undef X
};

const char *evaluation_status_text(enum evaluation_status status)
{
    return statuses[status].text;
}

bool evaluation_status_parse(const char *text, enum evaluation_status *out)
{
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++)
        if (!strcmp(text, statuses[i].text)) {
            *out = (enum evaluation_status)i;
            return true;
        }
    return false;
}

static bool is_duration(double value)
{
    return isfinite(value) && value >= 0;
}

bool evaluation_check(const struct evaluation *evaluation, struct error *error)
{
    const struct status_facts *facts = &statuses[evaluation->status];

    if (evaluation->has_correctness != facts->correctness)
        return error_set(error, ERROR_INPUT, "status %s %s correctness", facts->text,
                         facts->correctness ? "needs" : "must not have");
    if (evaluation->has_performance != facts->performance)
        return error_set(error, ERROR_INPUT, "status %s %s performance", facts->text,
                         facts->performance ? "needs" : "must not have");
    if (evaluation->has_performance &&
        (!is_duration(evaluation->latency_ms) || !is_duration(evaluation->reference_latency_ms) ||
         !is_duration(evaluation->speedup_factor)))
        return error_set(error, ERROR_INPUT, "latencies and speed-up must be finite and not negative");
    if (evaluation->has_correctness && (evaluation->max_relative_error < 0 || evaluation->max_absolute_error < 0))
        return error_set(error, ERROR_INPUT, "errors must not be negative");
    return true;
}

/* Drops an incomplete UTF-8 sequence that the cap left at the end. */
static void trim_partial_sequence(struct buffer *text)
{
    size_t lead = text->length;

    while (lead && text->length - lead < 4 && (text->data[lead - 1] & 0xc0) == 0x80)
        lead--;
    if (!lead)
        return;
    unsigned char first = (unsigned char)text->data[lead - 1];
    size_t need = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (text->length - (lead - 1) < need) {
        text->length = lead - 1;
        text->data[text->length] = '\0';
    }
}

static void put_log(json_object *object, const char *log)
{
    static const char truncated[] = "\n[log truncated]";
    AUTO_BUFFER text = buffer_new(EVALUATION_LOG_BYTES);

    if (log && !buffer_append_sanitized(&text, log, strlen(log))) {
        trim_partial_sequence(&text);
        text.limit += sizeof truncated;
        (void)buffer_append_text(&text, truncated);
    }
    json_put_string(object, "log", text.data);
}

bool evaluation_to_json(const struct evaluation *evaluation, json_object **out, struct error *error)
{
    char now[32];

    if (!evaluation_check(evaluation, error))
        return false;
    AUTO_JSON_OBJECT *object = json_object_new_object();
    json_object *environment = json_object_new_object();
    json_object *libraries = json_object_new_object();
    json_put_string(object, "status", evaluation_status_text(evaluation->status));
    json_put_string(environment, "hardware", evaluation->hardware);
    for (size_t i = 0; i < evaluation->library_count; i++)
        json_put_string(libraries, evaluation->libraries[i].name, evaluation->libraries[i].version);
    json_put(environment, "libs", libraries);
    json_put(object, "environment", environment);
    clock_utc_text(now);
    json_put_string(object, "timestamp", evaluation->timestamp ? evaluation->timestamp : now);
    put_log(object, evaluation->log);
    if (evaluation->has_correctness) {
        json_object *correctness = json_object_new_object();
        json_put_double(correctness, "max_relative_error", evaluation->max_relative_error);
        json_put_double(correctness, "max_absolute_error", evaluation->max_absolute_error);
        if (evaluation->correctness_extra)
            json_put(correctness, "extra", json_object_get(evaluation->correctness_extra));
        json_put(object, "correctness", correctness);
    }
    if (evaluation->has_performance) {
        json_object *performance = json_object_new_object();
        json_put_double(performance, "latency_ms", evaluation->latency_ms);
        json_put_double(performance, "reference_latency_ms", evaluation->reference_latency_ms);
        json_put_double(performance, "speedup_factor", evaluation->speedup_factor);
        json_put(object, "performance", performance);
    }
    *out = steal(&object);
    return true;
}

static bool parse_environment(struct json at, struct arena *arena, struct evaluation *out, struct error *error)
{
    struct json environment;
    struct json libraries;

    if (!json_member(at, "environment", &environment, error) ||
        !field_text(environment, "hardware", &out->hardware, error))
        return false;
    if (!json_optional(environment, "libs", &libraries))
        return true;
    if (!json_expect(libraries, JSON_OBJECT, error))
        return false;
    out->library_count = json_length(libraries);
    struct evaluation_library *list = arena_calloc(arena, out->library_count, sizeof *list);
    for (size_t i = 0; i < out->library_count; i++)
        if (!json_string(json_entry(libraries, i, &list[i].name), &list[i].version, error))
            return false;
    out->libraries = list;
    return true;
}

static bool parse_numbers(struct json at, struct evaluation *out, struct error *error)
{
    struct json correctness;
    struct json performance;
    struct json extra;

    out->has_correctness = json_optional(at, "correctness", &correctness);
    out->has_performance = json_optional(at, "performance", &performance);
    if (out->has_correctness) {
        if (!field_extended_number(correctness, "max_relative_error", &out->max_relative_error, error) ||
            !field_extended_number(correctness, "max_absolute_error", &out->max_absolute_error, error))
            return false;
        if (json_optional(correctness, "extra", &extra)) {
            if (!json_expect(extra, JSON_OBJECT, error))
                return false;
            out->correctness_extra = extra.value;
        }
    }
    return !out->has_performance ||
           (field_extended_number(performance, "latency_ms", &out->latency_ms, error) &&
            field_extended_number(performance, "reference_latency_ms", &out->reference_latency_ms, error) &&
            field_extended_number(performance, "speedup_factor", &out->speedup_factor, error));
}

bool evaluation_parse(struct json at, struct arena *arena, struct evaluation *out, struct error *error)
{
    struct json status;
    const char *text;
    struct error problem;

    *out = (struct evaluation){0};
    if (!json_member(at, "status", &status, error) || !json_string(status, &text, error))
        return false;
    if (!evaluation_status_parse(text, &out->status))
        return json_error(status, error, "unknown status \"%s\"", text);
    if (!parse_environment(at, arena, out, error) || !field_text(at, "timestamp", &out->timestamp, error) ||
        !field_optional_text(at, "log", &out->log, error) || !parse_numbers(at, out, error))
        return false;
    if (!evaluation_check(out, &problem))
        return json_error(at, error, "%s", problem.message);
    return true;
}
