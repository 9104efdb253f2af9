/*
 * Why an attempt failed, as a class: what a provider answers instead of an answer, in an HTTP response or in the middle
 * of a stream. Pure functions over what came; the rules are one table for all providers (failure.c).
 */
#ifndef PTXBENCH_LLM_FAILURE_H
#define PTXBENCH_LLM_FAILURE_H

#include <stddef.h>
#include <stdint.h>

#include "base/json.h"

enum failure_kind {
    FAILURE_NONE,
    FAILURE_RETRYABLE,
    FAILURE_PROTOCOL, /* what came makes no sense; tried again, but named when attempts run out */
    FAILURE_AUTHENTICATION,
    FAILURE_QUOTA,
    FAILURE_CONTEXT_OVERFLOW,
    FAILURE_REFUSED,
    FAILURE_BAD_REQUEST
};

struct failure {
    enum failure_kind kind;
    int64_t retry_after_ns; /* what the server asked for; -1: nothing */
    char message[512];      /* one line of printable UTF-8 */
    char hint[256];
};

/* FAILURE_NONE. */
struct failure failure_none(void);

/* Sets kind and message; keeps retry_after_ns. */
void failure_set(struct failure *failure, enum failure_kind kind, const char *format, ...) PRINTF_LIKE(3, 4);

/* Fills the failure from an error object in any of the shapes in use: {"error": {...}}, [{"error": {...}}],
 * {"message": ...}, {"detail": ...}. `status` is that of the HTTP response, 200 in a stream. Returns false when the value
 * holds no error. */
bool failure_from_json(struct json at, int status, struct failure *failure);

/* The same for the body of a response, which may be no JSON at all. Always fills the failure. */
void failure_from_body(const char *body, size_t length, int status, struct failure *failure);

/* Nanoseconds to wait by a Retry-After value (seconds, also fractions, or an HTTP date seen from `now_unix`); -1 when it
 * is neither. Never more than 10 days. */
int64_t failure_retry_after(const char *value, int64_t now_unix);

/* Wait before attempt number `attempt` + 1: base * 2^(attempt - 1), at most `cap_ns`, of which a random part of the upper
 * half is taken off. `random` is any 64 bits. */
int64_t failure_backoff(int attempt, int64_t base_ns, int64_t cap_ns, uint64_t random);

#endif
