/*
 * Inside the client: one call, and what the transports (http.h, script.h, replay.h) and the queue (chat.c) say to each
 * other. A transport starts an attempt, fills the call's stream and ends the attempt with call_attempt_ended; the queue
 * decides what that means: a reply, or another attempt.
 */
#ifndef PTXBENCH_LLM_CALL_H
#define PTXBENCH_LLM_CALL_H

#include <sys/types.h>

#include "base/process.h"
#include "llm/chat.h"
#include "llm/provider.h"
#include "llm/sse.h"
#include "llm/stream.h"

enum call_state {
    CALL_WAITING,  /* for its time, a slot, or its model's gate */
    CALL_RUNNING,  /* an attempt is under way */
    CALL_FINISHED, /* the reply waits to be taken */
};

/* Calls to one model share its limits: how many at once, and not before a server's Retry-After. */
struct gate {
    struct gate *next;
    const struct model_config *model;
    int running;
    double limit; /* halved when the server says 429, grows by one with each answer, at most the model's max_parallel */
    double most;
    int64_t cut_ns; /* when it was last halved */
    int64_t not_before_ns;
};

struct http_attempt {
    void *easy;    /* CURL handle; NULL: no attempt under way */
    void *headers; /* curl_slist */
    struct sse_parser sse;
    struct buffer body; /* of a response that is no stream of events */
    bool is_events;
    bool stopped; /* we ended the transfer: nothing more is wanted */
    char error_text[256];
};

struct script_attempt {
    struct process child; /* pid <= 0: none */
    int pidfd;
    struct buffer errors;
};

struct chat_call {
    struct chat_call *next, *previous; /* in the order of their starts */
    struct chat_client *client;
    struct arena *arena; /* what lives as long as the call */
    void *context;
    const struct model_config *model;
    const struct provider *provider;
    struct gate *gate;
    const char *url;
    char *body; /* JSON text: of the HTTP request, or for the script's standard input; owned */
    size_t body_bytes;
    char *key; /* owned, wiped at the end; NULL: none */
    const char *trajectory;
    int turn;

    enum call_state state;
    enum chat_status status; /* once finished */
    int attempt;             /* of the one under way, or the last one; from 1 */
    int http_status;
    int64_t created_ns, since_ns, waited_ns; /* since_ns: when waiting began */
    int64_t ready_ns;                        /* waiting: not before */
    int64_t finished_ns;
    int64_t attempt_ns, first_token_ns, last_byte_ns, last_content_ns;
    int64_t deadline_ns; /* hard end of the attempt, for replayed answers and ended streams; INT64_MAX: none */

    struct chat_stream stream;
    struct http_attempt http;
    struct script_attempt script;
};

struct http;
struct replay_book;

struct chat_client {
    struct chat_client_options options;
    int epoll_fd;
    struct chat_call *first, *last;
    struct chat_call *taken; /* its reply is with the caller */
    struct chat_reply reply;
    struct gate *gates;
    struct http *http; /* NULL until the first call over HTTP */
    struct replay_book *books;
    size_t pending, running, finished;
    uint64_t random;
    bool look;            /* something changed: walk over the calls */
    int64_t next_look_ns; /* or so late at the latest */
    bool woken;
};

/* What an epoll event is about: in the upper half of its data, the descriptor in the lower. */
enum watch_kind { WATCH_WAKE, WATCH_SOCKET, WATCH_CHILD };
bool client_watch(struct chat_client *client, int fd, enum watch_kind kind, uint32_t events);

/* For the queue: starts what may start, ends what took too long, and sets when that has to be looked at again. */
void client_walk_calls(struct chat_client *client);

/* The gate of a model; NULL when out of memory. */
struct gate *client_gate(struct chat_client *client, const struct model_config *model);

/* Ends the attempt under way, silently. */
void call_stop(struct chat_call *call);

/* The call is over: its reply can be taken. */
void call_finish(struct chat_call *call, enum chat_status status);

/* The client's reply, filled from the call. */
const struct chat_reply *call_write_reply(struct chat_call *call);

/* The attempt is over; the transport holds nothing of it any more. stream.failure says how it went. */
void call_attempt_ended(struct chat_call *call);

/* Something came: any byte, or (content) text or reasoning. */
void call_note_progress(struct chat_call *call, bool content);

/* Ends the attempt within `delay_ns` from now, whatever comes. */
void call_limit_attempt(struct chat_call *call, int64_t delay_ns);

/* Replaces each occurrence of the call's key, in place. Keys shorter than 12 bytes, such as "EMPTY" for local servers,
 * are no secrets and stay. */
void call_redact(const struct chat_call *call, char *text, size_t *length);

/* The same for everything that the attempt left. */
void call_redact_all(struct chat_call *call);

#endif
