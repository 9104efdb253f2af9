/* Files that follow from the logs: trajectory.json, kernels and verdicts of turns, turns.jsonl. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "agent/run_internal.h"
#include "base/file.h"

static bool put_json(const struct run *run, const struct member *member, const char *file, json_object *value,
                     struct error *error)
{
    AUTO_FREE char *text = NULL;

    if (!json_to_text(value, true, &text, error))
        return false;
    size_t length = strlen(text);
    text[length] = '\n';
    return run_folder_put_file(&run->folder, member->line.name, file, text, length + 1, error);
}

static void put_number(json_object *object, const char *key, struct number number)
{
    if (number.known)
        json_put_double(object, key, number.value);
    else
        json_put(object, key, NULL);
}

static void put_count(json_object *object, const char *key, struct count count)
{
    if (count.known)
        json_put_i64(object, key, count.value);
    else
        json_put(object, key, NULL);
}

/* A line of docs/formats/turns.md; `verdict` is borrowed. */
static json_object *turn_line(const struct run *run, const struct member *member, int turn,
                              const struct trajectory_turn *usage, const char *outcome, json_object *verdict)
{
    const struct planned *planned = member->planned;
    json_object *line = json_object_new_object();

    json_put_string(line, "schema", "ptxbench.turn.v1");
    json_put_string(line, "model", planned->model->name);
    json_put_string(line, "run", run->config.name);
    json_put_string(line, "trajectory", planned->name);
    json_put_i64(line, "turn", turn);
    json_put_i64(line, "variant", planned->variant);
    json_put_i64(line, "planned_turns", member->line.planned_turns);
    if (usage && usage->tokens.known)
        json_put_i64(line, "tokens", usage->tokens.value);
    if (usage && usage->reasoning_tokens.known)
        json_put_i64(line, "reasoning_tokens", usage->reasoning_tokens.value);
    if (usage && usage->cost_usd.known)
        json_put_double(line, "cost_usd", usage->cost_usd.value);
    json_put(line, "verdict", verdict ? json_object_get(verdict) : NULL);
    if (!verdict) {
        json_put_string(line, "outcome", outcome);
        json_put_string(line, "definition", planned->workload->definition->name);
        json_put_string(line, "workload", planned->workload->uuid);
        json_put_string(line, "arch", run->config.arch);
    }
    return line;
}

static bool append(int fd, const char *path, json_object *line, struct error *error)
{
    AUTO_FREE char *text = NULL;

    if (!json_to_text(line, false, &text, error))
        return false;
    size_t length = strlen(text);
    text[length] = '\n';
    ssize_t put;
    do
        put = write(fd, text, length + 1);
    while (put < 0 && errno == EINTR);
    if (put == (ssize_t)length + 1)
        return true;
    return error_system(error, put < 0 ? errno : ENOSPC, "%s: cannot append", path);
}

static bool put_turn_files(const struct run *run, const struct member *member, int turn, const char *code,
                           json_object *verdict, struct error *error)
{
    char file[64];

    (void)snprintf(file, sizeof file, "turn_%d/kernel.cu", turn);
    if (code && !run_folder_put_file(&run->folder, member->line.name, file, code, strlen(code), error))
        return false;
    (void)snprintf(file, sizeof file, "turn_%d/verdict.json", turn);
    return !verdict || put_json(run, member, file, verdict, error);
}

bool run_derive_turn(const struct run *run, const struct member *member, int turn, const struct event_verdict *verdict,
                     struct error *error)
{
    const struct trajectory_turn *done = &member->trajectory.turns[turn];
    AUTO_JSON_OBJECT *line = turn_line(run, member, turn, done, verdict->outcome, verdict->verdict);
    AUTO_CLOSE int fd = open(run->turns_path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0)
        return error_system(error, errno, "%s: cannot open", run->turns_path);
    return put_turn_files(run, member, turn, done->code, verdict->verdict, error) &&
           append(fd, run->turns_path, line, error);
}

static json_object *turns_to_json(const struct trajectory *trajectory)
{
    json_object *turns = json_object_new_array();

    for (int i = 0; i < trajectory->turn; i++) {
        const struct trajectory_turn *turn = &trajectory->turns[i];
        json_object *object = json_object_new_object();
        json_put_i64(object, "turn", i);
        json_put_string(object, "status", turn->status);
        json_put_string(object, "outcome", turn->outcome);
        put_number(object, "speedup", turn->speedup);
        json_put_string(object, "target_instructions", turn->executed);
        json_put_string(object, "extraction", turn->extraction);
        put_count(object, "tokens", turn->tokens);
        put_count(object, "reasoning_tokens", turn->reasoning_tokens);
        put_number(object, "cost_usd", turn->cost_usd);
        json_put_bool(object, "asked_which_block", turn->choice != NULL);
        (void)json_object_array_add(turns, object);
    }
    return turns;
}

static json_object *sums_to_json(const struct trajectory_sums *sums)
{
    json_object *object = json_object_new_object();

    json_put_i64(object, "calls", sums->calls);
    json_put_i64(object, "input_tokens", sums->input_tokens);
    json_put_i64(object, "cached_tokens", sums->cached_tokens);
    json_put_i64(object, "output_tokens", sums->output_tokens);
    json_put_i64(object, "reasoning_tokens", sums->reasoning_tokens);
    json_put_double(object, "cost_usd", sums->cost_usd);
    json_put_bool(object, "cost_known", sums->cost_known);
    json_put_i64(object, "elapsed_ms", sums->elapsed_ms);
    json_put_i64(object, "retries", sums->retries);
    json_put_i64(object, "events", sums->events);
    return object;
}

static bool put_trajectory(const struct run *run, const struct member *member, struct error *error)
{
    const struct trajectory *trajectory = &member->trajectory;
    const struct event_started *plan = &trajectory->plan;
    AUTO_JSON_OBJECT *object = json_object_new_object();
    bool done = trajectory_is_done(trajectory);

    json_put_string(object, "schema", "ptxbench.trajectory.v1");
    json_put_string(object, "name", plan->name);
    json_put_string(object, "run", plan->run);
    json_put_string(object, "model", plan->model);
    json_put_string(object, "definition", plan->definition);
    json_put_string(object, "workload", plan->workload);
    json_put_string(object, "arch", plan->arch);
    json_put_i64(object, "variant", plan->variant);
    json_put_string(object, "variant_name", plan->variant_name);
    json_put_i64(object, "planned_turns", plan->planned_turns);
    json_put_double(object, "target_speedup", plan->target_speedup);
    json_put_string(object, "context", plan->context);
    json_put_string(object, "step", trajectory_step_text(trajectory->step));
    json_put_string(object, "ended", done ? end_reason_text(trajectory->end_reason) : NULL);
    json_put_string(object, "message", done ? trajectory->end_message : NULL);
    json_put_bool(object, "passed", trajectory->passed);
    put_number(object, "best_speedup", trajectory->best_speedup);
    json_put(object, "sums", sums_to_json(&trajectory->sums));
    json_put(object, "turns", turns_to_json(trajectory));
    return put_json(run, member, "trajectory.json", object, error);
}

/* One pass over a log: a second state machine runs along, so that every verdict meets the turn that it is of. */
struct pass {
    const struct run *run;
    const struct member *member;
    struct trajectory trajectory;
    int fd; /* of turns.jsonl; -1: files of turns instead */
    const char *path;
};

static bool has_turn_files(const struct run *run, const struct member *member, int turn, bool code)
{
    AUTO_ARENA *arena = arena_new();
    const char *folder = arena_printf(arena, "%s/trajectories/%s/turn_%d", run->folder.path, member->line.name, turn);

    return file_exists(file_join(arena, folder, "verdict.json")) &&
           (!code || file_exists(file_join(arena, folder, "kernel.cu")));
}

static bool pass_event(const struct event *event, void *context, struct error *error)
{
    struct pass *pass = context;
    int turn = pass->trajectory.turn;

    if (!trajectory_apply(&pass->trajectory, event, error))
        return false;
    if (event->kind != EVENT_VERDICT)
        return true;
    const struct trajectory_turn *done = &pass->trajectory.turns[turn];
    json_object *verdict = event->verdict.has_verdict ? event->verdict.verdict_at.value : NULL;
    if (pass->fd < 0)
        return has_turn_files(pass->run, pass->member, turn, done->code != NULL) ||
               put_turn_files(pass->run, pass->member, turn, done->code, verdict, error);
    AUTO_JSON_OBJECT *line = turn_line(pass->run, pass->member, turn, done, done->outcome, verdict);
    return append(pass->fd, pass->path, line, error);
}

static bool pass_log(const struct run *run, const struct member *member, int fd, const char *path, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct pass pass = {run, member, .fd = fd, .path = path};

    trajectory_init(&pass.trajectory, arena, &(struct trajectory_limits){.retry_limit = INT32_MAX});
    return event_log_read(member->log, pass_event, &pass, error);
}

bool run_derive_member(const struct run *run, const struct member *member, struct error *error)
{
    if (member->trajectory.step == STEP_START)
        return true;
    return put_trajectory(run, member, error) && pass_log(run, member, -1, NULL, error);
}

/* Turns that were planned and not taken for no fault of the model. */
static bool append_untaken(const struct run *run, const struct member *member, int fd, const char *path,
                           struct error *error)
{
    const struct run_line *line = &member->line;

    if (line->state == RUN_DONE && !end_reason_reopens(line->end_reason))
        return true;
    for (int turn = line->turn; turn < line->planned_turns; turn++) {
        AUTO_JSON_OBJECT *object = turn_line(run, member, turn, NULL, "infrastructure", NULL);
        if (!append(fd, path, object, error))
            return false;
    }
    return true;
}

bool run_derive_turns(const struct run *run, bool final, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const char *temporary = arena_printf(arena, "%s.new", run->turns_path);
    AUTO_CLOSE int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);

    if (fd < 0)
        return error_system(error, errno, "%s: cannot be written", temporary);
    for (size_t i = 0; i < run->plan.count; i++)
        if (!pass_log(run, &run->members[i], fd, temporary, error) ||
            (final && !append_untaken(run, &run->members[i], fd, temporary, error)))
            return false;
    if (fsync(fd) || rename(temporary, run->turns_path))
        return error_system(error, errno, "%s: cannot be written", run->turns_path);
    return true;
}
