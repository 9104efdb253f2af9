/*
 * Clocks, temperature, power and throttle reasons of a GPU, by NVML (dlopen libnvidia-ml.so.1). Everything is optional:
 * a machine without NVML yields unknown values, never an error.
 *
 * Facts: NVML API reference, driver 580.
 */
#ifndef PTXBENCH_DEVICE_NVML_H
#define PTXBENCH_DEVICE_NVML_H

#include <stddef.h>
#include <stdint.h>

struct nvml_sample {
    int sm_clock_mhz; /* -1: unknown, likewise below */
    int temperature_c;
    double power_w;        /* negative: unknown */
    int64_t throttle_mask; /* bits of nvml_throttle_text; -1: unknown */
    int utilization;       /* percent of the last sampling period (1/6 s to 1 s) in which a kernel ran */
};

struct nvml;

/* Opens the GPU with this PCI bus id. Returns NULL when NVML is not there. */
struct nvml *nvml_open(const char *pci_bus_id);
void nvml_close(struct nvml *nvml); /* accepts NULL */

/* Reads everything that the GPU answers; `nvml` may be NULL. nvml_read_clocks leaves temperature, power and
 * utilization unknown: it is quicker. */
struct nvml_sample nvml_read(struct nvml *nvml);
struct nvml_sample nvml_read_clocks(struct nvml *nvml);

/* Version of the driver ("580.159.04") into `out`; empty when unknown. */
void nvml_driver_version(struct nvml *nvml, char *out, size_t size);

/* "sw_power_cap, hw_thermal_slowdown" for the reasons that distort timing; "" when none is set. */
void nvml_throttle_text(int64_t mask, char *out, size_t size);

#endif
