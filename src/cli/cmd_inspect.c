/* ptxbench inspect: pages through a run, prints it, or exports it. */
#include <argp.h>
#include <string.h>

#include "agent/run_export.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "cli/cli.h"
#include "cli/inspect_pages.h"
#include "cli/inspect_text.h"

enum { TEXT_MAX = 256 << 20 };
enum { OPTION_EXPORT = 256, OPTION_SHOW };
enum export_format { EXPORT_NONE, EXPORT_MINI, EXPORT_REPLAY };

struct inspect_arguments {
    const char *run;
    const char *trajectory;
    long turn; /* 1-based; 0: all */
    bool parts[INSPECT_PARTS];
    bool any_part;
    bool plain;
    enum export_format export;
    const char *out;
};

static const struct argp_option option_table[] = {
    {"turn", 't', "N", 0, "Only turn N, counted from 1", 0},
    {"show", OPTION_SHOW, "PART", 0, "diff, code, verdict, feedback or answer; repeatable (default: verdict and diff)",
     0},
    {"plain", 'p', NULL, 0, "Print, also to a terminal", 0},
    {"export", OPTION_EXPORT, "FORMAT", 0,
     "mini-swe-agent: a JSON file a trajectory (format 1.1); replay: answers for the replay provider", 0},
    {"out", 'o', "PATH", 0, "With --export: folder, or file for replay", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct inspect_arguments *into = state->input;
    enum inspect_part part;

    switch (key) {
    case 't':
        into->turn = cli_parse_number(state, "turn", value, 1, 1000000);
        return 0;
    case 'p':
        into->plain = true;
        return 0;
    case 'o':
        into->out = value;
        return 0;
    case OPTION_SHOW:
        if (!inspect_part_parse(value, &part))
            argp_error(state, "--show: \"%s\" is none of diff, code, verdict, feedback, answer", value);
        into->parts[part] = into->any_part = true;
        return 0;
    case OPTION_EXPORT:
        into->export = !strcmp(value, "mini-swe-agent") ? EXPORT_MINI : EXPORT_REPLAY;
        if (into->export == EXPORT_REPLAY && strcmp(value, "replay") != 0)
            argp_error(state, "--export: \"%s\" is none of mini-swe-agent, replay", value);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num == 0)
            into->run = value;
        else if (state->arg_num == 1)
            into->trajectory = value;
        else
            argp_error(state, "too many arguments");
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no run given");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool print_list(const struct run_view *view, struct buffer *out, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct run_view_trajectory *lines = arena_calloc(arena, view->count + 1, sizeof *lines);

    for (size_t i = 0; i < view->count; i++)
        if (!run_view_load(view, i, false, arena, &lines[i], error))
            return false;
    inspect_write_list(out, view, lines);
    return true;
}

static bool print_trajectory(const struct inspect_arguments *arguments, const struct run_view *view, size_t index,
                             struct buffer *out, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct run_view_trajectory trajectory;

    if (!run_view_load(view, index, true, arena, &trajectory, error))
        return false;
    if (arguments->turn > trajectory.state.turn)
        return error_set(error, ERROR_NOT_FOUND, "%s: has only %d turns", view->names[index], trajectory.state.turn);
    inspect_write_head(out, &trajectory);
    for (int turn = 0; turn < trajectory.state.turn; turn++) {
        if (arguments->turn && turn != arguments->turn - 1)
            continue;
        (void)buffer_append_text(out, "\n");
        inspect_write_turn(out, &trajectory, turn);
        for (int part = 0; part < INSPECT_PARTS; part++)
            if (arguments->parts[part])
                inspect_write_part(out, &trajectory, turn, (enum inspect_part)part, 100, cli_use_color(stdout));
    }
    return true;
}

static bool export_one(const struct inspect_arguments *arguments, const struct run_view *view, size_t index,
                       struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct run_view_trajectory trajectory;

    if (!run_view_load(view, index, true, arena, &trajectory, error))
        return false;
    if (trajectory.state.step == STEP_START)
        return true;
    if (arguments->export == EXPORT_MINI) {
        AUTO_JSON_OBJECT *object = run_export_mini(view, &trajectory);
        return json_write_file(object, arena_printf(arena, "%s/%s.json", arguments->out, view->names[index]), error);
    }
    for (int turn = 0; turn < trajectory.state.turn; turn++) {
        AUTO_JSON_OBJECT *line = run_export_answer(&trajectory, turn);
        if (!json_append_line(line, arguments->out, error))
            return false;
    }
    return true;
}

static bool export_run(const struct inspect_arguments *arguments, const struct run_view *view, size_t only,
                       struct error *error)
{
    if (!arguments->out)
        return error_set(error, ERROR_USAGE, "--export needs --out");
    if (arguments->export == EXPORT_MINI && !file_make_folder(arguments->out, error))
        return false;
    if (arguments->export == EXPORT_REPLAY && file_exists(arguments->out))
        return error_set(error, ERROR_USAGE, "%s: exists already", arguments->out);
    for (size_t i = 0; i < view->count; i++)
        if ((only == SIZE_MAX || only == i) && !export_one(arguments, view, i, error))
            return false;
    return true;
}

static bool inspect(const struct inspect_arguments *arguments, struct arena *arena, struct error *error)
{
    AUTO_BUFFER text = buffer_new(TEXT_MAX);
    size_t index = SIZE_MAX;
    struct run_view view;

    if (!run_view_open(arena, arguments->run, &view, error) ||
        (arguments->trajectory && !run_view_find(&view, arguments->trajectory, &index, error)))
        return false;
    if (arguments->export)
        return export_run(arguments, &view, index, error);
    if (!arguments->plain && isatty(STDOUT_FILENO) && isatty(STDIN_FILENO))
        return inspect_pages(&view, index, error);
    if (index == SIZE_MAX ? !print_list(&view, &text, error) : !print_trajectory(arguments, &view, index, &text, error))
        return false;
    (void)fwrite(text.data, 1, text.length, stdout);
    return true;
}

int cmd_inspect(int argc, char **argv)
{
    static const struct argp parser = {
        option_table,
        parse_option,
        "RUN [TRAJECTORY]",
        "Look at a run: its trajectories, and of one (any part of its name) the turns with verdicts and what changed "
        "in the "
        "code.\vOn a terminal pages through them, otherwise prints. The run may still be under way.",
        NULL,
        NULL,
        NULL};
    struct inspect_arguments arguments = {0};
    AUTO_ARENA *arena = arena_new();
    struct error error;

    if (argp_parse(&parser, argc, argv, 0, NULL, &arguments))
        return CLI_USAGE;
    if (!arguments.any_part)
        arguments.parts[INSPECT_DIFF] = arguments.parts[INSPECT_VERDICT] = true;
    if (!inspect(&arguments, arena, &error))
        return cli_fail(&error);
    interrupt_finish();
    return CLI_PASSED;
}
