#include "base/csv.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

struct csv_reader csv_reader_new(const char *text, size_t length)
{
    return (struct csv_reader){text, length, 0, 1};
}

static bool at_line_end(const struct csv_reader *reader)
{
    size_t left = reader->length - reader->offset;
    const char *here = reader->text + reader->offset;

    return left == 0 || here[0] == '\n' || (here[0] == '\r' && (left == 1 || here[1] == '\n'));
}

/* One cell into the arena, unquoted; stops before the comma or line end that follows it. */
static char *read_cell(struct csv_reader *reader, struct arena *arena)
{
    size_t start = reader->offset;
    size_t length = 0;
    bool quoted = start < reader->length && reader->text[start] == '"';
    char *cell;

    for (int pass = 0; pass < 2; pass++) { /* measure, then copy */
        bool inside = quoted;
        cell = pass ? arena_alloc(arena, length + 1) : NULL;
        length = 0;
        reader->offset = quoted ? start + 1 : start;
        for (; reader->offset < reader->length; reader->offset++) {
            char c = reader->text[reader->offset];
            if (inside && c == '"') {
                bool doubled = reader->offset + 1 < reader->length && reader->text[reader->offset + 1] == '"';
                if (!doubled) {
                    inside = false; /* text behind the closing quote still belongs to the cell */
                    continue;
                }
                reader->offset++;
            } else if (!inside && (c == ',' || at_line_end(reader))) {
                break;
            }
            if (cell)
                cell[length] = c ? c : ' ';
            length++;
        }
    }
    return cell;
}

bool csv_next(struct csv_reader *reader, struct arena *arena, struct csv_row *row)
{
    size_t capacity = 8;
    size_t row_start = reader->offset;

    if (reader->offset >= reader->length)
        return false;
    *row = (struct csv_row){.cells = arena_calloc(arena, capacity, sizeof *row->cells), .line = reader->line};
    for (;;) {
        char *cell = read_cell(reader, arena);
        if (row->count < CSV_CELLS_MAX) {
            if (row->count == capacity) {
                char **cells = arena_calloc(arena, 2 * capacity, sizeof *cells);
                memcpy(cells, row->cells, capacity * sizeof *cells);
                row->cells = cells;
                capacity *= 2;
            }
            row->cells[row->count++] = cell;
        }
        if (at_line_end(reader))
            break;
        reader->offset++; /* the comma */
    }
    if (reader->offset < reader->length && reader->text[reader->offset] == '\r')
        reader->offset++;
    if (reader->offset < reader->length)
        reader->offset++; /* the newline */
    for (size_t i = row_start; i < reader->offset; i++)
        reader->line += reader->text[i] == '\n';
    return true;
}

static const char *skip_spaces(const char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    return text;
}

int csv_find(const struct csv_row *row, const char *name)
{
    size_t length = strlen(name);

    for (size_t i = 0; i < row->count; i++) {
        const char *cell = skip_spaces(row->cells[i]);
        if (strncasecmp(cell, name, length) == 0 && *skip_spaces(cell + length) == 0)
            return (int)i;
    }
    return -1;
}

bool csv_parse_count(const char *cell, int64_t *out)
{
    const char *at = skip_spaces(cell);
    int64_t value = 0;

    if (!isdigit((unsigned char)*at))
        return false;
    for (; isdigit((unsigned char)*at) || (*at == ',' && isdigit((unsigned char)at[1])); at++) {
        if (*at == ',')
            continue;
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *at - '0', &value))
            return false;
    }
    if (*at == '.')
        for (at++; *at == '0'; at++)
            continue;
    if (*skip_spaces(at) != 0)
        return false;
    *out = value;
    return true;
}
