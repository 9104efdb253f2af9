#include "judge/summary.h"

#include <math.h>
#include <string.h>

enum {
    DEFAULT_WIDTH = 100,
    LEAST_WIDTH = 40,
    DEFAULT_FINDINGS = 8,
    DEFAULT_QUOTED = 12,
    LINE_BYTES = 2048,
    KERNELS_SHOWN = 4,
    OUTPUTS_SHOWN = 4
};

#define RED "\033[31m"
#define YELLOW "\033[33m"
#define GREEN "\033[32m"
#define BOLD "\033[1m"
#define RESET "\033[0m"

struct page {
    struct buffer *out;
    size_t width;
    bool color;
};

/* Bytes of `text` that fill at most `columns` (one per code point), never inside a sequence. */
static size_t fit(const char *text, size_t length, size_t columns)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++) {
        if (((unsigned char)text[i] & 0xc0) == 0x80)
            continue;
        if (used++ == columns)
            return i;
    }
    return length;
}

static size_t columns_of(const char *text, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++)
        used += ((unsigned char)text[i] & 0xc0) != 0x80;
    return used;
}

/* One line, printable, cut to the width with "..." behind it. */
static void put_cut(struct page *page, const char *prefix, const char *text, size_t length)
{
    AUTO_BUFFER clean = buffer_new(LINE_BYTES);
    size_t room = page->width - strlen(prefix);

    (void)buffer_append_sanitized(&clean, text, length);
    for (size_t i = 0; i < clean.length; i++)
        if (clean.data[i] == '\n' || clean.data[i] == '\t')
            clean.data[i] = ' ';
    (void)buffer_append_text(page->out, prefix);
    if (columns_of(clean.data, clean.length) > room) {
        (void)buffer_append(page->out, clean.data, fit(clean.data, clean.length, room - 3));
        (void)buffer_append_text(page->out, "...");
    } else {
        (void)buffer_append(page->out, clean.data, clean.length);
    }
    (void)buffer_append_text(page->out, "\n");
}

/* Wraps at spaces; continuation lines get `indent` spaces. */
static void put_wrapped(struct page *page, const char *first, const char *text, size_t indent)
{
    AUTO_BUFFER clean = buffer_new(LINE_BYTES);
    const char *at;
    size_t lead = columns_of(first, strlen(first));

    (void)buffer_append_sanitized(&clean, text, strlen(text));
    at = clean.data;
    (void)buffer_append_text(page->out, first);
    while (*at) {
        size_t length = strcspn(at, "\n");
        size_t room = page->width > lead + 10 ? page->width - lead : 10;
        size_t line = fit(at, length, room);
        if (line < length) {
            size_t space = line;
            while (space > 0 && at[space] != ' ')
                space--;
            line = space ? space : line;
        }
        (void)buffer_append(page->out, at, line);
        at += line;
        while (*at == ' ' || *at == '\n')
            at++;
        (void)buffer_append_text(page->out, "\n");
        lead = indent;
        if (*at)
            (void)buffer_printf(page->out, "%*s", (int)indent, "");
    }
    if (clean.length == 0)
        (void)buffer_append_text(page->out, "\n");
}

static void put_line(struct page *page, const char *format, ...) PRINTF_LIKE(2, 3);

static void put_line(struct page *page, const char *format, ...)
{
    AUTO_BUFFER line = buffer_new(LINE_BYTES);
    va_list args;

    va_start(args, format);
    (void)buffer_vprintf(&line, format, args);
    va_end(args);
    put_wrapped(page, "", line.data, 14);
}

static const char *or_unknown(const char *text)
{
    return text ? text : "unknown";
}

static bool is_emulated(const struct verdict *verdict)
{
    return verdict->task.device && !strncmp(verdict->task.device, "emu:", 4);
}

const char *summary_headline(struct arena *arena, const struct verdict *verdict)
{
    AUTO_BUFFER line = buffer_new(LINE_BYTES);
    const struct verdict_performance *speed = &verdict->performance;

    (void)buffer_append_text(&line, verdict_status_text(verdict->status));
    if (verdict->status == VERDICT_INFRA_ERROR)
        (void)buffer_printf(&line, " (%s trouble)", blame_text(verdict->blame));
    if (verdict->status == VERDICT_PASSED && speed->speedup.known)
        (void)buffer_printf(&line, " %.2fx (%.4g ms, reference %.4g ms)", speed->speedup.value, speed->latency_ms.value,
                            speed->reference_latency_ms.value);
    else if (verdict->status == VERDICT_PASSED)
        (void)buffer_append_text(&line, is_emulated(verdict) ? " (emulated)" : " (not timed)");
    if (verdict->task.definition)
        (void)buffer_printf(&line, " %.200s", verdict->task.definition);
    if (verdict->provenance.gpu || verdict->task.device)
        (void)buffer_printf(&line, " on %.100s",
                            verdict->provenance.gpu ? verdict->provenance.gpu : verdict->task.device);
    if (verdict->status != VERDICT_PASSED && verdict->summary)
        (void)buffer_printf(&line, ": %.500s", verdict->summary);
    return arena_strndup(arena, line.data, line.length);
}

static void put_headline(struct page *page, const struct verdict *verdict)
{
    AUTO_ARENA *arena = arena_new();
    const char *line = summary_headline(arena, verdict);
    const char *color = verdict->status == VERDICT_PASSED        ? GREEN
                        : verdict->status == VERDICT_INFRA_ERROR ? YELLOW
                                                                 : RED;

    if (page->color)
        (void)buffer_printf(page->out, BOLD "%s", color);
    put_wrapped(page, "", line, 2);
    if (page->color)
        (void)buffer_append_text(page->out, RESET);
}

static void put_finding(struct page *page, const struct finding *finding)
{
    AUTO_BUFFER text = buffer_new(LINE_BYTES);
    const char *color = finding->class == FINDING_CLASS_ERROR    ? RED
                        : finding->class == FINDING_CLASS_HAZARD ? YELLOW
                                                                 : "";

    (void)buffer_printf(&text, "%s", or_unknown(finding->code));
    if (finding->file && finding->line)
        (void)buffer_printf(&text, " %.200s:%d", finding->file, finding->line);
    else if (finding->file)
        (void)buffer_printf(&text, " %.200s", finding->file);
    (void)buffer_printf(&text, ": %.900s", finding->message ? finding->message : "");
    if (finding->count > 1)
        (void)buffer_printf(&text, " (%lld times)", (long long)finding->count);
    if (page->color)
        (void)buffer_printf(page->out, "%s%s%s ", color, finding_class_text(finding->class), RESET);
    else
        (void)buffer_printf(page->out, "%s ", finding_class_text(finding->class));
    /* The class is already out: its columns count for the first line. */
    struct page rest = {page->out, page->width - strlen(finding_class_text(finding->class)) - 1, false};
    put_wrapped(&rest, "", text.data, 4);
    if (finding->hint)
        put_wrapped(page, "    hint: ", finding->hint, 10);
}

static void put_findings(struct page *page, const struct verdict *verdict, int most)
{
    AUTO_ARENA *arena = arena_new();
    struct finding_list sorted = {0};
    size_t shown;

    sorted.items = arena_calloc(arena, verdict->findings.count, sizeof *sorted.items);
    sorted.count = verdict->findings.count;
    if (sorted.count)
        memcpy(sorted.items, verdict->findings.items, sorted.count * sizeof *sorted.items);
    finding_sort(&sorted);
    shown = sorted.count < (size_t)most ? sorted.count : (size_t)most;
    for (size_t i = 0; i < shown; i++)
        put_finding(page, &sorted.items[i]);
    if (shown < sorted.count)
        put_line(page, "(%zu more findings in the verdict's JSON)", sorted.count - shown);
}

static void append_index(struct buffer *line, const struct verdict_mismatch *mismatch)
{
    (void)buffer_printf(line, "%.60s[", or_unknown(mismatch->output));
    for (size_t i = 0; i < mismatch->index.count; i++)
        (void)buffer_printf(line, "%s%lld", i ? ", " : "", (long long)mismatch->index.items[i]);
    (void)buffer_append_text(line, "]");
}

static void put_output(struct page *page, const struct verdict_output *output)
{
    AUTO_BUFFER line = buffer_new(LINE_BYTES);

    (void)buffer_printf(&line, "  %.60s: ", or_unknown(output->name));
    if (output->mismatches.known && output->elements.known && output->elements.value > 0)
        (void)buffer_printf(&line, "%lld of %lld elements differ (%.3g %%)", (long long)output->mismatches.value,
                            (long long)output->elements.value,
                            100 * (double)output->mismatches.value / (double)output->elements.value);
    if (output->nan.known && output->nan.value)
        (void)buffer_printf(&line, ", %lld NaN", (long long)output->nan.value);
    if (output->inf.known && output->inf.value)
        (void)buffer_printf(&line, ", %lld infinite", (long long)output->inf.value);
    if (output->untouched.known && output->untouched.value)
        (void)buffer_printf(&line, ", %lld never written", (long long)output->untouched.value);
    if (output->first_mismatch.output) {
        (void)buffer_append_text(&line, "; first at ");
        append_index(&line, &output->first_mismatch);
        (void)buffer_printf(&line, ": %.6g, expected %.6g", output->first_mismatch.got.value,
                            output->first_mismatch.expected.value);
    }
    if (output->pattern)
        (void)buffer_printf(&line, "; %.300s", output->pattern);
    if (output->error_norm.known)
        (void)buffer_printf(&line, "; error norm %.2g", output->error_norm.value);
    if (output->error_norm.known && output->library_error_norm.known)
        (void)buffer_printf(&line, " (library %.2g)", output->library_error_norm.value);
    put_wrapped(page, "", line.data, 4);
}

static void put_correctness(struct page *page, const struct verdict *verdict)
{
    const struct verdict_correctness *correctness = &verdict->correctness;
    size_t shown = 0;

    if (verdict->correct == TRISTATE_UNKNOWN && !correctness->max_abs.known)
        return;
    if (correctness->max_abs.known)
        put_line(page, "correctness   %s: max abs error %.3g, max rel error %.3g (%s, atol %g, rtol %g)",
                 verdict->correct == TRISTATE_YES  ? "right"
                 : verdict->correct == TRISTATE_NO ? "wrong"
                                                   : "unknown",
                 correctness->max_abs.value, correctness->max_rel.value, or_unknown(correctness->rule),
                 correctness->atol.value, correctness->rtol.value);
    if (verdict->status == VERDICT_PASSED && is_emulated(verdict) && verdict->summary)
        put_wrapped(page, "              ", verdict->summary, 14);
    for (size_t i = 0; i < correctness->outputs.count && shown < OUTPUTS_SHOWN; i++) {
        if (correctness->outputs.items[i].ok != TRISTATE_NO)
            continue;
        put_output(page, &correctness->outputs.items[i]);
        shown++;
    }
}

static void put_speed(struct page *page, const struct verdict *verdict)
{
    AUTO_BUFFER line = buffer_new(LINE_BYTES);
    const struct verdict_performance *speed = &verdict->performance;
    const struct verdict_timing *timing = &verdict->timing;

    if (!speed->latency_ms.known)
        return;
    (void)buffer_printf(&line, "speed         %.4g ms", speed->latency_ms.value);
    if (speed->speedup.known)
        (void)buffer_printf(&line, ", %.3fx of %.100s (%.4g ms)", speed->speedup.value,
                            speed->reference ? speed->reference : "the reference", speed->reference_latency_ms.value);
    if (speed->ci95.known)
        (void)buffer_printf(&line, ", 95 %% CI %.3f to %.3f", speed->ci95.low, speed->ci95.high);
    if (speed->n.known)
        (void)buffer_printf(&line, ", n = %lld", (long long)speed->n.value);
    if (speed->tflops.known)
        (void)buffer_printf(&line, ", %.0f TFLOP/s", speed->tflops.value);
    if (speed->bandwidth_gbs.known)
        (void)buffer_printf(&line, ", %.0f GB/s", speed->bandwidth_gbs.value);
    if (speed->limiter)
        (void)buffer_printf(&line, "; limited by %.200s", speed->limiter);
    put_wrapped(page, "", line.data, 14);
    buffer_reset(&line);
    if (timing->clock)
        (void)buffer_printf(&line, "timing        %.40s, L2 %.80s", timing->clock, or_unknown(timing->l2_policy));
    if (timing->clock && timing->sm_clock_max_mhz.known)
        (void)buffer_printf(&line, ", SM clock %.0f to %.0f MHz", timing->sm_clock_min_mhz.value,
                            timing->sm_clock_max_mhz.value);
    if (timing->clock && timing->throttle && *timing->throttle)
        (void)buffer_printf(&line, ", throttled: %.100s", timing->throttle);
    if (timing->clock && timing->audit.result)
        (void)buffer_printf(&line, ", wall clock %.20s", timing->audit.result);
    if (line.length)
        put_wrapped(page, "", line.data, 14);
}

static void put_target(struct page *page, const struct verdict *verdict)
{
    AUTO_BUFFER line = buffer_new(LINE_BYTES);
    const struct verdict_target *target = &verdict->target;

    if (!target->family)
        return;
    (void)buffer_printf(&line, "target        %s instructions executed: %s", target->family,
                        verdict_executed_text(target->executed));
    if (target->executed != EXECUTED_YES && target->reason)
        (void)buffer_printf(&line, " (%.300s)", target->reason);
    for (size_t i = 0; i < target->counts.count; i++) {
        const struct verdict_family *family = &target->counts.items[i];
        if (!family->target && (!family->in_object.known || family->in_object.value == 0))
            continue;
        (void)buffer_printf(&line, "; %s %lld in the object", family->name, (long long)family->in_object.value);
        if (family->warps.known)
            (void)buffer_printf(&line, ", %lld run by warps", (long long)family->warps.value);
    }
    if (target->tensor_share.known)
        (void)buffer_printf(&line, "; tensor share %.0f %%", 100 * target->tensor_share.value);
    if (target->verified_with)
        (void)buffer_printf(&line, "; %.200s", target->verified_with);
    put_wrapped(page, "", line.data, 14);
}

static void put_resources(struct page *page, const struct verdict *verdict)
{
    const struct verdict_compile *compile = &verdict->compile;

    for (size_t i = 0; i < compile->resources.count && i < KERNELS_SHOWN; i++) {
        const struct verdict_resources *kernel = &compile->resources.items[i];
        put_line(page, "kernel        %lld registers, %lld spilled bytes, %lld bytes static shared, %.200s",
                 (long long)kernel->registers, (long long)(kernel->spill_store_bytes + kernel->spill_load_bytes),
                 (long long)kernel->shared_bytes, or_unknown(kernel->kernel));
    }
    if (compile->resources.count > KERNELS_SHOWN)
        put_line(page, "              (%zu more kernels)", compile->resources.count - KERNELS_SHOWN);
    if (verdict->sanitizer.tool)
        put_line(page, "sanitizer     %.60s: %s%s%.300s", verdict->sanitizer.tool,
                 verdict->sanitizer.clean == TRISTATE_YES  ? "clean"
                 : verdict->sanitizer.clean == TRISTATE_NO ? "defects found"
                                                           : "unknown",
                 verdict->sanitizer.reason ? ": " : "", verdict->sanitizer.reason ? verdict->sanitizer.reason : "");
}

/* Candidate's words, every line behind "| ". */
static void put_quoted(struct page *page, const char *title, const char *text, bool truncated, int most)
{
    int shown = 0;

    if (!text || !*text)
        return;
    (void)buffer_printf(page->out, "%s\n", title);
    while (*text && shown < most) {
        size_t length = strcspn(text, "\n");
        put_cut(page, "| ", text, length);
        text += length + (text[length] == '\n');
        shown++;
    }
    if (*text || truncated)
        (void)buffer_append_text(page->out, "(more in the verdict's JSON)\n");
}

void summary_write(struct buffer *out, const struct verdict *verdict, const struct summary_options *options)
{
    int width = options->width > 0 ? options->width : DEFAULT_WIDTH;
    int quoted = options->quoted > 0 ? options->quoted : DEFAULT_QUOTED;
    struct page page = {out, (size_t)(width < LEAST_WIDTH ? LEAST_WIDTH : width), options->color};

    put_headline(&page, verdict);
    put_findings(&page, verdict, options->findings > 0 ? options->findings : DEFAULT_FINDINGS);
    put_correctness(&page, verdict);
    put_speed(&page, verdict);
    put_target(&page, verdict);
    put_resources(&page, verdict);
    if (verdict->compile.ok == TRISTATE_NO && verdict->compile.diagnostics.count == 0)
        put_quoted(&page, "compiler said:", verdict->compile.log, verdict->compile.log_truncated, quoted);
    if (verdict->status != VERDICT_PASSED)
        put_quoted(&page, "candidate printed:", verdict->runner.output, verdict->runner.output_truncated, quoted);
}
