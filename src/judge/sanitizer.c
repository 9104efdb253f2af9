#include "judge/sanitizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/process.h"

enum { DEFAULT_PRINT_LIMIT = 100, OUTPUT_LIMIT = 1 << 20, LOG_LIMIT = 8 << 20 };

#define DEFAULT_TIMEOUT_NS (120 * INT64_C(1000000000))
#define LOG_NAME "sanitizer.log"

static const char *const tool_texts[] = {"memcheck", "racecheck", "synccheck", "initcheck"};

const char *sanitizer_tool_text(enum sanitizer_tool tool)
{
    return (size_t)tool < ARRAY_LEN(tool_texts) ? tool_texts[tool] : "unknown";
}

bool sanitizer_tool_parse(const char *text, enum sanitizer_tool *out)
{
    for (size_t i = 0; i < ARRAY_LEN(tool_texts); i++) {
        if (strcmp(tool_texts[i], text) == 0) {
            *out = (enum sanitizer_tool)i;
            return true;
        }
    }
    return false;
}

static const char *const *command_with_log(struct arena *arena, const struct sanitizer_request *request,
                                           const char *program, const char *log)
{
    const char *leading[12];
    size_t count = 0;
    size_t arguments = 0;
    const char **argv;

    leading[count++] = program;
    leading[count++] = "--tool";
    leading[count++] = sanitizer_tool_text(request->tool);
    leading[count++] = "--target-processes";
    leading[count++] = "all";
    leading[count++] = "--print-limit";
    leading[count++] = arena_printf(arena, "%d", request->print_limit > 0 ? request->print_limit : DEFAULT_PRINT_LIMIT);
    if (request->tool == SANITIZER_MEMCHECK) {
        leading[count++] = "--track-stream-ordered-races";
        leading[count++] = "all";
    }
    if (log) {
        leading[count++] = "--log-file";
        leading[count++] = log;
    }
    while (request->argv[arguments])
        arguments++;
    argv = arena_calloc(arena, count + arguments + 1, sizeof *argv);
    memcpy(argv, leading, count * sizeof *argv);
    memcpy(argv + count, request->argv, arguments * sizeof *argv);
    return argv;
}

const char *const *sanitizer_command(struct arena *arena, const struct sanitizer_request *request, const char *program)
{
    return command_with_log(arena, request, program, NULL);
}

static const char *find_program(struct arena *arena, const char *asked)
{
    static const char *const places[] = {"bin/compute-sanitizer", "compute-sanitizer/compute-sanitizer"};
    const char *roots[] = {getenv("CUDA_HOME"), "/usr/local/cuda"};
    char *found = file_find_program(arena, asked ? asked : "compute-sanitizer");

    for (size_t i = 0; i < ARRAY_LEN(roots) && !found && !asked; i++)
        for (size_t j = 0; j < ARRAY_LEN(places) && roots[i] && !found; j++)
            found = file_find_program(arena, file_join(arena, roots[i], places[j]));
    return found;
}

static void set_unknown(struct sanitizer_report *out, const char *reason)
{
    if (out->clean == TRISTATE_NO)
        return; /* what it found before the trouble stands */
    out->clean = TRISTATE_UNKNOWN;
    out->reason = reason;
}

static const char *first_line(struct arena *arena, const struct buffer *text)
{
    AUTO_BUFFER clean = buffer_new(500);

    (void)buffer_append_sanitized(&clean, text->data, strcspn(text->data, "\n"));
    return clean.length ? arena_printf(arena, " (%s)", clean.data) : "";
}

/* Runs the command and leaves a parsed report; the log folder exists. */
static bool run_and_parse(struct arena *arena, const struct sanitizer_request *request, const char *program,
                          const char *folder, struct sanitizer_report *out, int64_t *wall_ns, struct error *error)
{
    AUTO_BUFFER output = buffer_new(OUTPUT_LIMIT);
    AUTO_BUFFER errors = buffer_new(OUTPUT_LIMIT);
    AUTO_FREE char *log = NULL;
    const char *log_path = file_join(arena, folder, LOG_NAME);
    int64_t timeout_ns = request->timeout_ns > 0 ? request->timeout_ns : DEFAULT_TIMEOUT_NS;
    struct process_spec spec = {
        .argv = command_with_log(arena, request, program, log_path),
        .environment = request->environment,
        .folder = request->folder,
        .inherit = request->inherit,
        .inherit_count = request->inherit_count,
        .no_core = true,
        .timeout_ns = timeout_ns,
        .output_limit = OUTPUT_LIMIT,
    };
    struct process_end end = {0};
    struct error log_error = {0};
    size_t length = 0;

    if (!process_run(&spec, &output, &errors, &end, error))
        return false;
    *wall_ns = end.wall_ns;
    if (!file_read(log_path, LOG_LIMIT, &log, &length, &log_error)) {
        set_unknown(out, arena_printf(arena, "compute-sanitizer left no log%s", first_line(arena, &errors)));
    } else {
        sanitizer_parse(arena, request->tool, log, length, out);
        if (request->witness && out->clean == TRISTATE_YES && !strstr(output.data, request->witness))
            set_unknown(out, "the program did not run to its end under compute-sanitizer");
    }
    if (end.timed_out)
        set_unknown(out, arena_printf(arena, "compute-sanitizer was stopped after %.0f s", (double)timeout_ns / 1e9));
    return true;
}

static void fill_record(struct arena *arena, const struct sanitizer_request *request,
                        const struct sanitizer_report *report, bool ran, int64_t wall_ns,
                        struct verdict_sanitizer *record)
{
    if (!record)
        return;
    *record = (struct verdict_sanitizer){
        .ran = ran,
        .tool = arena_printf(arena, "compute-sanitizer %s", sanitizer_tool_text(request->tool)),
        .clean = report->clean,
        .errors = report->errors,
        .reason = report->reason,
    };
    if (ran)
        record->wall_ms = number_of((double)wall_ns / 1e6);
}

bool sanitizer_run(struct arena *arena, const struct sanitizer_request *request, struct sanitizer_report *out,
                   struct verdict_sanitizer *record, struct error *error)
{
    const char *program = find_program(arena, request->program);
    char *folder = NULL;
    int64_t wall_ns = 0;
    bool ran = false;

    *out = (struct sanitizer_report){0};
    if (!program) {
        set_unknown(out, "compute-sanitizer is not installed");
    } else {
        if (!file_make_temporary_folder(arena, file_temporary_root(), "ptxbench-sanitizer", &folder, error))
            return false;
        ran = run_and_parse(arena, request, program, folder, out, &wall_ns, error);
        (void)file_remove_tree(folder);
        if (!ran)
            return false;
    }
    if (out->clean == TRISTATE_UNKNOWN) {
        struct finding *finding = finding_add(&out->findings, arena, FINDING_TOOL_TROUBLE, "%s", out->reason);
        finding->stage = STAGE_SANITIZER;
    }
    fill_record(arena, request, out, ran, wall_ns, record);
    return true;
}
