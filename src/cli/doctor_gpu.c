/* Checks of the driver, the devices and NVIDIA's libraries. */
#include <string.h>

#include "cli/doctor.h"
#include "device/cuda_driver.h"
#include "device/dynamic.h"

enum { CUDA_VERSION_NEEDED = 13000 };

/* Target architecture of the task families for a compute capability, or NULL. */
static const char *target_of(int major, int minor)
{
    if (major == 9 && minor == 0)
        return "sm_90a";
    if (major == 10 && minor == 0)
        return "sm_100a";
    return NULL;
}

static const char *uuid_text(struct arena *arena, const CUuuid *uuid)
{
    const unsigned char *b = (const unsigned char *)uuid->bytes;

    return arena_printf(arena, "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
                        b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static bool read_device(struct arena *arena, const struct cuda_driver *driver, int ordinal, struct doctor_device *out,
                        struct error *error)
{
    CUdevice device;
    CUuuid uuid;
    char name[256] = "";
    size_t memory = 0;

    CUDA_TRY(driver, error, cuDeviceGet(&device, ordinal));
    CUDA_TRY(driver, error, cuDeviceGetName(name, (int)sizeof name - 1, device));
    CUDA_TRY(driver, error, cuDeviceGetUuid(&uuid, device));
    CUDA_TRY(driver, error, cuDeviceTotalMem(&memory, device));
    CUDA_TRY(driver, error, cuDeviceGetAttribute(&out->major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
    CUDA_TRY(driver, error, cuDeviceGetAttribute(&out->minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
    out->ordinal = ordinal;
    out->name = arena_strdup(arena, name);
    out->uuid = uuid_text(arena, &uuid);
    out->memory_bytes = memory;
    out->target = target_of(out->major, out->minor);
    return true;
}

static bool read_devices(struct arena *arena, const struct cuda_driver *driver, struct doctor_report *report,
                         struct error *error)
{
    int count = 0;

    CUDA_TRY(driver, error, cuDeviceGetCount(&count));
    for (int i = 0; i < count && report->device_count < DOCTOR_DEVICES_MAX; i++) {
        if (!read_device(arena, driver, i, &report->devices[report->device_count], error))
            return false;
        report->device_count++;
    }
    return true;
}

static void add_driver(struct arena *arena, struct doctor_report *report, int version)
{
    struct doctor_check check = doctor_check_new("device", "driver", DOCTOR_FOR_EVAL, "run kernels");

    check.detail = arena_printf(arena, "supports CUDA %d.%d", version / 1000, version % 1000 / 10);
    if (version < CUDA_VERSION_NEEDED) {
        check.status = DOCTOR_BROKEN;
        check.detail = arena_printf(arena, "%s, but kernels are compiled for CUDA 13", check.detail);
        check.remedy = "install NVIDIA driver 580 or newer";
    }
    doctor_add(report, &check);
}

static void add_device(struct arena *arena, struct doctor_report *report, const struct doctor_device *device)
{
    struct doctor_check check =
        doctor_check_new("device", arena_printf(arena, "cuda:%d", device->ordinal), DOCTOR_FOR_EXTRA, "run kernels");

    check.detail = arena_printf(arena, "%s, compute capability %d.%d, %.0f GiB", device->name, device->major,
                                device->minor, (double)device->memory_bytes / (1024.0 * 1024 * 1024));
    if (!device->target) {
        check.status = DOCTOR_MISSING;
        check.detail = arena_printf(arena, "%s: no task family for it", check.detail);
        check.remedy = "use a Hopper (9.0) or Blackwell (10.0) GPU";
    }
    doctor_add(report, &check);
}

void doctor_check_devices(struct arena *arena, struct doctor_report *report)
{
    struct doctor_check check = doctor_check_new("device", "device", DOCTOR_FOR_EVAL, "run kernels");
    const struct cuda_driver *driver;
    struct error error;
    size_t usable = 0;

    if (!cuda_driver_load(&driver, &error)) {
        check.status = DOCTOR_MISSING;
        check.detail = arena_strdup(arena, error.message);
        check.remedy = error.hint[0] ? arena_strdup(arena, error.hint) : "use a machine with a Hopper GPU";
        doctor_add(report, &check);
        return;
    }
    report->driver_cuda_version = driver->version;
    add_driver(arena, report, driver->version);
    if (!read_devices(arena, driver, report, &error)) {
        check.status = DOCTOR_BROKEN;
        check.detail = arena_strdup(arena, error.message);
        check.remedy = "see whether nvidia-smi works, and whether CUDA_VISIBLE_DEVICES is right";
        doctor_add(report, &check);
        return;
    }
    for (size_t i = 0; i < report->device_count; i++) {
        add_device(arena, report, &report->devices[i]);
        usable += report->devices[i].target != NULL;
    }
    check.detail = arena_printf(arena, "%zu of %zu can run tasks", usable, report->device_count);
    check.status = usable ? DOCTOR_OK : DOCTOR_MISSING;
    check.remedy = usable ? NULL : "use a machine with a Hopper (9.0) or Blackwell (10.0) GPU";
    doctor_add(report, &check);
}

static const char *version_of_size(struct arena *arena, void *function, size_t major_unit)
{
    size_t (*get_version)(void);

    memcpy(&get_version, &function, sizeof get_version);
    size_t version = get_version();
    return arena_printf(arena, "%zu.%zu.%zu", version / major_unit, version % major_unit / 100, version % 100);
}

static const char *cublas_version(struct arena *arena, void *function)
{
    return version_of_size(arena, function, 10000); /* 130002: 13.0.2 */
}

static const char *cudnn_version(struct arena *arena, void *function)
{
    return version_of_size(arena, function, 10000); /* 91002: 9.10.2 */
}

static const char *cupti_version(struct arena *arena, void *function)
{
    int (*get_version)(uint32_t *);
    uint32_t version = 0;

    memcpy(&get_version, &function, sizeof get_version);
    return get_version(&version) ? NULL : arena_printf(arena, "API %u", version); /* 130000: CUDA 13.0 */
}

static const char *nvml_version(struct arena *arena, void *function)
{
    int (*get_version)(char *, unsigned);
    char version[96] = "";

    memcpy(&get_version, &function, sizeof get_version);
    return get_version(version, sizeof version) ? NULL : arena_strdup(arena, version);
}

struct library_row {
    const char *name;
    const char *soname;
    const char *symbol; /* function that tells the version */
    const char *(*version)(struct arena *arena, void *function);
    enum doctor_need need;
    const char *purpose;
    const char *remedy;
};

static const struct library_row libraries[] = {
    {"cublaslt", "libcublasLt.so.13", "cublasLtGetVersion", cublas_version, DOCTOR_FOR_EVAL,
     "reference of the GEMM tasks", "install cuBLAS of CUDA 13, or set PTXBENCH_CUDA_LIB to the folder that holds it"},
    {"cudnn", "libcudnn.so.9", "cudnnGetVersion", cudnn_version, DOCTOR_FOR_EXTRA, "reference of the attention tasks",
     "install cuDNN 9 for CUDA 13, or set PTXBENCH_CUDA_LIB to the folder that holds it"},
    {"cupti", "libcupti.so.13", "cuptiGetVersion", cupti_version, DOCTOR_FOR_EVAL,
     "time kernels and count executed instructions",
     "install CUPTI of CUDA 13, or set PTXBENCH_CUDA_LIB to the folder that holds it"},
    {"nvml", "libnvidia-ml.so.1", "nvmlSystemGetNVMLVersion", nvml_version, DOCTOR_FOR_EXTRA,
     "record clocks, temperature and throttling", "it comes with the NVIDIA driver"},
};

static void check_library(struct arena *arena, struct doctor_report *report, const struct library_row *row)
{
    struct doctor_check check = doctor_check_new("libraries", row->name, row->need, row->purpose);
    struct error error;
    void *library;
    void *function;

    if (!dynamic_open(row->soname, false, row->remedy, &library, &error)) {
        check.status = DOCTOR_MISSING;
        check.detail = arena_strdup(arena, error.message);
        check.remedy = row->remedy;
    } else if (!dynamic_symbol(library, row->symbol, &function, &error)) {
        check.status = DOCTOR_BROKEN;
        check.detail = arena_printf(arena, "%s: %s", row->soname, error.message);
        check.remedy = row->remedy;
    } else {
        const char *version = row->version(arena, function);
        const char *path = dynamic_path_of(function);
        check.detail = arena_printf(arena, "%s (%s)", version ? version : "version unknown", path ? path : row->soname);
    }
    doctor_add(report, &check);
}

void doctor_check_libraries(struct arena *arena, struct doctor_report *report)
{
    for (size_t i = 0; i < ARRAY_LEN(libraries); i++)
        check_library(arena, report, &libraries[i]);
}
