#define _GNU_SOURCE
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "toolchain/compile_internal.h"

enum { PREFIXES_MAX = 4 };

char *compile_clean_text(struct arena *arena, const char *text, size_t length, const char *const *from)
{
    AUTO_BUFFER clean = buffer_new(4 * length + 16);
    AUTO_BUFFER plain = buffer_new(4 * length + 16);
    const char *next[PREFIXES_MAX] = {NULL}; /* next place of each prefix; searched once, not from every place */

    (void)buffer_append_sanitized(&clean, text, length);
    for (size_t i = 0; i < PREFIXES_MAX && from[i]; i++)
        next[i] = strstr(clean.data, from[i]);
    for (const char *at = clean.data; *at;) {
        size_t first = PREFIXES_MAX;
        for (size_t i = 0; i < PREFIXES_MAX && from[i]; i++) {
            if (next[i] && next[i] < at)
                next[i] = strstr(at, from[i]);
            if (next[i] && (first == PREFIXES_MAX || next[i] < next[first]))
                first = i;
        }
        const char *stop = first < PREFIXES_MAX ? next[first] : at + strlen(at);
        (void)buffer_append(&plain, at, (size_t)(stop - at));
        at = first < PREFIXES_MAX ? stop + strlen(from[first]) : stop;
    }
    return arena_strndup(arena, plain.data, plain.length);
}

void compile_parse_dependencies(struct arena *arena, const char *text, size_t length, const char *const **out,
                                size_t *count)
{
    const char *colon = memmem(text, length, " : ", 3);
    const char *at = colon ? colon + 3 : text + length;
    const char *end = text + length;
    size_t capacity = 0;
    const char **files = NULL;

    for (*count = 0; at < end;) {
        AUTO_BUFFER name = buffer_new(4096);
        while (at < end && (*at == ' ' || *at == '\n' || (*at == '\\' && at + 1 < end && at[1] == '\n')))
            at++;
        while (at < end && *at != ' ' && *at != '\n') {
            if (*at == '\\' && at + 1 < end && (at[1] == ' ' || at[1] == '\\' || at[1] == '#')) /* quoted for make */
                at++;
            else if (*at == '\\' && at + 1 < end && at[1] == '\n')
                break;
            if (*at)
                (void)buffer_append(&name, at, 1);
            at++;
        }
        if (!name.length)
            continue;
        if (*count == capacity) {
            capacity = capacity ? 2 * capacity : 64;
            const char **grown = arena_calloc(arena, capacity, sizeof *grown);
            if (*count)
                memcpy(grown, files, *count * sizeof *grown);
            files = grown;
        }
        files[(*count)++] = arena_strndup(arena, name.data, name.length);
    }
    *out = files;
}

/* A line marker `# 12 "path" 1 3`: its path and the first of its flags that is 1 (entering) or 2 (returning). */
static bool parse_marker(const char *line, size_t length, const char **path, size_t *path_length, int *flag)
{
    if (length < 5 || line[0] != '#' || line[1] != ' ' || line[2] < '0' || line[2] > '9')
        return false;
    const char *open = memchr(line, '"', length);
    const char *close = open ? memrchr(line, '"', length) : NULL;
    if (!open || close == open)
        return false;
    *path = open + 1;
    *path_length = (size_t)(close - open - 1);
    *flag = 0;
    for (const char *at = close + 1; at < line + length; at++)
        if (*at == '1' || *at == '2') {
            *flag = *at - '0';
            break;
        }
    return true;
}

enum { NESTING_MAX = 512 };

char *compile_own_lines(struct arena *arena, const char *text, size_t length, const char *folder, size_t *out_length)
{
    AUTO_BUFFER own = buffer_new(length + 2);
    bool foreign[NESTING_MAX] = {false};
    size_t depth = 0;

    /* Only markers with a flag come from real includes; one without may be the candidate's own #line. */
    for (const char *at = text, *end = text + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        size_t bytes = (size_t)((newline ? newline : end) - at);
        const char *path;
        size_t path_length;
        int flag;
        if (parse_marker(at, bytes, &path, &path_length, &flag)) {
            if (flag == 1 && depth + 1 < NESTING_MAX) {
                bool inside = path_length && path[0] != '/' && path[0] != '<';
                size_t prefix = strlen(folder);
                if (path_length > prefix && memcmp(path, folder, prefix) == 0)
                    inside = true;
                foreign[++depth] = !inside;
            } else if (flag == 2 && depth) {
                depth--;
            }
        }
        if (!foreign[depth]) {
            (void)buffer_append(&own, at, bytes);
            (void)buffer_append(&own, "\n", 1);
        }
        at += bytes + 1;
    }
    *out_length = own.length;
    return arena_strndup(arena, own.data, own.length);
}
