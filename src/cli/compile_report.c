#include "cli/compile_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/json.h"

enum { PRINTED_MAX = 20, KERNELS_PRINTED_MAX = 40, NAME_WIDTH = 60 };

static bool has_entry(const struct compile_report *report)
{
    const struct compile_result *compile = &report->compile;

    for (size_t i = 0; i < compile->entry_count; i++)
        if (compile->binding == COMPILE_BINDING_TVM_FFI || strcmp(compile->entries[i], "ptxbench_run") == 0)
            return true;
    return false;
}

bool compile_report_passed(const struct compile_report *report)
{
    return report->compile.status == COMPILE_OK && !report->screen.offences && has_entry(report);
}

struct printer {
    FILE *out;
    bool color;
};

static const char *paint(const struct printer *printer, const char *code)
{
    return printer->color ? code : "";
}

static void print_severity(const struct printer *printer, const char *word, bool bad)
{
    (void)fprintf(printer->out, "%s%s%s", paint(printer, bad ? "\033[1;31m" : "\033[1;33m"), word,
                  paint(printer, "\033[0m"));
}

static void print_place(const struct printer *printer, const char *file, int line, int column)
{
    if (file)
        (void)fprintf(printer->out, "%s:", file);
    if (file && line)
        (void)fprintf(printer->out, "%d:", line);
    if (file && line && column)
        (void)fprintf(printer->out, "%d:", column);
    if (file)
        (void)fputc(' ', printer->out);
}

static void print_diagnostics(const struct printer *printer, const struct diagnostics *diagnostics)
{
    size_t printed = 0;

    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *item = &diagnostics->items[i];
        if (item->severity == DIAGNOSTIC_NOTE)
            continue;
        if (printed++ == PRINTED_MAX) {
            (void)fprintf(printer->out, "... more messages: see --json\n");
            break;
        }
        print_place(printer, item->file, item->line, item->column);
        print_severity(printer, diagnostic_severity_text(item->severity), item->severity == DIAGNOSTIC_ERROR);
        if (item->code)
            (void)fprintf(printer->out, " %s", item->code);
        (void)fprintf(printer->out, ": %s", item->message);
        if (item->ptx_line)
            (void)fprintf(printer->out, " (line %d of the PTX)", item->line);
        (void)fputc('\n', printer->out);
        if (item->hint)
            (void)fprintf(printer->out, "    hint: %s\n", item->hint);
    }
}

static void print_screen(const struct printer *printer, const struct screen_report *screen)
{
    for (size_t i = 0; i < screen->count && i < PRINTED_MAX; i++) {
        const struct screen_finding *finding = &screen->findings[i];
        bool offence = finding->severity == SCREEN_OFFENCE;
        print_place(printer, finding->file, finding->line, 0);
        print_severity(printer, offence ? "banned" : "note", offence);
        (void)fprintf(printer->out, " %s: %s\n", screen_code_text(finding->code), finding->message);
        if (offence)
            (void)fprintf(printer->out, "    hint: %s\n", finding->hint);
    }
}

static void print_kernels(const struct printer *printer, const struct diagnostics *diagnostics)
{
    size_t shown = diagnostics->kernel_count < KERNELS_PRINTED_MAX ? diagnostics->kernel_count : KERNELS_PRINTED_MAX;

    if (!shown)
        return;
    (void)fprintf(printer->out, "  registers  shared B  stack B  spilled B  kernel\n");
    for (size_t i = 0; i < shown; i++) {
        const struct kernel_resources *kernel = &diagnostics->kernels[i];
        uint64_t spilled = kernel->spill_store_bytes + kernel->spill_load_bytes;
        (void)fprintf(printer->out, "  %9" PRIu32 "  %8" PRIu64 "  %7" PRIu64 "  %s%9" PRIu64 "%s  %.*s%s\n",
                      kernel->registers, kernel->shared_bytes, kernel->stack_bytes,
                      paint(printer, spilled ? "\033[1;33m" : ""), spilled, paint(printer, spilled ? "\033[0m" : ""),
                      NAME_WIDTH, kernel->kernel, strlen(kernel->kernel) > NAME_WIDTH ? "..." : "");
    }
    if (shown < diagnostics->kernel_count)
        (void)fprintf(printer->out, "  ... %zu more kernels\n", diagnostics->kernel_count - shown);
}

static void print_sass(const struct printer *printer, const struct compile_report *report)
{
    const char *separator = "";
    uint64_t instructions = 0;

    if (!report->has_sass) {
        if (report->sass_problem)
            (void)fprintf(printer->out, "target instructions: unknown (%s)\n", report->sass_problem);
        return;
    }
    (void)fprintf(printer->out, "target instructions of %s: ", report->sass.arch);
    for (int i = 0; i < SASS_FAMILY_COUNT; i++) {
        instructions += report->sass.family_count[i];
        if (i == SASS_OTHER || !report->sass.family_count[i])
            continue;
        (void)fprintf(printer->out, "%s%" PRIu64 " %s%s", separator, report->sass.family_count[i],
                      sass_family_text((enum sass_family)i),
                      sass_family_is_target((enum sass_family)i) ? "" : " (not a target)");
        separator = ", ";
    }
    (void)fprintf(printer->out, "%s (of %" PRIu64 " instructions, in the object; execution is another matter)\n",
                  *separator ? "" : "none", instructions);
}

void compile_report_print(const struct compile_report *report, FILE *out, bool color)
{
    const struct printer printer = {out, color};
    const struct compile_result *compile = &report->compile;
    bool passed = compile_report_passed(report);

    print_diagnostics(&printer, &compile->diagnostics);
    print_screen(&printer, &report->screen);
    if (compile->status == COMPILE_OK) {
        print_kernels(&printer, &compile->diagnostics);
        print_sass(&printer, report);
        (void)fprintf(out, "object: %s\n", compile->object_path);
    }
    const char *verdict = compile->status != COMPILE_OK ? compile->summary
                          : report->screen.offences     ? "compiles, but breaks the library ban"
                          : !has_entry(report)          ? "compiles, but exports no entry point: use "
                                                          "TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, ...) or PTXBENCH_ENTRY"
                                                        : compile->summary;
    (void)fprintf(out, "%s%s%s: %s (%s, %s, %.2f s%s)\n", paint(&printer, passed ? "\033[1;32m" : "\033[1;31m"),
                  report->name, paint(&printer, "\033[0m"), verdict, compile->arch,
                  compile_binding_text(compile->binding), (double)compile->wall_ns * 1e-9,
                  compile->cache_hit ? ", cached" : "");
}

json_object *compile_report_to_json(const struct compile_report *report)
{
    json_object *object = json_object_new_object();

    json_put_string(object, "schema", "ptxbench.compile.v1");
    json_put_string(object, "candidate", report->name);
    json_put_bool(object, "passed", compile_report_passed(report));
    json_put(object, "compile", compile_result_to_json(&report->compile));
    json_put_u64(object, "offences", report->screen.offences);
    json_put(object, "screen", screen_report_to_json(&report->screen));
    json_put(object, "sass", report->has_sass ? sass_report_to_json(&report->sass) : NULL);
    json_put_string(object, "sass_problem", report->sass_problem);
    return object;
}
