/* What has come of one attempt so far: the providers' readers fill it, event by event. No sockets, no clock. */
#ifndef PTXBENCH_LLM_STREAM_H
#define PTXBENCH_LLM_STREAM_H

#include "base/buffer.h"
#include "base/json.h"
#include "llm/chat.h"
#include "llm/failure.h"

enum { STREAM_NAME_MAX = 160 };

struct chat_stream {
    struct buffer text;      /* capped; `dropped` says that the answer was longer */
    struct buffer reasoning; /* likewise, but a longer one goes on */
    struct chat_usage usage;
    double cost_usd;           /* the provider's figure; < 0: it gives none */
    const char *finish_reason; /* as in struct chat_reply; constant text */
    char raw_finish_reason[STREAM_NAME_MAX];
    char upstream[STREAM_NAME_MAX]; /* who served it behind a router; "": not said */
    char fingerprint[STREAM_NAME_MAX];
    char served_model[STREAM_NAME_MAX];
    char request_id[STREAM_NAME_MAX];
    bool done;              /* the provider's mark of the end came: nothing else is awaited */
    struct failure failure; /* of the provider's own telling, or of an event that cannot be read */
};

void stream_init(struct chat_stream *stream, size_t text_limit);
void stream_free(struct chat_stream *stream);

/* Forgets everything, for the next attempt; keeps the allocations. */
void stream_reset(struct chat_stream *stream);

/* A whole answer came: its end was named, or marked. */
bool stream_is_complete(const struct chat_stream *stream);

/*
 * For readers. A value of another kind than expected is left out, never an error: providers add members, and one that
 * says null where a text stood must not cost an answer.
 */

/* Appends a string value, printable. */
void stream_add_text(struct buffer *to, struct json value);

/* Copies member `key` when it is a string. */
void stream_copy_name(char to[STREAM_NAME_MAX], struct json object, const char *key);

/* Copies a text that is not known to be UTF-8, such as a header: what is not printable ASCII becomes "?". */
void stream_set_name(char to[STREAM_NAME_MAX], const char *text);

/* Reads member `key` when it is a non-negative integer. */
void stream_read_count(int64_t *to, struct json object, const char *key);

/* Parses one event's data. A text that is no JSON sets FAILURE_PROTOCOL, an error object the failure that it names;
 * false then, and also for a value that is no object. */
MUST_CHECK bool stream_parse(struct chat_stream *stream, const char *data, size_t length,
                             struct json_document **document);

/* Sets the finish reason from the provider's word by a table of {word, ours}; a word that is not there is "other".
 * Refusals and a full context set the failure. */
struct finish_word {
    const char *word;
    const char *reason; /* "stop", "length", "refusal", "overflow" */
};
void stream_set_finish(struct chat_stream *stream, const char *word, const struct finish_word *table, size_t count);

#endif
