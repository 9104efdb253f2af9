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

bool task_roots_open(const char *const *given, size_t count, struct trace_set **out, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const char *list = getenv("PTXBENCH_TASKS");
    const char **listed;
    const char *root;

    if (count)
        return trace_set_open(given, count, out, error);
    if (list && *list) {
        size_t listed_count = split_list(arena, list, &listed);
        if (listed_count)
            return trace_set_open(listed, listed_count, out, error);
    }
    return find_default(arena, &root, error) && trace_set_open(&root, 1, out, error);
}
