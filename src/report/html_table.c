#include <string.h>

#include "report/html.h"

static bool is_text(const struct table *table, size_t column)
{
    return table->columns[column].kind == TABLE_TEXT;
}

/* What the filter goes by: data-model and so on, of the columns with these keys. */
static void write_row_start(struct buffer *out, const struct table *table, size_t row)
{
    static const char *const keys[] = {"model", "arch", "definition", "run"};

    (void)buffer_append_text(out, "<tr");
    for (size_t c = 0; c < table->column_count; c++) {
        for (size_t k = 0; k < ARRAY_LEN(keys); k++) {
            if (!is_text(table, c) || strcmp(table->columns[c].key, keys[k]) != 0)
                continue;
            (void)buffer_printf(out, " data-%s=\"", keys[k]);
            html_write_text(out, table_cell(table, row, c)->text);
            (void)buffer_append_text(out, "\"");
        }
    }
    (void)buffer_append_text(out, ">");
}

/* The number that a column sorts by; a triplet's is the unrestricted value at the highest limit. */
static struct number sort_value(const struct table *table, const struct table_cell *cell)
{
    if (!cell->triplet)
        return cell->number;
    return cell->text || !table->limit_count ? (struct number){0} : cell->triplet->all[table->limit_count - 1];
}

static void write_cell(struct buffer *out, struct arena *arena, const struct table *table, size_t row, size_t column)
{
    const char *second;
    const char *first = table_cell_text(arena, table, row, column, &second);
    struct number value = sort_value(table, table_cell(table, row, column));

    if (is_text(table, column))
        (void)buffer_append_text(out, "<td class=\"t\">");
    else if (value.known)
        (void)buffer_printf(out, "<td data-v=\"%.9g\">", value.value);
    else
        (void)buffer_append_text(out, "<td data-v=\"\">");
    html_write_text(out, first);
    if (second) {
        (void)buffer_append_text(out, "<br>");
        html_write_text(out, second);
    }
    (void)buffer_append_text(out, "</td>");
}

static void write_head(struct buffer *out, const struct table *table)
{
    (void)buffer_append_text(out, "<thead><tr>");
    for (size_t c = 0; c < table->column_count; c++) {
        (void)buffer_printf(out, "<th scope=\"col\"%s><button type=\"button\">",
                            is_text(table, c) ? " class=\"t\"" : "");
        html_write_text(out, *table->columns[c].heading ? table->columns[c].heading : table->columns[c].key);
        (void)buffer_append_text(out, "</button></th>");
    }
    (void)buffer_append_text(out, "</tr></thead>\n");
}

void html_write_table(struct buffer *out, const struct table *table)
{
    size_t rows = table_row_count(table);
    size_t shown = rows < HTML_ROWS_MAX ? rows : HTML_ROWS_MAX;

    (void)buffer_append_text(out, "<details class=\"card\"");
    (void)buffer_append_text(out, rows <= 60 ? " open><summary>" : "><summary>");
    html_write_text(out, table->title);
    (void)buffer_printf(out, " (%zu rows)</summary>\n<div class=\"scroll\"><table id=\"table-", rows);
    html_write_text(out, table->id);
    (void)buffer_append_text(out, "\">");
    write_head(out, table);
    (void)buffer_append_text(out, "<tbody>\n");
    for (size_t row = 0; row < shown; row++) {
        AUTO_ARENA *arena = arena_new();
        write_row_start(out, table, row);
        for (size_t c = 0; c < table->column_count; c++)
            write_cell(out, arena, table, row, c);
        (void)buffer_append_text(out, "</tr>\n");
    }
    (void)buffer_append_text(out, "</tbody></table></div>\n");
    if (shown < rows)
        (void)buffer_printf(out,
                            "<p class=\"soft\">The first %zu of %zu rows; <code>--metric %s --format csv</code> has "
                            "all of them.</p>\n",
                            shown, rows, table->id);
    for (size_t i = 0; i < table->notes.count; i++) {
        (void)buffer_append_text(out, "<p class=\"soft\">");
        html_write_text(out, table->notes.items[i]);
        (void)buffer_append_text(out, "</p>\n");
    }
    (void)buffer_append_text(out, "</details>\n");
}
