/* ptxbench prompt: what a model is sent, and what is read from its answer. */
#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/prompt_internal.h"

enum {
    OPTION_ARCH = 256,
    OPTION_AXES,
    OPTION_LANGUAGE,
    OPTION_BINDING,
    OPTION_PACK,
    OPTION_VARIANT,
    OPTION_GUIDANCE,
    OPTION_PART,
    OPTION_SOURCE,
    OPTION_FEEDBACK,
    OPTION_GOAL,
    OPTION_SECRET,
    OPTION_FILE,
    OPTION_LIMIT,
    OPTION_QUESTION,
    OPTION_HOLD_OUT,
    OPTION_OP_TYPE,
    OPTION_MOST,
    OPTION_WITH_FIX
};

static const struct argp_option option_table[] = {
    {"task", 't', "NAME", 0, "show: definition", 0},
    {"workload", 'w', "UUID", 0, "show: workload, or a unique prefix (default: the first)", 0},
    {"axes", OPTION_AXES, "M=64,...", 0, "show: other sizes of variable axes", 0},
    {"tasks", 'T', "DIR", 0, "show: trace set to read; repeatable (default: the shipped one)", 0},
    {"arch", OPTION_ARCH, "NAME", 0, "show, notes: sm_90a or sm_100a (default for show: sm_90a)", 0},
    {"language", OPTION_LANGUAGE, "NAME", 0, "show, extract: cuda-ptx (default), triton or cute-dsl", 0},
    {"binding", OPTION_BINDING, "NAME", 0, "show: tvm-ffi (default) or c", 0},
    {"pack", OPTION_PACK, "NAME", 0, "show: knowledge pack by name or .yaml file, or a text file (.md, .txt)", 0},
    {"variant", OPTION_VARIANT, "N", 0, "show: the pack of prompt variant 0, 1 or 2 for this task", 0},
    {"guidance", OPTION_GUIDANCE, "FILE", 0, "show: expert guidance", 0},
    {"part", OPTION_PART, "PART", 0, "show: system, task, turn, repair or all (default: system and task)", 0},
    {"source", OPTION_SOURCE, "FILE", 0, "show: the wrong kernel of a repair", 0},
    {"feedback", OPTION_FEEDBACK, "FILE", 0, "show: the feedback of a turn or repair", 0},
    {"goal", OPTION_GOAL, "X", 0, "show, feedback: speed-up to reach", 0},
    {"secret", OPTION_SECRET, "TEXT", 0, "feedback: mixed into the tag of quoted lines", 0},
    {"file", OPTION_FILE, "NAME", 0, "feedback: how messages name SOURCE", 0},
    {"limit", OPTION_LIMIT, "BYTES", 0, "feedback, notes: longest text", 0},
    {"question", OPTION_QUESTION, NULL, 0, "extract: print the question that an unsure result asks", 0},
    {"hold-out", OPTION_HOLD_OUT, "NAME", 0, "notes: definition of which nothing is shown", 0},
    {"op-type", OPTION_OP_TYPE, "NAME", 0, "notes: only this task family", 0},
    {"most", OPTION_MOST, "N", 0, "notes: most kernels (default 3)", 0},
    {"with-fix", OPTION_WITH_FIX, NULL, 0, "notes: with the repaired kernel of the best hit", 0},
    {"json", 'j', NULL, 0, "Print JSON", 0},
    {0},
};

static const char usage[] = "show --task NAME\nextract FILE\nfeedback VERDICT.json [SOURCE]\nnotes POOL.jsonl SOURCE";

static const char doc[] = "Show what a model is sent, and read its answers.\v"
                          "show      the messages of a task\n"
                          "extract   the kernel in an answer (- is standard input)\n"
                          "feedback  what a model is told about a verdict\n"
                          "notes     repair notes for a failing kernel";

/* Options that are a text: key and where it goes. */
static const struct {
    int key;
    size_t offset;
} texts[] = {
    {'t', offsetof(struct prompt_options, task)},
    {'w', offsetof(struct prompt_options, workload)},
    {OPTION_AXES, offsetof(struct prompt_options, axes)},
    {OPTION_ARCH, offsetof(struct prompt_options, arch)},
    {OPTION_LANGUAGE, offsetof(struct prompt_options, language)},
    {OPTION_BINDING, offsetof(struct prompt_options, binding)},
    {OPTION_PACK, offsetof(struct prompt_options, pack)},
    {OPTION_GUIDANCE, offsetof(struct prompt_options, guidance)},
    {OPTION_PART, offsetof(struct prompt_options, part)},
    {OPTION_SOURCE, offsetof(struct prompt_options, source)},
    {OPTION_FEEDBACK, offsetof(struct prompt_options, feedback)},
    {OPTION_SECRET, offsetof(struct prompt_options, secret)},
    {OPTION_FILE, offsetof(struct prompt_options, file)},
    {OPTION_HOLD_OUT, offsetof(struct prompt_options, hold_out)},
    {OPTION_OP_TYPE, offsetof(struct prompt_options, op_type)},
};

static bool take_text(int key, char *argument, struct prompt_options *into)
{
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (texts[i].key == key) {
            *(const char **)((char *)into + texts[i].offset) = argument;
            return true;
        }
    return false;
}

static double parse_goal(struct argp_state *state, const char *text)
{
    char *end;
    double value = strtod(text, &end);

    if (*text < '0' || *text > '9' || *end || !(value > 0 && value < 1000))
        argp_error(state, "--goal: \"%s\" is not a number above 0", text);
    return value;
}

static error_t take(int key, char *argument, struct argp_state *state)
{
    struct prompt_options *into = state->input;

    if (take_text(key, argument, into))
        return 0;
    switch (key) {
    case 'T':
        if (into->root_count == PROMPT_MAX_ROOTS)
            argp_error(state, "more than %d --tasks", PROMPT_MAX_ROOTS);
        into->roots[into->root_count++] = argument;
        return 0;
    case OPTION_GOAL:
        into->goal = parse_goal(state, argument);
        return 0;
    case OPTION_LIMIT:
        into->limit = cli_parse_number(state, "limit", argument, 1024, 1 << 20);
        return 0;
    case OPTION_MOST:
        into->most = cli_parse_number(state, "most", argument, 1, 100);
        return 0;
    case OPTION_VARIANT:
        into->variant = 1 + cli_parse_number(state, "variant", argument, 0, 2);
        return 0;
    case OPTION_QUESTION:
        into->question = true;
        return 0;
    case OPTION_WITH_FIX:
        into->with_fix = true;
        return 0;
    case 'j':
        into->json = true;
        return 0;
    case ARGP_KEY_ARG:
        if (into->argument_count > PROMPT_MAX_ARGUMENTS)
            argp_error(state, "too many arguments");
        into->arguments[into->argument_count++] = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* name, fewest and most arguments, implementation */
static const struct action {
    const char *name;
    size_t fewest;
    size_t most;
    bool (*run)(const struct prompt_options *options, int *status, struct error *error);
} actions[] = {
    {"show", 0, 0, prompt_show},
    {"extract", 1, 1, prompt_extract},
    {"feedback", 1, 2, prompt_feedback},
    {"notes", 2, 2, prompt_notes},
};

int cmd_prompt(int argc, char **argv)
{
    static const struct argp parser = {option_table, take, usage, doc, NULL, NULL, NULL};
    struct prompt_options chosen = {0};
    struct error error;
    int status = CLI_PASSED;

    if (argp_parse(&parser, argc, argv, 0, NULL, &chosen))
        return CLI_USAGE;
    if (!chosen.argument_count)
        return cli_usage("prompt", "no action given: show, extract, feedback or notes");
    const char *name = chosen.arguments[0];
    chosen.argument_count--;
    memmove(chosen.arguments, chosen.arguments + 1, chosen.argument_count * sizeof *chosen.arguments);
    for (size_t i = 0; i < ARRAY_LEN(actions); i++) {
        const struct action *action = &actions[i];
        if (strcmp(action->name, name) != 0)
            continue;
        if (chosen.argument_count < action->fewest || chosen.argument_count > action->most)
            return cli_usage("prompt", "%s: %s", name,
                             chosen.argument_count < action->fewest ? "an argument is missing" : "too many arguments");
        return action->run(&chosen, &status, &error) ? status : cli_fail(&error);
    }
    return cli_usage("prompt", "unknown action \"%s\": show, extract, feedback or notes", name);
}
