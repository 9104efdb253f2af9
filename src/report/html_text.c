#include <string.h>

#include "report/html.h"

static void write_replaced(struct buffer *out, const char *text, const char *special, const char *const *replacements)
{
    AUTO_BUFFER clean = buffer_new(1 << 20);
    const char *at;

    (void)buffer_append_sanitized(&clean, text, strlen(text));
    at = clean.data;
    while (*at) {
        size_t plain = strcspn(at, special);
        (void)buffer_append(out, at, plain);
        at += plain;
        if (*at)
            (void)buffer_append_text(out, replacements[strchr(special, *at++) - special]);
    }
}

void html_write_text(struct buffer *out, const char *text)
{
    static const char *const replacements[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};

    write_replaced(out, text, "&<>\"'", replacements);
}

void html_write_json_text(struct buffer *out, const char *text)
{
    static const char *const replacements[] = {"\\\"", "\\\\", "\\u003c", "\\u003e", "\\u0026", "\\n", "\\t"};

    (void)buffer_append_text(out, "\"");
    write_replaced(out, text, "\"\\<>&\n\t", replacements);
    (void)buffer_append_text(out, "\"");
}
