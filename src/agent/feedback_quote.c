/* Text of a candidate, marked so that it cannot pass for ours. */
#include <ctype.h>
#include <string.h>

#include "agent/feedback_internal.h"
#include "base/hash.h"
#include "base/utf8.h"

enum { QUOTED_COLUMNS = 300, CONTEXT_LINES = 2 };

#define REPLACEMENT "\xef\xbf\xbd"

void feedback_tag(const struct verdict *verdict, const char *source, const char *secret, char tag[FEEDBACK_TAG_BYTES])
{
    AUTO_JSON_OBJECT *tree = verdict_to_json(verdict);
    AUTO_FREE char *text = NULL;
    struct hash *hash = hash_new();
    struct error error;
    char digits[HASH_TEXT_BYTES];

    hash_add_text(hash, secret ? secret : "");
    hash_add_text(hash, source ? source : "");
    /* a verdict that is not UTF-8 comes from nowhere but a test; its status still counts */
    hash_add_text(hash, json_to_text(tree, false, &text, &error) ? text : verdict_status_text(verdict->status));
    hash_finish(hash, digits);
    memcpy(tag, digits, FEEDBACK_TAG_BYTES - 1);
    tag[FEEDBACK_TAG_BYTES - 1] = 0;
}

/* Line and paragraph separators, NEL, marks that change the direction, and characters without width. */
static bool is_treacherous(const unsigned char *at, size_t length)
{
    unsigned code;

    if (length == 2)
        return at[0] == 0xc2 && at[1] < 0xa0;
    if (length != 3)
        return length == 1 && (*at < 0x20 || *at == 0x7f);
    code = (unsigned)(at[0] & 0x0f) << 12 | (unsigned)(at[1] & 0x3f) << 6 | (at[2] & 0x3f);
    return (code >= 0x200b && code <= 0x200f) || (code >= 0x2028 && code <= 0x202e) ||
           (code >= 0x2060 && code <= 0x206f) || code == 0xfeff;
}

/* One line without its end, at most QUOTED_COLUMNS characters. */
static void append_clean(struct buffer *out, const char *text, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length;) {
        const unsigned char *at = (const unsigned char *)text + i;
        size_t bytes = utf8_sequence_length(at, length - i);
        if (columns++ == QUOTED_COLUMNS) {
            (void)buffer_append_text(out, "...");
            return;
        }
        if (*at == '\t')
            (void)buffer_append_text(out, " ");
        else if (!bytes || is_treacherous(at, bytes))
            (void)buffer_append_text(out, REPLACEMENT);
        else
            (void)buffer_append(out, at, bytes);
        i += bytes ? bytes : 1;
    }
}

void quote_text(struct report *report, const char *text, size_t length, size_t lines)
{
    size_t shown = 0;

    for (size_t at = 0; at < length;) {
        const char *end = memchr(text + at, '\n', length - at);
        size_t line = end ? (size_t)(end - text) - at : length - at;
        size_t visible = line && text[at + line - 1] == '\r' ? line - 1 : line;
        if (shown++ == lines) {
            (void)buffer_printf(report->out, "%s| ... (%zu more bytes)\n", report->tag, length - at);
            return;
        }
        (void)buffer_printf(report->out, "%s| ", report->tag);
        append_clean(report->out, text + at, visible);
        (void)buffer_append_text(report->out, "\n");
        at += line + (end != NULL);
    }
}

void quote_line(struct report *report, const char *text)
{
    size_t length = text ? strlen(text) : 0;

    if (!length)
        return;
    (void)buffer_printf(report->out, "%s| ", report->tag);
    while (length) { /* a message has one line; if not, the others follow behind a mark */
        size_t line = strcspn(text, "\r\n");
        append_clean(report->out, text, line);
        length -= line;
        text += line;
        if (length) {
            (void)buffer_append_text(report->out, " ");
            text++;
            length--;
        }
    }
    (void)buffer_append_text(report->out, "\n");
}

static bool is_main_file(const struct report *report, const char *file)
{
    const char *name = report->options->file;

    return !file || (name ? !strcmp(file, name) : !strchr(file, '/'));
}

void quote_source(struct report *report, const char *file, int line, int column)
{
    const char *at = report->source;
    int number = 1;

    if (!at || line < 1 || !is_main_file(report, file) || line == report->shown_line)
        return;
    report->shown_line = line;
    while (*at && number <= line + CONTEXT_LINES) {
        size_t length = strcspn(at, "\n");
        size_t visible = length && at[length - 1] == '\r' ? length - 1 : length;
        if (number >= line - CONTEXT_LINES) {
            (void)buffer_printf(report->out, "%s| %c%5d | ", report->tag, number == line ? '>' : ' ', number);
            append_clean(report->out, at, visible);
            (void)buffer_append_text(report->out, "\n");
        }
        if (number == line && column > 0 && (size_t)column <= visible + 1 && column < QUOTED_COLUMNS)
            (void)buffer_printf(report->out, "%s|       | %*s^\n", report->tag, column - 1, "");
        at += length + (at[length] == '\n');
        number++;
    }
}

void put_hint(struct report *report, const char *hint)
{
    if (!hint || !*hint || (report->last_hint && !strcmp(report->last_hint, hint)))
        return;
    report->last_hint = hint;
    (void)buffer_append_text(report->out, "   Try: ");
    append_clean(report->out, hint, strcspn(hint, "\r\n"));
    (void)buffer_append_text(report->out, "\n");
}

const char *safe_name(struct report *report, char text[128], const char *name)
{
    size_t length = 0;

    (void)report;
    for (const char *at = name ? name : ""; *at && length < 120; at++)
        text[length++] = isalnum((unsigned char)*at) || strchr("_./:<>~+-,*&()# ", *at) ? *at : '?';
    text[length] = 0;
    return length ? text : "unknown";
}
