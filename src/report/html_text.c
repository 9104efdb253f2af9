#include <string.h>

#include "report/html.h"

/* Marks that turn the direction of text: a name could make what stands beside it read backwards. U+202A to U+202E and
 * U+2066 to U+2069 become U+FFFD, of the same length. */
static void disarm_directions(char *text)
{
    for (char *at = text; (at = strstr(at, "\xe2")) != NULL; at++) {
        unsigned char second = (unsigned char)at[1];
        unsigned char third = second ? (unsigned char)at[2] : 0;
        if ((second == 0x80 && third >= 0xaa && third <= 0xae) || (second == 0x81 && third >= 0xa6 && third <= 0xa9))
            at[0] = '\xef', at[1] = '\xbf', at[2] = '\xbd';
    }
}

static void write_replaced(struct buffer *out, const char *text, const char *special, const char *const *replacements)
{
    AUTO_BUFFER clean = buffer_new(1 << 20);
    const char *at;

    (void)buffer_append_sanitized(&clean, text, strlen(text));
    if (clean.length)
        disarm_directions(clean.data);
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
