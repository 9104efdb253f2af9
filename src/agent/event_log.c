#define _GNU_SOURCE
#include "agent/event_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/file.h"

struct log_reader {
    const char *path;
    struct buffer line; /* not whole yet */
    int number;
    event_visit *visit;
    void *context;
};

static bool take_line(struct log_reader *reader, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    AUTO_ARENA *arena = arena_new();
    struct event event;

    reader->number++;
    if (!json_parse(reader->line.data, reader->line.length, reader->path, reader->number, &document, error) ||
        !event_from_json(json_root(document), arena, &event, error))
        return false;
    buffer_reset(&reader->line);
    return reader->visit(&event, reader->context, error) || error_prefix(error, "%s:%d", reader->path, reader->number);
}

static bool take_piece(void *context, const char *bytes, size_t length, struct error *error)
{
    struct log_reader *reader = context;

    while (length) {
        const char *newline = memchr(bytes, '\n', length);
        size_t part = newline ? (size_t)(newline - bytes) : length;
        if (!buffer_append(&reader->line, bytes, part))
            return error_set(error, ERROR_LIMIT, "%s:%d: line is longer than %d bytes", reader->path,
                             reader->number + 1, EVENT_LINE_MAX);
        if (!newline)
            return true;
        if (!take_line(reader, error))
            return false;
        bytes += part + 1;
        length -= part + 1;
    }
    return true;
}

bool event_log_read(const char *path, event_visit *visit, void *context, struct error *error)
{
    struct log_reader reader = {.path = path, .line = buffer_new(EVENT_LINE_MAX), .visit = visit, .context = context};
    bool ok = file_each_piece(path, take_piece, &reader, error);

    buffer_free(&reader.line);
    if (!ok && error->code == ERROR_NOT_FOUND && !file_exists(path)) {
        error_clear(error);
        return true;
    }
    return ok;
}

/* Offset behind the last newline. */
static bool find_end(int fd, off_t size, off_t *end)
{
    char block[4096];

    for (off_t at = size; at > 0;) {
        off_t start = at > (off_t)sizeof block ? at - (off_t)sizeof block : 0;
        ssize_t got = pread(fd, block, (size_t)(at - start), start);
        if (got != at - start)
            return false;
        for (ssize_t i = got; i > 0; i--)
            if (block[i - 1] == '\n') {
                *end = start + i;
                return true;
            }
        at = start;
    }
    *end = 0;
    return true;
}

bool event_log_repair(const char *path, bool *repaired, struct error *error)
{
    AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat info;
    off_t end;

    *repaired = false;
    if (fd < 0)
        return errno == ENOENT || error_system(error, errno, "%s: cannot open", path);
    if (fstat(fd, &info) || !find_end(fd, info.st_size, &end))
        return error_system(error, errno, "%s: cannot read", path);
    if (end == info.st_size)
        return true;
    if (ftruncate(fd, end))
        return error_system(error, errno, "%s: cannot cut off an unfinished line", path);
    *repaired = true;
    return true;
}

bool event_log_append(const char *path, const struct event *event, struct error *error)
{
    AUTO_JSON_OBJECT *line = event_to_json(event);
    AUTO_FREE char *text = NULL;

    if (!json_to_text(line, false, &text, error))
        return error_prefix(error, "%s", path);
    size_t length = strlen(text);
    if (length >= EVENT_LINE_MAX)
        return error_set(error, ERROR_LIMIT, "%s: an event of %zu bytes", path, length);
    text[length] = '\n'; /* in place of the terminator: one write, no copy */
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0)
        return error_system(error, errno, "%s: cannot open for appending", path);
    ssize_t put;
    do
        put = write(fd, text, length + 1);
    while (put < 0 && errno == EINTR);
    if (put < 0)
        return error_system(error, errno, "%s: cannot append", path);
    if ((size_t)put != length + 1 && ftruncate(fd, lseek(fd, 0, SEEK_END) - put))
        return error_system(error, errno, "%s: cannot take back a part of a line", path);
    if ((size_t)put != length + 1)
        return error_system(error, ENOSPC, "%s: only a part of the line was appended", path);
    return true;
}

bool event_log_sync(int folder, struct error *error)
{
    return !syncfs(folder) || error_system(error, errno, "cannot sync the logs");
}
