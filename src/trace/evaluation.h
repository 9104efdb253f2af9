/*
 * The evaluation part of a FlashInfer-Trace trace: status, errors, latencies, environment.
 * Format: docs/formats/trace-set.md.
 */
#ifndef PTXBENCH_TRACE_EVALUATION_H
#define PTXBENCH_TRACE_EVALUATION_H

#include "base/json.h"

/* enumerator, text, has correctness, has performance */
#define EVALUATION_STATUSES(X)                                                                                         \
    X(EVALUATION_PASSED, "PASSED", true, true)                                                                         \
    X(EVALUATION_INCORRECT_SHAPE, "INCORRECT_SHAPE", false, false)                                                     \
    X(EVALUATION_INCORRECT_NUMERICAL, "INCORRECT_NUMERICAL", true, false)                                              \
    X(EVALUATION_INCORRECT_DTYPE, "INCORRECT_DTYPE", false, false)                                                     \
    X(EVALUATION_RUNTIME_ERROR, "RUNTIME_ERROR", false, false)                                                         \
    X(EVALUATION_COMPILE_ERROR, "COMPILE_ERROR", false, false)                                                         \
    X(EVALUATION_TIMEOUT, "TIMEOUT", false, false)

enum evaluation_status {
#define X(name, text, correctness, performance) name,
    EVALUATION_STATUSES(X)
#undef X
};

/* Most bytes of a log that a trace keeps; a longer one ends with "\n[log truncated]". */
enum { EVALUATION_LOG_BYTES = 5 << 20 };

struct evaluation_library {
    const char *name;    /* "cuda" */
    const char *version; /* "13.0" */
};

/* Plain data that the caller fills; every pointer is borrowed. */
struct evaluation {
    enum evaluation_status status;
    const char *hardware; /* "NVIDIA H200" */
    const struct evaluation_library *libraries;
    size_t library_count;
    const char *timestamp; /* ISO 8601; NULL: now, UTC */
    const char *log;       /* NULL: "" */
    bool has_correctness;
    double max_relative_error; /* may be NaN or infinite */
    double max_absolute_error;
    json_object *correctness_extra; /* NULL: none */
    bool has_performance;
    double latency_ms; /* finite, >= 0 */
    double reference_latency_ms;
    double speedup_factor;
};

const char *evaluation_status_text(enum evaluation_status status);
bool evaluation_status_parse(const char *text, enum evaluation_status *out);

/* Checks the invariants: PASSED has correctness and performance, INCORRECT_NUMERICAL only correctness, all others
 * neither; performance is finite and not negative. */
MUST_CHECK bool evaluation_check(const struct evaluation *evaluation, struct error *error);

/* JSON of a valid evaluation; the caller owns the tree. */
MUST_CHECK bool evaluation_to_json(const struct evaluation *evaluation, json_object **out, struct error *error);

/* Reads an evaluation; texts are borrowed from the document, the library list lives in the arena. */
MUST_CHECK bool evaluation_parse(struct json at, struct arena *arena, struct evaluation *out, struct error *error);

#endif
