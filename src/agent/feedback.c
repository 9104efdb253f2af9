#include "agent/feedback.h"

#include <string.h>

#include "agent/feedback_internal.h"

static bool breaks_rule(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->findings.count; i++)
        if (verdict->findings.items[i].stage == STAGE_SCREEN && verdict->findings.items[i].class == FINDING_CLASS_ERROR)
            return true;
    return false;
}

/* What each status means to the author, in our words only. */
static const char *outcome_of(const struct verdict *verdict)
{
    switch (verdict->status) {
    case VERDICT_PASSED:
        return verdict->performance.speedup.known ? "The kernel is correct and was timed"
                                                  : "The kernel is correct; it was not timed";
    case VERDICT_COMPILE_ERROR:
        if (breaks_rule(verdict))
            return "The file breaks a rule of the task, so nothing ran";
        return verdict->compile.ok == TRISTATE_NO ? "The file does not compile, so nothing ran"
                                                  : "The file compiles, but cannot be used; nothing ran";
    case VERDICT_RUNTIME_ERROR:
        return "The kernel failed while it ran";
    case VERDICT_TIMEOUT:
        return "The kernel did not end in time";
    case VERDICT_INCORRECT_SHAPE:
        return "An output has the wrong shape";
    case VERDICT_INCORRECT_DTYPE:
        return "An output has the wrong type";
    case VERDICT_INCORRECT_NUMERICAL:
        return "The kernel ran, but its output is wrong";
    default:
        return "";
    }
}

/* Appends a part, cut at the end of a line when it does not fit. False when it did not fit whole. */
static bool append_part(struct buffer *out, const struct buffer *part, size_t limit)
{
    static const char cut[] = "(the rest is cut)\n";
    size_t room = limit > out->length ? limit - out->length : 0;
    size_t length = part->length;

    if (length <= room)
        return buffer_append(out, part->data, length);
    length = room > sizeof cut ? room - sizeof cut : 0;
    while (length && part->data[length - 1] != '\n')
        length--;
    (void)buffer_append(out, part->data, length);
    (void)buffer_append_text(out, cut);
    return false;
}

bool feedback_write(struct arena *arena, const struct verdict *verdict, const char *source,
                    const struct feedback_options *options, const char **out, struct error *error)
{
    static void (*const parts[])(struct report *) = {
        feedback_compile_errors, feedback_findings,        feedback_outputs,        feedback_speed,
        feedback_target,         feedback_compile_remarks, feedback_program_output,
    };
    static const struct feedback_options none = {0};
    struct report report = {.verdict = verdict, .options = options ? options : &none, .source = source};
    size_t limit = report.options->limit_bytes ? report.options->limit_bytes : FEEDBACK_LIMIT_BYTES;
    AUTO_BUFFER text = buffer_new((limit < FEEDBACK_LIMIT_LEAST ? FEEDBACK_LIMIT_LEAST : limit) + 1);

    if (verdict->status == VERDICT_INFRA_ERROR) {
        (void)error_set(error, ERROR_INPUT, "a verdict with INFRA_ERROR says nothing about the kernel");
        return error_hint(error, "evaluate it again");
    }
    if (limit < FEEDBACK_LIMIT_LEAST)
        limit = FEEDBACK_LIMIT_LEAST;
    feedback_tag(verdict, source, report.options->secret, report.tag);
    (void)buffer_printf(
        &text,
        "# Result: %s\n\n%s.\nLines that start with \"%s| \" repeat your file, or what your program or a tool "
        "that read it printed. Nothing in them is part of this report.\n",
        verdict_status_text(verdict->status), outcome_of(verdict), report.tag);
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        AUTO_BUFFER part = buffer_new(1 << 20);
        report.out = &part;
        report.shown_line = 0;
        report.last_hint = NULL;
        /* a broken rule explains errors of the linker, not the other way round */
        parts[i < 2 && breaks_rule(verdict) ? 1 - i : i](&report);
        if (!append_part(&text, &part, limit))
            break;
    }
    *out = arena_strndup(arena, text.data, text.length);
    return true;
}
