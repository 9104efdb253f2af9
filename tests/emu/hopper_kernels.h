/*
 * Our Hopper kernels on the emulator: compiles kernels/hopper/NAME.cu to PTX and runs what hopper_launch.h prepares. For
 * the tests and the benchmark of the emulator.
 */
#ifndef PTXBENCH_TESTS_HOPPER_KERNELS_H
#define PTXBENCH_TESTS_HOPPER_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "emu/emulator.h"
#include "hopper_launch.h"

/* PTX of kernels/hopper/NAME.cu. `replace` (may be NULL): a text in the source that `with` takes the place of. */
bool hopper_compile(const char *name, const char *replace, const char *with, struct buffer *ptx, struct error *error);

struct hopper_sample {
    const uint64_t *clusters; /* of the grid, to be run */
    size_t count;
};

/* The emulated device; `encode` is tensor_map_encode_tiled. */
struct hopper_device hopper_emulated(const struct emulator *emulator);
uint64_t hopper_address(const void *pointer);

/* `sample`: NULL for the whole grid. */
bool hopper_launch_run(struct emulator *emulator, const struct emulator_module *module,
                       const struct hopper_launch *hopper, const struct hopper_sample *sample, struct arena *arena,
                       struct emulator_report *report, struct error *error);
bool hopper_gemm_run(struct emulator *emulator, const struct emulator_module *module, const struct hopper_gemm *gemm,
                     const struct hopper_sample *sample, struct arena *arena, struct emulator_report *report,
                     struct error *error);
bool hopper_mha_run(struct emulator *emulator, const struct emulator_module *module, const struct hopper_mha *mha,
                    struct arena *arena, struct emulator_report *report, struct error *error);

/* bf16 values in [-1, 1) that repeat for a seed, in emulated memory. NULL: out of memory. */
uint16_t *hopper_values(struct emulator *emulator, size_t count, uint64_t seed);

#endif
