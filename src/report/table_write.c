/* Tables for people. */
#include <string.h>

#include "report/table.h"

/* Columns that a text takes in a terminal: characters, not bytes. */
static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80;
    return width;
}

static void pad(struct buffer *out, size_t count)
{
    while (count--)
        (void)buffer_append_text(out, " ");
}

/* Texts of all cells, two lines each; the second may be NULL. */
struct rendered {
    const char **first;
    const char **second;
    size_t *widths;
};

static void widen(size_t *width, const char *text)
{
    size_t needed = width_of(text);

    if (needed > *width)
        *width = needed;
}

static struct rendered render(struct arena *arena, const struct table *table)
{
    struct rendered out = {arena_calloc(arena, table->cells.count, sizeof *out.first),
                           arena_calloc(arena, table->cells.count, sizeof *out.second),
                           arena_calloc(arena, table->column_count, sizeof *out.widths)};

    for (size_t c = 0; c < table->column_count; c++)
        out.widths[c] = width_of(table->columns[c].heading);
    for (size_t row = 0; row < table_row_count(table); row++) {
        for (size_t c = 0; c < table->column_count; c++) {
            size_t i = row * table->column_count + c;
            out.first[i] = table_cell_text(arena, table, row, c, &out.second[i]);
            widen(&out.widths[c], out.first[i]);
            widen(&out.widths[c], out.second[i] ? out.second[i] : "");
        }
    }
    return out;
}

static bool is_left(const struct table *table, size_t column)
{
    return table->columns[column].kind == TABLE_TEXT;
}

/* Text goes left, numbers right; no spaces at the end of a line. */
static void write_line(struct buffer *out, const struct table *table, const struct rendered *cells,
                       const char *const *texts)
{
    size_t last = table->column_count;

    while (last > 0 && !(texts[last - 1] && *texts[last - 1]))
        last--;
    for (size_t c = 0; c < last; c++) {
        const char *text = texts[c] ? texts[c] : "";
        size_t space = cells->widths[c] - width_of(text);
        if (c)
            (void)buffer_append_text(out, "  ");
        if (!is_left(table, c))
            pad(out, space);
        (void)buffer_append_sanitized(out, text, strlen(text));
        if (is_left(table, c) && c + 1 < last)
            pad(out, space);
    }
    (void)buffer_append_text(out, "\n");
}

void table_write_text(struct buffer *out, const struct table *table)
{
    AUTO_ARENA *arena = arena_new();
    struct rendered cells = render(arena, table);
    const char **headings = arena_calloc(arena, table->column_count, sizeof *headings);

    for (size_t c = 0; c < table->column_count; c++)
        headings[c] = table->columns[c].heading;
    (void)buffer_printf(out, "%s\n\n", table->title);
    write_line(out, table, &cells, headings);
    for (size_t row = 0; row < table_row_count(table); row++) {
        bool two_lines = false;
        for (size_t c = 0; c < table->column_count; c++)
            two_lines |= cells.second[row * table->column_count + c] != NULL;
        write_line(out, table, &cells, cells.first + row * table->column_count);
        if (two_lines)
            write_line(out, table, &cells, cells.second + row * table->column_count);
    }
    for (size_t i = 0; i < table->notes.count; i++) {
        (void)buffer_append_text(out, i ? "" : "\n");
        (void)buffer_append_sanitized(out, table->notes.items[i], strlen(table->notes.items[i]));
        (void)buffer_append_text(out, "\n");
    }
    (void)buffer_append_text(out, "\n");
}

/* Text with each character of `special` replaced by the text of the same index in `replacements`. */
static void write_escaped(struct buffer *out, const char *text, const char *special, const char *const *replacements)
{
    while (*text) {
        size_t plain = strcspn(text, special);
        (void)buffer_append_sanitized(out, text, plain);
        text += plain;
        if (*text)
            (void)buffer_append_text(out, replacements[strchr(special, *text++) - special]);
    }
}

static void write_markdown_text(struct buffer *out, const char *text)
{
    static const char *const replacements[] = {"\\|", "\\_", "\\*", "\\`", "&lt;", "\\[", " ", "\\\\"};

    write_escaped(out, text, "|_*`<[\n\\", replacements);
}

static void write_markdown_row(struct buffer *out, const struct table *table, const struct rendered *cells, size_t row)
{
    (void)buffer_append_text(out, "\n|");
    for (size_t c = 0; c < table->column_count; c++) {
        size_t i = row * table->column_count + c;
        (void)buffer_append_text(out, " ");
        write_markdown_text(out, cells->first[i]);
        if (cells->second[i]) {
            (void)buffer_append_text(out, "<br>");
            write_markdown_text(out, cells->second[i]);
        }
        (void)buffer_append_text(out, " |");
    }
}

void table_write_markdown(struct buffer *out, const struct table *table)
{
    AUTO_ARENA *arena = arena_new();
    struct rendered cells = render(arena, table);

    (void)buffer_printf(out, "## %s\n\n|", table->title);
    for (size_t c = 0; c < table->column_count; c++) {
        (void)buffer_append_text(out, " ");
        write_markdown_text(out, table->columns[c].heading);
        (void)buffer_append_text(out, " |");
    }
    (void)buffer_append_text(out, "\n|");
    for (size_t c = 0; c < table->column_count; c++)
        (void)buffer_append_text(out, is_left(table, c) ? " --- |" : " ---: |");
    for (size_t row = 0; row < table_row_count(table); row++)
        write_markdown_row(out, table, &cells, row);
    (void)buffer_append_text(out, "\n\n");
    for (size_t i = 0; i < table->notes.count; i++) {
        (void)buffer_append_text(out, "- ");
        write_markdown_text(out, table->notes.items[i]);
        (void)buffer_append_text(out, i + 1 < table->notes.count ? "\n" : "\n\n");
    }
}

static void write_latex_text(struct buffer *out, const char *text)
{
    static const char *const replacements[] = {
        "\\textbackslash{}",   "\\&", "\\%", "\\$", "\\#", "\\_", "\\{", "\\}", "\\textasciitilde{}",
        "\\textasciicircum{}", " "};

    write_escaped(out, text, "\\&%$#_{}~^\n", replacements);
}

static void write_latex_row(struct buffer *out, const struct table *table, const char *const *texts)
{
    for (size_t c = 0; c < table->column_count; c++) {
        (void)buffer_append_text(out, c ? " & " : "");
        write_latex_text(out, texts[c] ? texts[c] : "");
    }
    (void)buffer_append_text(out, " \\\\\n");
}

void table_write_latex(struct buffer *out, const struct table *table)
{
    AUTO_ARENA *arena = arena_new();
    struct rendered cells = render(arena, table);
    const char **headings = arena_calloc(arena, table->column_count, sizeof *headings);

    (void)buffer_append_text(out, "\\begin{table}\n\\centering\n\\caption{");
    write_latex_text(out, table->title);
    (void)buffer_printf(out, "}\n\\label{tab:%s}\n\\begin{tabular}{", table->id);
    for (size_t c = 0; c < table->column_count; c++) {
        headings[c] = table->columns[c].heading;
        (void)buffer_append_text(out, is_left(table, c) ? "l" : "r");
    }
    (void)buffer_append_text(out, "}\n\\hline\n");
    write_latex_row(out, table, headings);
    (void)buffer_append_text(out, "\\hline\n");
    for (size_t row = 0; row < table_row_count(table); row++) {
        bool two_lines = false;
        for (size_t c = 0; c < table->column_count; c++)
            two_lines |= cells.second[row * table->column_count + c] != NULL;
        write_latex_row(out, table, cells.first + row * table->column_count);
        if (two_lines)
            write_latex_row(out, table, cells.second + row * table->column_count);
    }
    (void)buffer_append_text(out, "\\hline\n\\end{tabular}\n");
    for (size_t i = 0; i < table->notes.count; i++) {
        (void)buffer_append_text(out, "\n\\par\\footnotesize ");
        write_latex_text(out, table->notes.items[i]);
        (void)buffer_append_text(out, "\n");
    }
    (void)buffer_append_text(out, "\\end{table}\n\n");
}
