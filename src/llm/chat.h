/*
 * Calls to models: asynchronous, any number at once, one thread, no thread of its own and no busy waiting.
 *
 *     chat_client_start(client, &request, mine, &error);      as often as you like
 *     while (chat_client_pending(client))
 *         if ((reply = chat_client_next(client, 1000, &mine)))
 *             ...
 *
 * What goes wrong on the way (429 with Retry-After, 5xx, cut, silent and malformed streams) is tried again inside, with
 * exponential backoff and jitter, up to options.max_attempts. What comes back is a class: only CHAT_OK and CHAT_REFUSED
 * are answers of the model; everything else says nothing about it.
 *
 * Credentials come from the environment when a call starts, go into one request header and nowhere else: should a server
 * send one back, it is replaced by "[key]" in every text of the reply.
 */
#ifndef PTXBENCH_LLM_CHAT_H
#define PTXBENCH_LLM_CHAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json.h"
#include "llm/model.h"

enum chat_role { CHAT_SYSTEM, CHAT_USER, CHAT_ASSISTANT };

struct chat_message {
    enum chat_role role; /* CHAT_SYSTEM only as the first message */
    const char *text;    /* UTF-8 */
};

struct chat_request {
    const struct model_config *model; /* borrowed; it outlives the client */
    const struct chat_message *messages;
    size_t message_count;
    int64_t max_output_tokens; /* 0: the model's */
    uint64_t seed;             /* sent to providers that take one */
    bool has_seed;
    const char *trajectory; /* replay and script: its name */
    int turn;
};

/* name, text for events and people */
#define CHAT_STATUSES(X)                                                                                               \
    X(CHAT_OK, "ok")                                   /* a whole answer, also an empty one or one cut by length */    \
    X(CHAT_RETRYABLE_EXHAUSTED, "retryable_exhausted") /* the last attempt failed too; see `error` */                  \
    X(CHAT_AUTHENTICATION, "authentication")           /* key missing, wrong, or without permission */                 \
    X(CHAT_QUOTA, "quota")                             /* no money or quota left: waiting does not help */             \
    X(CHAT_CONTEXT_OVERFLOW, "context_overflow")       /* the conversation does not fit the model's context */         \
    X(CHAT_REFUSED, "refused")                         /* the model or its provider's filter declined */               \
    X(CHAT_BAD_REQUEST, "bad_request")                 /* the provider does not understand what we sent */             \
    X(CHAT_PROTOCOL, "protocol")                       /* we do not understand what came, also after retries */        \
    X(CHAT_CANCELLED, "cancelled")

enum chat_status {
#define X(name, text) name,
    CHAT_STATUSES(X)
#undef X
};

/* -1: the provider did not say. */
struct chat_usage {
    int64_t input_tokens;       /* all of the prompt, cached ones included */
    int64_t cached_tokens;      /* of them: read from the provider's cache */
    int64_t cache_write_tokens; /* of them: written to it */
    int64_t output_tokens;      /* answer and reasoning */
    int64_t reasoning_tokens;   /* of them: reasoning */
};

/* Texts are never NULL unless said so; they hold valid UTF-8 without control characters but newline and tab. Usage, ids
 * and times are those of the last attempt. */
struct chat_reply {
    enum chat_status status;
    const char *text;          /* what came of it, also when the status is not CHAT_OK */
    const char *reasoning;     /* reasoning text or summary; "" when the provider shows none */
    const char *finish_reason; /* "stop", "length" (output limit), "refusal", "overflow", "other"; NULL: none came */
    const char *raw_finish_reason; /* the provider's word; NULL: none came */
    bool text_cut;                 /* the answer was longer than options.text_limit; the rest was not awaited */
    struct chat_usage usage;
    double cost_usd;          /* the provider's figure, else by the model's prices; < 0: unknown */
    const char *provider;     /* "openrouter/z-ai": who served it; the configured provider when it does not say */
    const char *fingerprint;  /* the provider's, of model and configuration; NULL: none */
    const char *served_model; /* the model's name in the answer; NULL: none */
    const char *request_id;   /* NULL: none */
    int http_status;          /* of the last attempt; 0: no response, or not over HTTP */
    int attempts;             /* 1 and more; 0: cancelled or refused before the first */
    int64_t elapsed_ns;       /* from chat_client_start to the end, waits included */
    int64_t waited_ns;        /* of it: backing off, or held by a limit on parallel calls */
    int64_t first_token_ns;   /* from the start of the last attempt to its first text or reasoning; -1: none came */
    struct error error;       /* why, when the status is not CHAT_OK */
};

struct chat_client_options {
    int max_attempts;           /* 0: 8 */
    int64_t backoff_base_ns;    /* 0: 1 s; doubled with each attempt, jittered over its upper half */
    int64_t backoff_cap_ns;     /* 0: 60 s */
    int64_t retry_after_cap_ns; /* 0: 15 min; a server that asks for a longer wait ends the call */
    int64_t connect_timeout_ns; /* 0: 30 s */
    int64_t idle_timeout_ns;    /* 0: 10 min */
    int64_t stall_timeout_ns;   /* 0: 60 min */
    int64_t end_grace_ns;       /* 0: 10 s; how long a connection may stay open behind a whole answer */
    size_t text_limit;          /* 0: 4 MiB, likewise for the reasoning */
    int max_parallel;           /* calls at once, over all models; 0: 1000 */
    uint64_t seed;              /* of the jitter */
    int wake_fd;                /* chat_client_next returns when it is readable; < 0: none */
};

/* max_attempts and the rest at their defaults, no wake_fd. */
struct chat_client_options chat_client_defaults(void);

/* The body of a request: JSON for the provider, or for a script's standard input; an empty object for replay. No
 * credential is in it. Returns new. Fails for requests that cannot be sent at all. */
MUST_CHECK bool chat_request_body(const struct chat_request *request, json_object **body, struct error *error);

struct chat_client; /* owns sockets and script children; belongs to one thread */

MUST_CHECK bool chat_client_new(const struct chat_client_options *options, struct chat_client **client,
                                struct error *error);

/* Ends running calls without replies; accepts NULL. */
void chat_client_free(struct chat_client *client);

/* Queues a call; the request is copied, the model borrowed. `context` comes back with the reply. Fails only for requests
 * that cannot be sent at all (no message, text that is not UTF-8, unknown provider); a missing key is a reply. */
MUST_CHECK bool chat_client_start(struct chat_client *client, const struct chat_request *request, void *context,
                                  struct error *error);

/* Works for at most timeout_ms (< 0: without end, 0: only what is ready) and returns the next finished call, or NULL when
 * the time is over, wake_fd is readable, a signal came or nothing is pending. The reply is valid until the next call with
 * this client. */
const struct chat_reply *chat_client_next(struct chat_client *client, int timeout_ms, void **context);

/* Calls whose reply was not handed out yet. */
size_t chat_client_pending(const struct chat_client *client);

/* Ends the calls with this context, or all of them for NULL; each comes back as CHAT_CANCELLED unless it had finished. */
void chat_client_cancel(struct chat_client *client, const void *context);

/* Whether the model itself answered (CHAT_OK, CHAT_REFUSED): everything else says nothing about it. */
bool chat_status_is_answer(enum chat_status status);

/* "context_overflow"; never NULL. chat_status_from_text: false when unknown. */
const char *chat_status_text(enum chat_status status);
bool chat_status_from_text(const char *text, enum chat_status *status);

#endif
