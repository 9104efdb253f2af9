/* A run from its configuration or its folder to where the loop begins, and the way back. */

#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "agent/run_internal.h"
#include "agent/run_preview.h"
#include "agent/tokens.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "device/device.h"

/* Hundreds of calls are hundreds of sockets. */
static void raise_descriptor_limit(void)
{
    struct rlimit limit;

    if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

struct run_session run_session_none(void)
{
    return (struct run_session){.retry_delay_ms = -1, .budget = {-1, -1, -1}};
}

static void apply_session(const struct run_session *session, struct run_config *config)
{
    if (session->devices.count)
        config->devices = session->devices;
    if (session->parallel)
        config->parallel = session->parallel;
    if (session->retry_delay_ms >= 0)
        config->retry_delay_ms = session->retry_delay_ms;
    if (session->call_attempts)
        config->call_attempts = session->call_attempts;
    if (session->budget.tokens >= 0)
        config->budget.tokens = session->budget.tokens;
    if (session->budget.usd >= 0)
        config->budget.usd = session->budget.usd;
    if (session->budget.hours >= 0)
        config->budget.hours = session->budget.hours;
}

/* Paths in run.json hold wherever --resume is called from. Bare names of models and packs stay names. */
static void make_absolute(struct arena *arena, struct run_names *names, bool all)
{
    for (size_t i = 0; i < names->count; i++) {
        const char *name = names->items[i].name;
        size_t length = strlen(name);
        bool path = all || strchr(name, '/') || (length > 5 && !strcmp(name + length - 5, ".yaml"));
        AUTO_FREE char *absolute = path ? realpath(name, NULL) : NULL;
        if (absolute)
            names->items[i].name = arena_strdup(arena, absolute);
    }
}

static void complete_config(struct run *run)
{
    struct run_config *config = &run->config;
    struct run_names notes = {0};

    make_absolute(run->arena, &config->models, false);
    make_absolute(run->arena, &config->variants, false);
    make_absolute(run->arena, &config->task_roots, true);
    if (config->notes) {
        run_names_add(&notes, run->arena, config->notes);
        make_absolute(run->arena, &notes, true);
        config->notes = notes.items[0].name;
    }
    const char *folder = run->folder.path;
    size_t length = strlen(folder);

    while (length > 1 && folder[length - 1] == '/')
        length--;
    if (!config->name)
        config->name = file_basename(arena_strndup(run->arena, folder, length));
    if (!config->variants.count)
        run_names_add(&config->variants, run->arena, "0");
    if (!config->devices.count)
        run_names_add(&config->devices, run->arena, device_default_name());
}

static bool open_models(struct run *run, struct error *error)
{
    size_t count = run->config.models.count;

    run->models = arena_calloc(run->arena, count, sizeof *run->models);
    run->model_states = arena_calloc(run->arena, count, sizeof *run->model_states);
    for (size_t i = 0; i < count; i++)
        if (!model_config_open(run->arena, run->config.models.items[i].name, &run->models[i], error))
            return false;
    return true;
}

static const struct run_names *task_roots(const struct run *run)
{
    return run->config.task_roots.count ? &run->config.task_roots : &run->options.default_tasks;
}

static bool open_tasks(struct run *run, struct error *error)
{
    const struct run_names *names = task_roots(run);
    const char **roots = arena_calloc(run->arena, names->count + 1, sizeof *roots);

    for (size_t i = 0; i < names->count; i++)
        roots[i] = names->items[i].name;
    return trace_set_open(roots, names->count, &run->tasks, error);
}

static bool make_members(struct run *run, struct error *error)
{
    run->members = arena_calloc(run->arena, run->plan.count, sizeof *run->members);
    run->active = arena_calloc(run->arena, run->plan.count, sizeof(struct member *));
    for (size_t i = 0; i < run->plan.count; i++) {
        struct member *member = &run->members[i];
        member->planned = &run->plan.items[i];
        member->position = i;
        member->line = (struct run_line){.name = member->planned->name, .planned_turns = run->config.turns};
        member->log = run_folder_log(run->arena, run->folder.path, member->planned->name);
        if (!file_make_folder(arena_printf(run->arena, "%s/trajectories/%s", run->folder.path, member->line.name),
                              error))
            return false;
    }
    return true;
}

static bool check_names(const struct run *run, const char *const *names, struct error *error)
{
    size_t count = 0;

    while (names[count])
        count++;
    bool same = count == run->plan.count;
    for (size_t i = 0; same && i < count; i++)
        same = !strcmp(names[i], run->plan.items[i].name);
    if (same)
        return true;
    (void)error_set(error, ERROR_INPUT, "%s: the plan in run.json is another than models and tasks give now",
                    run->folder.path);
    return error_hint(error, "were models or tasks renamed since the run began?");
}

/* Whether a member has something to do in this session; takes it up again when its end allows. */
static bool reopen(struct run *run, struct member *member, struct error *error)
{
    int64_t planned = member->line.planned_turns + run->options.extend_turns;
    struct event event = {.kind = EVENT_REOPENED, .planned_turns = planned};

    if (trajectory_is_done(&member->trajectory)) {
        if (!trajectory_can_reopen(&member->trajectory, planned))
            return true;
        return run_record(run, member, &event, error);
    }
    return true;
}

static bool replay_logs(struct run *run, struct error *error)
{
    for (size_t i = 0; i < run->plan.count; i++) {
        struct member *member = &run->members[i];
        if (!run_member_load(run, member, error))
            return false;
        trajectory_sums_add(&run->sums, &member->line.sums);
        if (!reopen(run, member, error) || !run_derive_member(run, member, error))
            return false;
        member->line.state = trajectory_is_done(&member->trajectory) ? RUN_DONE : RUN_WAITING;
        run_member_unload(member);
    }
    return true;
}

static bool prepare_new(struct run *run, struct error *error)
{
    run->config = *run->options.config;
    apply_session(&run->options.session, &run->config);
    if (!run_config_check(&run->config, error) ||
        !run_folder_open(run->arena, run->options.folder, true, &run->folder, error))
        return false;
    complete_config(run);
    return open_models(run, error) && open_tasks(run, error) &&
           plan_make(run->arena, &run->config, run->models, run->tasks, &run->plan, error) &&
           make_members(run, error) &&
           run_folder_write_plan(&run->folder, &run->config, &run->plan, run->options.version, error);
}

static bool prepare_resumed(struct run *run, struct error *error)
{
    const char **names;

    if (!run_folder_open(run->arena, run->options.folder, false, &run->folder, error) ||
        !run_folder_read_plan(run->arena, run->options.folder, &run->config, &names, error) ||
        !run_config_check(&run->config, error))
        return error->code == ERROR_USAGE ? error_prefix(error, "%s/run.json", run->options.folder) : false;
    apply_session(&run->options.session, &run->config);
    return open_models(run, error) && open_tasks(run, error) &&
           plan_make(run->arena, &run->config, run->models, run->tasks, &run->plan, error) &&
           check_names(run, names, error) && make_members(run, error) && replay_logs(run, error);
}

bool run_preview_make(struct arena *arena, const struct run_config *config, const struct run_names *default_tasks,
                      struct run_preview *out, struct error *error)
{
    struct run run = {.arena = arena,
                      .config = *config,
                      .folder = {.path = "run", .lock = -1},
                      .options = {.default_tasks = *default_tasks}};
    const struct prompt_pair *pair;

    *out = (struct run_preview){0};
    if (!run_config_check(config, error))
        return false;
    complete_config(&run);
    bool ok = open_models(&run, error) && open_tasks(&run, error) &&
              plan_make(arena, &run.config, run.models, run.tasks, &run.plan, error);
    out->tasks = run.tasks;
    out->plan = run.plan;
    out->prompt_tokens = arena_calloc(arena, run.plan.count + 1, sizeof *out->prompt_tokens);
    for (size_t i = 0; ok && i < run.plan.count; i++) {
        ok = run_prompts_make(&run, &run.plan.items[i], &pair, error);
        if (ok)
            out->prompt_tokens[i] =
                tokens_estimate(pair->system, strlen(pair->system)) + tokens_estimate(pair->task, strlen(pair->task));
    }
    if (!ok)
        run_preview_free(out);
    return ok;
}

void run_preview_free(struct run_preview *preview)
{
    trace_set_free(preview->tasks);
    preview->tasks = NULL;
}

static bool open_evaluator(struct run *run, struct error *error)
{
    const struct run_config *config = &run->config;
    const struct run_names *roots = task_roots(run);
    size_t words = 0;

    while (run->options.worker[words])
        words++;
    const char **program = arena_calloc(run->arena, words + 2 * roots->count + 3, sizeof *program);
    memcpy(program, run->options.worker, words * sizeof *program);
    for (size_t i = 0; i < roots->count; i++) {
        program[words++] = "--tasks";
        program[words++] = roots->items[i].name;
    }
    if (config->evaluation.sample) {
        program[words++] = "--sample";
        program[words++] = arena_printf(run->arena, "%lld", (long long)config->evaluation.sample);
    }
    const char **devices = arena_calloc(run->arena, config->devices.count, sizeof *devices);
    for (size_t i = 0; i < config->devices.count; i++)
        devices[i] = config->devices.items[i].name;
    struct evaluator_options options = {
        .program = program,
        .devices = devices,
        .device_count = config->devices.count,
        .scratch = realpath(file_join(run->arena, run->folder.path, "scratch"), NULL),
        .timeout_ns = config->evaluation.timeout_s * 1000000000,
    };
    bool ok = evaluator_new(&options, &run->evaluator, error);
    free((char *)options.scratch);
    return ok;
}

static bool watch(struct run *run, int fd, struct error *error)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

    return !epoll_ctl(run->wake, EPOLL_CTL_ADD, fd, &event) || error_system(error, errno, "cannot wait for events");
}

static bool open_machinery(struct run *run, struct error *error)
{
    run->wake = epoll_create1(EPOLL_CLOEXEC);
    if (run->wake < 0)
        return error_system(error, errno, "cannot wait for events");
    if (!open_evaluator(run, error) || !watch(run, evaluator_fd(run->evaluator), error) ||
        (interrupt_fd() >= 0 && !watch(run, interrupt_fd(), error)))
        return false;
    run->options.chat.wake_fd = run->wake;
    if (run->config.call_attempts)
        run->options.chat.max_attempts = (int)run->config.call_attempts;
    return chat_client_new(&run->options.chat, &run->chat, error) &&
           (!run->config.notes || notes_open(run->config.notes, &run->notes, error));
}

bool run_open(const struct run_options *options, struct run **out, struct error *error)
{
    struct arena *arena = arena_new();
    struct run *run = arena_alloc(arena, sizeof *run);

    raise_descriptor_limit();
    *run = (struct run){.arena = arena, .options = *options, .folder = {.lock = -1}, .wake = -1};
    run->sums.cost_known = true;
    run->turns_path = arena_printf(arena, "%s/turns.jsonl", options->folder);
    bool ok = (options->resume ? prepare_resumed(run, error) : prepare_new(run, error)) &&
              context_policy_parse(run->config.context, &run->policy) && run_derive_turns(run, false, error) &&
              open_machinery(run, error);
    if (!ok) {
        run_close(run);
        return false;
    }
    *out = run;
    return true;
}

void run_close(struct run *run)
{
    if (!run)
        return;
    chat_client_free(run->chat);
    evaluator_free(run->evaluator);
    notes_free(run->notes);
    if (run->wake >= 0)
        (void)close(run->wake);
    for (size_t i = 0; run->members && i < run->plan.count; i++)
        run_member_unload(&run->members[i]);
    trace_set_free(run->tasks);
    if (run->folder.lock >= 0)
        (void)file_remove_tree(file_join(run->arena, run->folder.path, "scratch"));
    run_folder_close(&run->folder);
    arena_free(run->arena);
}
