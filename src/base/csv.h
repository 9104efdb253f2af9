/*
 * A small CSV reader (RFC 4180: quoted cells, doubled quotes, line breaks inside quotes, CRLF or LF) for what tools
 * print. Any bytes are accepted; a quote inside an unquoted cell is an ordinary character. Pure.
 */
#ifndef PTXBENCH_BASE_CSV_H
#define PTXBENCH_BASE_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct csv_row {
    char **cells; /* in the arena; NUL bytes of the text become spaces */
    size_t count;
    size_t line; /* 1-based line of the row's first byte */
};

struct csv_reader {
    const char *text;
    size_t length;
    size_t offset;
    size_t line;
};

enum { CSV_CELLS_MAX = 4096 };

/* Borrows `text`. */
struct csv_reader csv_reader_new(const char *text, size_t length);

/* The next row, blank lines included (one empty cell); false at the end. Cells beyond CSV_CELLS_MAX are dropped. */
bool csv_next(struct csv_reader *reader, struct arena *arena, struct csv_row *row);

/* Index of the first cell equal to `name`, ignoring case and spaces around it; -1 when there is none. */
int csv_find(const struct csv_row *row, const char *name);

/* A non-negative integer, also "1,234,567" or "12.0"; false for anything else or beyond int64. */
bool csv_parse_count(const char *cell, int64_t *out);

#endif
