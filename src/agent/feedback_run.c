/* Findings, wrong elements, and what the program printed. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "agent/feedback_internal.h"

enum { FINDINGS_SHOWN = 8, OUTPUTS_SHOWN = 4, PRINTED_LINES = 20, PRINTED_BYTES = 2000 };

/* Messages of these steps are made of our own words and numbers; the others repeat texts of tools or of the candidate. */
static bool is_our_message(enum finding_stage stage)
{
    return stage == STAGE_COMPARE || stage == STAGE_TIMING || stage == STAGE_TARGET || stage == STAGE_JUDGE;
}

static void put_finding(struct report *report, const struct finding *finding, size_t number)
{
    char name[128];

    (void)buffer_printf(report->out, "%zu. %s %s (%s)", number, finding_class_text(finding->class),
                        safe_name(report, name, finding->code), finding_stage_text(finding->stage));
    if (finding->file)
        (void)buffer_printf(report->out, " in %s", safe_name(report, name, finding->file));
    if (finding->line)
        (void)buffer_printf(report->out, ", line %d", finding->line);
    if (finding->kernel)
        (void)buffer_printf(report->out, ", kernel %s", safe_name(report, name, finding->kernel));
    if (finding->count > 1)
        (void)buffer_printf(report->out, ", %" PRId64 " times", finding->count);
    (void)buffer_append_text(report->out, ":\n");
    if (finding->message && is_our_message(finding->stage)) {
        (void)buffer_append_text(report->out, "   ");
        (void)buffer_append_sanitized(report->out, finding->message, strcspn(finding->message, "\n"));
        (void)buffer_append_text(report->out, "\n");
    } else {
        quote_line(report, finding->message);
    }
    if (finding->file)
        quote_source(report, finding->file, finding->line, 0);
    put_hint(report, finding->hint);
}

/* Target instructions have a part of their own. */
static bool is_told_here(const struct verdict *verdict, const struct finding *finding)
{
    if (feedback_is_compiler_finding(verdict, finding) || (finding->stage == STAGE_TARGET && verdict->target.family))
        return false;
    return finding->blame == BLAME_CANDIDATE || finding->blame == BLAME_NONE;
}

void feedback_findings(struct report *report)
{
    AUTO_ARENA *arena = arena_new();
    const struct finding_list *all = &report->verdict->findings;
    struct finding_list sorted = {arena_calloc(arena, all->count, sizeof *all->items), 0};
    size_t shown = 0;

    for (size_t i = 0; i < all->count; i++)
        if (is_told_here(report->verdict, &all->items[i]))
            sorted.items[sorted.count++] = all->items[i];
    if (!sorted.count)
        return;
    finding_sort(&sorted);
    (void)buffer_append_text(report->out, "\n## Findings\n\n");
    for (; shown < sorted.count && shown < FINDINGS_SHOWN; shown++)
        put_finding(report, &sorted.items[shown], shown + 1);
    if (shown < sorted.count)
        (void)buffer_printf(report->out, "(%zu more findings)\n", sorted.count - shown);
}

static void put_number(struct buffer *out, struct number number)
{
    if (!number.known)
        (void)buffer_append_text(out, "unknown");
    else if (isnan(number.value))
        (void)buffer_append_text(out, "NaN");
    else if (isinf(number.value))
        (void)buffer_append_text(out, number.value > 0 ? "+infinity" : "-infinity");
    else
        (void)buffer_printf(out, "%.6g", number.value);
}

static void put_count(struct buffer *out, struct count count, const char *text)
{
    if (count.known && count.value > 0)
        (void)buffer_printf(out, ", %" PRId64 " %s", count.value, text);
}

static void put_output(struct report *report, const struct verdict_output *output)
{
    struct buffer *out = report->out;
    char name[128];

    (void)buffer_printf(out, "- %s", safe_name(report, name, output->name));
    for (size_t i = 0; i < output->shape.count; i++)
        (void)buffer_printf(out, "%s%" PRId64 "%s", i ? ", " : " [", output->shape.items[i],
                            i + 1 == output->shape.count ? "]" : "");
    if (output->mismatches.known && output->elements.known && output->elements.value > 0)
        (void)buffer_printf(out, ": %" PRId64 " of %" PRId64 " elements are wrong (%.3g %%)", output->mismatches.value,
                            output->elements.value,
                            100 * (double)output->mismatches.value / (double)output->elements.value);
    put_count(out, output->nan, "of them NaN");
    put_count(out, output->inf, "infinite");
    put_count(out, output->untouched, "never written");
    (void)buffer_append_text(out, "\n");
    if (output->first_mismatch.output) {
        (void)buffer_printf(out, "  first wrong element: %s[", safe_name(report, name, output->first_mismatch.output));
        for (size_t i = 0; i < output->first_mismatch.index.count; i++)
            (void)buffer_printf(out, "%s%" PRId64, i ? ", " : "", output->first_mismatch.index.items[i]);
        (void)buffer_append_text(out, "] is ");
        put_number(out, output->first_mismatch.got);
        (void)buffer_append_text(out, ", expected ");
        put_number(out, output->first_mismatch.expected);
        (void)buffer_append_text(out, "\n");
    }
    if (output->pattern) {
        (void)buffer_append_text(out, "  where: ");
        (void)buffer_append_sanitized(out, output->pattern, strcspn(output->pattern, "\n"));
        (void)buffer_append_text(out, "\n");
    }
    (void)buffer_append_text(out, "  largest absolute error ");
    put_number(out, output->max_abs);
    (void)buffer_append_text(out, ", relative ");
    put_number(out, output->max_rel);
    if (output->error_norm.known) {
        (void)buffer_append_text(out, "; error norm ");
        put_number(out, output->error_norm);
        if (output->library_error_norm.known) {
            (void)buffer_append_text(out, ", that of the library is ");
            put_number(out, output->library_error_norm);
        }
    }
    (void)buffer_append_text(out, "\n");
}

void feedback_outputs(struct report *report)
{
    const struct verdict_correctness *correctness = &report->verdict->correctness;
    size_t shown = 0;

    for (size_t i = 0; i < correctness->outputs.count && shown < OUTPUTS_SHOWN; i++) {
        if (correctness->outputs.items[i].ok != TRISTATE_NO)
            continue;
        if (!shown++)
            (void)buffer_append_text(report->out, "\n## Wrong outputs\n\n");
        put_output(report, &correctness->outputs.items[i]);
    }
    if (!shown)
        return;
    for (size_t i = 0; i < correctness->outputs.count; i++) {
        char name[128];
        if (correctness->outputs.items[i].ok == TRISTATE_YES)
            (void)buffer_printf(report->out, "- %s is right\n",
                                safe_name(report, name, correctness->outputs.items[i].name));
    }
    if (correctness->atol.known && correctness->rtol.known)
        (void)buffer_printf(report->out, "An element is right when |got - expected| <= %g + %g |expected|.\n",
                            correctness->atol.value, correctness->rtol.value);
}

void feedback_program_output(struct report *report)
{
    const struct verdict_runner *runner = &report->verdict->runner;
    size_t length = runner->output ? strlen(runner->output) : 0;

    if (!length)
        return;
    (void)buffer_append_text(report->out, "\n## What your program printed (nobody checked it)\n\n");
    quote_text(report, runner->output, length < PRINTED_BYTES ? length : PRINTED_BYTES, PRINTED_LINES);
    if (length > PRINTED_BYTES || runner->output_truncated)
        (void)buffer_append_text(report->out, "(the rest is left out)\n");
}
