#define _GNU_SOURCE
#include "llm/failure.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/buffer.h"

/*
 * The first row that matches decides. `code`: the error's code, type or status, exactly. `text`: part of the message, in
 * any case. `status`: 0 any, 4 and 5 a whole hundred.
 */
struct rule {
    const char *code;
    const char *text;
    int status;
    enum failure_kind kind;
};

static const struct rule rules[] = {
    {"insufficient_quota", NULL, 0, FAILURE_QUOTA}, /* OpenAI, with status 429 */
    {"billing_error", NULL, 0, FAILURE_QUOTA},      /* Anthropic */
    {"billing_hard_limit_reached", NULL, 0, FAILURE_QUOTA},
    {NULL, NULL, 402, FAILURE_QUOTA}, /* OpenRouter */
    {NULL, "credit balance is too low", 0, FAILURE_QUOTA},
    {"RESOURCE_EXHAUSTED", "PerDay", 429, FAILURE_QUOTA}, /* Gemini: the quota's id says which one is used up */

    {"context_length_exceeded", NULL, 0, FAILURE_CONTEXT_OVERFLOW},
    {"exceed_context_size_error", NULL, 0, FAILURE_CONTEXT_OVERFLOW}, /* llama.cpp */
    {"request_too_large", NULL, 0, FAILURE_CONTEXT_OVERFLOW},         /* Anthropic */
    {NULL, NULL, 413, FAILURE_CONTEXT_OVERFLOW},
    {NULL, "maximum context length", 4, FAILURE_CONTEXT_OVERFLOW}, /* OpenAI, vLLM, OpenRouter */
    {NULL, "model's context length", 4, FAILURE_CONTEXT_OVERFLOW}, /* SGLang */
    {NULL, "maximum allowed length", 4, FAILURE_CONTEXT_OVERFLOW}, /* SGLang */
    {NULL, "prompt is too long", 4, FAILURE_CONTEXT_OVERFLOW},     /* Anthropic */
    {NULL, "exceed context limit", 4, FAILURE_CONTEXT_OVERFLOW},   /* Anthropic */
    {NULL, "context window", 4, FAILURE_CONTEXT_OVERFLOW},
    {NULL, "maximum number of tokens allowed", 4, FAILURE_CONTEXT_OVERFLOW}, /* Gemini */

    {"content_filter", NULL, 0, FAILURE_REFUSED},
    {"content_policy_violation", NULL, 0, FAILURE_REFUSED},
    {"invalid_prompt", "safety", 0, FAILURE_REFUSED}, /* OpenAI */
    {NULL, "moderation", 403, FAILURE_REFUSED},       /* OpenRouter */
    {NULL, "flagged", 403, FAILURE_REFUSED},
    {NULL, "content management policy", 4, FAILURE_REFUSED},

    {"invalid_api_key", NULL, 0, FAILURE_AUTHENTICATION},
    {"authentication_error", NULL, 0, FAILURE_AUTHENTICATION},
    {"permission_error", NULL, 0, FAILURE_AUTHENTICATION},
    {"PERMISSION_DENIED", NULL, 0, FAILURE_AUTHENTICATION},
    {"UNAUTHENTICATED", NULL, 0, FAILURE_AUTHENTICATION},
    {NULL, "API key not valid", 400, FAILURE_AUTHENTICATION}, /* Gemini */
    {NULL, NULL, 401, FAILURE_AUTHENTICATION},
    {NULL, NULL, 403, FAILURE_AUTHENTICATION},

    {"overloaded_error", NULL, 0, FAILURE_RETRYABLE}, /* Anthropic, also in the middle of a stream */
    {"rate_limit_error", NULL, 0, FAILURE_RETRYABLE},
    {"rate_limit_exceeded", NULL, 0, FAILURE_RETRYABLE},
    {"api_error", NULL, 0, FAILURE_RETRYABLE},
    {"timeout_error", NULL, 0, FAILURE_RETRYABLE},
    {"server_error", NULL, 0, FAILURE_RETRYABLE},
    {NULL, NULL, 408, FAILURE_RETRYABLE},
    {NULL, NULL, 409, FAILURE_RETRYABLE},
    {NULL, NULL, 425, FAILURE_RETRYABLE},
    {NULL, NULL, 429, FAILURE_RETRYABLE},
    {NULL, NULL, 5, FAILURE_RETRYABLE},
    {"invalid_request_error", NULL, 0, FAILURE_BAD_REQUEST}, /* in a stream; in a response the status says it too */
    {"not_found_error", NULL, 0, FAILURE_BAD_REQUEST},
    {"INVALID_ARGUMENT", NULL, 0, FAILURE_BAD_REQUEST},
    {NULL, NULL, 4, FAILURE_BAD_REQUEST},
    {NULL, NULL, 0, FAILURE_RETRYABLE}, /* an error in a stream that says no more */
};

static const struct {
    enum failure_kind kind;
    const char *text;
} hints[] = {
    {FAILURE_AUTHENTICATION, "check the key in the model's api_key_env, and that it may use this model"},
    {FAILURE_QUOTA, "add credit or raise the limit at the provider, then resume"},
    {FAILURE_CONTEXT_OVERFLOW, "use a shorter pack or a context policy that keeps fewer turns"},
    {FAILURE_BAD_REQUEST, "compare the model's file with the provider's documentation: model_id, sampling, limits"},
};

struct failure failure_none(void)
{
    return (struct failure){.kind = FAILURE_NONE, .retry_after_ns = -1};
}

static void set_message(struct failure *failure, const char *text, size_t length)
{
    AUTO_BUFFER line = buffer_new(sizeof failure->message - 1);

    (void)buffer_append_sanitized(&line, text, length);
    if (!line.length)
        (void)buffer_append_text(&line, "no message");
    for (size_t i = 0; i < line.length; i++)
        if (line.data[i] == '\n' || line.data[i] == '\t')
            line.data[i] = ' ';
    memcpy(failure->message, line.data, line.length + 1);
}

static void set_kind(struct failure *failure, enum failure_kind kind)
{
    failure->kind = kind;
    failure->hint[0] = 0;
    for (size_t i = 0; i < ARRAY_LEN(hints); i++)
        if (hints[i].kind == kind)
            (void)snprintf(failure->hint, sizeof failure->hint, "%s", hints[i].text);
}

void failure_set(struct failure *failure, enum failure_kind kind, const char *format, ...)
{
    AUTO_BUFFER text = buffer_new(4096);
    va_list args;

    va_start(args, format);
    (void)buffer_vprintf(&text, format, args);
    va_end(args);
    set_message(failure, text.data, text.length);
    set_kind(failure, kind);
}

/* What an error object says. Codes are compared exactly, the text in parts. */
struct description {
    const char *codes[3]; /* code, type, status; NULL: absent */
    struct buffer text;   /* message, and the ids of exhausted quotas */
};

static void add_text(struct buffer *text, struct json at)
{
    if (json_kind_of(at) != JSON_STRING)
        return;
    if (text->length)
        (void)buffer_append_text(text, " ");
    (void)buffer_append(text, json_object_get_string(at.value), (size_t)json_object_get_string_len(at.value));
}

static bool status_matches(int rule, int status)
{
    return !rule || rule == status || (rule < 10 && status / 100 == rule);
}

static bool code_matches(const char *rule, const struct description *said)
{
    if (!rule)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(said->codes); i++)
        if (said->codes[i] && !strcmp(rule, said->codes[i]))
            return true;
    return false;
}

static enum failure_kind classify(int status, const struct description *said)
{
    for (size_t i = 0; i < ARRAY_LEN(rules); i++)
        if (status_matches(rules[i].status, status) && code_matches(rules[i].code, said) &&
            (!rules[i].text || strcasestr(said->text.data, rules[i].text)))
            return rules[i].kind;
    return FAILURE_RETRYABLE;
}

/* Gemini's error.details: ids of quotas go to the text, a RetryInfo says how long to wait ("34s"). */
static void read_details(struct json error, struct description *said, struct failure *failure)
{
    struct json details, violations, value;

    if (!json_optional(error, "details", &details) || json_kind_of(details) != JSON_ARRAY)
        return;
    for (size_t i = 0; i < json_length(details) && i < 16; i++) {
        struct json detail = json_at(details, i);
        if (json_kind_of(detail) != JSON_OBJECT)
            continue;
        if (json_optional(detail, "retryDelay", &value) && json_kind_of(value) == JSON_STRING) {
            char *end;
            double seconds = strtod(json_object_get_string(value.value), &end);
            bool usable = end != json_object_get_string(value.value) && seconds >= 0 && seconds < 864000;
            if (usable && (int64_t)(seconds * 1e9) > failure->retry_after_ns) /* the header may ask for more */
                failure->retry_after_ns = (int64_t)(seconds * 1e9);
        }
        if (json_optional(detail, "violations", &violations) && json_kind_of(violations) == JSON_ARRAY)
            for (size_t j = 0; j < json_length(violations) && j < 16; j++) {
                struct json violation = json_at(violations, j);
                if (json_kind_of(violation) == JSON_OBJECT && json_optional(violation, "quotaId", &value))
                    add_text(&said->text, value);
            }
    }
}

static void read_error_object(struct json error, int status, struct failure *failure)
{
    static const char *const code_keys[] = {"code", "type", "status"};
    static const char *const text_keys[] = {"message", "detail", "msg"};
    struct description said = {.text = buffer_new(16384)};
    struct json value;

    for (size_t i = 0; i < ARRAY_LEN(code_keys); i++) {
        if (!json_optional(error, code_keys[i], &value))
            continue;
        if (json_kind_of(value) == JSON_STRING)
            said.codes[i] = json_object_get_string(value.value);
        int64_t number = json_kind_of(value) == JSON_INTEGER ? json_object_get_int64(value.value) : 0;
        if (status < 400 && number >= 400 && number < 600) /* OpenRouter: the upstream's status, in a stream */
            status = (int)number;
    }
    for (size_t i = 0; i < ARRAY_LEN(text_keys); i++)
        if (json_optional(error, text_keys[i], &value))
            add_text(&said.text, value);
    size_t message_length = said.text.length;
    read_details(error, &said, failure);
    enum failure_kind kind = classify(status, &said);
    set_message(failure, said.text.data, message_length);
    set_kind(failure, kind);
    buffer_free(&said.text);
}

bool failure_from_json(struct json at, int status, struct failure *failure)
{
    struct json error;

    if (json_kind_of(at) == JSON_ARRAY && json_length(at))
        at = json_at(at, 0);
    if (json_kind_of(at) != JSON_OBJECT)
        return false;
    if (!json_optional(at, "error", &error)) {
        if (status < 400) /* an object that is no error: a chunk of an answer may well have a "message" */
            return false;
        error = at;
    }
    if (json_kind_of(error) == JSON_STRING) { /* {"error": "text"} */
        struct description said = {.text = buffer_new(16384)};
        add_text(&said.text, error);
        set_message(failure, said.text.data, said.text.length);
        set_kind(failure, classify(status, &said));
        buffer_free(&said.text);
        return true;
    }
    if (json_kind_of(error) != JSON_OBJECT)
        return false;
    read_error_object(error, status, failure);
    return true;
}

void failure_from_body(const char *body, size_t length, int status, struct failure *failure)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct description nothing = {.text = buffer_new(16)};
    struct error error;

    if (json_parse(body, length, "response", 1, &document, &error) &&
        failure_from_json(json_root(document), status, failure))
        return;
    if (status < 400) {
        failure_set(failure, FAILURE_PROTOCOL, "status %d, but neither a stream of events nor an error", status);
        return;
    }
    if (length)
        set_message(failure, body, length < 300 ? length : 300);
    else
        set_message(failure, "empty response", strlen("empty response"));
    set_kind(failure, classify(status, &nothing));
}

int64_t failure_retry_after(const char *value, int64_t now_unix)
{
    const double most = 864000;
    char *end;

    while (*value == ' ' || *value == '\t')
        value++;
    double seconds = strtod(value, &end);
    bool is_number = end != value && *value >= '0' && *value <= '9';
    while (*end == ' ' || *end == '\t' || *end == '\r' || *end == '\n')
        end++;
    if (!is_number || *end) {
        struct tm date = {0};
        if (!strptime(value, "%a, %d %b %Y %H:%M:%S", &date)) /* RFC 9110, section 5.6.7: what senders write */
            return -1;
        seconds = (double)(timegm(&date) - now_unix);
    }
    if (!isfinite(seconds))
        return -1;
    seconds = seconds < 0 ? 0 : seconds < most ? seconds : most;
    return (int64_t)(seconds * 1e9);
}

int64_t failure_backoff(int attempt, int64_t base_ns, int64_t cap_ns, uint64_t random)
{
    int64_t wait = base_ns;

    for (int i = 1; i < attempt && wait < cap_ns; i++)
        wait = wait > cap_ns / 2 ? cap_ns : wait * 2;
    wait = wait < cap_ns ? wait : cap_ns;
    double part = (double)(random >> 11) * 0x1p-53; /* [0, 1) */
    return wait - (int64_t)((double)wait / 2 * part);
}
