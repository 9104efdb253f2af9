/*
 * What of a conversation the model is sent (paper, 2.2: all preceding kernels and feedback).
 */
#ifndef PTXBENCH_AGENT_CONTEXT_H
#define PTXBENCH_AGENT_CONTEXT_H

#include "agent/trajectory.h"
#include "llm/chat.h"

/* enumerator, text */
#define CONTEXT_POLICIES(X)                                                                                            \
    X(CONTEXT_FULL, "full")               /* system, task, then every answer and what was said to it */                \
    X(CONTEXT_LATEST_PAIR, "latest-pair") /* system, task, the last answer and what was said to it */                  \
    X(CONTEXT_SINGLE_USER, "single-user") /* system, and one user message: everything else, without role labels */

enum context_policy {
#define X(name, text) name,
    CONTEXT_POLICIES(X)
#undef X
};

struct context {
    const struct chat_message *messages;
    size_t count;
};

/* Messages for the turn under way; texts are borrowed from the trajectory or in the arena. */
void context_build(const struct trajectory *trajectory, const char *system, const char *task,
                   enum context_policy policy, struct arena *arena, struct context *out);

/* The second question: the same conversation with the answer and the question behind it. */
void context_build_choice(const struct trajectory *trajectory, const char *system, const char *task,
                          enum context_policy policy, const char *question, struct arena *arena, struct context *out);

const char *context_policy_text(enum context_policy policy);
MUST_CHECK bool context_policy_parse(const char *text, enum context_policy *out);

#endif
