#define _GNU_SOURCE
#include "device/cuda_driver.h"

#include <dlfcn.h>

#include "device/dynamic.h"

/* cuda.h maps names to versioned entry points by macros (cuMemAlloc -> cuMemAlloc_v2): the text of the expanded name
 * is the symbol to look up. */
#define SYMBOL_TEXT_(name) #name
#define SYMBOL_TEXT(name) SYMBOL_TEXT_(name)

static struct cuda_driver table;

static bool load_table(struct error *error)
{
    const char *name = getenv("PTXBENCH_LIBCUDA");

    if (!dynamic_open(name && *name ? name : "libcuda.so.1", false,
                      "judge on a machine with an NVIDIA driver; 'ptxbench compile' needs none", &table.library, error))
        return false;
#define X(function)                                                                                                    \
    if (!dynamic_symbol(table.library, SYMBOL_TEXT(function), (void **)&table.function, error))                        \
        return error_hint(error, "update the NVIDIA driver to release 580 or newer");
    CUDA_DRIVER_FUNCTIONS(X)
#undef X
    return true;
}

bool cuda_driver_load(const struct cuda_driver **driver, struct error *error)
{
    static bool ready;
    int count = 0;

    if (!ready) {
        if (!load_table(error))
            return false;
        CUresult result = table.cuInit(0);
        if (result == CUDA_ERROR_NO_DEVICE) {
            (void)error_set(error, ERROR_UNSUPPORTED, "the CUDA driver sees no GPU");
            return error_hint(error,
                              "judge on a machine with a Hopper or Blackwell GPU; 'ptxbench compile' needs none");
        }
        if (result != CUDA_SUCCESS)
            return cuda_error(&table, error, result, "cuInit");
        CUDA_TRY(&table, error, cuDriverGetVersion(&table.version));
        CUDA_TRY(&table, error, cuDeviceGetCount(&count));
        ready = true;
    }
    *driver = &table;
    return true;
}

const char *cuda_result_name(const struct cuda_driver *driver, CUresult result)
{
    const char *name = NULL;

    if (driver->cuGetErrorName)
        (void)driver->cuGetErrorName(result, &name);
    return name ? name : "unknown CUDA error";
}

bool cuda_error(const struct cuda_driver *driver, struct error *error, CUresult result, const char *what)
{
    const char *text = NULL;

    if (driver->cuGetErrorString)
        (void)driver->cuGetErrorString(result, &text);
    return error_set(error, ERROR_DEVICE, "%s: %s (%s)", what, cuda_result_name(driver, result),
                     text ? text : "no description");
}
