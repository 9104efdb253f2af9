/* Verdicts as FlashInfer-Trace evaluations and trace lines. */
#include <string.h>

#include "base/buffer.h"
#include "judge/verdict.h"
#include "trace/trace.h"

/* Candidate's words: "| " before every line, so that no scanner of logs takes them for ours. */
static void append_quoted(struct buffer *log, const char *title, const char *text)
{
    const char *line = text;

    if (!text || !*text)
        return;
    (void)buffer_printf(log, "%s:\n", title);
    while (*line) {
        size_t length = strcspn(line, "\n");
        (void)buffer_append_text(log, "| ");
        (void)buffer_append_sanitized(log, line, length);
        (void)buffer_append_text(log, "\n");
        line += length + (line[length] == '\n');
    }
}

static const char *build_log(const struct verdict *verdict, struct arena *arena)
{
    AUTO_BUFFER log = buffer_new(EVALUATION_LOG_BYTES + 1); /* evaluation_to_json truncates and says so */

    if (verdict->summary)
        (void)buffer_printf(&log, "%s\n", verdict->summary);
    for (size_t i = 0; i < verdict->findings.count; i++)
        finding_append_text(&log, &verdict->findings.items[i]);
    append_quoted(&log, "compiler", verdict->compile.log);
    append_quoted(&log, "candidate output", verdict->runner.output);
    return arena_strndup(arena, log.data, log.length);
}

/* What FlashInfer-Trace has no member for, but users of a trace want beside the errors. */
static json_object *correctness_extra(const struct verdict_correctness *correctness)
{
    json_object *extra = json_object_new_object();

    json_put_string(extra, "rule", correctness->rule);
    if (correctness->matched_ratio.known)
        json_put_double(extra, "matched_ratio", correctness->matched_ratio.value);
    if (correctness->mismatches.known)
        json_put_i64(extra, "mismatches", correctness->mismatches.value);
    return extra;
}

static void fill_libraries(const struct verdict *verdict, struct arena *arena, struct evaluation *out)
{
    const struct verdict_provenance *from = &verdict->provenance;
    struct evaluation_library *libraries = arena_calloc(arena, from->tools.count + 2, sizeof *libraries);

    for (size_t i = 0; i < from->tools.count; i++)
        if (from->tools.items[i].text)
            libraries[out->library_count++] =
                (struct evaluation_library){from->tools.items[i].name, from->tools.items[i].text};
    if (from->driver)
        libraries[out->library_count++] = (struct evaluation_library){"driver", from->driver};
    if (from->version)
        libraries[out->library_count++] = (struct evaluation_library){"ptxbench", from->version};
    out->libraries = libraries;
}

bool verdict_to_evaluation(const struct verdict *verdict, struct arena *arena, struct evaluation *out,
                           struct error *error)
{
    const struct verdict_correctness *correctness = &verdict->correctness;
    const struct verdict_performance *performance = &verdict->performance;
    const char *status = verdict_status_text(verdict->status);

    *out = (struct evaluation){0};
    if (!evaluation_status_parse(status, &out->status)) {
        (void)error_set(error, ERROR_UNSUPPORTED, "verdict: a trace cannot hold status %s", status);
        return error_hint(error, "repeat the evaluation; trouble of tools or devices says nothing about a solution");
    }
    out->has_correctness = verdict->status == VERDICT_PASSED || verdict->status == VERDICT_INCORRECT_NUMERICAL;
    out->has_performance = verdict->status == VERDICT_PASSED;
    if (out->has_correctness && (!correctness->max_abs.known || !correctness->max_rel.known))
        return error_set(error, ERROR_UNSUPPORTED, "verdict: a trace with status %s needs the errors of the outputs",
                         status);
    if (out->has_performance &&
        (!performance->latency_ms.known || !performance->reference_latency_ms.known || !performance->speedup.known)) {
        (void)error_set(error, ERROR_UNSUPPORTED, "verdict: a trace with status PASSED needs latencies");
        return error_hint(error, "the candidate was not timed (emulator, or timing switched off)");
    }
    out->hardware = verdict->provenance.gpu ? verdict->provenance.gpu
                    : verdict->task.device  ? verdict->task.device
                                            : "unknown";
    fill_libraries(verdict, arena, out);
    out->timestamp = verdict->provenance.time;
    out->log = build_log(verdict, arena);
    if (out->has_correctness) {
        out->max_absolute_error = correctness->max_abs.value;
        out->max_relative_error = correctness->max_rel.value;
    }
    if (out->has_performance) {
        out->latency_ms = performance->latency_ms.value;
        out->reference_latency_ms = performance->reference_latency_ms.value;
        out->speedup_factor = performance->speedup.value;
    }
    return true;
}

bool verdict_to_trace_line(const struct verdict *verdict, const struct workload *workload, json_object **out,
                           struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_OBJECT *extra = NULL;
    struct evaluation evaluation;

    if (!verdict->task.solution)
        return error_set(error, ERROR_UNSUPPORTED, "verdict: a trace needs the name of the solution");
    if (!verdict_to_evaluation(verdict, arena, &evaluation, error))
        return false;
    extra = correctness_extra(&verdict->correctness);
    if (evaluation.has_correctness)
        evaluation.correctness_extra = extra;
    return trace_to_json(workload, verdict->task.solution, &evaluation, out, error);
}
