#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/task_internal.h"
#include "cli/task_roots.h"

enum { OPTION_TASKS = 256, OPTION_JSON, OPTION_OP_TYPE, OPTION_WORKLOAD, OPTION_AXES, OPTION_OUT, OPTION_SEED };

static const struct argp_option options[] = {
    {"tasks", OPTION_TASKS, "DIR", 0, "Trace set to read; repeatable (default: $PTXBENCH_TASKS, else the shipped one)"},
    {"json", OPTION_JSON, NULL, 0, "Print JSON"},
    {"op-type", OPTION_OP_TYPE, "TYPE", 0, "list: only definitions of this operation type"},
    {"workload", OPTION_WORKLOAD, "UUID", 0, "show, materialize: workload by uuid or prefix (default: the first)"},
    {"axes", OPTION_AXES, "M=64,...", 0, "show, materialize: other sizes of variable axes"},
    {"out", OPTION_OUT, "FILE", 0, "materialize: safetensors file to write"},
    {"seed", OPTION_SEED, "N", 0, "materialize: seed of random inputs (default 0)"},
    {0},
};

static const char usage[] = "list [TEXT]\nshow NAME\nvalidate PATH...\nmaterialize NAME --out FILE.safetensors";

static const char doc[] = "Look at tasks: definitions and workloads of FlashInfer-Trace.\v"
                          "list         definitions whose name contains TEXT\n"
                          "show         one definition and its workloads\n"
                          "validate     check trace set folders, definition, solution and trace files\n"
                          "materialize  write inputs and CPU reference outputs of a workload";

static bool parse_seed(const char *text, uint64_t *out)
{
    char *end;

    errno = 0;
    *out = strtoull(text, &end, 0);
    return *text >= '0' && *text <= '9' && !*end && !errno;
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct task_options *into = state->input;

    switch (key) {
    case OPTION_TASKS:
        if (into->root_count == TASK_MAX_ROOTS)
            argp_error(state, "more than %d --tasks", TASK_MAX_ROOTS);
        into->roots[into->root_count++] = argument;
        return 0;
    case OPTION_JSON:
        into->json = true;
        return 0;
    case OPTION_OP_TYPE:
        into->op_type = argument;
        return 0;
    case OPTION_WORKLOAD:
        into->workload = argument;
        return 0;
    case OPTION_AXES:
        into->axes = argument;
        return 0;
    case OPTION_OUT:
        into->out = argument;
        return 0;
    case OPTION_SEED:
        if (!parse_seed(argument, &into->seed))
            argp_error(state, "--seed: \"%s\" is not a number from 0 to 2^64 - 1", argument);
        return 0;
    case ARGP_KEY_ARG:
        if (into->argument_count == TASK_MAX_ARGUMENTS)
            argp_error(state, "more than %d arguments", TASK_MAX_ARGUMENTS);
        into->arguments[into->argument_count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* name, fewest and most arguments, implementation */
struct action {
    const char *name;
    size_t fewest;
    size_t most;
    bool (*run)(const struct trace_set *set, const struct task_options *options, struct error *error);
};

static const struct action actions[] = {
    {"list", 0, 1, task_list},
    {"show", 1, 1, task_show},
    {"materialize", 1, 1, task_materialize},
    {"validate", 1, TASK_MAX_ARGUMENTS, NULL},
};

static const struct action *find_action(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(actions); i++)
        if (!strcmp(actions[i].name, name))
            return &actions[i];
    return NULL;
}

int cmd_task(int argc, char **argv)
{
    static const struct argp parser = {options, take, usage, doc, NULL, NULL, NULL};
    struct task_options chosen = {0};
    AUTO_TRACE_SET *set = NULL;
    struct error error;

    if (argp_parse(&parser, argc, argv, 0, NULL, &chosen))
        return CLI_USAGE;
    if (!chosen.argument_count)
        return cli_usage("task", "no action given: list, show, validate or materialize");
    const char *name = chosen.arguments[0];
    const struct action *action = find_action(name);
    if (!action)
        return cli_usage("task", "unknown action \"%s\": list, show, validate or materialize", name);
    chosen.argument_count--;
    memmove(chosen.arguments, chosen.arguments + 1, chosen.argument_count * sizeof *chosen.arguments);
    if (chosen.argument_count < action->fewest || chosen.argument_count > action->most)
        return cli_usage("task", "%s: %s", name,
                         chosen.argument_count < action->fewest ? "an argument is missing" : "too many arguments");
    if (!action->run)
        return task_validate(&chosen);
    if (!task_roots_open(chosen.roots, chosen.root_count, &set, &error) || !action->run(set, &chosen, &error))
        return cli_fail(&error);
    return CLI_PASSED;
}
