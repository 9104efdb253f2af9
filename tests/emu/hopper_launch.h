/*
 * What the host code of our Hopper kernels does, for any device: tensor maps, parameters and dimensions of a launch. The
 * tests run it on the emulator, tests/gpu on a GPU.
 */
#ifndef PTXBENCH_TESTS_HOPPER_LAUNCH_H
#define PTXBENCH_TESTS_HOPPER_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "emu/tensor_map.h"

/* Encodes a tensor map as cuTensorMapEncodeTiled does. */
typedef bool hopper_encode(void *context, uint8_t map[TENSOR_MAP_BYTES], const struct tensor_map_arguments *arguments,
                           struct error *error);

struct hopper_device {
    hopper_encode *encode;
    void *context;
    int multiprocessors;
    int32_t shared_extra; /* added to the dynamic shared memory: a defect of the host code */
    bool wide_box;        /* a box of 256 bytes for matrix B or K, and the error of its encoding ignored: likewise */
};

struct hopper_gemm {
    int m, n, k;
    int cluster;   /* as compiled: 2, or 1 */
    bool one_tile; /* a CTA for each tile of 128 x 256; false: as many as there are multiprocessors */
    uint64_t a, b; /* device addresses of bf16 matrices */
    uint64_t c;
};

struct hopper_mha {
    int heads, sequence, dim; /* heads: batch * heads; dim 64 or 128 */
    bool causal;              /* as compiled */
    uint64_t q, k, v, o, lse; /* device addresses; lse is fp32 */
};

struct hopper_launch {
    const char *entry; /* a part of the kernel's mangled name */
    uint32_t grid[3], block[3], cluster[3];
    uint32_t shared_bytes;
    _Alignas(128) uint8_t parameters[1024];
    size_t parameter_bytes;
};

MUST_CHECK bool hopper_gemm_launch(const struct hopper_device *device, const struct hopper_gemm *gemm,
                                   struct hopper_launch *launch, struct error *error);
MUST_CHECK bool hopper_mha_launch(const struct hopper_device *device, const struct hopper_mha *mha,
                                  struct hopper_launch *launch, struct error *error);

#endif
