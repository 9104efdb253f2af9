#include "judge/verdict_toolchain.h"

enum { ERROR_FINDINGS_MAX = 20 };

static void take_diagnostics(struct verdict *verdict, struct arena *arena, const struct diagnostics *from)
{
    for (size_t i = 0; i < from->count; i++) {
        const struct diagnostic *item = &from->items[i];
        *LIST_APPEND(arena, &verdict->compile.diagnostics) = (struct verdict_diagnostic){
            .severity = diagnostic_severity_text(item->severity),
            .tool = diagnostic_tool_text(item->tool),
            .code = item->code,
            .message = item->message,
            .file = item->file,
            .line = item->line,
            .column = item->column,
            .ptx_line = item->ptx_line,
            .kernel = item->kernel,
            .hint = item->hint,
        };
    }
    for (size_t i = 0; i < from->kernel_count; i++) {
        const struct kernel_resources *item = &from->kernels[i];
        *LIST_APPEND(arena, &verdict->compile.resources) = (struct verdict_resources){
            .kernel = item->kernel,
            .arch = item->arch,
            .registers = item->registers,
            .spill_store_bytes = (int64_t)item->spill_store_bytes,
            .spill_load_bytes = (int64_t)item->spill_load_bytes,
            .stack_bytes = (int64_t)item->stack_bytes,
            .shared_bytes = (int64_t)item->shared_bytes,
            .barriers = item->barriers,
        };
    }
}

/* A finding with place and, where the toolchain has one, the code and hint of the compiler. */
static void add_diagnostic(struct verdict *verdict, struct arena *arena, enum finding_code code,
                           const struct diagnostic *from)
{
    struct finding *finding = finding_add(&verdict->findings, arena, code, "%s", from->message);

    finding->file = from->file;
    finding->line = from->ptx_line ? 0 : from->line;
    finding->kernel = from->kernel;
    if (from->code && from->severity == DIAGNOSTIC_ADVISORY)
        finding->code = from->code;
    if (from->hint)
        finding->hint = from->hint;
}

static void add_diagnostic_findings(struct verdict *verdict, struct arena *arena, const struct diagnostics *from)
{
    size_t errors = 0;

    for (size_t i = 0; i < from->count; i++) {
        const struct diagnostic *item = &from->items[i];
        if (item->severity == DIAGNOSTIC_ERROR && errors++ < ERROR_FINDINGS_MAX)
            add_diagnostic(verdict, arena, FINDING_COMPILE_ERROR, item);
        if (item->severity == DIAGNOSTIC_ADVISORY)
            add_diagnostic(verdict, arena, FINDING_COMPILE_ADVISORY, item);
    }
    for (size_t i = 0; i < from->kernel_count; i++) {
        const struct kernel_resources *item = &from->kernels[i];
        if (item->spill_store_bytes + item->spill_load_bytes == 0)
            continue;
        struct finding *finding = finding_add(&verdict->findings, arena, FINDING_REGISTER_SPILL,
                                              "%llu bytes of spill stores, %llu of spill loads at %u registers",
                                              (unsigned long long)item->spill_store_bytes,
                                              (unsigned long long)item->spill_load_bytes, item->registers);
        finding->kernel = item->kernel;
    }
}

void verdict_take_compile(struct verdict *verdict, struct arena *arena, const struct compile_result *result)
{
    struct verdict_compile *compile = &verdict->compile;

    compile->ok = tristate_of(result->status == COMPILE_OK);
    compile->key = arena_strdup(arena, result->key);
    compile->cached = tristate_of(result->cache_hit);
    compile->wall_ms = number_of((double)result->wall_ns / 1e6);
    compile->summary = result->summary;
    compile->log = result->log;
    compile->log_truncated = result->log_dropped_bytes > 0;
    verdict->task.arch = result->arch;
    verdict->task.binding = compile_binding_text(result->binding);
    take_diagnostics(verdict, arena, &result->diagnostics);
    add_diagnostic_findings(verdict, arena, &result->diagnostics);
    if (result->status == COMPILE_TIMED_OUT || result->status == COMPILE_LIMIT)
        (void)finding_add(&verdict->findings, arena, FINDING_COMPILE_TIMEOUT, "%s", result->summary);
    else if (result->status == COMPILE_FAILED && !finding_find(&verdict->findings, FINDING_COMPILE_ERROR))
        (void)finding_add(&verdict->findings, arena, FINDING_COMPILE_ERROR, "%s", result->summary);
    if (result->nvcc_version)
        text_map_set(&verdict->provenance.tools, arena, "nvcc", result->nvcc_version);
    if (result->tvm_ffi_version)
        text_map_set(&verdict->provenance.tools, arena, "tvm-ffi", result->tvm_ffi_version);
}

/* How an offence is called in a verdict. */
static enum finding_code offence_code(enum screen_code code)
{
    switch (code) {
    case SCREEN_INCBIN:
    case SCREEN_FOREIGN_INCLUDE:
    case SCREEN_EMBEDDED_CODE:
        return FINDING_FOREIGN_CODE;
    case SCREEN_LOADER_CALL:
    case SCREEN_DENIED_IMPORT:
    case SCREEN_HOST_ASSEMBLY:
    case SCREEN_CONSTRUCTOR:
        return FINDING_FORBIDDEN_CALL;
    case SCREEN_VENDOR_INCLUDE:
    case SCREEN_TEMPLATE_LIBRARY:
    case SCREEN_VENDOR_CALL:
    case SCREEN_FOREIGN_LIBRARY:
    case SCREEN_DENIED_STRING:
        break;
    }
    return FINDING_BANNED_LIBRARY;
}

bool verdict_take_screen(struct verdict *verdict, struct arena *arena, const struct screen_report *report)
{
    for (size_t i = 0; i < report->count; i++) {
        const struct screen_finding *item = &report->findings[i];
        struct finding *finding = finding_add(&verdict->findings, arena, offence_code(item->code), "%s", item->message);
        finding->file = item->file;
        finding->line = item->line;
        if (item->hint)
            finding->hint = item->hint;
        if (item->severity == SCREEN_NOTE) {
            finding->class = FINDING_CLASS_NOTE;
            finding->code = screen_code_text(item->code);
        }
    }
    return report->offences > 0;
}
