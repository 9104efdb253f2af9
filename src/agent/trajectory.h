/*
 * One conversation of a model about one task, as a state machine over its events: pure, no files, no clocks, no
 * processes. Events that happened go in (trajectory_apply), what to do next comes out (trajectory_next). A run that was
 * killed reads the log, applies its events, and is where it was; a step whose event is missing is simply done again.
 *
 *     START -> REQUEST -> REPLY -> EXTRACT -> EVALUATE -> REQUEST (next turn) ... -> END -> DONE
 *
 * Trouble that is not the model's is a retry: the same turn's step again, at most retry_limit times, and never a turn.
 */
#ifndef PTXBENCH_AGENT_TRAJECTORY_H
#define PTXBENCH_AGENT_TRAJECTORY_H

#include "agent/event.h"

/* Most turns of a trajectory; the readers' own limit is larger. */
enum { TRAJECTORY_TURNS_MAX = 1000 };

enum trajectory_step {
    STEP_START,    /* nothing yet: assemble the prompts, write `started` */
    STEP_REQUEST,  /* write `request`, call the model */
    STEP_REPLY,    /* `request` is written, no reply is: the call is open, or was lost and is made again */
    STEP_RETRY,    /* the call failed for no fault of the model: write `retry` with end_message */
    STEP_EXTRACT,  /* look for the kernel in the reply: `extraction`, or a request that asks which block */
    STEP_EVALUATE, /* judge what was found: `verdict`, or `retry` */
    STEP_END,      /* write `ended` with end_reason */
    STEP_DONE
};

/* Limits of one trajectory; 0 is none. */
struct trajectory_limits {
    int64_t tokens;
    double cost_usd;
    int64_t elapsed_ms; /* model calls and evaluations, not waiting */
    int retry_limit;    /* of one turn; 0: 3 */
    int64_t context_tokens;
};

struct trajectory_turn {
    const char *reply;      /* NULL: not there yet */
    const char *reasoning;  /* NULL: none */
    const char *choice;     /* answer to the second question; NULL: not asked */
    const char *extraction; /* status of the extraction; NULL: not there yet */
    const char *finish_reason;
    const char *code;     /* NULL: none found, or not yet */
    const char *feedback; /* NULL: turn not over */
    const char *status;   /* of the verdict; NULL: not judged */
    const char *outcome;  /* of a turn without verdict */
    const char *executed;
    struct number speedup;
    struct count tokens; /* prompt and answer, all calls of the turn */
    struct count reasoning_tokens;
    struct number cost_usd;
};

/* Sums over the log. */
struct trajectory_sums {
    int64_t calls;
    int64_t input_tokens;
    int64_t cached_tokens;
    int64_t output_tokens;
    int64_t reasoning_tokens;
    double cost_usd;
    bool cost_known; /* of every call */
    int64_t elapsed_ms;
    int64_t retries;
    int64_t events;
};

struct trajectory {
    struct arena *arena; /* borrowed: holds all texts */
    struct trajectory_limits limits;
    struct event_started plan; /* planned_turns follows `reopened` */
    struct trajectory_turn *turns;
    int turn;    /* 0-based: the one that is under way; equals the turns taken */
    int retries; /* of this turn */
    enum trajectory_step step;
    enum call_purpose purpose;  /* of the open call */
    enum end_reason end_reason; /* STEP_END, STEP_DONE */
    const char *end_message;    /* also of STEP_RETRY */
    struct number best_speedup;
    bool passed; /* any turn */
    struct trajectory_sums sums;
    int64_t last_context_tokens; /* prompt and answer of the last kernel call; 0: unknown */
};

/* A trajectory without events. `arena` is borrowed and holds what events say. */
void trajectory_init(struct trajectory *trajectory, struct arena *arena, const struct trajectory_limits *limits);

/* Takes the next event; copies its texts. An event that cannot follow the ones before is ERROR_INPUT. */
MUST_CHECK bool trajectory_apply(struct trajectory *trajectory, const struct event *event, struct error *error);

/* The turn under way; its members fill as events come. Not of a trajectory that is over or not started. */
const struct trajectory_turn *trajectory_current(const struct trajectory *trajectory);

/* Whether nothing is left to do, unless it is reopened. */
static inline bool trajectory_is_done(const struct trajectory *trajectory)
{
    return trajectory->step == STEP_DONE;
}

/* Whether `reopened` with this plan would lead to something: its end allows it, or the plan has more turns and it ended
 * because all were taken. */
bool trajectory_can_reopen(const struct trajectory *trajectory, int64_t planned_turns);

/* Adds the sums of another trajectory; the cost of both is known when that of each is. */
void trajectory_sums_add(struct trajectory_sums *into, const struct trajectory_sums *from);

const char *trajectory_step_text(enum trajectory_step step); /* "thinking", "judging", ... for people */

#endif
