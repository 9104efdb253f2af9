/*
 * A growing byte buffer with a cap that is stated at init: everything from outside (compiler output, kernels'
 * printf, JSON) passes through one. `data` is always NUL-terminated, also when empty.
 * Not thread-safe.
 */
#ifndef PTXBENCH_BASE_BUFFER_H
#define PTXBENCH_BASE_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/attributes.h"

struct buffer {
    char *data;      /* owned; never NULL; data[length] == 0 */
    size_t length;   /* bytes in use, without the terminator */
    size_t capacity; /* bytes allocated; 0 while data is the static empty string */
    size_t limit;    /* most bytes it will ever hold */
    size_t dropped;  /* bytes that did not fit; > 0 means truncated or out of memory */
};

/* An empty buffer that holds at most `limit` bytes; no allocation happens. */
struct buffer buffer_new(size_t limit);

/* Appends what fits; counts the rest in `dropped`. Returns false when anything was dropped. */
bool buffer_append(struct buffer *buffer, const void *bytes, size_t length);
bool buffer_append_text(struct buffer *buffer, const char *text);
bool buffer_printf(struct buffer *buffer, const char *format, ...) PRINTF_LIKE(2, 3);
bool buffer_vprintf(struct buffer *buffer, const char *format, va_list args) PRINTF_LIKE(2, 0);

/* Appends bytes from outside as valid, printable UTF-8: invalid sequences and control characters (C0, DEL, C1) other
 * than newline and tab become U+FFFD; carriage returns are removed. Whole characters only: the first that does not fit
 * ends the text, and everything behind it is dropped. */
bool buffer_append_sanitized(struct buffer *buffer, const void *bytes, size_t length);

/* Empties it and keeps the allocation. */
void buffer_reset(struct buffer *buffer);

/* Frees; the buffer is empty and usable again afterwards. */
void buffer_free(struct buffer *buffer);

/* Takes the text out (the caller frees it); the buffer is empty afterwards. NULL only when out of memory. */
char *buffer_detach(struct buffer *buffer);

#define AUTO_BUFFER CLEANUP(buffer_free) struct buffer

#endif
