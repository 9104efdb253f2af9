#include "judge/runner_environment.h"

#include <stdbool.h>
#include <string.h>

extern char **environ;

/* With '=': this variable; without: all that begin so. */
static const char *const passed[] = {
    "PATH=", "HOME=",   "TMPDIR=",   "LANG=",         "LC_ALL=",        "LD_LIBRARY_PATH=",
    "CUDA_", "NVIDIA_", "PTXBENCH_", "ASAN_OPTIONS=", "UBSAN_OPTIONS=", "LSAN_OPTIONS=",
};

static bool is_passed(const char *variable)
{
    for (size_t i = 0; i < ARRAY_LEN(passed); i++)
        if (!strncmp(variable, passed[i], strlen(passed[i])))
            return true;
    return false;
}

const char *const *runner_environment(struct arena *arena)
{
    size_t count = 0, used = 0;

    while (environ[count])
        count++;
    const char **list = arena_calloc(arena, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (is_passed(environ[i]))
            list[used++] = environ[i];
    return list;
}
