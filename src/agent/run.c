#define _GNU_SOURCE
#include "agent/run.h"

#include <sys/epoll.h>

#include "agent/run_internal.h"
#include "base/clock.h"
#include "base/interrupt.h"

/* What a failure of the machine itself (not of processes) can cost at most: the calls of so long. */
static const int64_t sync_interval_ns = INT64_C(2) * 1000000000;

static const struct model_state *state_of_model(const struct run *run, const struct member *member)
{
    return &run->model_states[member->planned->model - run->models];
}

/* Begins further trajectories while there is room. */
static bool admit(struct run *run, struct error *error)
{
    while (run->active_count < (size_t)run->config.parallel && run->next < run->plan.count && !run->pause) {
        struct member *member = &run->members[run->next++];
        if (member->line.state != RUN_WAITING || state_of_model(run, member)->dead)
            continue;
        if (!run_member_load(run, member, error) ||
            (member->line.started &&
             !run_prompts_find(run, member->planned, &member->trajectory.plan, &member->prompts, error)))
            return false;
        member->line.state = RUN_ACTIVE;
        run->active[run->active_count++] = member;
    }
    return true;
}

/* Those that are over leave; parked ones leave too, to be taken up by a later session. */
static void dismiss(struct run *run)
{
    size_t kept = 0;

    for (size_t i = 0; i < run->active_count; i++) {
        struct member *member = run->active[i];
        bool over = trajectory_is_done(&member->trajectory);
        if (!over && !member->parked) {
            run->active[kept++] = member;
            continue;
        }
        member->line.state = over ? RUN_DONE : RUN_WAITING;
        run_member_unload(member);
    }
    run->active_count = kept;
}

static bool advance_all(struct run *run, struct error *error)
{
    for (size_t i = 0; i < run->active_count; i++)
        if (!run_advance(run, run->active[i], error))
            return false;
    dismiss(run);
    return true;
}

static bool take_evaluations(struct run *run, struct error *error)
{
    const struct judgement *evaluation;

    while ((evaluation = evaluator_next(run->evaluator))) {
        struct member *member = evaluation->context;
        if (!run_take_evaluation(run, member, evaluation, error) || !run_advance(run, member, error))
            return false;
    }
    return true;
}

/* Every reply that is there; waits for the first one, or for anything else that wakes, at most timeout_ms. */
static bool take_replies(struct run *run, int timeout_ms, struct error *error)
{
    const struct chat_reply *reply;
    void *context;

    while ((reply = chat_client_next(run->chat, timeout_ms, &context))) {
        struct member *member = context;
        if (!run_take_reply(run, member, reply, error) || !run_advance(run, member, error))
            return false;
        timeout_ms = 0;
    }
    return true;
}

static int wait_ms(const struct run *run, int64_t next_tick_ns)
{
    int64_t until = evaluator_deadline_ns(run->evaluator);

    if (run->options.observer.tick && next_tick_ns < until)
        until = next_tick_ns;
    if (run->dirty && run->synced_ns + sync_interval_ns < until)
        until = run->synced_ns + sync_interval_ns;
    for (size_t i = 0; i < run->active_count; i++) {
        const struct member *member = run->active[i];
        if (!member->call_open && !member->evaluation_open && member->not_before_ns < until)
            until = member->not_before_ns;
    }
    int64_t left = until == INT64_MAX ? 60000 : (until - clock_now_ns() + 999999) / 1000000;
    return left < 0 ? 0 : left > 60000 ? 60000 : (int)left;
}

/* chat_client_next returns at once when nothing is pending. */
static void wait_without_calls(const struct run *run, int timeout_ms)
{
    struct epoll_event event;

    (void)epoll_wait(run->wake, &event, 1, timeout_ms);
}

static bool sync_logs(struct run *run, bool now, struct error *error)
{
    if (!run->dirty || (!now && clock_now_ns() - run->synced_ns < sync_interval_ns))
        return true;
    run->dirty = false;
    bool ok = event_log_sync(run->folder.lock, error);
    run->synced_ns = clock_now_ns();
    return ok;
}

bool run_execute(struct run *run, struct error *error)
{
    const struct run_observer *observer = &run->options.observer;
    int64_t next_tick = 0;

    run->started_ns = clock_now_ns();
    while (!interrupt_requested()) {
        if (!admit(run, error) || !advance_all(run, error) || !sync_logs(run, false, error))
            return false;
        if (!run->active_count && (run->pause || run->next >= run->plan.count))
            break;
        if (observer->tick && clock_now_ns() >= next_tick) {
            observer->tick(observer->context, run);
            next_tick = clock_now_ns() + observer->tick_ns;
        }
        if (!run->active_count)
            continue;
        int timeout = wait_ms(run, next_tick);
        if (!chat_client_pending(run->chat))
            wait_without_calls(run, timeout);
        if (!take_replies(run, chat_client_pending(run->chat) ? timeout : 0, error) || !take_evaluations(run, error))
            return false;
    }
    if (observer->tick)
        observer->tick(observer->context, run);
    return sync_logs(run, true, error) && run_derive_turns(run, true, error);
}

const struct run_config *run_config_of(const struct run *run)
{
    return &run->config;
}

const struct plan *run_plan_of(const struct run *run)
{
    return &run->plan;
}

size_t run_line_count(const struct run *run)
{
    return run->plan.count;
}

const struct run_line *run_line_at(const struct run *run, size_t index)
{
    return &run->members[index].line;
}

struct run_totals run_totals_of(const struct run *run)
{
    struct run_totals totals = {.trajectories = run->plan.count,
                                .active = run->active_count,
                                .session_turns = run->session_turns,
                                .elapsed_ns = run->started_ns ? clock_now_ns() - run->started_ns : 0,
                                .sums = {.cost_known = true},
                                .calls_open = chat_client_pending(run->chat),
                                .evaluations = evaluator_load(run->evaluator),
                                .pause = run->pause};

    for (size_t i = 0; i < run->plan.count; i++) {
        const struct run_line *line = &run->members[i].line;
        trajectory_sums_add(&totals.sums, &line->sums);
        totals.turns += line->turn;
        totals.turns_planned += line->state == RUN_DONE ? line->turn : line->planned_turns;
        totals.done += line->state == RUN_DONE;
        if (line->state == RUN_DONE)
            totals.ended[line->end_reason]++;
    }
    for (size_t i = 0; i < run->config.models.count && !totals.pause; i++)
        totals.pause = run->model_states[i].dead;
    return totals;
}
