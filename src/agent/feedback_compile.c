/* What nvcc and ptxas say, with the source around it. */
#include <inttypes.h>
#include <string.h>

#include "agent/feedback_internal.h"

enum { ERRORS_SHOWN = 8, WARNINGS_SHOWN = 4, ADVISORIES_SHOWN = 6, RESOURCES_SHOWN = 6 };

static bool has_severity(const struct verdict_diagnostic *diagnostic, const char *severity)
{
    return diagnostic->severity && !strcmp(diagnostic->severity, severity);
}

static size_t count_severity(const struct verdict_compile *compile, const char *severity)
{
    size_t count = 0;

    for (size_t i = 0; i < compile->diagnostics.count; i++)
        count += has_severity(&compile->diagnostics.items[i], severity);
    return count;
}

bool feedback_is_compiler_finding(const struct verdict *verdict, const struct finding *finding)
{
    if (!finding->code)
        return false;
    if (!strcmp(finding->code, finding_code_text(FINDING_REGISTER_SPILL)))
        return verdict->compile.resources.count > 0;
    if (finding->stage != STAGE_COMPILE || !strcmp(finding->code, finding_code_text(FINDING_COMPILE_TIMEOUT)))
        return false;
    return verdict->compile.diagnostics.count > 0;
}

static void put_diagnostic(struct report *report, const struct verdict_diagnostic *at, size_t number)
{
    char name[128];

    (void)buffer_printf(report->out, "%zu. %s", number, at->severity ? at->severity : "message");
    if (at->code)
        (void)buffer_printf(report->out, " %s", safe_name(report, name, at->code));
    if (at->file)
        (void)buffer_printf(report->out, " in %s", safe_name(report, name, at->file));
    if (at->line && at->ptx_line)
        (void)buffer_printf(report->out, ", line %d of the generated PTX", at->line);
    else if (at->line)
        (void)buffer_printf(report->out, ", line %d", at->line);
    if (at->kernel)
        (void)buffer_printf(report->out, ", kernel %s", safe_name(report, name, at->kernel));
    if (at->tool)
        (void)buffer_printf(report->out, " (%s)", safe_name(report, name, at->tool));
    (void)buffer_append_text(report->out, ":\n");
    quote_line(report, at->message);
    if (!at->ptx_line)
        quote_source(report, at->file, at->line, at->column);
    put_hint(report, at->hint);
}

static void put_severity(struct report *report, const char *severity, size_t most, size_t *number)
{
    const struct verdict_compile *compile = &report->verdict->compile;
    size_t total = count_severity(compile, severity);
    size_t shown = 0;

    for (size_t i = 0; i < compile->diagnostics.count && shown < most; i++)
        if (has_severity(&compile->diagnostics.items[i], severity)) {
            put_diagnostic(report, &compile->diagnostics.items[i], ++*number);
            shown++;
        }
    if (shown < total)
        (void)buffer_printf(report->out, "(%zu more of severity %s)\n", total - shown, severity);
}

void feedback_compile_errors(struct report *report)
{
    const struct verdict_compile *compile = &report->verdict->compile;
    size_t number = 0;
    size_t errors = count_severity(compile, "error");

    if (compile->ok != TRISTATE_NO)
        return;
    if (errors) {
        (void)buffer_printf(report->out, "\n## Compiler: %zu error%s\n\n", errors, errors == 1 ? "" : "s");
        put_severity(report, "error", ERRORS_SHOWN, &number);
        return;
    }
    /* no message that we can read: the end of what the tools printed */
    if (compile->log && *compile->log) {
        size_t length = strlen(compile->log);
        size_t skip = length > 2000 ? length - 2000 : 0;
        (void)buffer_append_text(report->out, "\n## Compiler output\n\n");
        quote_text(report, compile->log + skip, length - skip, 40);
    } else if (compile->summary) {
        (void)buffer_append_text(report->out, "\n## Compiler\n\n");
        quote_line(report, compile->summary);
    }
}

static void put_resources(struct report *report, const struct verdict_compile *compile)
{
    char name[128];

    for (size_t i = 0; i < compile->resources.count && i < RESOURCES_SHOWN; i++) {
        const struct verdict_resources *at = &compile->resources.items[i];
        (void)buffer_printf(report->out,
                            "- %s: %" PRId64 " registers a thread, %" PRId64 " bytes of static shared memory",
                            safe_name(report, name, at->kernel), at->registers, at->shared_bytes);
        if (at->spill_store_bytes || at->spill_load_bytes)
            (void)buffer_printf(report->out,
                                ". It spills: %" PRId64 " bytes of stores, %" PRId64
                                " of loads go through local memory; shrink the tile, use fewer live accumulators or "
                                "raise the register budget (__launch_bounds__, setmaxnreg)",
                                at->spill_store_bytes, at->spill_load_bytes);
        (void)buffer_append_text(report->out, "\n");
    }
    if (compile->resources.count > RESOURCES_SHOWN)
        (void)buffer_printf(report->out, "(%zu more kernels)\n", compile->resources.count - RESOURCES_SHOWN);
}

void feedback_compile_remarks(struct report *report)
{
    const struct verdict_compile *compile = &report->verdict->compile;
    size_t number = 0;
    size_t advisories = count_severity(compile, "advisory");
    size_t warnings = count_severity(compile, "warning");

    if (advisories || warnings) {
        (void)buffer_append_text(report->out, "\n## Compiler remarks\n\n");
        if (advisories)
            (void)buffer_append_text(report->out,
                                     "Advisories mean that ptxas changed or serialised what the source asks "
                                     "for: the kernel runs, but not as written.\n");
        put_severity(report, "advisory", ADVISORIES_SHOWN, &number);
        put_severity(report, "warning", WARNINGS_SHOWN, &number);
    }
    if (compile->ok == TRISTATE_YES && compile->resources.count) {
        (void)buffer_append_text(report->out, "\n## Resources\n\n");
        put_resources(report, compile);
    }
}
