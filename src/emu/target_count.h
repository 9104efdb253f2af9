/*
 * Target instructions at the level of PTX: which of the SASS families of toolchain/sass.h an instruction becomes, and the
 * matrix work that it does. Pure. Counts are of warps, as hardware counts them: one wgmma of a warpgroup is four.
 */
#ifndef PTXBENCH_EMU_TARGET_COUNT_H
#define PTXBENCH_EMU_TARGET_COUNT_H

#include <stdint.h>

#include "emu/ptx_module.h"
#include "toolchain/sass.h"

struct target_counts {
    uint64_t warps[SASS_FAMILY_COUNT]; /* executed; SASS_OTHER stays 0 */
    uint64_t matrix_work; /* 2 * m * n * k of the target families' matrix instructions, whatever their type */
    uint64_t legacy_work; /* the same of mma and wmma */
};

/* SASS_GMMA: wgmma.mma_async; SASS_TMA: tensor copies and reductions; SASS_LEGACY_MMA: mma, wmma.mma. */
enum sass_family target_family(const struct ptx_function *function, const struct ptx_instruction *instruction);

/* Adds an instruction that `warps` warps have executed. */
void target_count_add(struct target_counts *counts, const struct ptx_function *function,
                      const struct ptx_instruction *instruction, uint64_t warps);

#endif
