#include "cli/emu_run.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/process.h"
#include "base/resource.h"
#include "cli/cli.h"
#include "emu/shim_options.h"

enum { OPTION_ARCH = 256, OPTION_FINDINGS, OPTION_STATS, OPTION_SCHEDULE, OPTION_MEMORY, OPTION_BUDGET, OPTION_QUIET };

static const struct argp_option options[] = {
    {"arch", OPTION_ARCH, "ARCH", 0, "Device: sm_90a (default) or sm_100a"},
    {"findings", OPTION_FINDINGS, "FILE", 0, "Write findings to FILE as JSONL"},
    {"stats", OPTION_STATS, "FILE", OPTION_ARG_OPTIONAL, "Print statistics at the end, or write them to FILE as JSON"},
    {"schedule", OPTION_SCHEDULE, "TEXT", 0, "reverse,quantum=N,completion=eager|late|random,seed=N,shift=BYTES"},
    {"memory", OPTION_MEMORY, "SIZE", 0, "Device memory, for example 8G"},
    {"budget", OPTION_BUDGET, "N", 0, "Most warp instructions of one launch"},
    {"quiet", OPTION_QUIET, NULL, 0, "Print no findings"},
    {0},
};

static const char doc[] =
    "Run a CUDA program without a GPU: libcudart.so.13 and libcuda.so.1 are the emulator's.\v"
    "PROGRAM must be linked with the shared CUDA runtime and hold PTX:\n"
    "    nvcc -cudart shared -gencode arch=compute_90a,code=[sm_90a,compute_90a] ...\n"
    "Findings go to standard error. Exit status: PROGRAM's; 2 machine trouble, 64 usage, or PROGRAM does not exist.";

struct run_options {
    char **program;
};

/* Sets the variable that the libraries read. */
static error_t set(const struct argp_state *state, const char *name, const char *value)
{
    if (setenv(name, value, 1))
        argp_failure(state, CLI_TROUBLE, errno, "%s", name);
    return 0;
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct run_options *into = state->input;

    switch (key) {
    case OPTION_ARCH:
        return set(state, SHIM_ENV_ARCH, argument);
    case OPTION_FINDINGS:
        return set(state, SHIM_ENV_FINDINGS, argument);
    case OPTION_STATS:
        return set(state, SHIM_ENV_STATS, argument ? argument : "-");
    case OPTION_SCHEDULE:
        return set(state, SHIM_ENV_SCHEDULE, argument);
    case OPTION_MEMORY:
        return set(state, SHIM_ENV_MEMORY, argument);
    case OPTION_BUDGET:
        return set(state, SHIM_ENV_BUDGET, argument);
    case OPTION_QUIET:
        return set(state, SHIM_ENV_QUIET, "1");
    case ARGP_KEY_ARGS:
        into->program = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        if (!into->program)
            argp_error(state, "no PROGRAM behind \"--\"");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {options, take, "-- PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};

bool emu_run_wanted(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--"))
            return true;
    return false;
}

static const char *environment(const char *name)
{
    return getenv(name);
}

/* The options must be good before the program starts: inside it they could only make every CUDA call fail. */
static bool check_environment(struct error *error)
{
    enum { ANY_MACHINE = 1 << 30 };
    struct shim_options checked;

    return shim_options_read(environment, ANY_MACHINE, &checked, error);
}

static bool prepend_library_path(struct arena *arena, struct error *error)
{
    const char *old = getenv("LD_LIBRARY_PATH");
    char *library = resource_find(arena, "emu/libptxemu.so");

    if (!library) {
        (void)error_set(error, ERROR_NOT_FOUND, "emu/libptxemu.so: the emulator's libraries are not installed");
        return error_hint(error, "build the project completely, or set PTXBENCH_HOME to the folder that holds emu/");
    }
    *strrchr(library, '/') = '\0';
    const char *path = old && *old ? arena_printf(arena, "%s:%s", library, old) : library;
    return !setenv("LD_LIBRARY_PATH", path, 1) || error_system(error, errno, "setting LD_LIBRARY_PATH");
}

int emu_run(int argc, char **argv)
{
    AUTO_ARENA *arena = arena_new();
    struct run_options wanted = {0};
    struct error error;

    if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &wanted))
        return CLI_USAGE;
    if (!check_environment(&error) || !prepend_library_path(arena, &error))
        return cli_fail(&error);
    (void)process_become((const char *const *)wanted.program, &error);
    return cli_fail(&error);
}
