/* Reading JSONL: one JSON value a line. Writing: json_append_line in base/json.h. */
#ifndef PTXBENCH_BASE_JSONL_H
#define PTXBENCH_BASE_JSONL_H

#include "base/json.h"

/* What to do with a line that is not JSON. A crash may tear the last line of an append-only file. */
enum jsonl_broken {
    JSONL_REFUSE, /* fail */
    JSONL_SKIP    /* log a warning and go on */
};

/* Called once a line, in order; takes `line` (frees it or keeps it). Returning false stops with `error`. */
typedef bool jsonl_visit(struct json_document *line, void *context, struct error *error);

/* Reads a file line by line, holding one line at a time, at most `line_limit` bytes each (a longer one is ERROR_LIMIT).
 * Blank lines are skipped. Documents carry the path and the line number. A missing file is ERROR_NOT_FOUND. */
MUST_CHECK bool jsonl_each(const char *path, size_t line_limit, enum jsonl_broken broken, jsonl_visit *visit,
                           void *context, struct error *error);

#endif
