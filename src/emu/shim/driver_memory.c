/* Allocation, copies and fills of the driver API. */
#include <limits.h>
#include <string.h>

#include "emu/shim/driver.h"

static CUresult allocate(CUdeviceptr *out, size_t bytes, enum shim_memory_kind kind)
{
    void *address;
    int code = shim_allocate(bytes, kind, &address);

    if (!code)
        *out = (uintptr_t)address;
    return (CUresult)code;
}

CUresult cuMemAlloc(CUdeviceptr *out, size_t bytes)
{
    DRIVER_ENTER(false);
    return allocate(out, bytes, SHIM_DEVICE_MEMORY);
}

CUresult cuMemAllocPitch(CUdeviceptr *out, size_t *pitch, size_t width, size_t height, unsigned element_bytes)
{
    enum { PITCH_UNIT = 512 };
    size_t bytes;

    (void)element_bytes;
    DRIVER_ENTER(false);
    *pitch = (width + PITCH_UNIT - 1) / PITCH_UNIT * PITCH_UNIT;
    if (width > SIZE_MAX - PITCH_UNIT || __builtin_mul_overflow(*pitch, height, &bytes))
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(out, bytes, SHIM_DEVICE_MEMORY);
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t bytes, unsigned flags)
{
    DRIVER_ENTER(false);
    if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
        return CUDA_ERROR_INVALID_VALUE;
    return allocate(out, bytes, SHIM_MANAGED_MEMORY);
}

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t bytes, CUstream stream)
{
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    return allocate(out, bytes, SHIM_DEVICE_MEMORY);
}

CUresult cuMemFree(CUdeviceptr address)
{
    DRIVER_ENTER(true); /* as in CUDA, freeing waits */
    return (CUresult)shim_free(driver_pointer(address), SHIM_DEVICE_MEMORY, false);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    return (CUresult)shim_free(driver_pointer(address), SHIM_DEVICE_MEMORY, true);
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total_bytes)
{
    DRIVER_ENTER(false);
    shim_memory_info(free_bytes, total_bytes);
    return CUDA_SUCCESS;
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *bytes, CUdeviceptr address)
{
    struct shim_pointer found;

    DRIVER_ENTER(false);
    shim_pointer_find(driver_pointer(address), &found);
    if (found.kind == SHIM_UNKNOWN_MEMORY)
        return CUDA_ERROR_NOT_FOUND;
    if (base)
        *base = found.base;
    if (bytes)
        *bytes = found.bytes;
    return CUDA_SUCCESS;
}

CUresult cuMemHostAlloc(void **out, size_t bytes, unsigned flags)
{
    (void)flags; /* portable, mapped and write-combined memory are the same here */
    DRIVER_ENTER(false);
    return (CUresult)shim_allocate(bytes, SHIM_PINNED_MEMORY, out);
}

CUresult cuMemAllocHost(void **out, size_t bytes)
{
    return cuMemHostAlloc(out, bytes, 0);
}

CUresult cuMemFreeHost(void *address)
{
    DRIVER_ENTER(true);
    return (CUresult)shim_free(address, SHIM_PINNED_MEMORY, false);
}

CUresult cuMemHostRegister(void *address, size_t bytes, unsigned flags)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_host_register(address, bytes, !(flags & CU_MEMHOSTREGISTER_READ_ONLY));
}

CUresult cuMemHostUnregister(void *address)
{
    DRIVER_ENTER(true);
    return (CUresult)shim_host_unregister(address);
}

CUresult cuMemHostGetDevicePointer(CUdeviceptr *out, void *address, unsigned flags)
{
    struct shim_pointer found;

    DRIVER_ENTER(false);
    shim_pointer_find(address, &found);
    if (flags || found.kind != SHIM_PINNED_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    *out = (uintptr_t)address;
    return CUDA_SUCCESS;
}

CUresult cuMemHostGetFlags(unsigned *flags, void *address)
{
    struct shim_pointer found;

    DRIVER_ENTER(false);
    shim_pointer_find(address, &found);
    *flags = CU_MEMHOSTALLOC_DEVICEMAP;
    return found.kind == SHIM_PINNED_MEMORY ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned flags, CUstream stream)
{
    (void)address;
    (void)bytes;
    (void)location;
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
    (void)address;
    (void)bytes;
    (void)advice;
    (void)location;
    return driver_enter(false);
}

static CUresult copy(const char *call, bool waits, void *to, enum shim_side to_side, const void *from,
                     enum shim_side from_side, size_t bytes)
{
    const struct shim_copy wanted = {
        .to = to, .from = from, .to_side = to_side, .from_side = from_side, .width = bytes, .height = 1};

    DRIVER_ENTER(waits);
    return (CUresult)shim_copy(call, &wanted);
}

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpy", true, driver_pointer(to), SHIM_EITHER, driver_pointer(from), SHIM_EITHER, bytes);
}

CUresult cuMemcpyHtoD(CUdeviceptr to, const void *from, size_t bytes)
{
    return copy("cuMemcpyHtoD", true, driver_pointer(to), SHIM_DEVICE, from, SHIM_HOST, bytes);
}

CUresult cuMemcpyDtoH(void *to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpyDtoH", true, to, SHIM_HOST, driver_pointer(from), SHIM_DEVICE, bytes);
}

CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
    return copy("cuMemcpyDtoD", true, driver_pointer(to), SHIM_DEVICE, driver_pointer(from), SHIM_DEVICE, bytes);
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    DRIVER_STREAM(stream);
    return copy("cuMemcpyAsync", false, driver_pointer(to), SHIM_EITHER, driver_pointer(from), SHIM_EITHER, bytes);
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    DRIVER_STREAM(stream);
    return copy("cuMemcpyHtoDAsync", false, driver_pointer(to), SHIM_DEVICE, from, SHIM_HOST, bytes);
}

CUresult cuMemcpyDtoHAsync(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    DRIVER_STREAM(stream);
    return copy("cuMemcpyDtoHAsync", false, to, SHIM_HOST, driver_pointer(from), SHIM_DEVICE, bytes);
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    DRIVER_STREAM(stream);
    return copy("cuMemcpyDtoDAsync", false, driver_pointer(to), SHIM_DEVICE, driver_pointer(from), SHIM_DEVICE, bytes);
}

/* Address of a corner of a 2D copy and the side that it is on; false for arrays. */
static bool side_2d(CUmemorytype type, const void *host, CUdeviceptr device, size_t x, size_t y, size_t pitch,
                    const void **address, enum shim_side *side)
{
    const char *base = type == CU_MEMORYTYPE_HOST ? host : driver_pointer(device);

    *side = type == CU_MEMORYTYPE_HOST ? SHIM_HOST : type == CU_MEMORYTYPE_DEVICE ? SHIM_DEVICE : SHIM_EITHER;
    *address = base + y * pitch + x;
    return type != CU_MEMORYTYPE_ARRAY;
}

static CUresult copy_2d(const char *call, const CUDA_MEMCPY2D *request)
{
    const void *to;
    struct shim_copy wanted = {.width = request->WidthInBytes,
                               .height = request->Height,
                               .to_pitch = request->dstPitch,
                               .from_pitch = request->srcPitch};

    if (!side_2d(request->dstMemoryType, request->dstHost, request->dstDevice, request->dstXInBytes, request->dstY,
                 request->dstPitch, &to, &wanted.to_side) ||
        !side_2d(request->srcMemoryType, request->srcHost, request->srcDevice, request->srcXInBytes, request->srcY,
                 request->srcPitch, &wanted.from, &wanted.from_side))
        return (CUresult)shim_unsupported("cuMemcpy2D of arrays");
    wanted.to = (void *)(uintptr_t)to;
    return (CUresult)shim_copy(call, &wanted);
}

CUresult cuMemcpy2D(const CUDA_MEMCPY2D *request)
{
    DRIVER_ENTER(true);
    return copy_2d("cuMemcpy2D", request);
}

CUresult cuMemcpy2DUnaligned(const CUDA_MEMCPY2D *request)
{
    DRIVER_ENTER(true);
    return copy_2d("cuMemcpy2DUnaligned", request);
}

CUresult cuMemcpy2DAsync(const CUDA_MEMCPY2D *request, CUstream stream)
{
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    return copy_2d("cuMemcpy2DAsync", request);
}

static CUresult fill(const char *call, CUdeviceptr to, size_t pitch, uint32_t value, size_t element_bytes, size_t count,
                     size_t height)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_fill(call, driver_pointer(to), pitch, value, element_bytes, count, height);
}

CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count)
{
    return fill("cuMemsetD8", to, 0, value, 1, count, 1);
}

CUresult cuMemsetD16(CUdeviceptr to, unsigned short value, size_t count)
{
    return fill("cuMemsetD16", to, 0, value, 2, count, 1);
}

CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count)
{
    return fill("cuMemsetD32", to, 0, value, 4, count, 1);
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream)
{
    DRIVER_STREAM(stream);
    return fill("cuMemsetD8Async", to, 0, value, 1, count, 1);
}

CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, size_t count, CUstream stream)
{
    DRIVER_STREAM(stream);
    return fill("cuMemsetD16Async", to, 0, value, 2, count, 1);
}

CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream)
{
    DRIVER_STREAM(stream);
    return fill("cuMemsetD32Async", to, 0, value, 4, count, 1);
}

CUresult cuMemsetD2D8(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height)
{
    return fill("cuMemsetD2D8", to, pitch, value, 1, width, height);
}

CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream)
{
    DRIVER_STREAM(stream);
    return fill("cuMemsetD2D8Async", to, pitch, value, 1, width, height);
}

CUresult cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr address)
{
    struct shim_pointer found;

    DRIVER_ENTER(false);
    shim_pointer_find(driver_pointer(address), &found);
    if (found.kind == SHIM_UNKNOWN_MEMORY)
        return CUDA_ERROR_INVALID_VALUE;
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        return cuCtxGetCurrent(out);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        *(unsigned *)out = found.kind == SHIM_PINNED_MEMORY ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        *(CUdeviceptr *)out = address;
        return attribute == CU_POINTER_ATTRIBUTE_HOST_POINTER && found.kind == SHIM_DEVICE_MEMORY
                   ? CUDA_ERROR_INVALID_VALUE
                   : CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        *(unsigned long long *)out = found.id;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        *(unsigned *)out = found.kind == SHIM_MANAGED_MEMORY;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
        *(int *)out = 0;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        *(CUdeviceptr *)out = found.base;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        *(size_t *)out = found.bytes;
        return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MAPPED:
        *(bool *)out = true;
        return CUDA_SUCCESS;
    default:
        return (CUresult)shim_unsupported("cuPointerGetAttribute of this attribute");
    }
}
