#define _GNU_SOURCE
#include "toolchain/ptx_lines.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { FILES_MAX = 4096, LINE_MAX_BYTES = 4096, POSITIONS_MAX = 1 << 22 };

struct position {
    int ptx_line;
    int file;
    int line;
    int column;
};

struct ptx_lines {
    struct position *positions; /* ascending ptx_line */
    size_t count;
    const char **files; /* index: number in .file */
    size_t file_count;
};

static size_t count_directives(const char *text, size_t length, const char *name)
{
    size_t count = 0;
    const char *at = text, *end = text + length;

    while ((at = memmem(at, (size_t)(end - at), name, strlen(name)))) {
        count++;
        at += strlen(name);
    }
    return count;
}

/* Parses `.file 1 "path"`. */
static void take_file(struct arena *arena, struct ptx_lines *lines, const char *directive)
{
    int number, start = 0;

    if (sscanf(directive, ".file %d \"%n", &number, &start) != 1 || !start || number < 0 || number >= FILES_MAX)
        return;
    const char *quote = strchr(directive + start, '"');
    if (quote && (size_t)number < lines->file_count)
        lines->files[number] = arena_strndup(arena, directive + start, (size_t)(quote - directive - start));
}

static void take_line(struct arena *arena, struct ptx_lines *lines, const char *text, int ptx_line, size_t capacity)
{
    struct position position = {.ptx_line = ptx_line};

    text += strspn(text, " \t");
    if (strncmp(text, ".file", 5) == 0)
        take_file(arena, lines, text);
    else if (lines->count < capacity &&
             sscanf(text, ".loc %d %d %d", &position.file, &position.line, &position.column) == 3)
        lines->positions[lines->count++] = position;
}

struct ptx_lines *ptx_lines_new(struct arena *arena, const char *text, size_t length)
{
    size_t capacity = count_directives(text, length, ".loc");
    char line[LINE_MAX_BYTES];
    int number = 1;

    if (!capacity || capacity > POSITIONS_MAX)
        return NULL;
    struct ptx_lines *lines = arena_alloc(arena, sizeof *lines);
    lines->positions = arena_calloc(arena, capacity, sizeof *lines->positions);
    lines->file_count = FILES_MAX;
    lines->files = arena_calloc(arena, FILES_MAX, sizeof *lines->files);
    for (const char *at = text, *end = text + length; at < end && number < INT32_MAX; number++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = (size_t)((newline ? newline : end) - at);
        size_t kept = bytes < sizeof line ? bytes : sizeof line - 1;
        memcpy(line, at, kept);
        line[kept] = 0;
        take_line(arena, lines, line, number, capacity);
        at += bytes + 1;
    }
    return lines->count ? lines : NULL;
}

bool ptx_lines_find(const struct ptx_lines *lines, int ptx_line, const char **file, int *line, int *column)
{
    size_t low = 0, high = lines->count;

    while (low < high) { /* first position behind ptx_line */
        size_t middle = low + (high - low) / 2;
        if (lines->positions[middle].ptx_line <= ptx_line)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low)
        return false;
    const struct position *position = &lines->positions[low - 1];
    if (position->file < 0 || (size_t)position->file >= lines->file_count || !lines->files[position->file] ||
        position->line <= 0)
        return false;
    *file = lines->files[position->file];
    *line = position->line;
    *column = position->column;
    return true;
}
