/* Virtual memory management of the driver: physical memory with its own handle, exported as a file descriptor and
 * mapped with its own rights in every process (measured: a write through a PROT_READ mapping is refused). */
#include <stdint.h>

#include "device/device_internal.h"

static CUmemAllocationProp allocation_properties(const struct device *device)
{
    return (CUmemAllocationProp){
        .type = CU_MEM_ALLOCATION_TYPE_PINNED,
        .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->handle},
    };
}

/* Reserves addresses and maps the handle in `memory`; undoes its own steps on failure. */
static bool map_handle(struct device *device, bool writable, struct shared_memory *memory, struct error *error)
{
    const struct cuda_driver *driver = device->driver;
    size_t bytes = (size_t)memory->bytes;
    CUmemAccessDesc access = {
        .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device->handle},
        .flags = writable ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ,
    };

    CUDA_TRY(driver, error, cuMemAddressReserve(&memory->address, bytes, 0, 0, 0));
    CUresult result = driver->cuMemMap(memory->address, bytes, 0, memory->handle, 0);
    if (result != CUDA_SUCCESS) {
        (void)driver->cuMemAddressFree(memory->address, bytes);
        memory->address = 0;
        return cuda_error(driver, error, result, "cuMemMap");
    }
    result = driver->cuMemSetAccess(memory->address, bytes, &access, 1);
    return result == CUDA_SUCCESS || cuda_error(driver, error, result, "cuMemSetAccess");
}

bool device_share_new(struct device *device, int64_t bytes, struct shared_memory *out, struct error *error)
{
    const struct cuda_driver *driver = device->driver;
    CUmemAllocationProp properties = allocation_properties(device);
    size_t granularity;

    *out = (struct shared_memory){.fd = -1};
    CUDA_TRY(driver, error, cuMemGetAllocationGranularity(&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    out->bytes = (int64_t)(((size_t)bytes + granularity - 1) / granularity * granularity);
    CUresult result = driver->cuMemCreate(&out->handle, (size_t)out->bytes, &properties, 0);
    if (result != CUDA_SUCCESS) {
        (void)cuda_error(driver, error, result, "cuMemCreate");
        out->handle = 0;
        return error_prefix(error, "%s: %.2f GB", device->info.name, (double)out->bytes * 1e-9);
    }
    if (!map_handle(device, true, out, error)) {
        device_share_free(device, out);
        return false;
    }
    result = driver->cuMemExportToShareableHandle(&out->fd, out->handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    if (result != CUDA_SUCCESS) {
        out->fd = -1;
        device_share_free(device, out);
        return cuda_error(driver, error, result, "cuMemExportToShareableHandle");
    }
    return true;
}

bool device_share_import(struct device *device, int fd, int64_t bytes, bool writable, struct shared_memory *out,
                         struct error *error)
{
    *out = (struct shared_memory){.fd = -1, .bytes = bytes};
    CUDA_TRY(
        device->driver, error,
        cuMemImportFromShareableHandle(&out->handle, (void *)(intptr_t)fd, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    if (map_handle(device, writable, out, error))
        return true;
    device_share_free(device, out);
    return false;
}

void device_share_free(struct device *device, struct shared_memory *memory)
{
    const struct cuda_driver *driver = device->driver;

    if (memory->address) {
        (void)driver->cuMemUnmap(memory->address, (size_t)memory->bytes);
        (void)driver->cuMemAddressFree(memory->address, (size_t)memory->bytes);
    }
    if (memory->handle)
        (void)driver->cuMemRelease(memory->handle);
    if (memory->fd >= 0)
        (void)close(memory->fd);
    *memory = (struct shared_memory){.fd = -1};
}
