#include "agent/trajectory.h"

#include <string.h>

enum { RETRIES_DEFAULT = 3 };

void trajectory_init(struct trajectory *trajectory, struct arena *arena, const struct trajectory_limits *limits)
{
    *trajectory = (struct trajectory){.arena = arena, .limits = *limits, .sums = {.cost_known = true}};
    if (!trajectory->limits.retry_limit)
        trajectory->limits.retry_limit = RETRIES_DEFAULT;
}

static struct trajectory_turn *current(struct trajectory *trajectory)
{
    return &trajectory->turns[trajectory->turn];
}

const struct trajectory_turn *trajectory_current(const struct trajectory *trajectory)
{
    return &trajectory->turns[trajectory->turn];
}

static void end_with(struct trajectory *trajectory, enum end_reason reason, const char *message)
{
    trajectory->step = STEP_END;
    trajectory->end_reason = reason;
    trajectory->end_message = message;
}

static bool over_budget(struct trajectory *trajectory)
{
    const struct trajectory_limits *limits = &trajectory->limits;
    const struct trajectory_sums *sums = &trajectory->sums;
    const char *which = NULL;

    if (limits->tokens && sums->input_tokens + sums->output_tokens >= limits->tokens)
        which = "limit of tokens reached";
    else if (limits->cost_usd > 0 && sums->cost_usd >= limits->cost_usd)
        which = "limit of cost reached";
    else if (limits->elapsed_ms && sums->elapsed_ms >= limits->elapsed_ms)
        which = "limit of time reached";
    if (which)
        end_with(trajectory, END_BUDGET, which);
    return which != NULL;
}

/* What comes behind a finished turn, or at the start. */
static void choose_next_turn(struct trajectory *trajectory)
{
    const struct trajectory_turn *last = trajectory->turn ? &trajectory->turns[trajectory->turn - 1] : NULL;
    double target = trajectory->plan.target_speedup;

    if (last && last->speedup.known && target > 0 && last->speedup.value >= target)
        end_with(trajectory, END_TARGET, "target speed-up reached");
    else if (trajectory->turn >= trajectory->plan.planned_turns)
        end_with(trajectory, END_TURNS, "all turns taken");
    else if (trajectory->limits.context_tokens && trajectory->last_context_tokens >= trajectory->limits.context_tokens)
        end_with(trajectory, END_CONTEXT, "the conversation fills the model's context");
    else if (!over_budget(trajectory)) {
        trajectory->step = STEP_REQUEST;
        trajectory->purpose = CALL_KERNEL;
    }
}

/* One more than the turns, so that the turn under way always exists. */
static void make_room(struct trajectory *trajectory, size_t used)
{
    size_t count = (size_t)trajectory->plan.planned_turns + 1;
    struct trajectory_turn *turns = arena_calloc(trajectory->arena, count, sizeof *turns);

    if (used)
        memcpy(turns, trajectory->turns, used * sizeof *turns);
    trajectory->turns = turns;
}

static bool apply_started(struct trajectory *trajectory, const struct event_started *started, struct error *error)
{
    struct arena *arena = trajectory->arena;

    if (started->planned_turns < 1 || started->planned_turns > TRAJECTORY_TURNS_MAX)
        return error_set(error, ERROR_INPUT, "planned_turns is not between 1 and %d", TRAJECTORY_TURNS_MAX);
    trajectory->plan = *started;
    const char **texts[] = {&trajectory->plan.name,         &trajectory->plan.run,      &trajectory->plan.model,
                            &trajectory->plan.definition,   &trajectory->plan.workload, &trajectory->plan.arch,
                            &trajectory->plan.variant_name, &trajectory->plan.context,  &trajectory->plan.system_sha256,
                            &trajectory->plan.task_sha256};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        *texts[i] = arena_strdup(arena, *texts[i]);
    make_room(trajectory, 0);
    choose_next_turn(trajectory);
    return true;
}

static void add_count(int64_t *sum, struct count count)
{
    if (count.known)
        *sum += count.value;
}

static void join_count(struct count *into, struct count count)
{
    if (count.known)
        *into = count_of(into->value + count.value);
}

/* Money and tokens count whatever the call was for and however it ended. */
static void add_usage(struct trajectory *trajectory, const struct event_reply *reply)
{
    struct trajectory_sums *sums = &trajectory->sums;
    struct trajectory_turn *turn = current(trajectory);

    sums->calls++;
    add_count(&sums->input_tokens, reply->input_tokens);
    add_count(&sums->cached_tokens, reply->cached_tokens);
    add_count(&sums->output_tokens, reply->output_tokens);
    add_count(&sums->reasoning_tokens, reply->reasoning_tokens);
    sums->elapsed_ms += reply->elapsed_ms;
    join_count(&turn->tokens, reply->input_tokens);
    join_count(&turn->tokens, reply->output_tokens);
    join_count(&turn->reasoning_tokens, reply->reasoning_tokens);
    if (reply->cost_usd.known) {
        sums->cost_usd += reply->cost_usd.value;
        turn->cost_usd = number_of((turn->cost_usd.known ? turn->cost_usd.value : 0) + reply->cost_usd.value);
    } else if (reply->input_tokens.known || reply->output_tokens.known || !strcmp(reply->status, "ok")) {
        sums->cost_known = false; /* something was answered; what fails before that is not billed */
    }
}

static void take_failed_reply(struct trajectory *trajectory, const struct event_reply *reply)
{
    struct arena *arena = trajectory->arena;
    const char *message = arena_strdup(arena, reply->error ? reply->error : reply->status);

    if (!strcmp(reply->status, "context_overflow"))
        end_with(trajectory, END_CONTEXT, message);
    else if (strcmp(reply->status, "retryable_exhausted") != 0 && strcmp(reply->status, "protocol") != 0)
        end_with(trajectory, END_PROVIDER, message);
    else {
        trajectory->step = STEP_RETRY;
        trajectory->end_message = message;
    }
}

static bool apply_reply(struct trajectory *trajectory, const struct event *event, struct error *error)
{
    const struct event_reply *reply = &event->reply;
    struct trajectory_turn *turn = current(trajectory);
    struct arena *arena = trajectory->arena;

    if (!reply->status)
        return error_set(error, ERROR_INPUT, "a reply without status");
    add_usage(trajectory, reply);
    if (event->purpose == CALL_CHOOSE) {
        /* Only helps: whatever went wrong, the turn goes on with what extraction finds by itself. */
        turn->choice = arena_strdup(arena, reply->text ? reply->text : "");
        trajectory->step = STEP_EXTRACT;
        return true;
    }
    bool refused = !strcmp(reply->status, "refused"); /* the model's own doing: a turn without a kernel */
    if (strcmp(reply->status, "ok") != 0 && !refused) {
        take_failed_reply(trajectory, reply);
        return true;
    }
    turn->reply = arena_strdup(arena, reply->text ? reply->text : "");
    turn->reasoning = arena_strdup(arena, reply->reasoning);
    turn->finish_reason = arena_strdup(arena, refused ? "refused" : reply->finish_reason);
    if (reply->input_tokens.known && reply->output_tokens.known)
        trajectory->last_context_tokens = reply->input_tokens.value + reply->output_tokens.value -
                                          (reply->reasoning_tokens.known ? reply->reasoning_tokens.value : 0);
    trajectory->step = STEP_EXTRACT;
    return true;
}

static void apply_extraction(struct trajectory *trajectory, const struct event_extraction *extraction)
{
    struct trajectory_turn *turn = current(trajectory);

    turn->extraction = arena_strdup(trajectory->arena, extraction->status ? extraction->status : "none");
    turn->code = arena_strdup(trajectory->arena, extraction->code);
    trajectory->step = STEP_EVALUATE;
}

static void apply_verdict(struct trajectory *trajectory, const struct event_verdict *verdict)
{
    struct trajectory_turn *turn = current(trajectory);
    struct arena *arena = trajectory->arena;

    turn->feedback = arena_strdup(arena, verdict->feedback ? verdict->feedback : "");
    turn->status = arena_strdup(arena, verdict->status);
    turn->outcome = arena_strdup(arena, verdict->outcome);
    turn->executed = arena_strdup(arena, verdict->executed);
    bool passed = verdict->status && !strcmp(verdict->status, "PASSED");
    if (passed && verdict->speedup.known) {
        turn->speedup = verdict->speedup;
        if (!trajectory->best_speedup.known || verdict->speedup.value > trajectory->best_speedup.value)
            trajectory->best_speedup = verdict->speedup;
    }
    trajectory->passed = trajectory->passed || passed;
    trajectory->sums.elapsed_ms += verdict->elapsed_ms;
    trajectory->turn++;
    trajectory->retries = 0;
    choose_next_turn(trajectory);
}

static void apply_retry(struct trajectory *trajectory, const struct event_retry *retry)
{
    bool call = trajectory->step == STEP_RETRY;

    trajectory->sums.retries++;
    trajectory->retries++;
    if (trajectory->retries > trajectory->limits.retry_limit)
        end_with(trajectory, END_INFRASTRUCTURE, arena_strdup(trajectory->arena, retry->message));
    else if (call)
        trajectory->step = STEP_REQUEST;
}

bool trajectory_can_reopen(const struct trajectory *trajectory, int64_t planned_turns)
{
    if (trajectory->step != STEP_DONE)
        return false;
    if (end_reason_reopens(trajectory->end_reason))
        return true;
    return trajectory->end_reason == END_TURNS && planned_turns > trajectory->turn;
}

/* Takes the trajectory up where its end cut it off: behind the last event that stands. */
static bool apply_reopened(struct trajectory *trajectory, int64_t planned_turns, struct error *error)
{
    const struct trajectory_turn *turn;

    if (planned_turns < trajectory->plan.planned_turns || planned_turns > TRAJECTORY_TURNS_MAX)
        return error_set(error, ERROR_INPUT, "reopened with fewer turns than planned, or with more than %d",
                         TRAJECTORY_TURNS_MAX);
    size_t used = (size_t)trajectory->plan.planned_turns + 1;
    trajectory->plan.planned_turns = planned_turns;
    make_room(trajectory, used);
    trajectory->retries = 0;
    trajectory->end_message = NULL;
    turn = current(trajectory);
    if (turn->extraction)
        trajectory->step = STEP_EVALUATE;
    else if (turn->reply)
        trajectory->step = STEP_EXTRACT;
    else
        choose_next_turn(trajectory);
    return true;
}

/* The steps in which an event of a kind may come, as bits. */
static unsigned allowed_steps(const struct event *event)
{
    switch (event->kind) {
    case EVENT_STARTED:
        return 1U << STEP_START;
    case EVENT_REQUEST:
        return event->purpose == CALL_CHOOSE ? 1U << STEP_EXTRACT : 1U << STEP_REQUEST;
    case EVENT_REPLY:
        return 1U << STEP_REPLY;
    case EVENT_EXTRACTION:
        return 1U << STEP_EXTRACT;
    case EVENT_VERDICT:
        return 1U << STEP_EVALUATE;
    case EVENT_RETRY:
        return 1U << STEP_RETRY | 1U << STEP_EVALUATE;
    case EVENT_ENDED:
        return ~(1U << STEP_START | 1U << STEP_DONE);
    case EVENT_REOPENED:
        return 1U << STEP_DONE;
    }
    return 0;
}

bool trajectory_apply(struct trajectory *trajectory, const struct event *event, struct error *error)
{
    if (!(allowed_steps(event) & 1U << trajectory->step) ||
        (event->kind != EVENT_STARTED && event->turn != trajectory->turn))
        return error_set(error, ERROR_INPUT, "event \"%s\" of turn %lld cannot follow here (turn %d, %s)",
                         event_kind_text(event->kind), (long long)event->turn, trajectory->turn,
                         trajectory_step_text(trajectory->step));
    trajectory->sums.events++;
    switch (event->kind) {
    case EVENT_STARTED:
        return apply_started(trajectory, &event->started, error);
    case EVENT_REQUEST:
        trajectory->purpose = event->purpose;
        trajectory->step = STEP_REPLY;
        return true;
    case EVENT_REPLY:
        return apply_reply(trajectory, event, error);
    case EVENT_EXTRACTION:
        apply_extraction(trajectory, &event->extraction);
        return true;
    case EVENT_VERDICT:
        apply_verdict(trajectory, &event->verdict);
        return true;
    case EVENT_RETRY:
        apply_retry(trajectory, &event->retry);
        return true;
    case EVENT_ENDED:
        trajectory->step = STEP_DONE;
        trajectory->end_reason = event->ended.reason;
        trajectory->end_message = arena_strdup(trajectory->arena, event->ended.message);
        return true;
    case EVENT_REOPENED:
        return apply_reopened(trajectory, event->planned_turns, error);
    }
    return true;
}

void trajectory_sums_add(struct trajectory_sums *into, const struct trajectory_sums *from)
{
    into->calls += from->calls;
    into->input_tokens += from->input_tokens;
    into->cached_tokens += from->cached_tokens;
    into->output_tokens += from->output_tokens;
    into->reasoning_tokens += from->reasoning_tokens;
    into->cost_usd += from->cost_usd;
    into->cost_known = into->cost_known && from->cost_known;
    into->elapsed_ms += from->elapsed_ms;
    into->retries += from->retries;
    into->events += from->events;
}

const char *trajectory_step_text(enum trajectory_step step)
{
    static const char *const texts[] = {"waiting", "asking",  "thinking", "retrying",
                                        "reading", "judging", "ending",   "done"};

    return texts[step];
}
