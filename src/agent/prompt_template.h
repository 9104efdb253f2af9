/*
 * A text with placeholders: {{name}} becomes a value, {{#name}} ... {{/name}} stays when the value of `name` is not empty
 * (prompts/README.md). Values are never read for placeholders. Pure.
 */
#ifndef PTXBENCH_AGENT_PROMPT_TEMPLATE_H
#define PTXBENCH_AGENT_PROMPT_TEMPLATE_H

#include "base/arena.h"
#include "base/error.h"

struct template_value {
    const char *name;
    const char *text; /* NULL is as "" */
};

enum { TEMPLATE_DEPTH_MAX = 8, TEMPLATE_BYTES_MAX = 8 << 20 };

/* Fills `text`, which came from `file` (for messages). A placeholder without a value, a section that is not closed or
 * closed out of order, "{{" without "}}" and a result of more than TEMPLATE_BYTES_MAX are errors with file and line. */
MUST_CHECK bool template_fill(struct arena *arena, const char *file, const char *text,
                              const struct template_value *values, size_t count, const char **out, struct error *error);

#endif
