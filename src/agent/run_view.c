#include "agent/run_view.h"

#include <string.h>

#include "agent/event_log.h"
#include "agent/run_folder.h"

bool run_view_open(struct arena *arena, const char *path, struct run_view *out, struct error *error)
{
    *out = (struct run_view){.arena = arena, .path = arena_strdup(arena, path)};
    if (!run_folder_is_run(path))
        return error_set(error, ERROR_NOT_FOUND, "%s: is no run: it holds no run.json", path);
    if (!run_folder_read_plan(arena, path, &out->config, &out->names, error))
        return false;
    while (out->names[out->count])
        out->count++;
    return true;
}

bool run_view_find(const struct run_view *view, const char *name, size_t *index, struct error *error)
{
    size_t found = 0;

    for (size_t i = 0; i < view->count; i++) {
        if (!strcmp(view->names[i], name)) {
            *index = i;
            return true;
        }
        if (strstr(view->names[i], name)) {
            *index = i;
            found++;
        }
    }
    if (found == 1)
        return true;
    if (found)
        return error_set(error, ERROR_INPUT, "%s: %zu trajectories have \"%s\" in their names", view->path, found,
                         name);
    return error_set(error, ERROR_NOT_FOUND, "%s: no trajectory has \"%s\" in its name", view->path, name);
}

struct loading {
    struct run_view_trajectory *out;
    struct arena *arena;
    bool verdicts;
};

static bool make_lists(struct loading *loading)
{
    size_t count = (size_t)loading->out->state.plan.planned_turns + 1;
    struct run_view_trajectory *out = loading->out;
    size_t used = (size_t)out->state.turn;
    const struct verdict **verdicts = arena_calloc(loading->arena, count, sizeof *verdicts);
    const char **times = arena_calloc(loading->arena, count, sizeof *times);
    const char **reply_times = arena_calloc(loading->arena, count, sizeof *reply_times);

    for (size_t i = 0; out->verdicts && i <= used && i < count; i++) {
        verdicts[i] = out->verdicts[i];
        times[i] = out->times[i];
        reply_times[i] = out->reply_times[i];
    }
    out->verdicts = verdicts;
    out->times = times;
    out->reply_times = reply_times;
    return true;
}

static bool load_event(const struct event *event, void *context, struct error *error)
{
    struct loading *loading = context;
    struct run_view_trajectory *out = loading->out;
    int turn = out->state.turn;
    struct verdict *verdict;

    if (!trajectory_apply(&out->state, event, error))
        return false;
    if (event->kind == EVENT_STARTED || event->kind == EVENT_REOPENED)
        return make_lists(loading);
    if (event->kind == EVENT_REPLY && event->purpose == CALL_KERNEL)
        out->reply_times[turn] = arena_strdup(loading->arena, event->time);
    if (event->kind != EVENT_VERDICT)
        return true;
    out->times[turn] = arena_strdup(loading->arena, event->time);
    if (!loading->verdicts || !event->verdict.has_verdict)
        return true;
    /* Texts of a verdict belong to the arena, those of the event do not. */
    if (!verdict_from_json(event->verdict.verdict_at, loading->arena, &verdict, error))
        return false;
    out->verdicts[turn] = verdict;
    return true;
}

bool run_view_load(const struct run_view *view, size_t index, bool verdicts, struct arena *arena,
                   struct run_view_trajectory *out, struct error *error)
{
    struct loading loading = {out, arena, verdicts};

    *out = (struct run_view_trajectory){0};
    trajectory_init(&out->state, arena, &(struct trajectory_limits){.retry_limit = INT32_MAX});
    if (!event_log_read(run_folder_log(arena, view->path, view->names[index]), load_event, &loading, error))
        return false;
    if (out->state.step == STEP_START || !verdicts)
        return true;
    return run_folder_get_prompt(arena, view->path, out->state.plan.system_sha256, &out->system, error) &&
           run_folder_get_prompt(arena, view->path, out->state.plan.task_sha256, &out->task, error);
}
