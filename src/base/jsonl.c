#include "base/jsonl.h"

#include <string.h>

#include "base/buffer.h"
#include "base/file.h"
#include "base/log.h"

struct reader {
    const char *path;
    enum jsonl_broken broken;
    jsonl_visit *visit;
    void *context;
    int line; /* number of the line being read */
};

static bool take_line(struct reader *reader, const char *text, size_t length, struct error *error)
{
    struct json_document *document;
    int line = reader->line++;
    size_t blank = 0;

    while (blank < length && strchr(" \t\r", text[blank]) && text[blank])
        blank++;
    if (blank == length)
        return true;
    if (json_parse(text, length, reader->path, line, &document, error))
        return reader->visit(document, reader->context, error);
    if (reader->broken == JSONL_REFUSE || error->code != ERROR_INPUT)
        return false;
    log_message(LOG_WARNING, "skipped a broken line: %s", error->message);
    return true;
}

/* Hands out the complete lines of `buffer` and keeps the rest. */
static bool take_lines(struct reader *reader, struct buffer *buffer, struct error *error)
{
    size_t start = 0;

    for (char *end; (end = memchr(buffer->data + start, '\n', buffer->length - start));) {
        size_t length = (size_t)(end - (buffer->data + start));
        if (!take_line(reader, buffer->data + start, length, error))
            return false;
        start += length + 1;
    }
    if (start) {
        buffer->length -= start;
        memmove(buffer->data, buffer->data + start, buffer->length + 1);
    }
    return true;
}

struct stream {
    struct reader reader;
    struct buffer buffer; /* what is not a whole line yet */
    size_t line_limit;
};

static bool take_piece(void *context, const char *bytes, size_t length, struct error *error)
{
    struct stream *stream = context;
    struct reader *reader = &stream->reader;

    if (!buffer_append(&stream->buffer, bytes, length))
        return error_set(error, ERROR_MEMORY, "%s: out of memory", reader->path);
    if (!take_lines(reader, &stream->buffer, error))
        return false;
    return stream->buffer.length <= stream->line_limit ||
           error_set(error, ERROR_LIMIT, "%s:%d: line is longer than %zu bytes", reader->path, reader->line,
                     stream->line_limit);
}

bool jsonl_each(const char *path, size_t line_limit, enum jsonl_broken broken, jsonl_visit *visit, void *context,
                struct error *error)
{
    enum { PIECE_BYTES = 64 * 1024 }; /* most that file_each_piece hands over */
    struct stream stream = {
        .reader = {.path = path, .broken = broken, .visit = visit, .context = context, .line = 1},
        .buffer = buffer_new(line_limit + PIECE_BYTES),
        .line_limit = line_limit,
    };
    bool ok = file_each_piece(path, take_piece, &stream, error) &&
              take_line(&stream.reader, stream.buffer.data, stream.buffer.length, error);

    buffer_free(&stream.buffer);
    return ok;
}
