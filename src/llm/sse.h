/*
 * Server-sent events (WHATWG HTML, section 9.2.6) from bytes that arrive in any pieces. Pure: no sockets, no clock.
 * Fields other than "event" and "data" and comments are dropped; an event that the end of the stream cuts off is dropped
 * too, as the standard has it.
 */
#ifndef PTXBENCH_LLM_SSE_H
#define PTXBENCH_LLM_SSE_H

#include "base/buffer.h"

struct sse_parser {
    struct buffer line;  /* the unfinished line */
    struct buffer data;  /* of the unfinished event, lines joined by newlines */
    struct buffer event; /* its name, empty: "message" */
    bool has_data;
    bool after_cr;    /* a newline that comes next belongs to the carriage return before it */
    bool after_first; /* the first line, which may begin with a byte order mark, is over */
};

/* One event; `data` is NUL-terminated and borrowed. Returning false stops the parser. */
typedef bool sse_visit(void *context, const char *event, const char *data, size_t length);

/* Events and lines of at most `limit` bytes. */
void sse_init(struct sse_parser *parser, size_t limit);
void sse_free(struct sse_parser *parser);

/* Takes the next bytes and calls `visit` for each event that they complete. False when `visit` stopped it or when a line
 * or an event is longer than the limit (sse_overflowed tells); nothing more may be fed then. */
MUST_CHECK bool sse_feed(struct sse_parser *parser, const char *bytes, size_t length, sse_visit *visit, void *context);

bool sse_overflowed(const struct sse_parser *parser);

#endif
