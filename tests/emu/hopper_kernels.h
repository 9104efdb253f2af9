/*
 * Our Hopper kernels on the emulator: compiles kernels/hopper/NAME.cu to PTX and does what their host code does (tensor
 * maps, parameters, launch). For the tests and the benchmark of the emulator.
 */
#ifndef PTXBENCH_TESTS_HOPPER_KERNELS_H
#define PTXBENCH_TESTS_HOPPER_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "emu/emulator.h"

/* PTX of kernels/hopper/NAME.cu. `replace` (may be NULL): a text in the source that `with` takes the place of. */
bool hopper_compile(const char *name, const char *replace, const char *with, struct buffer *ptx, struct error *error);

struct hopper_gemm {
    int m, n, k;
    int cluster;           /* as compiled: 2, or 1 */
    bool one_tile;         /* a CTA for each tile of 128 x 256; false: as many as there are multiprocessors */
    const uint16_t *a, *b; /* in emulated memory */
    uint16_t *c;
    const uint64_t *sample; /* clusters to run, or NULL */
    size_t sample_count;
};
bool hopper_gemm_run(struct emulator *emulator, const struct emulator_module *module, const struct hopper_gemm *gemm,
                     struct arena *arena, struct emulator_report *report, struct error *error);

struct hopper_mha {
    int heads, sequence, dim; /* heads: batch * heads; dim 64 or 128 */
    bool causal;              /* as compiled */
    const uint16_t *q, *k, *v;
    uint16_t *o;
    float *lse;
};
bool hopper_mha_run(struct emulator *emulator, const struct emulator_module *module, const struct hopper_mha *mha,
                    struct arena *arena, struct emulator_report *report, struct error *error);

/* bf16 values in [-1, 1) that repeat for a seed, in emulated memory. NULL: out of memory. */
uint16_t *hopper_values(struct emulator *emulator, size_t count, uint64_t seed);

#endif
