/*
 * Events of a trajectory: what its log holds, one JSON object a line (docs/formats/run.md). Everything else that is known
 * of a trajectory follows from its events in order (trajectory.h).
 *
 * An event is plain data; its texts belong to whoever made it. Members that do not belong to the kind stay zero.
 */
#ifndef PTXBENCH_AGENT_EVENT_H
#define PTXBENCH_AGENT_EVENT_H

#include "base/json.h"
#include "base/record.h"

/* enumerator, text */
#define EVENT_KINDS(X)                                                                                                 \
    X(EVENT_STARTED, "started")       /* first line: what the trajectory is */                                         \
    X(EVENT_REQUEST, "request")       /* a model call begins */                                                        \
    X(EVENT_REPLY, "reply")           /* and ended, well or not */                                                     \
    X(EVENT_EXTRACTION, "extraction") /* the kernel in the answer, or that there is none */                            \
    X(EVENT_VERDICT, "verdict")       /* the turn is judged and over */                                                \
    X(EVENT_RETRY, "retry")           /* trouble that is not the model's: the step is done again */                    \
    X(EVENT_ENDED, "ended")                                                                                            \
    X(EVENT_REOPENED, "reopened") /* goes on after `ended`: more turns, or trouble is over */

enum event_kind {
#define X(name, text) name,
    EVENT_KINDS(X)
#undef X
};

/* Why a trajectory is over. enumerator, text, whether --resume takes it up again */
#define END_REASONS(X)                                                                                                 \
    X(END_TURNS, "turns", false)                  /* all planned turns are taken */                                    \
    X(END_TARGET, "target", false)                /* fast enough: early stop */                                        \
    X(END_CONTEXT, "context", false)              /* the conversation no longer fits the model */                      \
    X(END_BUDGET, "budget", false)                /* its own limit of tokens, money or time */                         \
    X(END_INFRASTRUCTURE, "infrastructure", true) /* trouble of ours or the provider's that retries did not end */     \
    X(END_PROVIDER, "provider", true)             /* refused: key, quota, malformed request */

enum end_reason {
#define X(name, text, reopens) name,
    END_REASONS(X)
#undef X
};

/* What a model call is for. */
#define CALL_PURPOSES(X)                                                                                               \
    X(CALL_KERNEL, "kernel") /* the turn itself */                                                                     \
    X(CALL_CHOOSE, "choose") /* which of several blocks is the kernel: costs no turn */

enum call_purpose {
#define X(name, text) name,
    CALL_PURPOSES(X)
#undef X
};

struct event_started {
    const char *name;
    const char *run;
    const char *model; /* name of its configuration */
    const char *definition;
    const char *workload; /* uuid */
    const char *arch;
    const char *variant_name; /* pack or composition; NULL: none */
    int64_t variant;
    int64_t planned_turns;
    double target_speedup; /* 0: no early stop */
    const char *context;   /* context_policy_text */
    int64_t seed;          /* of the sampling, plus the turn */
    const char *system_sha256;
    const char *task_sha256; /* prompts/SHA256.txt holds the text */
};

struct event_reply {
    const char *status; /* "ok" or the class of the error, docs/formats/run.md */
    const char *text;
    const char *reasoning;
    const char *finish_reason;
    struct count input_tokens;
    struct count cached_tokens;
    struct count output_tokens;
    struct count reasoning_tokens;
    struct number cost_usd;
    const char *provider;
    const char *served_model;
    const char *fingerprint;
    const char *request_id;
    int64_t attempts;
    int64_t elapsed_ms;
    struct count first_token_ms;
    const char *error; /* message; NULL when ok */
};

struct event_extraction {
    const char *status; /* "found", "none", "truncated" */
    const char *code;   /* NULL unless found */
    const char *reason;
    int64_t blocks;
};

struct event_verdict {
    const char *status;     /* of the verdict; NULL: there was nothing to judge */
    const char *outcome;    /* without a verdict: "extraction" */
    struct number speedup;  /* of a passed candidate that was timed */
    const char *executed;   /* target instructions: "yes", "no", "never", "unknown" */
    const char *feedback;   /* what the model reads next */
    int64_t elapsed_ms;     /* from asking for the evaluation */
    json_object *verdict;   /* writing: borrowed tree, NULL for null */
    struct json verdict_at; /* reading: cursor into the line's document */
    bool has_verdict;       /* reading */
};

struct event_retry {
    const char *cause; /* "provider", "evaluation" */
    const char *message;
};

struct event_ended {
    enum end_reason reason;
    const char *message;
};

struct event {
    enum event_kind kind;
    const char *time;          /* UTC; NULL when written: now */
    int64_t turn;              /* 0-based; of started, ended and reopened: turns taken so far */
    enum call_purpose purpose; /* of request and reply */
    union {
        struct event_started started;
        struct event_reply reply;
        struct event_extraction extraction;
        struct event_verdict verdict;
        struct event_retry retry;
        struct event_ended ended;
        int64_t planned_turns; /* reopened */
    };
};

/* The line's object; the caller owns it. `event->verdict.verdict` gets another reference. */
json_object *event_to_json(const struct event *event);

/* Reads a line's object; texts go to the arena, the cursor of a verdict into `at`'s document. Unknown members are
 * ignored, an unknown kind is an error. */
MUST_CHECK bool event_from_json(struct json at, struct arena *arena, struct event *out, struct error *error);

const char *event_kind_text(enum event_kind kind);
const char *end_reason_text(enum end_reason reason);
bool end_reason_reopens(enum end_reason reason);
const char *call_purpose_text(enum call_purpose purpose);

#endif
