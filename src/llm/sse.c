#include "llm/sse.h"

#include <string.h>

enum { EVENT_NAME_MAX = 256 };

void sse_init(struct sse_parser *parser, size_t limit)
{
    *parser =
        (struct sse_parser){.line = buffer_new(limit), .data = buffer_new(limit), .event = buffer_new(EVENT_NAME_MAX)};
}

void sse_free(struct sse_parser *parser)
{
    buffer_free(&parser->line);
    buffer_free(&parser->data);
    buffer_free(&parser->event);
}

bool sse_overflowed(const struct sse_parser *parser)
{
    return parser->line.dropped || parser->data.dropped;
}

static bool dispatch(struct sse_parser *parser, sse_visit *visit, void *context)
{
    bool ok = true;

    if (parser->has_data)
        ok = visit(context, parser->event.data, parser->data.data, parser->data.length);
    buffer_reset(&parser->data);
    buffer_reset(&parser->event);
    parser->has_data = false;
    return ok;
}

static bool is_field(const char *line, size_t name_length, const char *name)
{
    return strlen(name) == name_length && !memcmp(line, name, name_length);
}

/* A line without its end. False when the parser has to stop. */
static bool take_line(struct sse_parser *parser, const char *line, size_t length, sse_visit *visit, void *context)
{
    if (!parser->after_first && length >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) {
        line += 3;
        length -= 3;
    }
    parser->after_first = true;
    if (!length)
        return dispatch(parser, visit, context);
    const char *colon = memchr(line, ':', length);
    size_t name_length = colon ? (size_t)(colon - line) : length;
    const char *value = colon ? colon + 1 : line + length;
    if (value < line + length && *value == ' ')
        value++;
    size_t value_length = (size_t)(line + length - value);
    if (is_field(line, name_length, "data")) {
        if (parser->has_data && !buffer_append(&parser->data, "\n", 1))
            return false;
        parser->has_data = true;
        return buffer_append(&parser->data, value, value_length);
    }
    if (is_field(line, name_length, "event")) {
        buffer_reset(&parser->event);
        (void)buffer_append(&parser->event, value, value_length);
    }
    return true;
}

/* The line that ends behind `bytes`, of which an earlier part may wait in the parser. */
static bool end_line(struct sse_parser *parser, const char *bytes, size_t length, sse_visit *visit, void *context)
{
    if (!parser->line.length)
        return length <= parser->line.limit
                   ? take_line(parser, bytes, length, visit, context)
                   : buffer_append(&parser->line, bytes, length); /* too long: recorded there */
    if (!buffer_append(&parser->line, bytes, length))
        return false;
    bool ok = take_line(parser, parser->line.data, parser->line.length, visit, context);
    buffer_reset(&parser->line);
    return ok;
}

bool sse_feed(struct sse_parser *parser, const char *bytes, size_t length, sse_visit *visit, void *context)
{
    const char *end = bytes + length;
    while (bytes < end) {
        if (parser->after_cr) {
            parser->after_cr = false;
            if (*bytes == '\n') {
                bytes++;
                continue;
            }
        }
        const char *stop = bytes;
        while (stop < end && *stop != '\n' && *stop != '\r')
            stop++;
        if (stop == end)
            return buffer_append(&parser->line, bytes, (size_t)(end - bytes));
        parser->after_cr = *stop == '\r';
        if (!end_line(parser, bytes, (size_t)(stop - bytes), visit, context))
            return false;
        bytes = stop + 1;
    }
    return true;
}
