/* Parts of a run that its files share. */
#ifndef PTXBENCH_AGENT_RUN_INTERNAL_H
#define PTXBENCH_AGENT_RUN_INTERNAL_H

#include "agent/event_log.h"
#include "agent/extract.h"
#include "agent/notes.h"
#include "agent/prompt.h"
#include "agent/run.h"
#include "agent/run_folder.h"

/* The texts that trajectories of one workload and variant begin with. */
struct prompt_pair {
    const struct workload *workload; /* NULL: read back by hash */
    int64_t variant;
    char system_sha256[65];
    char task_sha256[65];
    const char *system;
    const char *task;
    struct prompt_task source;
};

struct member {
    struct run_line line;
    const struct planned *planned;
    size_t position; /* in the plan */
    const char *log;
    struct arena *arena; /* while active: the trajectory's */
    struct trajectory trajectory;
    const struct prompt_pair *prompts;
    bool call_open;
    bool evaluation_open;
    bool parked;           /* waits for nothing: the run pauses, or its model is out of order */
    int64_t not_before_ns; /* of the next step */
};

struct model_state {
    int failures;     /* trajectories in a row that its provider ended */
    const char *dead; /* why it gets no further trajectories; NULL: alive */
};

struct run {
    struct arena *arena;
    struct run_config config;
    struct run_folder folder;
    struct run_options options;
    enum context_policy policy;
    struct trace_set *tasks;
    struct model_config *models;
    struct model_state *model_states;
    struct plan plan;
    struct member *members;
    struct member **active; /* of them: under way */
    size_t active_count;
    size_t next; /* first member that may still be waiting */
    RECORD_LIST(struct prompt_pair *) prompts;
    struct notes *notes;
    struct evaluator *evaluator;
    struct chat_client *chat;
    int wake; /* epoll over evaluator and interrupt */
    const char *turns_path;
    int64_t started_ns;
    int64_t session_turns;
    int evaluation_failures; /* trajectories in a row that evaluation ended */
    const char *pause;
    struct trajectory_sums sums; /* of all members, as far as they count for the budget */
    bool dirty;                  /* events were written since the last sync */
    int64_t synced_ns;
};

enum { FAILURES_MAX = 3 };

/* run_prompt.c */
/* Prompts for a new trajectory, stored in the folder; shared. */
MUST_CHECK bool run_prompts_make(struct run *run, const struct planned *planned, const struct prompt_pair **out,
                                 struct error *error);
/* Those that a log names. */
MUST_CHECK bool run_prompts_find(struct run *run, const struct planned *planned, const struct event_started *started,
                                 const struct prompt_pair **out, struct error *error);
/* The user message behind a verdict, or behind an answer without a kernel (verdict NULL). */
MUST_CHECK bool run_feedback(struct run *run, const struct member *member, const struct verdict *verdict,
                             struct arena *arena, const char **out, struct error *error);

/* run_step.c */
/* Writes an event to the log, applies it, and tells the observer. */
MUST_CHECK bool run_record(struct run *run, struct member *member, struct event *event, struct error *error);
/* Does what can be done for a member without waiting. */
MUST_CHECK bool run_advance(struct run *run, struct member *member, struct error *error);
MUST_CHECK bool run_take_reply(struct run *run, struct member *member, const struct chat_reply *reply,
                               struct error *error);
MUST_CHECK bool run_take_evaluation(struct run *run, struct member *member, const struct judgement *evaluation,
                                    struct error *error);

/* run_member.c */
MUST_CHECK bool run_member_load(struct run *run, struct member *member, struct error *error);
void run_member_unload(struct member *member);
void run_member_show(struct member *member); /* fills `line` from the trajectory */

/* run_derive.c */
/* trajectory.json and the files of turns that are missing, from the log. */
MUST_CHECK bool run_derive_member(const struct run *run, const struct member *member, struct error *error);
/* Files of the turn that was just judged. */
MUST_CHECK bool run_derive_turn(const struct run *run, const struct member *member, int turn,
                                const struct event_verdict *verdict, struct error *error);
/* turns.jsonl from all logs. `final`: with lines for turns that a pause or trouble kept from being taken. */
MUST_CHECK bool run_derive_turns(const struct run *run, bool final, struct error *error);

#endif
