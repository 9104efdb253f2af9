/* ptxbench run: models in a loop with the judge, hundreds of trajectories at once. */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "agent/run.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "cli/cli.h"
#include "cli/run_dry.h"
#include "cli/run_progress.h"
#include "cli/task_roots.h"
#include "device/device.h"

enum {
    OPTION_RESUME = 256,
    OPTION_EXTEND,
    OPTION_DRY,
    OPTION_NAME,
    OPTION_VARIANT,
    OPTION_TRAJECTORIES,
    OPTION_TURNS,
    OPTION_TARGET,
    OPTION_CONTEXT,
    OPTION_ARCH,
    OPTION_BINDING,
    OPTION_WORKERS,
    OPTION_PARALLEL,
    OPTION_SEED,
    OPTION_AXES,
    OPTION_TOKENS,
    OPTION_USD,
    OPTION_HOURS,
    OPTION_GUIDANCE,
    OPTION_NOTES,
    OPTION_WITH_FIX,
    OPTION_RETRY_DELAY,
    OPTION_ATTEMPTS
};

struct run_arguments {
    struct arena *arena;
    struct run_config config;
    bool config_given; /* by options */
    const char *file;
    const char *out;
    const char *resume;
    struct run_session session;
    long extend_turns;
    long workers;
    bool dry;
    bool quiet;
};

static const struct argp_option option_table[] = {
    {"out", 'o', "DIR", 0, "Folder of the run (default: runs/NAME-TIME)", 0},
    {"resume", OPTION_RESUME, "DIR", 0, "Go on with a run where it stopped", 0},
    {"extend-turns", OPTION_EXTEND, "N", 0, "With --resume: N more turns for each trajectory", 0},
    {"dry-run", OPTION_DRY, NULL, 0, "Show the plan, its prompts and what it can cost; ask no model", 0},
    {"quiet", 'q', NULL, 0, "No progress", 0},
    {"name", OPTION_NAME, "NAME", 0, "Name of the run in tables (default: that of its folder)", 1},
    {"model", 'm', "NAME", 0, "A model of models/, or a YAML file; repeatable", 1},
    {"task", 't', "NAME[:UUID]", 0, "Definition, and workload (default: the first); repeatable", 1},
    {"axes", OPTION_AXES, "LIST", 0, "Other sizes of the variable axes of the tasks, such as M=64,N=128", 1},
    {"tasks", 'T', "DIR", 0, "Trace set to read; repeatable (default: the shipped one)", 1},
    {"variant", OPTION_VARIANT, "NAME", 0, "Prompt variant 0, 1, 2, a pack, or none; repeatable (default 0)", 1},
    {"trajectories", OPTION_TRAJECTORIES, "N", 0, "Per model, task and variant (default 1)", 1},
    {"turns", OPTION_TURNS, "N", 0, "Turns of a trajectory (default 8)", 1},
    {"target", OPTION_TARGET, "X", 0, "Speed-up that ends a trajectory (default 1.2; 0: none)", 1},
    {"context", OPTION_CONTEXT, "POLICY", 0, "full, latest-pair or single-user (default full)", 1},
    {"arch", OPTION_ARCH, "NAME", 0, "sm_90a or sm_100a (default sm_90a)", 1},
    {"binding", OPTION_BINDING, "NAME", 0, "tvm-ffi or c (default tvm-ffi)", 1},
    {"guidance", OPTION_GUIDANCE, NULL, 0, "Put the expert guidance into the prompt", 1},
    {"notes", OPTION_NOTES, "FILE", 0, "Pool of repair notes to search behind a failed turn", 1},
    {"with-fix", OPTION_WITH_FIX, NULL, 0, "With --notes: show the fixed kernel, too", 1},
    {"device", 'd', "NAME", 0, "cuda:N or emu:sm_90a; repeatable (default: cuda:0 when there is a GPU)", 2},
    {"workers", OPTION_WORKERS, "N", 0, "Workers per device: more than 1 only for emulators (default 1)", 2},
    {"parallel", OPTION_PARALLEL, "N", 0, "Trajectories under way at once (default 256)", 2},
    {"seed", OPTION_SEED, "N", 0, "Seed of the sampling, where the provider takes one (default 0)", 2},
    {"retry-delay", OPTION_RETRY_DELAY, "MS", 0, "Wait before a turn's first retry, doubled with each (default 2000)",
     2},
    {"call-attempts", OPTION_ATTEMPTS, "N", 0,
     "Attempts of a call, with growing pauses, before a turn's retry (default 8)", 2},
    {"max-tokens", OPTION_TOKENS, "N", 0, "Pause when the run has used so many", 2},
    {"max-usd", OPTION_USD, "X", 0, "Pause when the run has cost so much", 2},
    {"max-hours", OPTION_HOURS, "X", 0, "Pause when this session has lasted so long", 2},
    {0},
};

static double parse_real(struct argp_state *state, const char *option, const char *text, double most)
{
    char *end;
    double value = strtod(text, &end);

    if (end == text || *end || !(value >= 0 && value <= most))
        argp_error(state, "--%s: \"%s\" is not a number from 0 to %g", option, text, most);
    return value;
}

static void add_task(struct run_arguments *into, const char *value)
{
    const char *colon = strchr(value, ':');
    struct run_task *task = LIST_APPEND(into->arena, &into->config.tasks);

    task->definition = colon ? arena_strndup(into->arena, value, (size_t)(colon - value)) : value;
    if (colon)
        run_names_add(&task->workloads, into->arena, colon + 1);
}

static void set_axes(struct run_arguments *into, const char *axes)
{
    for (size_t i = 0; i < into->config.tasks.count; i++)
        into->config.tasks.items[i].axes = axes;
}

/* What decides the plan; refused together with --resume. */
static error_t parse_plan(int key, char *value, struct argp_state *state)
{
    struct run_arguments *into = state->input;
    struct run_config *config = &into->config;

    into->config_given = true;
    switch (key) {
    case OPTION_NAME:
        config->name = value;
        return 0;
    case 'm':
        run_names_add(&config->models, into->arena, value);
        return 0;
    case 't':
        add_task(into, value);
        return 0;
    case OPTION_AXES:
        if (!config->tasks.count)
            argp_error(state, "--axes comes behind the tasks that it is for");
        set_axes(into, value);
        return 0;
    case 'T':
        run_names_add(&config->task_roots, into->arena, value);
        return 0;
    case OPTION_VARIANT:
        run_names_add(&config->variants, into->arena, value);
        return 0;
    case OPTION_TRAJECTORIES:
        config->trajectories = cli_parse_number(state, "trajectories", value, 1, 10000);
        return 0;
    case OPTION_TURNS:
        config->turns = cli_parse_number(state, "turns", value, 1, TRAJECTORY_TURNS_MAX);
        return 0;
    case OPTION_TARGET:
        config->target_speedup = parse_real(state, "target", value, 1e6);
        return 0;
    case OPTION_CONTEXT:
        config->context = value;
        return 0;
    case OPTION_ARCH:
        config->arch = value;
        return 0;
    case OPTION_BINDING:
        config->binding = value;
        return 0;
    case OPTION_GUIDANCE:
        config->guidance = true;
        return 0;
    case OPTION_NOTES:
        config->notes = value;
        return 0;
    case OPTION_WITH_FIX:
        config->notes_with_fix = true;
        return 0;
    case OPTION_SEED:
        config->seed = cli_parse_number(state, "seed", value, 0, INT32_MAX);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* How it is carried out; may differ from session to session. */
static error_t parse_session(int key, char *value, struct argp_state *state)
{
    struct run_arguments *into = state->input;
    struct run_session *session = &into->session;

    switch (key) {
    case 'd':
        if (!device_name_is_valid(value))
            argp_error(state, "--device: \"%s\" is not a device; name a GPU as cuda:0, cuda:1, ..., or emu:sm_90a",
                       value);
        run_names_add(&session->devices, into->arena, value);
        return 0;
    case OPTION_WORKERS:
        into->workers = cli_parse_number(state, "workers", value, 1, EVALUATOR_SLOTS_MAX);
        return 0;
    case OPTION_PARALLEL:
        session->parallel = cli_parse_number(state, "parallel", value, 1, 10000);
        return 0;
    case OPTION_RETRY_DELAY:
        session->retry_delay_ms = cli_parse_number(state, "retry-delay", value, 0, 3600000);
        return 0;
    case OPTION_ATTEMPTS:
        session->call_attempts = cli_parse_number(state, "call-attempts", value, 1, 100);
        return 0;
    case OPTION_TOKENS:
        session->budget.tokens = cli_parse_number(state, "max-tokens", value, 0, INT64_C(1000000000000000));
        return 0;
    case OPTION_USD:
        session->budget.usd = parse_real(state, "max-usd", value, 1e9);
        return 0;
    case OPTION_HOURS:
        session->budget.hours = parse_real(state, "max-hours", value, 1e6);
        return 0;
    default:
        return parse_plan(key, value, state);
    }
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct run_arguments *into = state->input;

    switch (key) {
    case 'o':
        into->out = value;
        return 0;
    case OPTION_RESUME:
        into->resume = value;
        return 0;
    case OPTION_EXTEND:
        into->extend_turns = cli_parse_number(state, "extend-turns", value, 1, TRAJECTORY_TURNS_MAX);
        return 0;
    case OPTION_DRY:
        into->dry = true;
        return 0;
    case 'q':
        into->quiet = true;
        return 0;
    case ARGP_KEY_ARG: /* read before, so that options come on top of it */
    case ARGP_KEY_INIT:
    case ARGP_KEY_ARGS:
    case ARGP_KEY_NO_ARGS:
    case ARGP_KEY_END:
    case ARGP_KEY_SUCCESS:
    case ARGP_KEY_ERROR:
    case ARGP_KEY_FINI:
        return 0;
    default:
        return parse_session(key, value, state);
    }
}

/* The file's lists hold unless options give others. */
static void keep_lists(const struct run_config *file, struct run_config *config)
{
    if (!config->models.count)
        config->models = file->models;
    if (!config->tasks.count)
        config->tasks.items = file->tasks.items, config->tasks.count = file->tasks.count;
    if (!config->task_roots.count)
        config->task_roots = file->task_roots;
    if (!config->variants.count)
        config->variants = file->variants;
}

/* So many workers for each device. */
static void repeat_devices(struct run_arguments *into)
{
    struct run_names devices = into->session.devices.count ? into->session.devices : into->config.devices;
    struct run_names repeated = {0};

    if (!into->workers)
        return;
    if (!devices.count)
        run_names_add(&devices, into->arena, device_default_name());
    for (size_t i = 0; i < devices.count; i++)
        for (long n = 0; n < into->workers; n++)
            run_names_add(&repeated, into->arena, devices.items[i].name);
    into->session.devices = repeated;
}

static const char *default_folder(const struct run_arguments *arguments)
{
    const char *name = arguments->config.name;
    char time[32];
    char *compact = time;

    clock_utc_text(time); /* 2026-08-01T12:00:00Z to 20260801T120000Z */
    for (const char *at = time; *at; at++)
        if (*at != '-' && *at != ':')
            *compact++ = *at;
    *compact = '\0';
    if (!name && arguments->file) {
        const char *base = file_basename(arguments->file);
        name = arena_strndup(arguments->arena, base, strcspn(base, "."));
    }
    return arena_printf(arguments->arena, "runs/%s-%s", name ? name : "run", time);
}

/* The first word that is no option and no value of one: found by the parser itself, in a pass of its own. */
static error_t find_file(int key, char *value, struct argp_state *state)
{
    struct run_arguments *into = state->input;

    if (key != ARGP_KEY_ARG)
        return 0;
    if (into->file)
        argp_error(state, "\"%s\": one configuration is enough", value);
    into->file = value;
    return 0;
}

static const char doc[] =
    "Put models into a loop with the judge: prompt, kernel, verdict, and again.\v"
    "CONFIG.yaml says what to run (docs/formats/run.md); options come on top of it. Everything is logged before it is "
    "acted upon: a run that was interrupted or killed goes on with --resume, exactly where it was. Exit status: 0 "
    "done, or paused by its budget; 2 trouble, 64 usage.";

static bool read_arguments(int argc, char **argv, struct run_arguments *into, struct error *error)
{
    static const struct argp first = {option_table, find_file, "[CONFIG.yaml]", doc, NULL, NULL, NULL};
    static const struct argp second = {option_table, parse_option, "[CONFIG.yaml]", doc, NULL, NULL, NULL};
    struct run_config file = run_config_defaults();

    if (argp_parse(&first, argc, argv, 0, NULL, into))
        return error_set(error, ERROR_USAGE, "wrong options");
    if (into->file && !run_config_read(into->arena, into->file, &file, error))
        return false;
    into->config = file;
    into->session = run_session_none();
    into->config.models = into->config.task_roots = into->config.variants = (struct run_names){0};
    into->config.tasks.count = 0;
    into->config.tasks.items = NULL;
    if (argp_parse(&second, argc, argv, 0, NULL, into))
        return error_set(error, ERROR_USAGE, "wrong options");
    keep_lists(&file, &into->config);
    repeat_devices(into);
    if (into->resume && (into->file || into->config_given || into->out))
        return error_set(error, ERROR_USAGE, "--resume takes the plan from the run: only session options go with it");
    if (!into->resume && into->extend_turns)
        return error_set(error, ERROR_USAGE, "--extend-turns goes with --resume");
    return true;
}

/* 0 also when the budget is spent: that is what was asked for. */
static int status_of(const struct run *run)
{
    struct run_totals totals = run_totals_of(run);
    bool trouble = totals.ended[END_INFRASTRUCTURE] || totals.ended[END_PROVIDER];

    return trouble || (totals.pause && strncmp(totals.pause, "the run's limit", 15) != 0) ? CLI_TROUBLE : CLI_PASSED;
}

static int execute(const struct run_arguments *arguments, const struct run_options *options,
                   struct run_progress *progress)
{
    struct error error;
    struct run *run;

    if (!run_open(options, &run, &error))
        return cli_fail(&error);
    (void)fprintf(stderr, "%s: %zu trajectories\n", options->folder, run_line_count(run));
    bool ok = run_execute(run, &error);
    run_progress_clear(progress);
    int status = ok ? status_of(run) : cli_fail(&error);
    if (ok && !arguments->quiet)
        run_progress_summary(run, options->folder, stdout);
    (void)fflush(stdout);
    run_close(run);
    interrupt_finish();
    return status;
}

int cmd_run(int argc, char **argv)
{
    AUTO_ARENA *arena = arena_new();
    struct run_arguments arguments = {.arena = arena};
    struct run_progress progress = {.stream = stderr, .terminal = isatty(STDERR_FILENO)};
    const char *worker[] = {NULL, "worker", NULL};
    const char *const *roots;
    size_t root_count;
    struct error error;

    if (!read_arguments(argc, argv, &arguments, &error))
        return cli_fail(&error);
    if (!task_roots_default(arena, &roots, &root_count, &error))
        return cli_fail(&error);
    worker[0] = file_join(arena, file_executable_folder(arena), "ptxbench");
    progress.quiet = arguments.quiet;
    struct run_options options = {
        .config = &arguments.config,
        .session = arguments.session,
        .folder = arguments.resume ? arguments.resume
                  : arguments.out  ? arguments.out
                                   : default_folder(&arguments),
        .resume = arguments.resume != NULL,
        .extend_turns = arguments.extend_turns,
        .version = PTXBENCH_VERSION,
        .worker = worker,
        .observer = run_progress_observer(&progress),
        .chat = chat_client_defaults(),
    };
    for (size_t i = 0; i < root_count; i++)
        run_names_add(&options.default_tasks, arena, roots[i]);
    if (arguments.dry)
        return arguments.resume ? cli_usage("run", "--dry-run goes without --resume")
                                : run_dry_show(&arguments.config, &options.default_tasks, stdout);
    interrupt_catch();
    return execute(&arguments, &options, &progress);
}
