#include <argp.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/model_internal.h"

enum {
    OPTION_JSON = 256,
    OPTION_DRY_RUN,
    OPTION_SYSTEM,
    OPTION_SEED,
    OPTION_MAX_TOKENS,
    OPTION_ATTEMPTS,
    OPTION_TRAJECTORY,
    OPTION_TURN
};

static const struct argp_option options[] = {
    {"json", OPTION_JSON, NULL, 0, "Print JSON"},
    {"dry-run", OPTION_DRY_RUN, NULL, 0, "ask: print address and body of the request, send nothing"},
    {"system", OPTION_SYSTEM, "TEXT", 0, "ask: system message"},
    {"seed", OPTION_SEED, "N", 0, "ask: seed, for providers that take one"},
    {"max-tokens", OPTION_MAX_TOKENS, "N", 0, "ask: at most so many tokens of output (default: the model's limit)"},
    {"attempts", OPTION_ATTEMPTS, "N", 0, "ask: attempts before giving up (default 8)"},
    {"trajectory", OPTION_TRAJECTORY, "NAME", 0, "ask: name of the trajectory, for replay and script"},
    {"turn", OPTION_TURN, "N", 0, "ask: turn of the trajectory, for replay and script (default 0)"},
    {0},
};

static const char usage[] = "list\ncheck MODEL\nask MODEL TEXT";

static const char doc[] =
    "Look at the models that runs can use, and try one. MODEL is a name or a YAML file.\v"
    "list   the models that ship with ptxbench\n"
    "check  whether a model's file is right and its key is there; sends nothing\n"
    "ask    one call: the answer on standard output, usage and cost behind it; TEXT \"-\" is read from standard input";

enum { ARGUMENTS_MAX = 3 };

struct command_line {
    struct model_options options;
    const char *arguments[ARGUMENTS_MAX];
    size_t count;
};

static uint64_t parse_seed(struct argp_state *state, const char *text)
{
    char *end;

    errno = 0;
    uint64_t value = strtoull(text, &end, 0);
    if (*text < '0' || *text > '9' || *end || errno)
        argp_error(state, "--seed: \"%s\" is not a number from 0 to 2^64 - 1", text);
    return value;
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct command_line *into = state->input;
    struct model_options *chosen = &into->options;

    switch (key) {
    case OPTION_JSON:
        chosen->json = true;
        return 0;
    case OPTION_DRY_RUN:
        chosen->dry_run = true;
        return 0;
    case OPTION_SYSTEM:
        chosen->system = argument;
        return 0;
    case OPTION_SEED:
        chosen->seed = parse_seed(state, argument);
        chosen->has_seed = true;
        return 0;
    case OPTION_MAX_TOKENS:
        chosen->max_output_tokens = cli_parse_number(state, "max-tokens", argument, 1, 100000000);
        return 0;
    case OPTION_ATTEMPTS:
        chosen->attempts = (int)cli_parse_number(state, "attempts", argument, 1, 1000);
        return 0;
    case OPTION_TRAJECTORY:
        chosen->trajectory = argument;
        return 0;
    case OPTION_TURN:
        chosen->turn = (int)cli_parse_number(state, "turn", argument, 0, INT_MAX);
        return 0;
    case ARGP_KEY_ARG:
        if (into->count == ARGUMENTS_MAX)
            argp_error(state, "too many arguments; put the text into quotes");
        into->arguments[into->count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

int cmd_model(int argc, char **argv)
{
    static const struct argp parser = {options, take, usage, doc, NULL, NULL, NULL};
    static const struct {
        const char *name;
        size_t arguments;
    } actions[] = {{"list", 0}, {"check", 1}, {"ask", 2}};
    struct command_line line = {0};
    size_t action = 0;

    if (argp_parse(&parser, argc, argv, 0, NULL, &line))
        return CLI_USAGE;
    if (!line.count)
        return cli_usage("model", "no action given: list, check or ask");
    while (action < ARRAY_LEN(actions) && strcmp(actions[action].name, line.arguments[0]) != 0)
        action++;
    if (action == ARRAY_LEN(actions))
        return cli_usage("model", "unknown action \"%s\": list, check or ask", line.arguments[0]);
    if (line.count != actions[action].arguments + 1)
        return cli_usage("model", "%s: %s", actions[action].name,
                         line.count > actions[action].arguments + 1 ? "too many arguments" : "an argument is missing");
    if (action == 0)
        return model_list(&line.options);
    if (action == 1)
        return model_check(line.arguments[1], &line.options);
    return model_ask(line.arguments[1], line.arguments[2], &line.options);
}
