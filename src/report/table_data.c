/* Tables for programs: CSV and JSON. */
#include <stdio.h>
#include <string.h>

#include "report/table.h"

/* A cell of RFC 4180. A text that a spreadsheet would run as a formula gets a space in front. */
static void write_csv_text(struct buffer *out, const char *original)
{
    AUTO_BUFFER clean = buffer_new(1 << 20);
    const char *text;

    (void)buffer_append_sanitized(&clean, original, strlen(original));
    text = clean.data;
    if (*text && strchr("=+-@", *text))
        (void)buffer_append_text(out, " ");
    if (!strpbrk(text, ",\"\n")) {
        (void)buffer_append_text(out, text);
        return;
    }
    (void)buffer_append_text(out, "\"");
    for (size_t i = 0; text[i]; i++) {
        if (text[i] == '"')
            (void)buffer_append_text(out, "\"");
        (void)buffer_append(out, text + i, 1);
    }
    (void)buffer_append_text(out, "\"");
}

/* Empty for unknown; the fewest digits that read back to the same number. */
static void write_csv_number(struct buffer *out, struct number number)
{
    char text[40] = "";

    for (int digits = 6; number.known && digits <= 17; digits++) {
        double again = 0;
        (void)snprintf(text, sizeof text, "%.*g", digits, number.value);
        if (sscanf(text, "%lf", &again) == 1 && !(again < number.value) && !(again > number.value))
            break;
    }
    (void)buffer_append_text(out, text);
}

static void write_header(struct buffer *out, const struct table *table)
{
    for (size_t c = 0; c < table->column_count; c++) {
        const char *key = table->columns[c].key;
        (void)buffer_append_text(out, c ? "," : "");
        if (table->columns[c].kind == TABLE_TRIPLET) {
            for (size_t i = 0; i < table->limit_count; i++)
                (void)buffer_printf(out, "%s%s_target_%d", i ? "," : "", key, table->limits[i]);
            for (size_t i = 0; i < table->limit_count; i++)
                (void)buffer_printf(out, ",%s_%d", key, table->limits[i]);
        } else if (table->columns[c].kind == TABLE_RANGE) {
            (void)buffer_printf(out, "%s,%s_low,%s_high", key, key, key);
        } else {
            (void)buffer_append_text(out, key);
        }
    }
    (void)buffer_append_text(out, "\n");
}

static void write_cell(struct buffer *out, const struct table *table, const struct table_cell *cell,
                       enum table_kind kind)
{
    switch (kind) {
    case TABLE_TEXT:
        write_csv_text(out, cell->text ? cell->text : "");
        return;
    case TABLE_COUNT:
    case TABLE_NUMBER:
        write_csv_number(out, cell->number);
        return;
    case TABLE_RANGE:
        write_csv_number(out, cell->number);
        (void)buffer_append_text(out, ",");
        write_csv_number(out, (struct number){cell->ci95.known, cell->ci95.low});
        (void)buffer_append_text(out, ",");
        write_csv_number(out, (struct number){cell->ci95.known, cell->ci95.high});
        return;
    case TABLE_TRIPLET:
        for (size_t i = 0; i < table->limit_count; i++) {
            (void)buffer_append_text(out, i ? "," : "");
            write_csv_number(out, cell->triplet->target[i]);
        }
        for (size_t i = 0; i < table->limit_count; i++) {
            (void)buffer_append_text(out, ",");
            write_csv_number(out, cell->triplet->all[i]);
        }
        return;
    }
}

void table_write_csv(struct buffer *out, const struct table *table)
{
    write_header(out, table);
    for (size_t row = 0; row < table_row_count(table); row++) {
        for (size_t c = 0; c < table->column_count; c++) {
            (void)buffer_append_text(out, c ? "," : "");
            write_cell(out, table, table_cell(table, row, c), table->columns[c].kind);
        }
        (void)buffer_append_text(out, "\n");
    }
}

static json_object *json_of(struct number number)
{
    return number.known ? json_new_double(number.value) : NULL;
}

static json_object *json_list(const struct number *values, size_t count)
{
    json_object *list = json_object_new_array();

    for (size_t i = 0; i < count; i++)
        (void)json_object_array_add(list, json_of(values[i]));
    return list;
}

/* Model and run names come from files: what is not UTF-8 must not spoil the report. */
static json_object *json_text(const char *text)
{
    AUTO_BUFFER clean = buffer_new(1 << 20);

    (void)buffer_append_sanitized(&clean, text, strlen(text));
    return json_object_new_string_len(clean.data, (int)clean.length);
}

static json_object *json_cell(const struct table *table, const struct table_cell *cell, enum table_kind kind)
{
    json_object *object;

    switch (kind) {
    case TABLE_TEXT:
        return cell->text ? json_text(cell->text) : NULL;
    case TABLE_COUNT:
        return cell->number.known ? json_object_new_int64((int64_t)cell->number.value) : NULL;
    case TABLE_NUMBER:
        return json_of(cell->number);
    case TABLE_RANGE:
        object = json_object_new_object();
        json_put(object, "value", json_of(cell->number));
        json_put(object, "low", json_of((struct number){cell->ci95.known, cell->ci95.low}));
        json_put(object, "high", json_of((struct number){cell->ci95.known, cell->ci95.high}));
        return object;
    case TABLE_TRIPLET:
        object = json_object_new_object();
        json_put(object, "target", json_list(cell->triplet->target, table->limit_count));
        json_put(object, "all", json_list(cell->triplet->all, table->limit_count));
        return object;
    }
    return NULL;
}

json_object *table_to_json(const struct table *table)
{
    json_object *object = json_object_new_object();
    json_object *limits = json_object_new_array();
    json_object *columns = json_object_new_array();
    json_object *rows = json_object_new_array();
    json_object *notes = json_object_new_array();

    json_put_string(object, "id", table->id);
    json_put(object, "title", json_text(table->title));
    for (size_t i = 0; i < table->limit_count; i++)
        (void)json_object_array_add(limits, json_object_new_int(table->limits[i]));
    for (size_t c = 0; c < table->column_count; c++) {
        json_object *column = json_object_new_object();
        json_put_string(column, "key", table->columns[c].key);
        json_put(column, "heading", json_text(table->columns[c].heading));
        (void)json_object_array_add(columns, column);
    }
    for (size_t row = 0; row < table_row_count(table); row++) {
        json_object *entry = json_object_new_object();
        for (size_t c = 0; c < table->column_count; c++)
            json_put(entry, table->columns[c].key, json_cell(table, table_cell(table, row, c), table->columns[c].kind));
        (void)json_object_array_add(rows, entry);
    }
    for (size_t i = 0; i < table->notes.count; i++)
        (void)json_object_array_add(notes, json_text(table->notes.items[i]));
    json_put(object, "limits", limits);
    json_put(object, "columns", columns);
    json_put(object, "rows", rows);
    json_put(object, "notes", notes);
    return object;
}
