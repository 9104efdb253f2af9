#include "agent/event.h"

#include <string.h>

#include "base/clock.h"

static const char *const kind_texts[] = {
#define X(name, text) text,
    EVENT_KINDS(X)
#undef X
};

static const char *const purpose_texts[] = {
#define X(name, text) text,
    CALL_PURPOSES(X)
#undef X
};

static const char *const reason_texts[] = {
#define X(name, text, reopens) text,
    END_REASONS(X)
#undef X
};

static const struct record_field started_fields[] = {
    RECORD_TEXT(struct event_started, name),
    RECORD_TEXT(struct event_started, run),
    RECORD_TEXT(struct event_started, model),
    RECORD_TEXT(struct event_started, definition),
    RECORD_TEXT(struct event_started, workload),
    RECORD_TEXT(struct event_started, arch),
    RECORD_TEXT(struct event_started, variant_name),
    RECORD_INTEGER(struct event_started, variant),
    RECORD_INTEGER(struct event_started, planned_turns),
    RECORD_TEXT(struct event_started, context),
    RECORD_INTEGER(struct event_started, seed),
    RECORD_TEXT(struct event_started, system_sha256),
    RECORD_TEXT(struct event_started, task_sha256),
};

static const struct record_field reply_fields[] = {
    RECORD_TEXT(struct event_reply, status),         RECORD_TEXT(struct event_reply, text),
    RECORD_TEXT(struct event_reply, reasoning),      RECORD_TEXT(struct event_reply, finish_reason),
    RECORD_COUNT(struct event_reply, input_tokens),  RECORD_COUNT(struct event_reply, cached_tokens),
    RECORD_COUNT(struct event_reply, output_tokens), RECORD_COUNT(struct event_reply, reasoning_tokens),
    RECORD_NUMBER(struct event_reply, cost_usd),     RECORD_TEXT(struct event_reply, provider),
    RECORD_TEXT(struct event_reply, served_model),   RECORD_TEXT(struct event_reply, fingerprint),
    RECORD_TEXT(struct event_reply, request_id),     RECORD_INTEGER(struct event_reply, attempts),
    RECORD_INTEGER(struct event_reply, elapsed_ms),  RECORD_COUNT(struct event_reply, first_token_ms),
    RECORD_TEXT(struct event_reply, error),
};

static const struct record_field extraction_fields[] = {
    RECORD_TEXT(struct event_extraction, status),
    RECORD_TEXT(struct event_extraction, code),
    RECORD_TEXT(struct event_extraction, reason),
    RECORD_INTEGER(struct event_extraction, blocks),
};

static const struct record_field verdict_fields[] = {
    RECORD_TEXT(struct event_verdict, status),    RECORD_TEXT(struct event_verdict, outcome),
    RECORD_NUMBER(struct event_verdict, speedup), RECORD_TEXT(struct event_verdict, executed),
    RECORD_TEXT(struct event_verdict, feedback),  RECORD_INTEGER(struct event_verdict, elapsed_ms),
};

static const struct record_field retry_fields[] = {
    RECORD_TEXT(struct event_retry, cause),
    RECORD_TEXT(struct event_retry, message),
};

static const struct record_field ended_fields[] = {
    RECORD_ENUM(struct event_ended, reason, reason_texts),
    RECORD_TEXT(struct event_ended, message),
};

static const struct record_type started_record = RECORD_TYPE(struct event_started, started_fields);
static const struct record_type reply_record = RECORD_TYPE(struct event_reply, reply_fields);
static const struct record_type extraction_record = RECORD_TYPE(struct event_extraction, extraction_fields);
static const struct record_type verdict_record = RECORD_TYPE(struct event_verdict, verdict_fields);
static const struct record_type retry_record = RECORD_TYPE(struct event_retry, retry_fields);
static const struct record_type ended_record = RECORD_TYPE(struct event_ended, ended_fields);

/* The payload of a kind: where it lies and what describes it; NULL for kinds without one. */
static void *payload(struct event *event, const struct record_type **type)
{
    switch (event->kind) {
    case EVENT_STARTED:
        *type = &started_record;
        return &event->started;
    case EVENT_REPLY:
        *type = &reply_record;
        return &event->reply;
    case EVENT_EXTRACTION:
        *type = &extraction_record;
        return &event->extraction;
    case EVENT_VERDICT:
        *type = &verdict_record;
        return &event->verdict;
    case EVENT_RETRY:
        *type = &retry_record;
        return &event->retry;
    case EVENT_ENDED:
        *type = &ended_record;
        return &event->ended;
    case EVENT_REQUEST:
    case EVENT_REOPENED:
        break;
    }
    return NULL;
}

static bool has_purpose(enum event_kind kind)
{
    return kind == EVENT_REQUEST || kind == EVENT_REPLY;
}

json_object *event_to_json(const struct event *event)
{
    json_object *line = json_object_new_object();
    struct event copy = *event;
    const struct record_type *type;
    const void *record = payload(&copy, &type);
    char now[32];

    clock_utc_text(now);
    json_put_string(line, "event", kind_texts[event->kind]);
    json_put_string(line, "time", event->time ? event->time : now);
    json_put_i64(line, "turn", event->turn);
    if (has_purpose(event->kind))
        json_put_string(line, "purpose", purpose_texts[event->purpose]);
    if (record) {
        AUTO_JSON_OBJECT *members = record_to_json(record, type);
        json_object_object_foreach(members, key, value)
        {
            json_put(line, key, value ? json_object_get(value) : NULL);
        }
    }
    if (event->kind == EVENT_STARTED)
        json_put_double(line, "target_speedup", event->started.target_speedup);
    if (event->kind == EVENT_REOPENED)
        json_put_i64(line, "planned_turns", event->planned_turns);
    if (event->kind == EVENT_VERDICT)
        json_put(line, "verdict", event->verdict.verdict ? json_object_get(event->verdict.verdict) : NULL);
    return line;
}

static bool find_text(struct json object, const char *key, const char *const *texts, size_t count, int *out,
                      struct error *error)
{
    const char *text;

    if (!json_member_string(object, key, &text, error))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!strcmp(texts[i], text)) {
            *out = (int)i;
            return true;
        }
    return json_error(object, error, "%s: \"%.40s\" is not known", key, text);
}

static bool read_rest(struct json at, struct event *out, struct error *error)
{
    struct json member;

    if (out->kind == EVENT_STARTED)
        return json_member(at, "target_speedup", &member, error) &&
               json_double(member, &out->started.target_speedup, error);
    if (out->kind == EVENT_REOPENED)
        return json_member(at, "planned_turns", &member, error) && json_i64(member, &out->planned_turns, error);
    if (out->kind == EVENT_VERDICT)
        out->verdict.has_verdict = json_optional(at, "verdict", &out->verdict.verdict_at);
    return true;
}

bool event_from_json(struct json at, struct arena *arena, struct event *out, struct error *error)
{
    const struct record_type *type;
    const char *time = NULL;
    struct json member;
    int value = 0;

    *out = (struct event){0};
    if (!json_expect(at, JSON_OBJECT, error) ||
        !find_text(at, "event", kind_texts, ARRAY_LEN(kind_texts), &value, error))
        return false;
    out->kind = (enum event_kind)value;
    if (!json_member_string(at, "time", &time, error) || !json_member(at, "turn", &member, error) ||
        !json_i64(member, &out->turn, error))
        return false;
    out->time = arena_strdup(arena, time);
    if (has_purpose(out->kind)) {
        if (!find_text(at, "purpose", purpose_texts, ARRAY_LEN(purpose_texts), &value, error))
            return false;
        out->purpose = (enum call_purpose)value;
    }
    void *record = payload(out, &type);
    return (!record || record_from_json(at, type, record, arena, error)) && read_rest(at, out, error);
}

const char *event_kind_text(enum event_kind kind)
{
    return kind_texts[kind];
}

const char *end_reason_text(enum end_reason reason)
{
    return reason_texts[reason];
}

bool end_reason_reopens(enum end_reason reason)
{
    static const bool reopens[] = {
#define X(name, text, again) again,
        END_REASONS(X)
#undef X
    };

    return reopens[reason];
}

const char *call_purpose_text(enum call_purpose purpose)
{
    return purpose_texts[purpose];
}
