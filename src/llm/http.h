/* Attempts over HTTP, on libcurl's multi interface in the client's epoll set. */
#ifndef PTXBENCH_LLM_HTTP_H
#define PTXBENCH_LLM_HTTP_H

#include "llm/call.h"

/* Opens libcurl. Returns new. */
MUST_CHECK bool http_new(struct chat_client *client, struct http **http, struct error *error);
void http_free(struct http *http);

/* Starts an attempt; failures end it through call_attempt_ended. */
void http_start(struct http *http, struct chat_call *call);

/* Ends the attempt, silently. Nothing to do when there is none. */
void http_stop(struct http *http, struct chat_call *call);

/* A watched socket is ready, by epoll's events. */
void http_on_socket(struct http *http, int fd, uint32_t events);

/* When http_on_timer has to be called; INT64_MAX: never. */
int64_t http_timer_ns(const struct http *http);
void http_on_timer(struct http *http);

#endif
