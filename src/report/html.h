/*
 * A report as one HTML page that needs no network and no other file: tables that sort, charts with hover, filters by
 * model, GPU and definition, and links to the code and the verdict of each turn that the run folders hold.
 *
 * The page refuses to load anything (its Content-Security-Policy). Every text that comes from files is escaped, and the
 * script puts it in as text, never as markup.
 */
#ifndef PTXBENCH_REPORT_HTML_H
#define PTXBENCH_REPORT_HTML_H

#include "base/buffer.h"
#include "report/report.h"

struct html_options {
    const char *title;
    const char *folder; /* of the page: links to runs are relative to it; NULL: the working directory */
};

/* Turns that a page lists one by one, and rows that a table of it shows, at most. */
enum { HTML_TURNS_MAX = 50000, HTML_ROWS_MAX = 3000 };

/* Appends the page. `tables` ends with NULL. Without `report` (NULL) the page has only tables. `set` is the one that
 * the tables are of: its warnings are shown. */
void html_write(struct buffer *out, const struct report *report, struct table *const *tables,
                const struct turn_set *set, const struct html_options *options);

/* Appends a text as element content or as an attribute in double quotes: escaped, valid UTF-8, no control characters. */
void html_write_text(struct buffer *out, const char *text);

/* Appends a JSON string that may stand inside a <script> element. */
void html_write_json_text(struct buffer *out, const char *text);

/* The parts of a page. */
void html_write_table(struct buffer *out, const struct table *table);
void html_write_data(struct buffer *out, const struct report *report, const struct html_options *options);

/* Path of a file in a run folder relative to the page's folder, percent-encoded, in the arena; NULL when the turn has no
 * such file. `name` is "kernel.cu" or "verdict.json". */
struct html_links;
struct html_links *html_links_new(struct arena *arena, const char *folder);
const char *html_link(struct html_links *links, const struct series *series, const struct trajectory *trajectory,
                      int turn, const char *name);

#endif
