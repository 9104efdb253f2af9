#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/interrupt.h"
#include "base/json.h"
#include "cli/candidate_input.h"
#include "cli/cli.h"
#include "cli/compile_report.h"

enum { OPTION_ARCH = 256, OPTION_BINDING, OPTION_ALLOW_LIBS, OPTION_JSON, OPTION_KEEP, OPTION_REBUILD, OPTION_TIMEOUT };
enum { OBJECT_BYTES_MAX = 1 << 30 };

static const struct argp_option options[] = {
    {"arch", OPTION_ARCH, "ARCH", 0, "sm_90a (default) or sm_100a"},
    {"binding", OPTION_BINDING, "NAME", 0, "auto (default), tvm-ffi or c"},
    {"allow-libs", OPTION_ALLOW_LIBS, NULL, 0, "Allow CUTLASS, CuTe, Thrust and CUB"},
    {"json", OPTION_JSON, NULL, 0, "Print JSON"},
    {"keep", OPTION_KEEP, "OBJECT", 0, "Write the shared object to OBJECT"},
    {"rebuild", OPTION_REBUILD, NULL, 0, "Compile even when the result is cached"},
    {"timeout", OPTION_TIMEOUT, "SECONDS", 0, "Longest compilation (default 60)"},
    {0},
};

static const char doc[] =
    "Compile a kernel, screen it for banned libraries, and count its target instructions. Needs no GPU.\v"
    "FILE is a .cu file or a solution of FlashInfer-Trace (.json). The object holds machine code for ARCH and PTX.\n"
    "Exit status: 0 compiled and clean, 1 does not compile or breaks the ban, 2 machine or tool trouble, 64 usage.";

struct compile_options {
    const char *file;
    const char *arch;
    const char *keep;
    enum compile_binding binding;
    bool binding_given;
    bool allow_libraries;
    bool json;
    bool rebuild;
    double timeout_seconds;
};

static void take_binding(struct compile_options *into, const char *argument, struct argp_state *state)
{
    static const char *const words[] = {"auto", "tvm-ffi", "c", NULL};

    into->binding_given = true;
    if (compile_binding_parse(argument, &into->binding))
        return;
    const char *nearest = cli_nearest(argument, words);
    argp_error(state, "--binding: unknown binding \"%s\"%s%s%s", argument, nearest ? "; did you mean " : "",
               nearest ? nearest : "", nearest ? "?" : "");
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct compile_options *into = state->input;
    char *end;

    switch (key) {
    case OPTION_ARCH:
        if (!compile_arch_known(argument))
            argp_error(state, "--arch: unknown architecture \"%s\"; known are sm_90a and sm_100a", argument);
        into->arch = argument;
        return 0;
    case OPTION_BINDING:
        take_binding(into, argument, state);
        return 0;
    case OPTION_ALLOW_LIBS:
        into->allow_libraries = true;
        return 0;
    case OPTION_JSON:
        into->json = true;
        return 0;
    case OPTION_KEEP:
        into->keep = argument;
        return 0;
    case OPTION_REBUILD:
        into->rebuild = true;
        return 0;
    case OPTION_TIMEOUT:
        into->timeout_seconds = strtod(argument, &end);
        if (*end || end == argument || !isfinite(into->timeout_seconds) || into->timeout_seconds < 0.001 ||
            into->timeout_seconds > 86400)
            argp_error(state, "--timeout: \"%s\" is not a number of seconds up to 86400", argument);
        return 0;
    case ARGP_KEY_ARG:
        if (into->file)
            argp_error(state, "more than one FILE");
        into->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (!into->file)
            argp_error(state, "no FILE given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, take, "FILE", doc, NULL, NULL, NULL};

static bool keep_object(const char *from, const char *to, struct error *error)
{
    AUTO_FREE char *bytes = NULL;
    size_t length;

    return file_read(from, OBJECT_BYTES_MAX, &bytes, &length, error) && file_write(to, bytes, length, 0755, error);
}

/* Compiles, screens and disassembles. What cannot be known (no nvdisasm) is a reason in the report, not an error. */
static bool examine(struct arena *arena, const struct compile_options *wanted, struct compile_report *report,
                    struct error *error)
{
    struct candidate_input *input = arena_alloc(arena, sizeof *input);
    struct toolchain *toolchain = arena_alloc(arena, sizeof *toolchain);
    const struct screen_policy policy = {.allow_libraries = wanted->allow_libraries};
    struct error sass_error;

    if (!candidate_input_read(arena, wanted->file, input, error) || !toolchain_find(arena, toolchain, error))
        return false;
    const struct compile_request request = {
        .sources = input->sources,
        .source_count = input->source_count,
        .entry = input->entry_file,
        .binding = wanted->binding_given ? wanted->binding : input->binding,
        .arch = wanted->arch,
        .rebuild = wanted->rebuild,
        .timeout_ns = (int64_t)(wanted->timeout_seconds * 1e9),
    };
    report->name = input->name;
    if (!compile_run(toolchain, &request, arena, &report->compile, error) ||
        !screen_candidate(arena, toolchain, &request, &report->compile, &policy, &report->screen, error))
        return false;
    if (!report->compile.object_path)
        return true;
    report->has_sass = sass_analyze(toolchain, report->compile.object_path, wanted->arch, report->compile.folder, arena,
                                    &report->sass, &sass_error);
    if (!report->has_sass)
        report->sass_problem =
            arena_printf(arena, "%s%s%s", sass_error.message, sass_error.hint[0] ? "; " : "", sass_error.hint);
    return !wanted->keep || keep_object(report->compile.object_path, wanted->keep, error);
}

int cmd_compile(int argc, char **argv)
{
    AUTO_ARENA *arena = arena_new();
    struct compile_options wanted = {.arch = "sm_90a"};
    struct compile_report report = {0};
    struct error error;

    if (argp_parse(&argp, argc, argv, 0, NULL, &wanted))
        return CLI_USAGE;
    interrupt_catch();
    bool ok = examine(arena, &wanted, &report, &error);
    interrupt_finish();
    if (!ok)
        return cli_fail(&error);
    if (!wanted.json) {
        compile_report_print(&report, stdout, cli_use_color(stdout));
    } else {
        AUTO_JSON_OBJECT *object = compile_report_to_json(&report);
        AUTO_FREE char *text = NULL;
        if (!json_to_text(object, true, &text, &error))
            return cli_fail(&error);
        (void)puts(text);
    }
    return compile_report_passed(&report) ? CLI_PASSED : CLI_FAILED;
}
