/* What the tests of the trace layer share. */
#ifndef PTXBENCH_TESTS_TRACE_TEST_H
#define PTXBENCH_TESTS_TRACE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

/* A small definition with const and var axes, a tensor and a scalar; and a workload of it. */
#define SCALE_ROWS                                                                                                     \
    "{\"name\":\"scale_rows_n64\",\"op_type\":\"demo\",\"axes\":{\"M\":{\"type\":\"var\"},"                            \
    "\"N\":{\"type\":\"const\",\"value\":64}},\"inputs\":{\"X\":{\"shape\":[\"M\",\"N\"],\"dtype\":\"bfloat16\"},"     \
    "\"alpha\":{\"shape\":null,\"dtype\":\"float32\"}},\"outputs\":{\"Y\":{\"shape\":[\"M\",\"N\"],"                   \
    "\"dtype\":\"bfloat16\"}},\"reference\":\"import torch\\n\\ndef run(X, alpha):\\n    return X * alpha\\n\","       \
    "\"tags\":[\"status:verified\"],\"constraints\":[\"M % 8 == 0\"],\"vendor\":{\"k\":1.0}}"

#define SCALE_WORKLOAD                                                                                                 \
    "{\"axes\":{\"M\":256},\"inputs\":{\"X\":{\"type\":\"random\"},\"alpha\":{\"type\":\"scalar\",\"value\":0.5}},"    \
    "\"uuid\":\"5d0c2c0e-0000-4000-8000-000000000001\",\"note\":\"kept\"}"

/* Parses a text that is JSON; the test fails otherwise. */
static inline struct json_document *read_json(const char *text)
{
    struct json_document *document = NULL;
    struct error error;

    if (!json_parse(text, strlen(text), "t.json", 1, &document, &error))
        fail_msg("%s: %s", text, error.message);
    return document;
}

/* `text` with the first occurrence of `from` replaced; the caller frees it. */
static inline char *replace(const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);
    size_t size = strlen(text) + strlen(to) + 1;
    char *out = malloc(size);

    if (!at || !out)
        fail_msg("no \"%s\" in: %s", from, text);
    else
        (void)snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    return out;
}

#endif
