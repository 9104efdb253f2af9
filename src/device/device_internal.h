/* The inside of `struct device`; only src/device/device*.c include it. */
#ifndef PTXBENCH_DEVICE_DEVICE_INTERNAL_H
#define PTXBENCH_DEVICE_DEVICE_INTERNAL_H

#include "device/device.h"

struct device {
    const struct cuda_driver *driver;
    CUdevice handle;
    CUcontext context;
    bool context_retained;
    CUstream stream;
    struct device_info info;

    /* device_kernels.c */
    CUmodule module;
    CUfunction fill[4]; /* by log2 of the element size in bytes */
    CUfunction compare[DTYPE_COUNT];
    CUfunction check[DTYPE_COUNT];
    CUfunction tiles[DTYPE_COUNT];
    CUfunction count_touched;
    CUfunction flush_l2;
    CUfunction call_end;
    CUdeviceptr fill_tables[DTYPE_COUNT]; /* 65536 elements each; made at first use */
    CUdeviceptr flush_buffer;             /* made at first use */
};

MUST_CHECK bool device_load_kernels(struct device *device, struct error *error);
void device_unload_kernels(struct device *device);

#endif
