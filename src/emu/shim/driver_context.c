/* Initialisation, the one device, and contexts. All contexts share the device's memory: they are only handles. */
#include <string.h>

#include "emu/shim/driver.h"

enum { STACK_DEPTH = 16, STACK_BYTES = 1024, PRINTF_BYTES = 1 << 20, HEAP_BYTES = 8 << 20 };

struct CUctx_st {
    unsigned flags;
};

static struct CUctx_st primary;
static unsigned primary_references; /* changed atomically */
static bool initialised;

static _Thread_local struct {
    CUcontext stack[STACK_DEPTH];
    int depth; /* 0: no current context */
} contexts;

CUresult driver_enter(bool waits)
{
    if (!__atomic_load_n(&initialised, __ATOMIC_ACQUIRE))
        return CUDA_ERROR_NOT_INITIALIZED;
    if (!contexts.depth || !contexts.stack[contexts.depth - 1])
        return CUDA_ERROR_INVALID_CONTEXT;
    return (CUresult)shim_status(waits);
}

CUresult cuInit(unsigned flags)
{
    int code = flags ? CUDA_ERROR_INVALID_VALUE : shim_start();

    if (!code)
        __atomic_store_n(&initialised, true, __ATOMIC_RELEASE);
    return (CUresult)code;
}

CUresult cuDriverGetVersion(int *version)
{
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

static CUresult check_device(CUdevice device)
{
    if (!__atomic_load_n(&initialised, __ATOMIC_ACQUIRE))
        return CUDA_ERROR_NOT_INITIALIZED;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count)
{
    *count = 1;
    return check_device(0);
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = 0;
    return check_device(ordinal);
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device)
{
    CUresult code = check_device(device);

    if (code || length <= 0)
        return code ? code : CUDA_ERROR_INVALID_VALUE;
    (void)snprintf(name, (size_t)length, "%s", shim_device_name());
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    memcpy(uuid->bytes, "ptxbench-emulate", sizeof uuid->bytes);
    return check_device(device);
}

CUresult cuDeviceGetPCIBusId(char *id, int length, CUdevice device)
{
    CUresult code = check_device(device);

    if (code || length <= 0)
        return code ? code : CUDA_ERROR_INVALID_VALUE;
    (void)snprintf(id, (size_t)length, "0000:00:00.0");
    return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *id)
{
    *device = 0;
    return strcmp(id, "0000:00:00.0") ? CUDA_ERROR_INVALID_VALUE : check_device(0);
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    CUresult code = check_device(device);

    if (code)
        return code;
    return shim_device_attribute((int)attribute, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice device)
{
    size_t unused;
    CUresult code = check_device(device);

    if (!code)
        shim_memory_info(&unused, bytes);
    return code;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    *can = 0;
    return device || peer ? CUDA_ERROR_INVALID_DEVICE : check_device(0);
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult code = check_device(device);

    if (code)
        return code;
    (void)__atomic_add_fetch(&primary_references, 1, __ATOMIC_RELAXED);
    *context = &primary;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device)
{
    CUresult code = check_device(device);

    if (code)
        return code;
    if (!__atomic_load_n(&primary_references, __ATOMIC_RELAXED))
        return CUDA_ERROR_INVALID_CONTEXT;
    (void)__atomic_sub_fetch(&primary_references, 1, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    *flags = primary.flags;
    *active = __atomic_load_n(&primary_references, __ATOMIC_RELAXED) != 0;
    return check_device(device);
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    (void)flags; /* how to wait makes no difference here */
    return check_device(device);
}

CUresult cuDevicePrimaryCtxReset(CUdevice device)
{
    CUresult code = check_device(device);

    return code ? code : (CUresult)shim_unsupported("cuDevicePrimaryCtxReset");
}

CUresult cuCtxCreate(CUcontext *context, CUctxCreateParams *parameters, unsigned flags, CUdevice device)
{
    CUresult code = check_device(device);

    if (code)
        return code;
    if (parameters && (parameters->numExecAffinityParams || parameters->cigParams))
        return (CUresult)shim_unsupported("cuCtxCreate with parameters");
    CUcontext fresh = calloc(1, sizeof *fresh);
    if (!fresh || contexts.depth == STACK_DEPTH) {
        free(fresh);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    fresh->flags = flags;
    contexts.stack[contexts.depth++] = fresh;
    *context = fresh;
    return CUDA_SUCCESS;
}

CUresult cuCtxDestroy(CUcontext context)
{
    if (!context || context == &primary)
        return CUDA_ERROR_INVALID_CONTEXT;
    if (contexts.depth && contexts.stack[contexts.depth - 1] == context)
        contexts.depth--;
    free(context);
    return CUDA_SUCCESS;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult code = check_device(0);

    if (code)
        return code;
    if (contexts.depth)
        contexts.depth--;
    if (context)
        contexts.stack[contexts.depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = contexts.depth ? contexts.stack[contexts.depth - 1] : NULL;
    return check_device(0);
}

CUresult cuCtxPushCurrent(CUcontext context)
{
    if (!context || contexts.depth == STACK_DEPTH)
        return CUDA_ERROR_INVALID_CONTEXT;
    contexts.stack[contexts.depth++] = context;
    return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent(CUcontext *context)
{
    if (!contexts.depth)
        return CUDA_ERROR_INVALID_CONTEXT;
    contexts.depth--;
    if (context)
        *context = contexts.stack[contexts.depth];
    return CUDA_SUCCESS;
}

CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return contexts.depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetFlags(unsigned *flags)
{
    *flags = contexts.depth ? contexts.stack[contexts.depth - 1]->flags : 0;
    return contexts.depth ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

CUresult cuCtxGetApiVersion(CUcontext context, unsigned *version)
{
    (void)context;
    *version = CUDA_VERSION;
    return CUDA_SUCCESS;
}

CUresult cuCtxSynchronize(void)
{
    return driver_enter(true);
}

CUresult cuCtxResetPersistingL2Cache(void)
{
    return driver_enter(false);
}

CUresult cuCtxSetLimit(CUlimit limit, size_t value)
{
    (void)limit; /* stack, heap and printf buffer grow as needed */
    (void)value;
    return driver_enter(false);
}

CUresult cuCtxGetLimit(size_t *value, CUlimit limit)
{
    *value = limit == CU_LIMIT_STACK_SIZE         ? STACK_BYTES
             : limit == CU_LIMIT_PRINTF_FIFO_SIZE ? PRINTF_BYTES
             : limit == CU_LIMIT_MALLOC_HEAP_SIZE ? HEAP_BYTES
                                                  : 0;
    return driver_enter(false);
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config)
{
    (void)config;
    return driver_enter(false);
}

CUresult cuCtxGetCacheConfig(CUfunc_cache *config)
{
    *config = CU_FUNC_CACHE_PREFER_NONE;
    return driver_enter(false);
}

CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = 0;
    if (greatest)
        *greatest = -5;
    return driver_enter(false);
}
