#include "device/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"
#include "device/dynamic.h"

/* What of nvml.h is needed, so that no header is: handles are pointers, 0 is success. */
typedef void *nvml_device;
enum { CLOCK_SM = 1, TEMPERATURE_GPU = 0 };
struct nvml_utilization {
    unsigned gpu;
    unsigned memory;
};

#define NVML_FUNCTIONS(X)                                                                                              \
    X(int, nvmlInit_v2, (void))                                                                                        \
    X(int, nvmlShutdown, (void))                                                                                       \
    X(int, nvmlSystemGetDriverVersion, (char *, unsigned))                                                             \
    X(int, nvmlDeviceGetHandleByPciBusId_v2, (const char *, nvml_device *))                                            \
    X(int, nvmlDeviceGetClockInfo, (nvml_device, int, unsigned *))                                                     \
    X(int, nvmlDeviceGetTemperature, (nvml_device, int, unsigned *))                                                   \
    X(int, nvmlDeviceGetPowerUsage, (nvml_device, unsigned *))                                                         \
    X(int, nvmlDeviceGetCurrentClocksEventReasons, (nvml_device, unsigned long long *))                                \
    X(int, nvmlDeviceGetUtilizationRates, (nvml_device, struct nvml_utilization *))

struct nvml {
    void *library;
    nvml_device device;
#define X(result, name, arguments) result(*name) arguments;
    NVML_FUNCTIONS(X)
#undef X
};

/* Bits of nvmlClocksEventReasons that mean "slower than asked for". Idle (1) and application clocks (2) do not. */
static const struct {
    int64_t bit;
    const char *name;
} reasons[] = {
    {0x04, "sw_power_cap"},        {0x08, "hw_slowdown"},         {0x10, "sync_boost"},
    {0x20, "sw_thermal_slowdown"}, {0x40, "hw_thermal_slowdown"}, {0x80, "hw_power_brake"},
};

struct nvml *nvml_open(const char *pci_bus_id)
{
    struct nvml *nvml = calloc(1, sizeof *nvml);
    struct error error;

    if (!nvml || !dynamic_open("libnvidia-ml.so.1", false, "", &nvml->library, &error)) {
        free(nvml);
        return NULL;
    }
#define X(result, name, arguments) *(void **)&nvml->name = dlsym(nvml->library, #name);
    NVML_FUNCTIONS(X)
#undef X
    if (nvml->nvmlInit_v2 && !nvml->nvmlInit_v2() && nvml->nvmlDeviceGetHandleByPciBusId_v2 &&
        !nvml->nvmlDeviceGetHandleByPciBusId_v2(pci_bus_id, &nvml->device))
        return nvml;
    nvml_close(nvml);
    return NULL;
}

void nvml_close(struct nvml *nvml)
{
    if (!nvml)
        return;
    if (nvml->nvmlShutdown)
        (void)nvml->nvmlShutdown();
    (void)dlclose(nvml->library);
    free(nvml);
}

struct nvml_sample nvml_read_clocks(struct nvml *nvml)
{
    struct nvml_sample sample = {-1, -1, -1.0, -1, -1};
    unsigned long long mask;
    unsigned value;

    if (!nvml)
        return sample;
    if (nvml->nvmlDeviceGetClockInfo && !nvml->nvmlDeviceGetClockInfo(nvml->device, CLOCK_SM, &value))
        sample.sm_clock_mhz = (int)value;
    if (nvml->nvmlDeviceGetCurrentClocksEventReasons &&
        !nvml->nvmlDeviceGetCurrentClocksEventReasons(nvml->device, &mask))
        sample.throttle_mask = (int64_t)mask;
    return sample;
}

struct nvml_sample nvml_read(struct nvml *nvml)
{
    struct nvml_sample sample = nvml_read_clocks(nvml);
    struct nvml_utilization utilization;
    unsigned value;

    if (!nvml)
        return sample;
    if (nvml->nvmlDeviceGetTemperature && !nvml->nvmlDeviceGetTemperature(nvml->device, TEMPERATURE_GPU, &value))
        sample.temperature_c = (int)value;
    if (nvml->nvmlDeviceGetPowerUsage && !nvml->nvmlDeviceGetPowerUsage(nvml->device, &value))
        sample.power_w = value * 1e-3;
    if (nvml->nvmlDeviceGetUtilizationRates && !nvml->nvmlDeviceGetUtilizationRates(nvml->device, &utilization))
        sample.utilization = (int)utilization.gpu;
    return sample;
}

void nvml_driver_version(struct nvml *nvml, char *out, size_t size)
{
    if (!nvml || !nvml->nvmlSystemGetDriverVersion || nvml->nvmlSystemGetDriverVersion(out, (unsigned)size))
        out[0] = '\0';
}

void nvml_throttle_text(int64_t mask, char *out, size_t size)
{
    size_t used = 0;

    out[0] = '\0';
    for (size_t i = 0; mask > 0 && i < ARRAY_LEN(reasons); i++)
        if ((mask & reasons[i].bit) && used < size)
            used += (size_t)snprintf(out + used, size - used, "%s%s", used ? ", " : "", reasons[i].name);
}
