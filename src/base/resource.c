#include "base/resource.h"

#include <limits.h>
#include <stdlib.h>

#include "base/file.h"

static char *find_below(struct arena *arena, const char *root, const char *const *places, size_t count,
                        const char *name)
{
    char resolved[PATH_MAX];

    for (size_t i = 0; i < count; i++)
        if (realpath(arena_printf(arena, "%s/%s/%s", root, places[i], name), resolved))
            return arena_strdup(arena, resolved);
    return NULL;
}

char *resource_find(struct arena *arena, const char *name)
{
    static const char *const below_home[] = {".", ".venv/wheels"};
    static const char *const below_executable[] = {
        ".", "../share/ptxbench", "..", "../.venv/wheels", "../..", "../../.venv/wheels",
    };
    const char *home = getenv("PTXBENCH_HOME");
    char *found = NULL;

    if (home && *home)
        found = find_below(arena, home, below_home, ARRAY_LEN(below_home), name);
    if (!found)
        found = find_below(arena, file_executable_folder(arena), below_executable, ARRAY_LEN(below_executable), name);
    return found;
}

char *resource_find_program(struct arena *arena, const char *name)
{
    static const char *const folders[] = {"", "bin/", "nvidia/cu13/bin/"};
    const char *cuda_home = getenv("CUDA_HOME");
    char *program = file_find_program(arena, name);

    for (size_t i = 0; !program && i < ARRAY_LEN(folders); i++) {
        char *candidate = resource_find(arena, arena_printf(arena, "%s%s", folders[i], name));
        if (candidate && !file_is_folder(candidate))
            program = file_find_program(arena, candidate);
    }
    if (!program && cuda_home && *cuda_home)
        program = file_find_program(arena, arena_printf(arena, "%s/bin/%s", cuda_home, name));
    if (!program)
        program = file_find_program(arena, arena_printf(arena, "/usr/local/cuda/bin/%s", name));
    return program;
}
