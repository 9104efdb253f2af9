/* Allocation of the runtime API. */
#include "emu/shim/runtime.h"

static cudaError_t allocate(void **out, size_t bytes, enum shim_memory_kind kind)
{
    RUNTIME_ENTER(false);
    if (!out)
        return runtime_return(cudaErrorInvalidValue);
    *out = NULL;
    return bytes ? runtime_return(shim_allocate(bytes, kind, out)) : cudaSuccess;
}

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    return allocate(out, bytes, SHIM_DEVICE_MEMORY);
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    (void)flags;
    return allocate(out, bytes, SHIM_MANAGED_MEMORY);
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    return allocate(out, bytes, SHIM_PINNED_MEMORY);
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    (void)flags; /* portable, mapped and write-combined memory are the same here */
    return allocate(out, bytes, SHIM_PINNED_MEMORY);
}

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    RUNTIME_ENTER(false);
    RUNTIME_STREAM(stream);
    return allocate(out, bytes, SHIM_DEVICE_MEMORY);
}
PER_THREAD(cudaMallocAsync, _ptsz);

cudaError_t cudaMallocFromPoolAsync(void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
    return pool ? cudaMallocAsync(out, bytes, stream) : runtime_return(cudaErrorInvalidValue);
}
PER_THREAD(cudaMallocFromPoolAsync, _ptsz);

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    CUdeviceptr address = 0;

    RUNTIME_ENTER(false);
    int code = (int)cuMemAllocPitch(&address, pitch, width, height, 4);
    *out = (void *)(uintptr_t)address;
    return runtime_return(code);
}

cudaError_t cudaFree(void *address)
{
    RUNTIME_ENTER(true); /* as in CUDA, freeing waits */
    return runtime_return(shim_free(address, SHIM_DEVICE_MEMORY, false));
}

cudaError_t cudaFreeHost(void *address)
{
    RUNTIME_ENTER(true);
    return runtime_return(shim_free(address, SHIM_PINNED_MEMORY, false));
}

cudaError_t cudaFreeAsync(void *address, cudaStream_t stream)
{
    RUNTIME_ENTER(false);
    RUNTIME_STREAM(stream);
    return runtime_return(shim_free(address, SHIM_DEVICE_MEMORY, true));
}
PER_THREAD(cudaFreeAsync, _ptsz);

cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    RUNTIME_ENTER(false);
    shim_memory_info(free_bytes, total_bytes);
    return cudaSuccess;
}

cudaError_t cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuMemHostRegister(address, bytes, flags));
}

cudaError_t cudaHostUnregister(void *address)
{
    RUNTIME_ENTER(true);
    return runtime_return((int)cuMemHostUnregister(address));
}

cudaError_t cudaHostGetDevicePointer(void **out, void *address, unsigned flags)
{
    CUdeviceptr device = 0;

    RUNTIME_ENTER(false);
    int code = (int)cuMemHostGetDevicePointer(&device, address, flags);
    *out = (void *)(uintptr_t)device;
    return runtime_return(code);
}

cudaError_t cudaHostGetFlags(unsigned *flags, void *address)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuMemHostGetFlags(flags, address));
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *attributes, const void *address)
{
    static const enum cudaMemoryType types[] = {
        [SHIM_UNKNOWN_MEMORY] = cudaMemoryTypeUnregistered,
        [SHIM_DEVICE_MEMORY] = cudaMemoryTypeDevice,
        [SHIM_PINNED_MEMORY] = cudaMemoryTypeHost,
        [SHIM_MANAGED_MEMORY] = cudaMemoryTypeManaged,
    };
    struct shim_pointer found;
    void *same = (void *)(uintptr_t)address;

    RUNTIME_ENTER(false);
    shim_pointer_find(address, &found);
    *attributes = (struct cudaPointerAttributes){
        .type = types[found.kind],
        .device = found.kind == SHIM_UNKNOWN_MEMORY ? cudaInvalidDeviceId : 0,
        .devicePointer = found.kind == SHIM_UNKNOWN_MEMORY ? NULL : same,
        .hostPointer = found.kind == SHIM_DEVICE_MEMORY ? NULL : same,
    };
    return cudaSuccess;
}

cudaError_t cudaMemPrefetchAsync(const void *address, size_t bytes, struct cudaMemLocation location, unsigned flags,
                                 cudaStream_t stream)
{
    (void)address;
    (void)bytes;
    (void)location;
    (void)flags;
    RUNTIME_ENTER(false);
    RUNTIME_STREAM(stream);
    return cudaSuccess;
}
PER_THREAD(cudaMemPrefetchAsync, _ptsz);

cudaError_t cudaMemAdvise(const void *address, size_t bytes, enum cudaMemoryAdvise advice,
                          struct cudaMemLocation location)
{
    (void)address;
    (void)bytes;
    (void)advice;
    (void)location;
    RUNTIME_ENTER(false);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuDeviceGetDefaultMemPool(pool, device));
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    return cudaDeviceGetDefaultMemPool(pool, device);
}

cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuDeviceSetMemPool(device, pool));
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
    const CUmemPoolProps same = {.handleTypes = (CUmemAllocationHandleType)properties->handleTypes};

    RUNTIME_ENTER(false);
    return runtime_return((int)cuMemPoolCreate(pool, &same));
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    return runtime_return((int)cuMemPoolDestroy(pool));
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    return runtime_return((int)cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
    return runtime_return((int)cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
    return runtime_return((int)cuMemPoolTrimTo(pool, keep));
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *access, size_t count)
{
    return runtime_return((int)cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)access, count));
}
