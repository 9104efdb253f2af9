#include "emu/shim/driver.h"

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags option)
{
    (void)option;
    if (!granularity || !properties)
        return CUDA_ERROR_INVALID_VALUE;
    *granularity = SHIM_PAGE_BYTES;
    return CUDA_SUCCESS;
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t bytes, const CUmemAllocationProp *properties,
                     unsigned long long flags)
{
    uint64_t value;

    DRIVER_ENTER(false);
    if (flags || !properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
        return CUDA_ERROR_INVALID_VALUE;
    if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE || properties->location.id)
        return (CUresult)shim_unsupported("cuMemCreate of memory outside of device 0");
    int code = shim_physical_new(bytes, &value);
    if (!code)
        *handle = value;
    return (CUresult)code;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_physical_release(handle);
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags)
{
    DRIVER_ENTER(false);
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return (CUresult)shim_unsupported("cuMemExportToShareableHandle of anything but a file descriptor");
    return (CUresult)shim_physical_export(handle, out);
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *from,
                                        CUmemAllocationHandleType type)
{
    uint64_t value;

    DRIVER_ENTER(false);
    if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        return (CUresult)shim_unsupported("cuMemImportFromShareableHandle of anything but a file descriptor");
    int code = shim_physical_import((int)(intptr_t)from, &value);
    if (!code)
        *handle = value;
    return (CUresult)code;
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
    uint64_t value;

    DRIVER_ENTER(false);
    int code = shim_physical_retain(address, &value);
    if (!code)
        *handle = value;
    return (CUresult)code;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags)
{
    void *found;

    DRIVER_ENTER(false);
    if (flags)
        return CUDA_ERROR_INVALID_VALUE;
    int code = shim_reserve(bytes, alignment, driver_pointer(wish), &found);
    if (!code)
        *address = (uintptr_t)found;
    return (CUresult)code;
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_unreserve(driver_pointer(address), bytes);
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    DRIVER_ENTER(false);
    return flags ? CUDA_ERROR_INVALID_VALUE : (CUresult)shim_map(driver_pointer(address), bytes, offset, handle);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_unmap(driver_pointer(address), bytes);
}

static bool rights_of(CUmemAccess_flags flags, enum shim_rights *rights)
{
    switch (flags) {
    case CU_MEM_ACCESS_FLAGS_PROT_NONE:
        *rights = SHIM_NO_ACCESS;
        return true;
    case CU_MEM_ACCESS_FLAGS_PROT_READ:
        *rights = SHIM_READ;
        return true;
    case CU_MEM_ACCESS_FLAGS_PROT_READWRITE:
        *rights = SHIM_READ_WRITE;
        return true;
    default:
        return false;
    }
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc *access, size_t count)
{
    enum shim_rights rights;

    DRIVER_ENTER(false);
    for (size_t i = 0; i < count; i++) {
        if (access[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            continue; /* the host's own rights are not emulated */
        if (access[i].location.id || !rights_of(access[i].flags, &rights))
            return CUDA_ERROR_INVALID_VALUE;
        int code = shim_set_access(driver_pointer(address), bytes, rights);
        if (code)
            return (CUresult)code;
    }
    return CUDA_SUCCESS;
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address)
{
    enum shim_rights rights;

    DRIVER_ENTER(false);
    if (location->type != CU_MEM_LOCATION_TYPE_DEVICE || location->id)
        return CUDA_ERROR_INVALID_VALUE;
    int code = shim_get_access(driver_pointer(address), &rights);
    if (!code)
        *flags = rights;
    return (CUresult)code;
}
