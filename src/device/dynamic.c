#define _GNU_SOURCE
#include "device/dynamic.h"

#include <dlfcn.h>
#include <glob.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/resource.h"

static void *open_in(const char *pattern, const char *name, int flags)
{
    char path[4096];
    glob_t found;
    void *library = NULL;

    (void)snprintf(path, sizeof path, "%s/%s", pattern, name);
    if (glob(path, 0, NULL, &found))
        return NULL;
    for (size_t i = 0; !library && i < found.gl_pathc; i++)
        library = dlopen(found.gl_pathv[i], flags);
    globfree(&found);
    return library;
}

static void *open_anywhere(const char *name, int flags)
{
    AUTO_ARENA *arena = arena_new();
    const char *own = getenv("PTXBENCH_CUDA_LIB");
    const char *cuda = getenv("CUDA_HOME");
    void *library = own && *own ? open_in(own, name, flags) : NULL;

    if (!library)
        library = dlopen(name, flags);
    if (!library && cuda && *cuda)
        library = open_in(arena_printf(arena, "%s/lib64", cuda), name, flags);
    if (!library)
        library = open_in("/usr/local/cuda/lib64", name, flags);
    const char *wheels = library ? NULL : resource_find(arena, "nvidia/cu13/lib");
    if (wheels)
        library = open_in(wheels, name, flags);
    const char *python = library ? NULL : file_find_program(arena, "python3");
    if (python) {
        char *root = arena_strdup(arena, python);
        *(char *)file_basename(root) = '\0';
        library = open_in(arena_printf(arena, "%s../lib/python3*/site-packages/nvidia/*/lib", root), name, flags);
    }
    if (!library)
        library = open_in("/usr/lib/python3/dist-packages/nvidia/*/lib", name, flags);
    return library;
}

bool dynamic_open(const char *name, bool global, const char *remedy, void **library, struct error *error)
{
    *library = open_anywhere(name, RTLD_NOW | (global ? RTLD_GLOBAL : RTLD_LOCAL));
    if (*library)
        return true;
    (void)error_set(error, ERROR_UNSUPPORTED, "%s: cannot load: %s", name, dlerror());
    return error_hint(error, "%s", remedy);
}

bool dynamic_symbol(void *library, const char *symbol, void **out, struct error *error)
{
    *out = dlsym(library, symbol);
    return *out ? true : error_set(error, ERROR_UNSUPPORTED, "%s: the library lacks this function", symbol);
}

const char *dynamic_path_of(const void *address)
{
    Dl_info info;

    return dladdr(address, &info) ? info.dli_fname : NULL;
}
