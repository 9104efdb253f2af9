#include "judge/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "judge/verdict_schema.h"

enum { SUMMARY_MAX_BYTES = 1024 };

struct verdict *verdict_new(struct arena *arena)
{
    return arena_alloc(arena, sizeof(struct verdict));
}

static const char *one_line(struct arena *arena, const char *format, va_list args) PRINTF_LIKE(2, 0);

static const char *one_line(struct arena *arena, const char *format, va_list args)
{
    AUTO_BUFFER raw = buffer_new(SUMMARY_MAX_BYTES);
    AUTO_BUFFER clean = buffer_new(SUMMARY_MAX_BYTES);

    (void)buffer_vprintf(&raw, format, args);
    (void)buffer_append_sanitized(&clean, raw.data, raw.length);
    for (size_t i = 0; i < clean.length; i++)
        if (clean.data[i] == '\n' || clean.data[i] == '\t')
            clean.data[i] = ' ';
    return arena_strndup(arena, clean.data, clean.length);
}

void verdict_set_status(struct verdict *verdict, struct arena *arena, enum verdict_status status, const char *format,
                        ...)
{
    va_list args;

    verdict->status = status;
    if (status == VERDICT_PASSED)
        verdict->blame = BLAME_NONE;
    else if (status != VERDICT_INFRA_ERROR)
        verdict->blame = BLAME_CANDIDATE;
    else if (verdict->blame == BLAME_NONE || verdict->blame == BLAME_CANDIDATE)
        verdict->blame = BLAME_INFRASTRUCTURE;
    if (status == VERDICT_PASSED)
        verdict->correct = TRISTATE_YES;
    else if (status == VERDICT_INCORRECT_SHAPE || status == VERDICT_INCORRECT_DTYPE ||
             status == VERDICT_INCORRECT_NUMERICAL)
        verdict->correct = TRISTATE_NO;
    va_start(args, format);
    verdict->summary = one_line(arena, format, args);
    va_end(args);
}

void verdict_set_trouble(struct verdict *verdict, struct arena *arena, const struct error *trouble)
{
    enum finding_code code = trouble->code == ERROR_TOOL     ? FINDING_TOOL_TROUBLE
                             : trouble->code == ERROR_DEVICE ? FINDING_DEVICE_TROUBLE
                                                             : FINDING_INFRASTRUCTURE;
    struct finding *finding = finding_add(&verdict->findings, arena, code, "%s", trouble->message);

    finding->class = FINDING_CLASS_ERROR; /* it decided the verdict */
    if (trouble->hint[0])
        finding->hint = arena_strdup(arena, trouble->hint);
    verdict->blame = finding->blame;
    verdict_set_status(verdict, arena, VERDICT_INFRA_ERROR, "%s", trouble->message);
}

/* Statuses come from the run itself; what the sanitizer or the emulator finds stands beside them. */
static bool contradicts_pass(const struct finding *finding)
{
    return finding->class == FINDING_CLASS_ERROR && finding->blame == BLAME_CANDIDATE &&
           finding->stage != STAGE_SANITIZER && finding->stage != STAGE_EMULATOR;
}

static bool check_passed(const struct verdict *verdict, struct error *error)
{
    if (verdict->correct != TRISTATE_YES || verdict->blame != BLAME_NONE)
        return error_set(error, ERROR_INTERNAL, "verdict: PASSED needs correct = yes and blame none, not %s",
                         blame_text(verdict->blame));
    if (!verdict->correctness.max_abs.known || !verdict->correctness.max_rel.known)
        return error_set(error, ERROR_INTERNAL, "verdict: PASSED without a comparison of the outputs");
    for (size_t i = 0; i < verdict->findings.count; i++)
        if (contradicts_pass(&verdict->findings.items[i]))
            return error_set(error, ERROR_INTERNAL, "verdict: PASSED with the error %s against the candidate",
                             verdict->findings.items[i].code);
    return true;
}

bool verdict_check(const struct verdict *verdict, struct error *error)
{
    const struct verdict_performance *speed = &verdict->performance;
    const char *status = verdict_status_text(verdict->status);

    if (verdict->status == VERDICT_PASSED) {
        if (!check_passed(verdict, error))
            return false;
    } else if (verdict->status == VERDICT_INFRA_ERROR) {
        if (verdict->blame == BLAME_NONE || verdict->blame == BLAME_CANDIDATE)
            return error_set(error, ERROR_INTERNAL, "verdict: INFRA_ERROR blames %s", blame_text(verdict->blame));
    } else if (verdict->blame != BLAME_CANDIDATE) {
        return error_set(error, ERROR_INTERNAL, "verdict: %s blames %s, not the candidate", status,
                         blame_text(verdict->blame));
    }
    if (verdict->status == VERDICT_INCORRECT_NUMERICAL && verdict->correct != TRISTATE_NO)
        return error_set(error, ERROR_INTERNAL, "verdict: INCORRECT_NUMERICAL without correct = no");
    if (speed->speedup.known) {
        double quotient = speed->reference_latency_ms.value / speed->latency_ms.value;
        if (!speed->latency_ms.known || !speed->reference_latency_ms.known ||
            !(fabs(quotient - speed->speedup.value) <= 1e-6 * fabs(quotient)))
            return error_set(error, ERROR_INTERNAL, "verdict: speedup %g is not reference %g ms / candidate %g ms",
                             speed->speedup.value, speed->reference_latency_ms.value, speed->latency_ms.value);
    }
    return true;
}

json_object *verdict_to_json(const struct verdict *verdict)
{
    json_object *object = json_object_new_object();
    json_object *body = record_to_json(verdict, &verdict_record);

    json_put_string(object, "schema", VERDICT_SCHEMA);
    json_object_object_foreach(body, key, value)
    {
        json_put(object, key, json_object_get(value));
    }
    json_object_put(body);
    return object;
}

bool verdict_from_json(struct json at, struct arena *arena, struct verdict **out, struct error *error)
{
    const char *schema;
    struct json member;

    if (!json_expect(at, JSON_OBJECT, error) || !json_member_string(at, "schema", &schema, error))
        return false;
    if (strcmp(schema, VERDICT_SCHEMA) != 0)
        return json_error(at, error, "schema \"%.60s\" is not \"%s\"", schema, VERDICT_SCHEMA);
    if (!json_member(at, "status", &member, error) || !json_expect(member, JSON_STRING, error))
        return false;
    *out = verdict_new(arena);
    return record_from_json(at, &verdict_record, *out, arena, error);
}

int verdict_exit_status(const struct verdict *verdict)
{
    if (verdict->status == VERDICT_PASSED)
        return 0;
    if (verdict->status == VERDICT_INFRA_ERROR || verdict->blame != BLAME_CANDIDATE)
        return 2;
    return 1;
}

bool verdict_status_parse(const char *text, enum verdict_status *out)
{
    static const enum verdict_status all[] = {
#define X(name, status_text) name,
        VERDICT_STATUSES(X)
#undef X
    };

    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        if (strcmp(verdict_status_text(all[i]), text) == 0) {
            *out = all[i];
            return true;
        }
    }
    return false;
}
