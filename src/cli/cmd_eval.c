/* ptxbench eval: judges candidates on a GPU or on the emulator. */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "cli/candidate_input.h"
#include "cli/cli.h"
#include "cli/task_roots.h"
#include "device/device.h"
#include "judge/summary.h"
#include "judge/worker.h"

enum { MAX_ROOTS = 16, MAX_FILES = 256, DEFAULT_SAMPLE = 4 };
enum {
    OPTION_BINDING = 256,
    OPTION_ALLOW_LIBS,
    OPTION_TOLERANCE,
    OPTION_SANITIZER,
    OPTION_VERIFY,
    OPTION_TRACE,
    OPTION_SEED,
    OPTION_REPEAT,
    OPTION_TRIALS,
    OPTION_ITERATIONS,
    OPTION_WARMUP,
    OPTION_ARCH,
    OPTION_RUNNERS,
    OPTION_COMPILE_TIMEOUT,
    OPTION_PAUSE,
    OPTION_SAMPLE,
    OPTION_EXPLAIN
};

struct eval_options {
    const char *roots[MAX_ROOTS];
    size_t root_count;
    const char *files[MAX_FILES];
    size_t file_count;
    const char *task;
    const char *workload;
    const char *device;
    const char *out;
    const char *trace;
    bool json;
    bool quiet;
    long repeat;
    long runners;
    long sample;
    struct judge_request request; /* what the options say; the rest is filled per file */
};

static const struct argp_option option_table[] = {
    {"task", 't', "NAME", 0, "Definition to judge against (a solution names its own)", 0},
    {"workload", 'w', "UUID", 0, "Workload, or a unique prefix of at least 4 characters (default: the first)", 0},
    {"tasks", 'T', "DIR", 0, "Trace set to read; repeatable (default: the shipped one)", 0},
    {"device", 'd', "NAME", 0, "cuda:N, or emu:sm_90a, the emulator (default: cuda:0 when there is a GPU)", 0},
    {"sample", OPTION_SAMPLE, "N", 0, "Emulator: clusters of a large grid that run (default 4; 0: all)", 0},
    {"arch", OPTION_ARCH, "NAME", 0, "sm_90a or sm_100a (default: the device's)", 0},
    {"binding", OPTION_BINDING, "NAME", 0, "auto, tvm-ffi or c (default auto)", 0},
    {"allow-libs", OPTION_ALLOW_LIBS, NULL, 0, "Allow CUTLASS, CuTe, thrust and CUB", 0},
    {"tolerance", OPTION_TOLERANCE, "RULE", 0, "paper (allclose, 1e-2) or flashinfer (max rule, 1e-2)", 0},
    {"sanitizer", OPTION_SANITIZER, "WHEN", 0, "auto, on or off (default auto: correct or crashed candidates)", 0},
    {"verify-with", OPTION_VERIFY, "TOOL", 0, "ncu: count target instructions a second time", 0},
    {"explain", OPTION_EXPLAIN, "WHEN", 0, "on or off: ask the emulator why a candidate failed on a GPU (default on)",
     0},
    {"json", 'j', NULL, 0, "Print verdicts as JSON, one a line when there are several", 0},
    {"out", 'o', "FILE", 0, "Also write the verdict (JSON); with several, JSON lines", 0},
    {"trace", OPTION_TRACE, "FILE", 0, "Append a FlashInfer-Trace line", 0},
    {"quiet", 'q', NULL, 0, "No progress", 0},
    {"seed", OPTION_SEED, "N", 0, "Seed of the first inputs (default 0)", 0},
    {"repeat", OPTION_REPEAT, "N", 0, "Judge each file N times", 0},
    {"trials", OPTION_TRIALS, "N", 0, "Trials (default 3)", 0},
    {"warmup", OPTION_WARMUP, "N", 0, "Warm-up calls of a trial (default 10)", 0},
    {"iterations", OPTION_ITERATIONS, "N", 0, "Timed calls of a trial (default 50)", 0},
    {"pause", OPTION_PAUSE, "US", 0, "Idle microseconds behind each timed call (default: a quarter of the reference)",
     0},
    {"runners", OPTION_RUNNERS, "N", 0, "Warm runners kept ready (default: 2, or 1 for one file)", 0},
    {"compile-timeout", OPTION_COMPILE_TIMEOUT, "SECONDS", 0, "Most time for the compiler (default 60)", 0},
    {0},
};

static void parse_choice(struct argp_state *state, struct judge_request *request, int key, const char *value)
{
    if (key == OPTION_BINDING && !compile_binding_parse(value, &request->binding))
        argp_error(state, "--binding: \"%s\" is none of auto, tvm-ffi, c", value);
    if (key == OPTION_ARCH && !compile_arch_known(value))
        argp_error(state, "--arch: \"%s\" is none of sm_90a, sm_100a", value);
    if (key == OPTION_VERIFY && strcmp(value, "ncu") != 0)
        argp_error(state, "--verify-with: \"%s\" is not known; ncu is", value);
    if (key == OPTION_EXPLAIN) {
        request->no_explanation = !strcmp(value, "off");
        if (!request->no_explanation && strcmp(value, "on") != 0)
            argp_error(state, "--explain: \"%s\" is none of on, off", value);
    }
    if (key == OPTION_TOLERANCE) {
        request->tolerance = tolerance_paper();
        if (!strcmp(value, "flashinfer"))
            request->tolerance.rule = TOLERANCE_FLASHINFER;
        else if (strcmp(value, "paper") != 0)
            argp_error(state, "--tolerance: \"%s\" is none of paper, flashinfer", value);
    }
    if (key == OPTION_SANITIZER) {
        request->sanitizer = !strcmp(value, "on")    ? SANITIZER_ALWAYS
                             : !strcmp(value, "off") ? SANITIZER_NEVER
                                                     : SANITIZER_AUTO;
        if (request->sanitizer == SANITIZER_AUTO && strcmp(value, "auto") != 0)
            argp_error(state, "--sanitizer: \"%s\" is none of auto, on, off", value);
    }
}

static error_t parse_protocol(int key, char *value, struct argp_state *state)
{
    struct eval_options *options = state->input;
    struct judge_request *request = &options->request;

    switch (key) {
    case OPTION_SEED:
        request->seed = (uint64_t)cli_parse_number(state, "seed", value, 0, INT32_MAX);
        return 0;
    case OPTION_REPEAT:
        options->repeat = cli_parse_number(state, "repeat", value, 1, 100000);
        return 0;
    case OPTION_TRIALS:
        request->trials = (int)cli_parse_number(state, "trials", value, 1, 16);
        return 0;
    case OPTION_WARMUP:
        request->warmup = (int)cli_parse_number(state, "warmup", value, 1, 1000);
        return 0;
    case OPTION_ITERATIONS:
        request->iterations = (int)cli_parse_number(state, "iterations", value, 5, 1000);
        return 0;
    case OPTION_PAUSE:
        request->pause_ns = cli_parse_number(state, "pause", value, 0, 100000) * 1000;
        request->pause_ns = request->pause_ns ? request->pause_ns : -1;
        return 0;
    case OPTION_SAMPLE:
        options->sample = cli_parse_number(state, "sample", value, 0, INT32_MAX);
        return 0;
    case OPTION_RUNNERS:
        options->runners = cli_parse_number(state, "runners", value, 1, 8);
        return 0;
    case OPTION_COMPILE_TIMEOUT:
        request->compile_timeout_ns = cli_parse_number(state, "compile-timeout", value, 1, 3600) * 1000000000;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct eval_options *options = state->input;

    switch (key) {
    case 't':
        options->task = value;
        return 0;
    case 'w':
        options->workload = value;
        return 0;
    case 'T':
        if (options->root_count == MAX_ROOTS)
            argp_error(state, "more than %d --tasks", MAX_ROOTS);
        options->roots[options->root_count++] = value;
        return 0;
    case 'd':
        if (!device_name_is_valid(value))
            argp_error(state, "--device: \"%s\" is not a device; name a GPU as cuda:0, cuda:1, ..., or emu:sm_90a",
                       value);
        options->device = value;
        return 0;
    case 'j':
        options->json = true;
        return 0;
    case 'q':
        options->quiet = true;
        return 0;
    case 'o':
        options->out = value;
        return 0;
    case OPTION_TRACE:
        options->trace = value;
        return 0;
    case OPTION_ALLOW_LIBS:
        options->request.allow_libraries = true;
        return 0;
    case OPTION_ARCH:
        options->request.arch = value;
        parse_choice(state, &options->request, key, value);
        return 0;
    case OPTION_VERIFY:
        options->request.verify_with_ncu = true;
        parse_choice(state, &options->request, key, value);
        return 0;
    case OPTION_BINDING:
    case OPTION_EXPLAIN:
    case OPTION_TOLERANCE:
    case OPTION_SANITIZER:
        parse_choice(state, &options->request, key, value);
        return 0;
    case ARGP_KEY_ARG:
        if (options->file_count == MAX_FILES)
            argp_error(state, "more than %d files", MAX_FILES);
        options->files[options->file_count++] = value;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no candidate given");
        return 0;
    default:
        return parse_protocol(key, value, state);
    }
}

static void show_progress(void *context, const char *step)
{
    (void)context;
    (void)fprintf(stderr, "\r\033[K%s ...", step);
    (void)fflush(stderr);
}

static void clear_progress(const struct eval_options *options)
{
    if (options->request.progress)
        (void)fprintf(stderr, "\r\033[K");
}

static bool write_verdict(const struct eval_options *options, const struct verdict *verdict, bool many,
                          struct error *error)
{
    AUTO_JSON_OBJECT *json = verdict_to_json(verdict);
    AUTO_FREE char *text = NULL;

    if (options->out &&
        !(many ? json_append_line(json, options->out, error) : json_write_file(json, options->out, error)))
        return false;
    if (options->json) {
        if (!json_to_text(json, !many, &text, error))
            return false;
        (void)printf("%s\n", text);
        return true;
    }
    AUTO_BUFFER summary = buffer_new(1 << 20);
    struct summary_options look = {.color = cli_use_color(stdout)};
    summary_write(&summary, verdict, &look);
    (void)fputs(summary.data, stdout);
    (void)fflush(stdout);
    return true;
}

static bool write_trace(const struct eval_options *options, const struct verdict *verdict,
                        const struct workload *workload, struct error *error)
{
    json_object *line;

    if (!options->trace || verdict->status == VERDICT_INFRA_ERROR)
        return true;
    if (!verdict_to_trace_line(verdict, workload, &line, error))
        return false;
    bool ok = json_append_line(line, options->trace, error);
    (void)json_object_put(line);
    return ok;
}

/* The worse of two exit statuses: trouble hides a failure, a failure hides a pass. */
static int worse(int left, int right)
{
    return left > right ? left : right;
}

static bool judge_file(struct worker *worker, const struct trace_set *tasks, struct eval_options *options,
                       const char *path, int *status, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct candidate_input input;
    struct judge_request request = options->request;
    const struct definition *definition;
    bool many = options->file_count > 1 || options->repeat > 1;

    if (!candidate_input_read(arena, path, &input, error))
        return false;
    const char *task = options->task ? options->task : input.definition;
    if (!task) {
        (void)error_set(error, ERROR_USAGE, "%s: no task given", path);
        return error_hint(error, "name one with --task; 'ptxbench task list' shows them");
    }
    if (!trace_set_find_definition(tasks, task, &definition, error) ||
        !trace_set_find_workload(tasks, task, options->workload, &request.workload, error))
        return false;
    request.solution = input.name;
    request.sources = input.sources;
    request.source_count = input.source_count;
    request.entry_file = input.entry_file;
    request.entry_symbol = input.entry_symbol;
    if (request.binding == COMPILE_BINDING_AUTO)
        request.binding = input.binding;
    for (long i = 0; i < options->repeat; i++) {
        AUTO_ARENA *verdict_arena = arena_new();
        struct verdict *verdict = worker_judge(worker, &request, verdict_arena);
        clear_progress(options);
        if (interrupt_requested()) /* half a verdict is none */
            return error_set(error, ERROR_SYSTEM, "%s: interrupted", path);
        *status = worse(*status, verdict_exit_status(verdict));
        if (!write_verdict(options, verdict, many, error) || !write_trace(options, verdict, request.workload, error))
            return false;
    }
    return true;
}

int cmd_eval(int argc, char **argv)
{
    static const struct argp parser = {
        option_table,
        parse_option,
        "FILE...",
        "Judge candidates: correct? which instructions run? how fast? why not?\v"
        "FILE is a .cu file (files beside it that it includes in quotes come along) or a FlashInfer-Trace solution "
        "(.json). Exit status: 0 all passed, 1 a candidate failed, 2 infrastructure trouble, 64 usage.",
        NULL,
        NULL,
        NULL};
    struct eval_options options = {.repeat = 1, .sample = DEFAULT_SAMPLE};
    struct worker *worker;
    AUTO_TRACE_SET *tasks = NULL;
    struct error error;
    int status = CLI_PASSED;

    if (argp_parse(&parser, argc, argv, 0, NULL, &options))
        return CLI_USAGE;
    if (!options.quiet && isatty(STDERR_FILENO))
        options.request.progress = show_progress;
    if (!options.device)
        options.device = device_default_name();
    bool many = options.file_count > 1 || options.repeat > 1;
    struct worker_options worker_options = {.device = options.device,
                                            .sample = (uint64_t)options.sample,
                                            .version = PTXBENCH_VERSION,
                                            .warm_runners = options.runners ? (int)options.runners
                                                            : many          ? 2
                                                                            : 1};
    if (!task_roots_open(options.roots, options.root_count, &tasks, &error) ||
        !worker_open(&worker_options, &worker, &error))
        return cli_fail(&error);
    interrupt_catch();
    for (size_t i = 0; i < options.file_count && !interrupt_requested(); i++)
        if (!judge_file(worker, tasks, &options, options.files[i], &status, &error)) {
            clear_progress(&options);
            status = worse(status, cli_fail(&error));
        }
    worker_close(worker);
    interrupt_finish();
    return status;
}
