/*
 * JSON in and out, on json-c.
 *
 * Reading: a document keeps its text, so that errors name file, line and JSON path, and so that numbers keep their
 * text. Unknown members stay in the tree. Duplicate keys, numbers beyond u64/i64 in integer position, invalid UTF-8,
 * trailing garbage and nesting deeper than 64 are refused. NaN, Infinity and -Infinity are not JSON and are refused
 * (FlashInfer-Trace writes them as strings).
 *
 * A `struct json` is a cursor: a value and where it stands. Cursors are small, copied freely, and live as long as
 * their document. A document and its cursors belong to one thread. Errors look like
 * "tasks/gemm.json:12: $.axes.M.value: expected a non-negative integer, found -1".
 */
#ifndef PTXBENCH_BASE_JSON_H
#define PTXBENCH_BASE_JSON_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

struct json_document;

enum json_kind { JSON_NULL, JSON_BOOL, JSON_INTEGER, JSON_REAL, JSON_STRING, JSON_ARRAY, JSON_OBJECT };

struct json {
    const struct json_document *document; /* borrowed */
    json_object *value;                   /* borrowed from the document; NULL for JSON null */
    const char *path;                     /* "$.axes.M"; arena of the document */
};

/* Parses `length` bytes that came from `name` (a file name for messages, copied). `first_line` is the line number of
 * the first byte (1 for a whole file, the line's number for one line of JSONL). Returns a new document. */
MUST_CHECK bool json_parse(const char *text, size_t length, const char *name, int first_line,
                           struct json_document **document, struct error *error);

/* Reads and parses a file of at most `limit` bytes. */
MUST_CHECK bool json_read_file(const char *path, size_t limit, struct json_document **document, struct error *error);

/* Releases the document and all cursors into it; accepts NULL. */
void json_document_free(struct json_document *document);

struct json json_root(const struct json_document *document);
const char *json_document_name(const struct json_document *document);
enum json_kind json_kind_of(struct json at);
const char *json_kind_text(enum json_kind kind); /* "an object", "a number", ... for messages */

/* Fills the error "name:line: path: message" with ERROR_INPUT. Always returns false. */
bool json_error(struct json at, struct error *error, const char *format, ...) PRINTF_LIKE(3, 4);

/* Line of the value in its file (counted when asked: for messages only). */
int json_line(struct json at);

/* Member `key` of an object. json_member: must exist. json_optional: false when absent or null. */
MUST_CHECK bool json_member(struct json object, const char *key, struct json *out, struct error *error);
bool json_optional(struct json object, const char *key, struct json *out);
bool json_has(struct json object, const char *key);

/* Array and object traversal, in the order of the text. Object keys are borrowed. */
size_t json_length(struct json array_or_object);
struct json json_at(struct json array, size_t index);
struct json json_entry(struct json object, size_t index, const char **key);

/* Typed reads of a value. Strings are borrowed and may not contain NUL. Numbers: json_u64/json_i64 accept integers
 * only; json_double accepts any number. json_number_text gives the original text of a number. */
MUST_CHECK bool json_string(struct json at, const char **out, struct error *error);
MUST_CHECK bool json_u64(struct json at, uint64_t *out, struct error *error);
MUST_CHECK bool json_i64(struct json at, int64_t *out, struct error *error);
MUST_CHECK bool json_double(struct json at, double *out, struct error *error);
MUST_CHECK bool json_boolean(struct json at, bool *out, struct error *error);
MUST_CHECK bool json_expect(struct json at, enum json_kind kind, struct error *error);

/* Text of a number as it stands in the document ("1e-5", "1.0"); borrowed. NULL when the value is not a number. */
const char *json_number_text(struct json at);

/* Shorthands: member + typed read. */
MUST_CHECK bool json_member_string(struct json object, const char *key, const char **out, struct error *error);
MUST_CHECK bool json_member_u64(struct json object, const char *key, uint64_t *out, struct error *error);

/*
 * Writing. Trees are built with json-c itself (json_object_new_object and friends); these helpers cover what it lacks.
 */
/* Adds key: value to the object; takes `value`. A NULL value is JSON null. Aborts when out of memory. */
void json_put(json_object *object, const char *key, json_object *value);
void json_put_string(json_object *object, const char *key, const char *text); /* NULL text: JSON null */
void json_put_bool(json_object *object, const char *key, bool value);
void json_put_i64(json_object *object, const char *key, int64_t value);
void json_put_u64(json_object *object, const char *key, uint64_t value);
/* Shortest text that reads back to the same double; NaN and infinities become the strings "NaN", "Infinity",
 * "-Infinity" as in FlashInfer-Trace. */
void json_put_double(json_object *object, const char *key, double value);
/* As json_put_double with `digits` significant digits, for humans. */
void json_put_rounded(json_object *object, const char *key, double value, int digits);
json_object *json_new_double(double value);

/* Text of a tree: pretty (2 spaces, one member a line) or one line. Number text and key order as read or added.
 * The caller frees it. A tree that json_parse would refuse to read back (text that is not UTF-8, nesting deeper than
 * 64) is ERROR_INTERNAL: nothing unreadable is ever written. */
MUST_CHECK bool json_to_text(json_object *value, bool pretty, char **out, struct error *error);

/* Writes pretty JSON plus a newline so that the file is complete or absent (temporary file, fsync, rename). */
MUST_CHECK bool json_write_file(json_object *value, const char *path, struct error *error);

/* Appends one line to a JSONL file (created with 0644 when missing) with a single O_APPEND write and fsync. When a
 * crash left the file without a final newline, the torn line is closed first, so that only it is lost. */
MUST_CHECK bool json_append_line(json_object *value, const char *path, struct error *error);

/* Writes one line to a descriptor with a single write. */
MUST_CHECK bool json_write_line(json_object *value, int fd, struct error *error);

static inline void cleanup_json_document(struct json_document **document)
{
    json_document_free(*document);
}
#define AUTO_JSON_DOCUMENT CLEANUP(cleanup_json_document) struct json_document

static inline void cleanup_json_object(json_object **object)
{
    if (*object)
        json_object_put(*object);
}
#define AUTO_JSON_OBJECT CLEANUP(cleanup_json_object) json_object

#endif
