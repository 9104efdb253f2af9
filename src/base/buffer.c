#include "base/buffer.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

static char empty_text[1];

struct buffer buffer_new(size_t limit)
{
    return (struct buffer){.data = empty_text, .limit = limit};
}

/* Makes room for `length` more bytes and the terminator; false when memory is out. */
static bool reserve(struct buffer *buffer, size_t length)
{
    size_t need = buffer->length + length + 1;

    if (need <= buffer->capacity)
        return true;
    size_t capacity = buffer->capacity ? buffer->capacity : 64;
    while (capacity < need)
        capacity *= 2;
    char *data = realloc(buffer->capacity ? buffer->data : NULL, capacity);
    if (!data)
        return false;
    if (!buffer->capacity)
        data[0] = '\0';
    buffer->data = data;
    buffer->capacity = capacity;
    return true;
}

bool buffer_append(struct buffer *buffer, const void *bytes, size_t length)
{
    size_t room = buffer->limit - buffer->length;
    size_t take = length < room ? length : room;

    if (take && !reserve(buffer, take))
        take = 0;
    if (take) {
        memcpy(buffer->data + buffer->length, bytes, take);
        buffer->length += take;
        buffer->data[buffer->length] = '\0';
    }
    buffer->dropped += length - take;
    return take == length;
}

bool buffer_append_text(struct buffer *buffer, const char *text)
{
    return buffer_append(buffer, text, strlen(text));
}

bool buffer_vprintf(struct buffer *buffer, const char *format, va_list args)
{
    va_list copy;

    va_copy(copy, args);
    int length = vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    if (length < 0)
        return false;
    AUTO_FREE char *text = malloc((size_t)length + 1);
    if (!text) {
        buffer->dropped += (size_t)length;
        return false;
    }
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    return buffer_append(buffer, text, (size_t)length);
}

bool buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    bool ok = buffer_vprintf(buffer, format, args);
    va_end(args);
    return ok;
}

/* All of a sequence or nothing, so that the cap never leaves half a character. */
static void append_whole(struct buffer *buffer, const void *bytes, size_t length)
{
    if (buffer->limit - buffer->length >= length)
        (void)buffer_append(buffer, bytes, length);
    else
        buffer->dropped += length;
}

bool buffer_append_sanitized(struct buffer *buffer, const void *bytes, size_t length)
{
    static const char replacement[] = "\xef\xbf\xbd";
    const unsigned char *at = bytes;
    const unsigned char *end = at + length;

    /* Once something is dropped, so is all that follows: text has an end, not holes. */
    while (at < end && !buffer->dropped) {
        const unsigned char *run = at;
        while (at < end && ((*at >= 0x20 && *at < 0x7f) || *at == '\n' || *at == '\t'))
            at++;
        if (at > run)
            (void)buffer_append(buffer, run, (size_t)(at - run));
        if (at == end || buffer->dropped)
            break;
        size_t sequence = *at < 0x80 ? 0 : utf8_sequence_length(at, (size_t)(end - at));
        bool control = *at == 0xc2 && sequence && at[1] < 0xa0; /* U+0080 to U+009F: a terminal obeys them */
        if (sequence && !control)
            append_whole(buffer, at, sequence);
        else if (*at != '\r')
            append_whole(buffer, replacement, sizeof replacement - 1);
        at += sequence ? sequence : 1;
    }
    buffer->dropped += (size_t)(end - at);
    return !buffer->dropped;
}

void buffer_reset(struct buffer *buffer)
{
    buffer->length = 0;
    buffer->dropped = 0;
    if (buffer->capacity)
        buffer->data[0] = '\0';
}

void buffer_free(struct buffer *buffer)
{
    if (buffer->capacity)
        free(buffer->data);
    *buffer = buffer_new(buffer->limit);
}

char *buffer_detach(struct buffer *buffer)
{
    char *text = buffer->capacity ? buffer->data : calloc(1, 1);

    *buffer = buffer_new(buffer->limit);
    return text;
}
