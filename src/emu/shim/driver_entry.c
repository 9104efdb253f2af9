/* Error names, and entry points by name. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "emu/shim/driver.h"

CUresult cuGetErrorName(CUresult code, const char **name)
{
    *name = shim_error_driver_name((int)code);
    return *name ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char **text)
{
    *text = shim_error_driver_name((int)code) ? shim_error_text((int)code) : NULL;
    return *text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* The newest version of a function that this library has: cuMemAlloc is cuMemAlloc_v2. */
static void *find_symbol(const char *name)
{
    static const char *const versions[] = {"_v4", "_v3", "_v2", ""};
    char symbol[160];
    void *found = NULL;
    Dl_info own, owner;

    if (!dladdr((const void *)(uintptr_t)&cuInit, &own))
        return NULL;
    void *self = dlopen(own.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    for (size_t i = 0; self && !found && i < ARRAY_LEN(versions); i++) {
        (void)snprintf(symbol, sizeof symbol, "%s%s", name, versions[i]);
        found = dlsym(self, symbol);
        if (found && (!dladdr(found, &owner) || owner.dli_fbase != own.dli_fbase))
            found = NULL;
    }
    if (self)
        (void)dlclose(self);
    return found;
}

CUresult cuGetProcAddress(const char *name, void **function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult *status)
{
    (void)version; /* one version of each function is there: that of CUDA 13 */
    (void)flags;   /* all streams are alike, the per-thread default stream too */
    if (!name || !function)
        return CUDA_ERROR_INVALID_VALUE;
    *function = strncmp(name, "cu", 2) ? NULL : find_symbol(name);
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

/* What the static runtime library asks for at its start. */
CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    static bool told;

    (void)id;
    *table = NULL;
    if (__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        return CUDA_ERROR_NOT_SUPPORTED;
    return (CUresult)shim_refuse(CUDA_ERROR_NOT_SUPPORTED,
                                 "cuGetExportTable is not emulated: the program is linked with the static CUDA "
                                 "runtime; link it with -cudart shared");
}

CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

CUresult cuProfilerStart(void)
{
    return driver_enter(false);
}

CUresult cuProfilerStop(void)
{
    return driver_enter(false);
}
