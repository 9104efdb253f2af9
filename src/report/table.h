/*
 * A table as data: typed cells, so that one table serves people (text, markdown, LaTeX) and programs (CSV, JSON).
 * Filled row by row, left to right. Everything lives in the arena given at the start; texts are copied.
 */
#ifndef PTXBENCH_REPORT_TABLE_H
#define PTXBENCH_REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/error.h"
#include "base/json.h"
#include "base/record.h"

enum { TABLE_LIMITS_MAX = 8 };

enum table_kind {
    TABLE_TEXT,
    TABLE_COUNT,   /* whole number */
    TABLE_NUMBER,  /* real number */
    TABLE_RANGE,   /* real number with its 95 % interval: three columns for programs */
    TABLE_TRIPLET, /* the paper's cell: a value per turn limit, with target instructions and (unrestricted) */
};

struct table_column {
    const char *key;     /* for programs: lower case and underscores */
    const char *heading; /* for people */
    enum table_kind kind;
    int decimals; /* for people; programs get every digit */
};

struct table_triplet {
    struct number target[TABLE_LIMITS_MAX]; /* as many as the table has limits */
    struct number all[TABLE_LIMITS_MAX];
};

struct table_cell {
    const char *text;
    struct number number;
    struct interval ci95;
    struct table_triplet *triplet;
};

struct table {
    const char *id;    /* "correctness" */
    const char *title; /* one line */
    const struct table_column *columns;
    size_t column_count;
    int limits[TABLE_LIMITS_MAX]; /* turn limits of its triplets */
    size_t limit_count;
    RECORD_LIST(struct table_cell) cells; /* row by row */
    struct {
        const char **items;
        size_t count;
    } notes; /* below the table */
    struct arena *arena;
};

/* `columns` are copied; their texts are borrowed for the life of the arena. */
struct table *table_new(struct arena *arena, const char *id, const char *title, const struct table_column *columns,
                        size_t column_count);
void table_set_limits(struct table *table, const int *limits, size_t count);
void table_note(struct table *table, const char *format, ...) PRINTF_LIKE(2, 3);

/* One cell each. Unknown numbers are empty for programs and a dash for people. */
void table_text(struct table *table, const char *text); /* NULL: empty */
void table_count(struct table *table, int64_t value);
void table_number(struct table *table, struct number value);
void table_range(struct table *table, struct number value, struct interval ci95);
void table_put_triplet(struct table *table, const struct table_triplet *triplet); /* NULL: empty */

static inline size_t table_row_count(const struct table *table)
{
    return table->column_count ? table->cells.count / table->column_count : 0;
}

const struct table_cell *table_cell(const struct table *table, size_t row, size_t column);

/* What people see in a cell, one or two lines: a dash for nothing, "33.3 [20.1, 45.0]", "– / 22.9 / 25.0" above
 * "(8.3 / 25.0 / 26.0)". `*second` is NULL for one line. In the arena. */
const char *table_cell_text(struct arena *arena, const struct table *table, size_t row, size_t column,
                            const char **second);

/* A page of HTML is more than its tables: html.h. */
#define TABLE_FORMATS(X)                                                                                               \
    X(TABLE_AS_TEXT, "text")                                                                                           \
    X(TABLE_AS_MARKDOWN, "markdown")                                                                                   \
    X(TABLE_AS_CSV, "csv")                                                                                             \
    X(TABLE_AS_JSON, "json")                                                                                           \
    X(TABLE_AS_LATEX, "latex")                                                                                         \
    X(TABLE_AS_HTML, "html")

enum table_format {
#define X(name, text) name,
    TABLE_FORMATS(X)
#undef X
};

bool table_format_parse(const char *text, enum table_format *out);

/* Appends one table for people. */
void table_write_text(struct buffer *out, const struct table *table);
void table_write_markdown(struct buffer *out, const struct table *table);
void table_write_latex(struct buffer *out, const struct table *table);

/* Appends one table as RFC 4180 CSV with a header. Ranges are KEY, KEY_low, KEY_high; triplets KEY_target_LIMIT and
 * KEY_LIMIT. */
void table_write_csv(struct buffer *out, const struct table *table);

/* {"id", "title", "limits", "columns", "rows": [{key: value}], "notes"}; a range is {"value", "low", "high"}, a triplet
 * {"target": [..], "all": [..]}. Returns new. */
json_object *table_to_json(const struct table *table);

#endif
