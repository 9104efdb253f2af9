/*
 * ptxbench-runner: the process that holds a candidate.
 *
 *     ptxbench-runner --channel --device cuda:0         serves a worker at descriptor 3
 *     ptxbench-runner --object FILE ARGUMENT...         runs one candidate by itself, for compute-sanitizer and ncu
 */
#include <argp.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "device/channel.h"
#include "runner/session.h"
#include "runner/standalone.h"

struct options {
    bool channel;
    struct standalone_options alone;
};

static const struct argp_option option_table[] = {
    {"channel", 'c', NULL, 0, "Serve a worker at descriptor 3", 0},
    {"device", 'd', "NAME", 0, "Device, cuda:N (default cuda:0)", 0},
    {"object", 'o', "FILE", 0, "Run this object by itself", 0},
    {"entry", 'e', "SYMBOL", 0, "Entry symbol (default __tvm_ffi_run or ptxbench_run)", 0},
    {"binding", 'b', "NAME", 0, "tvm-ffi (default) or c", 0},
    {"seed", 's', "N", 0, "Seed of the inputs (default 0)", 0},
    {"quiet", 'q', NULL, 0, "Discard what the candidate prints", 0},
    {"runs", 'n', "N", 0, "Number of calls (default 1)", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct options *options = state->input;

    switch (key) {
    case 'c':
        options->channel = true;
        return 0;
    case 'd':
        options->alone.device = value;
        return 0;
    case 'o':
        options->alone.object = value;
        return 0;
    case 'e':
        options->alone.entry = value;
        return 0;
    case 'b':
        options->alone.binding = value;
        return 0;
    case 's':
        options->alone.seed = strtoull(value, NULL, 0);
        return 0;
    case 'q':
        options->alone.quiet = true;
        return 0;
    case 'n':
        options->alone.runs = (int)strtol(value, NULL, 10);
        return 0;
    case ARGP_KEY_ARGS:
        options->alone.arguments = (const char *const *)(state->argv + state->next);
        options->alone.argument_count = state->argc - state->next;
        if (options->alone.argument_count > CHANNEL_MAX_ARGUMENTS)
            argp_error(state, "more than %d arguments", CHANNEL_MAX_ARGUMENTS);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* Sends both output streams nowhere. */
static bool silence(void)
{
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);

    return nowhere >= 0 && dup2(nowhere, STDOUT_FILENO) >= 0 && dup2(nowhere, STDERR_FILENO) >= 0;
}

int main(int argc, char **argv)
{
    static const struct argp parser = {option_table,
                                       parse_option,
                                       "[ARGUMENT...]",
                                       "Holds one candidate of ptxbench. Started by ptxbench; by hand for debugging:\v"
                                       "ARGUMENT is in|out:DTYPE:AxBxC or scalar:DTYPE:VALUE, in the order of the "
                                       "definition.",
                                       NULL,
                                       NULL,
                                       NULL};
    struct options options = {.alone = {.device = "cuda:0", .binding = "tvm-ffi", .runs = 1}};
    int64_t started_ns = clock_now_ns();
    struct error error;

    argp_err_exit_status = 64;
    if (argp_parse(&parser, argc, argv, 0, NULL, &options))
        return 64;
    if (options.channel)
        _exit(session_serve(CHANNEL_RUNNER_FD, options.alone.device, started_ns)); /* no atexit code of a candidate */
    if (!options.alone.object) {
        (void)fprintf(stderr, "ptxbench-runner: nothing to do; see --help\n");
        return 64;
    }
    if (!options.alone.entry)
        options.alone.entry = strcmp(options.alone.binding, "c") ? "__tvm_ffi_run" : "ptxbench_run";
    int report = dup(STDOUT_FILENO);
    if (options.alone.quiet && !silence())
        return 1;
    bool ok = standalone_run(&options.alone, &error);
    if (options.alone.quiet)
        (void)dup2(report, STDERR_FILENO);
    if (ok) {
        (void)dprintf(report, "%s\n", STANDALONE_WITNESS);
        return 0;
    }
    (void)fprintf(stderr, "ptxbench-runner: %s\n", error.message);
    if (error.hint[0])
        (void)fprintf(stderr, "hint: %s\n", error.hint);
    return error.code == ERROR_USAGE ? 64 : 1;
}
