#include "report/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define DASH "\xe2\x80\x93" /* en dash: nothing, as in the paper */

struct table *table_new(struct arena *arena, const char *id, const char *title, const struct table_column *columns,
                        size_t column_count)
{
    struct table *table = arena_alloc(arena, sizeof *table);
    struct table_column *copy = arena_calloc(arena, column_count, sizeof *copy);

    memcpy(copy, columns, column_count * sizeof *copy);
    table->id = arena_strdup(arena, id);
    table->title = arena_strdup(arena, title);
    table->columns = copy;
    table->column_count = column_count;
    table->arena = arena;
    return table;
}

void table_set_limits(struct table *table, const int *limits, size_t count)
{
    table->limit_count = count < TABLE_LIMITS_MAX ? count : TABLE_LIMITS_MAX;
    memcpy(table->limits, limits, table->limit_count * sizeof *limits);
}

void table_note(struct table *table, const char *format, ...)
{
    char text[1024];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *LIST_APPEND(table->arena, &table->notes) = arena_strdup(table->arena, text);
}

static struct table_cell *add_cell(struct table *table)
{
    return LIST_APPEND(table->arena, &table->cells);
}

void table_text(struct table *table, const char *text)
{
    add_cell(table)->text = arena_strdup(table->arena, text);
}

void table_count(struct table *table, int64_t value)
{
    add_cell(table)->number = number_of((double)value);
}

void table_number(struct table *table, struct number value)
{
    add_cell(table)->number = value;
}

void table_range(struct table *table, struct number value, struct interval ci95)
{
    *add_cell(table) = (struct table_cell){.number = value, .ci95 = ci95};
}

void table_put_triplet(struct table *table, const struct table_triplet *triplet)
{
    struct table_triplet *copy = arena_alloc(table->arena, sizeof *copy);

    if (triplet)
        *copy = *triplet;
    *add_cell(table) = (struct table_cell){.triplet = copy, .text = triplet ? NULL : ""};
}

const struct table_cell *table_cell(const struct table *table, size_t row, size_t column)
{
    return &table->cells.items[row * table->column_count + column];
}

static bool is_nothing(const struct number *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!values[i].known || values[i].value > 0)
            return false;
    return true;
}

static bool is_unknown(const struct number *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i].known)
            return false;
    return true;
}

/* "a / b / c": a dash for zero, "?" for a limit that the run was not planned to reach; one sign for all alike. */
static const char *line_of(struct arena *arena, const struct number *values, size_t count, int decimals)
{
    const char *line = "";

    if (is_unknown(values, count))
        return "?";
    if (is_nothing(values, count))
        return DASH;
    for (size_t i = 0; i < count; i++) {
        const char *separator = i ? " / " : "";
        if (!values[i].known || !(values[i].value > 0))
            line = arena_printf(arena, "%s%s%s", line, separator, values[i].known ? DASH : "?");
        else
            line = arena_printf(arena, "%s%s%.*f", line, separator, decimals, values[i].value);
    }
    return line;
}

static const char *triplet_text(struct arena *arena, const struct table *table, const struct table_triplet *triplet,
                                int decimals, const char **second)
{
    const char *target = line_of(arena, triplet->target, table->limit_count, decimals);
    const char *all = line_of(arena, triplet->all, table->limit_count, decimals);

    if (is_nothing(triplet->all, table->limit_count) || is_unknown(triplet->all, table->limit_count))
        return all; /* then there is nothing above it either */
    *second = arena_printf(arena, "(%s)", all);
    return target;
}

const char *table_cell_text(struct arena *arena, const struct table *table, size_t row, size_t column,
                            const char **second)
{
    const struct table_cell *cell = table_cell(table, row, column);
    int decimals = table->columns[column].decimals;

    *second = NULL;
    if (cell->triplet && !cell->text)
        return triplet_text(arena, table, cell->triplet, decimals, second);
    if (table->columns[column].kind == TABLE_TEXT || cell->triplet)
        return cell->text ? cell->text : "";
    if (!cell->number.known)
        return DASH;
    if (table->columns[column].kind == TABLE_COUNT)
        return arena_printf(arena, "%.0f", cell->number.value);
    if (cell->ci95.known)
        return arena_printf(arena, "%.*f [%.*f, %.*f]", decimals, cell->number.value, decimals, cell->ci95.low,
                            decimals, cell->ci95.high);
    return arena_printf(arena, "%.*f", decimals, cell->number.value);
}

bool table_format_parse(const char *text, enum table_format *out)
{
    static const char *const names[] = {
#define X(name, word) word,
        TABLE_FORMATS(X)
#undef X
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (!strcmp(names[i], text)) {
            *out = (enum table_format)i;
            return true;
        }
    }
    return false;
}
