#include "device/device.h"

#include <string.h>

#include "device/device_internal.h"

static bool read_attribute(struct device *device, CUdevice_attribute attribute, int *out, struct error *error)
{
    CUDA_TRY(device->driver, error, cuDeviceGetAttribute(out, attribute, device->handle));
    return true;
}

/* An attribute that a driver may refuse: 0 then. */
static int read_optional(struct device *device, CUdevice_attribute attribute)
{
    int value = 0;

    return device->driver->cuDeviceGetAttribute(&value, attribute, device->handle) == CUDA_SUCCESS ? value : 0;
}

static void format_uuid(const CUuuid *uuid, char out[41])
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;

    (void)snprintf(out, 41, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
                   b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static bool read_info(struct device *device, int ordinal, struct error *error)
{
    struct device_info *info = &device->info;
    CUuuid uuid;
    size_t memory;
    int l2;

    info->ordinal = ordinal;
    info->driver_version = device->driver->version;
    CUDA_TRY(device->driver, error, cuDeviceGetName(info->name, sizeof info->name, device->handle));
    CUDA_TRY(device->driver, error, cuDeviceGetUuid(&uuid, device->handle));
    CUDA_TRY(device->driver, error, cuDeviceGetPCIBusId(info->pci_bus_id, sizeof info->pci_bus_id, device->handle));
    CUDA_TRY(device->driver, error, cuDeviceTotalMem(&memory, device->handle));
    format_uuid(&uuid, info->uuid);
    info->memory_bytes = (int64_t)memory;
    if (!read_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &info->major, error) ||
        !read_attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &info->minor, error) ||
        !read_attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &info->multiprocessors, error) ||
        !read_attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, &l2, error))
        return false;
    info->l2_bytes = l2;
    info->max_clock_khz = read_optional(device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    info->memory_bytes_per_s = 2000LL /* double data rate, kHz */ *
                               read_optional(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) *
                               read_optional(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) / 8;
    return true;
}

const char *device_emulated_arch(const char *name)
{
    return !strcmp(name, "emu:sm_90a") ? name + 4 : NULL;
}

const char *device_default_name(void)
{
    static char name[16];
    const struct cuda_driver *driver;
    struct error error;
    int count = 0, major = 0;
    CUdevice handle;

    if (!cuda_driver_load(&driver, &error) || driver->cuDeviceGetCount(&count) != CUDA_SUCCESS)
        return "emu:sm_90a";
    for (int i = 0; i < count; i++) {
        if (driver->cuDeviceGet(&handle, i) != CUDA_SUCCESS ||
            driver->cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, handle) !=
                CUDA_SUCCESS ||
            (major != 9 && major != 10))
            continue;
        (void)snprintf(name, sizeof name, "cuda:%d", i);
        return name;
    }
    return "emu:sm_90a";
}

/* N of "cuda:N", 0 for an emulated device, or -1. */
static int parse_name(const char *name)
{
    char *end;

    if (device_emulated_arch(name))
        return 0;

    if (strncmp(name, "cuda:", 5) != 0 || name[5] < '0' || name[5] > '9')
        return -1;
    long value = strtol(name + 5, &end, 10);
    return !*end && value < 1024 ? (int)value : -1;
}

bool device_name_is_valid(const char *name)
{
    return parse_name(name) >= 0;
}

static bool open_context(struct device *device, int ordinal, struct error *error)
{
    int count = 0;

    CUDA_TRY(device->driver, error, cuDeviceGetCount(&count));
    if (ordinal >= count)
        return error_set(error, ERROR_NOT_FOUND, "cuda:%d: this machine has %d GPU%s", ordinal, count,
                         count == 1 ? "" : "s");
    CUDA_TRY(device->driver, error, cuDeviceGet(&device->handle, ordinal));
    CUDA_TRY(device->driver, error, cuDevicePrimaryCtxRetain(&device->context, device->handle));
    device->context_retained = true;
    CUDA_TRY(device->driver, error, cuCtxSetCurrent(device->context));
    CUDA_TRY(device->driver, error, cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING));
    return read_info(device, ordinal, error);
}

bool device_open(const char *name, struct device **out, struct error *error)
{
    int ordinal = parse_name(name);

    if (ordinal < 0)
        return error_set(error, ERROR_USAGE, "%s: not a device; name a GPU as cuda:0, cuda:1, ..., or emu:sm_90a",
                         name);
    struct device *device = calloc(1, sizeof *device);
    if (!device)
        return error_set(error, ERROR_MEMORY, "%s: out of memory", name);
    if (!cuda_driver_load(&device->driver, error) || !open_context(device, ordinal, error) ||
        !device_load_kernels(device, error)) {
        device_close(device);
        return false;
    }
    *out = device;
    return true;
}

void device_close(struct device *device)
{
    if (!device)
        return;
    if (device->context_retained) {
        device_unload_kernels(device);
        if (device->stream)
            (void)device->driver->cuStreamDestroy(device->stream);
        (void)device->driver->cuDevicePrimaryCtxRelease(device->handle);
    }
    free(device);
}

const struct device_info *device_info(const struct device *device)
{
    return &device->info;
}

const struct cuda_driver *device_driver(const struct device *device)
{
    return device->driver;
}

CUstream device_stream(const struct device *device)
{
    return device->stream;
}

const char *device_target(const struct device *device)
{
    if (device->info.major == 9 && device->info.minor == 0)
        return "sm_90a";
    return device->info.major == 10 && device->info.minor == 0 ? "sm_100a" : NULL;
}

bool device_synchronize(struct device *device, struct error *error)
{
    CUDA_TRY(device->driver, error, cuStreamSynchronize(device->stream));
    return true;
}

bool device_free_bytes(struct device *device, int64_t *bytes, struct error *error)
{
    size_t available, total;

    CUDA_TRY(device->driver, error, cuMemGetInfo(&available, &total));
    *bytes = (int64_t)available;
    return true;
}

bool device_allocate(struct device *device, int64_t bytes, CUdeviceptr *out, struct error *error)
{
    CUresult result = device->driver->cuMemAlloc(out, (size_t)(bytes ? bytes : 1));

    if (result == CUDA_SUCCESS)
        return true;
    *out = 0;
    (void)cuda_error(device->driver, error, result, "cuMemAlloc");
    return error_prefix(error, "%s: %.2f GB", device->info.name, (double)bytes * 1e-9);
}

void device_release(struct device *device, CUdeviceptr address)
{
    if (address)
        (void)device->driver->cuMemFree(address);
}

bool device_read(struct device *device, void *host, CUdeviceptr from, int64_t bytes, struct error *error)
{
    if (!device_synchronize(device, error))
        return false;
    CUDA_TRY(device->driver, error, cuMemcpyDtoH(host, from, (size_t)bytes));
    return true;
}

bool device_write(struct device *device, CUdeviceptr to, const void *host, int64_t bytes, struct error *error)
{
    /* On our stream: a plain copy from pageable memory may land after the call has returned. */
    CUDA_TRY(device->driver, error, cuMemcpyHtoDAsync(to, host, (size_t)bytes, device->stream));
    return device_synchronize(device, error);
}
