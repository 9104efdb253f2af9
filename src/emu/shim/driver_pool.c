/* Memory pools: handles with attributes; the memory itself comes from the same table as any other. */
#include <string.h>

#include "emu/shim/driver.h"

enum { ATTRIBUTES = 16 };

struct CUmemPoolHandle_st {
    cuuint64_t attributes[ATTRIBUTES];
};

static struct CUmemPoolHandle_st default_pool;

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
    *pool = &default_pool;
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuDeviceGetMemPool(CUmemoryPool *pool, CUdevice device)
{
    return cuDeviceGetDefaultMemPool(pool, device);
}

CUresult cuDeviceSetMemPool(CUdevice device, CUmemoryPool pool)
{
    (void)pool; /* pools do not differ */
    return device ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
    DRIVER_ENTER(false);
    if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return (CUresult)shim_unsupported("cuMemPoolCreate of a pool for several processes");
    *pool = calloc(1, sizeof **pool);
    return *pool ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
    if (!pool || pool == &default_pool)
        return CUDA_ERROR_INVALID_VALUE;
    free(pool);
    return CUDA_SUCCESS;
}

/* The first three are int, the others 64 bits wide. */
static size_t attribute_bytes(CUmemPool_attribute attribute)
{
    return attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES ? sizeof(int) : sizeof(cuuint64_t);
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    if (!pool || !value || attribute <= 0 || (int)attribute >= ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(&pool->attributes[attribute], value, attribute_bytes(attribute));
    return CUDA_SUCCESS;
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
    if (!pool || !value || attribute <= 0 || (int)attribute >= ATTRIBUTES)
        return CUDA_ERROR_INVALID_VALUE;
    memcpy(value, &pool->attributes[attribute], attribute_bytes(attribute));
    return CUDA_SUCCESS;
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep)
{
    (void)keep;
    return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc *access, size_t count)
{
    (void)access;
    (void)count;
    return pool ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t bytes, CUmemoryPool pool, CUstream stream)
{
    return pool ? cuMemAllocAsync(out, bytes, stream) : CUDA_ERROR_INVALID_VALUE;
}
