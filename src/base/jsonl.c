#include "base/jsonl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "base/buffer.h"
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

bool jsonl_each(const char *path, size_t line_limit, enum jsonl_broken broken, jsonl_visit *visit, void *context,
                struct error *error)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct reader reader = {.path = path, .broken = broken, .visit = visit, .context = context, .line = 1};
    char chunk[64 * 1024];

    if (fd < 0)
        return errno == ENOENT ? error_set(error, ERROR_NOT_FOUND, "%s: no such file", path)
                               : error_system(error, errno, "%s: cannot open", path);
    AUTO_BUFFER buffer = buffer_new(line_limit + sizeof chunk);
    for (;;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return error_system(error, errno, "%s: cannot read", path);
        if (!got)
            break;
        if (!buffer_append(&buffer, chunk, (size_t)got))
            return error_set(error, ERROR_MEMORY, "%s: out of memory", path);
        if (!take_lines(&reader, &buffer, error))
            return false;
        if (buffer.length > line_limit)
            return error_set(error, ERROR_LIMIT, "%s:%d: line is longer than %zu bytes", path, reader.line, line_limit);
    }
    return take_line(&reader, buffer.data, buffer.length, error);
}
