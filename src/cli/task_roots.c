#include "cli/task_roots.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/resource.h"

/* Splits a colon list; empty parts are skipped. */
static size_t split_list(struct arena *arena, const char *list, const char ***out)
{
    const char **roots = arena_calloc(arena, strlen(list) + 1, sizeof *roots);
    size_t count = 0;

    for (const char *at = list; *at;) {
        size_t length = strcspn(at, ":");
        if (length)
            roots[count++] = arena_strndup(arena, at, length);
        at += length + (at[length] == ':');
    }
    *out = roots;
    return count;
}

static bool find_default(struct arena *arena, const char **out, struct error *error)
{
    *out = resource_find(arena, "tasks");
    if (*out)
        return true;
    (void)error_set(error, ERROR_NOT_FOUND,
                    "no trace set: neither --tasks nor PTXBENCH_TASKS is given, and there is no tasks folder beside %s",
                    file_executable_folder(arena));
    return error_hint(error, "name one: --tasks DIR");
}

bool task_roots_default(struct arena *arena, const char *const **out, size_t *count, struct error *error)
{
    const char *list = getenv("PTXBENCH_TASKS");
    const char **roots = NULL;

    *count = list && *list ? split_list(arena, list, &roots) : 0;
    if (!*count) {
        roots = arena_calloc(arena, 1, sizeof *roots);
        if (!find_default(arena, &roots[0], error))
            return false;
        *count = 1;
    }
    *out = roots;
    return true;
}

bool task_roots_open(const char *const *given, size_t count, struct trace_set **out, struct error *error)
{
    AUTO_ARENA *arena = arena_new();

    if (!count && !task_roots_default(arena, &given, &count, error))
        return false;
    return trace_set_open(given, count, out, error);
}
