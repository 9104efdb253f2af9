#include "judge/runner_environment.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/resource.h"
#include "device/device.h"
#include "emu/shim_options.h"
#include "judge/runner_client.h"

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

/* The passed variables, with room for `extra` more behind them. */
static const char **pass(struct arena *arena, size_t extra, size_t *used)
{
    size_t count = 0;

    while (environ[count])
        count++;
    const char **list = arena_calloc(arena, count + extra + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (is_passed(environ[i]))
            list[(*used)++] = environ[i];
    return list;
}

const char *const *runner_environment(struct arena *arena)
{
    size_t used = 0;

    return pass(arena, 0, &used);
}

/* Removes a variable, so that the one appended later counts. */
static void drop(const char **list, size_t *used, const char *name)
{
    size_t left = 0;

    for (size_t i = 0; i < *used; i++)
        if (strncmp(list[i], name, strlen(name)) != 0 || list[i][strlen(name)] != '=')
            list[left++] = list[i];
    *used = left;
    list[left] = NULL;
}

const char *const *runner_environment_emulated(struct arena *arena, const char *device,
                                               const struct runner_emulation *emulation)
{
    static const char *const ours[] = {"LD_LIBRARY_PATH", SHIM_ENV_ARCH,   SHIM_ENV_FINDINGS, SHIM_ENV_LAUNCHES,
                                       SHIM_ENV_SAMPLE,   SHIM_ENV_BUDGET, SHIM_ENV_SCHEDULE, SHIM_ENV_QUIET,
                                       SHIM_ENV_STATS,    SHIM_ENV_GUARD};
    const char *library = resource_find(arena, "emu/libptxemu.so");
    const char *path = getenv("LD_LIBRARY_PATH");
    size_t used = 0;
    const char **list = pass(arena, ARRAY_LEN(ours), &used);

    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        drop(list, &used, ours[i]);
    list[used++] = arena_printf(arena, "LD_LIBRARY_PATH=%.*s%s%s", library ? (int)(strrchr(library, '/') - library) : 0,
                                library ? library : "", path ? ":" : "", path ? path : "");
    list[used++] = arena_printf(arena, SHIM_ENV_ARCH "=%s", device_emulated_arch(device));
    list[used++] = SHIM_ENV_FINDINGS "=fd:4";
    list[used++] = SHIM_ENV_LAUNCHES "=1";
    list[used++] = SHIM_ENV_GUARD "=1";
    list[used++] = SHIM_ENV_QUIET "=1";
    list[used++] = arena_printf(arena, SHIM_ENV_SAMPLE "=%" PRIu64, emulation->sample);
    list[used++] = arena_printf(arena, SHIM_ENV_BUDGET "=%" PRIu64, emulation->budget);
    list[used++] = arena_printf(arena, SHIM_ENV_SCHEDULE "=%s", emulation->schedule);
    return list;
}
