/*
 * The lexical part of reading JSON (RFC 8259), strict: valid UTF-8, no raw control characters, paired surrogates, no
 * leading zeros, integers within i64 or u64. Used by json_read.c; other code reads through base/json.h.
 *
 * All functions advance `offset` past what they accept. On refusal they return false, set `problem` to a constant text
 * and leave `offset` at the offending byte.
 */
#ifndef PTXBENCH_BASE_JSON_SCAN_H
#define PTXBENCH_BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stddef.h>

enum { JSON_MAX_DEPTH = 64 };

struct json_scan {
    const char *text; /* borrowed; need not be NUL-terminated */
    size_t length;
    size_t offset;
    const char *problem; /* NULL until something was refused */
};

/* Records a problem at the current offset. Always returns false. */
bool json_scan_refuse(struct json_scan *scan, const char *problem);

/* Skips white space and returns the next byte, or '\0' at the end. */
char json_scan_peek(struct json_scan *scan);

/* Accepts the byte `expected` after white space; otherwise refuses with `problem`. */
bool json_scan_byte(struct json_scan *scan, char expected, const char *problem);

/* Accepts "true", "false" or "null". */
bool json_scan_word(struct json_scan *scan, const char *word);

/* Accepts a string with its quotes; `*begin` and `*length` are the bytes between them, escapes still in place. */
bool json_scan_string(struct json_scan *scan, const char **begin, size_t *length);

/* Accepts a number; `*integer` says that it has neither fraction nor exponent. */
bool json_scan_number(struct json_scan *scan, const char **begin, size_t *length, bool *integer);

/* Resolves the escapes of an accepted string into `out`, which has room for `length` bytes. Returns the new length. */
size_t json_scan_decode(const char *begin, size_t length, char *out);

#endif
