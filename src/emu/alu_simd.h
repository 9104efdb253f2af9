/* The same handlers compiled for different instruction sets; the lowering picks those that the host has. */
#ifndef PTXBENCH_EMU_ALU_SIMD_H
#define PTXBENCH_EMU_ALU_SIMD_H

#include "emu/program.h"

/* In order of the rows of alu_integer.h and alu_float.h. */
extern emu_handler *const alu_integer_handlers[], *const alu_integer_avx2[];
extern emu_handler *const alu_float_handlers[], *const alu_float_avx2[];

static inline emu_handler *const *alu_pick(emu_handler *const *plain, emu_handler *const *avx2)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? avx2 : plain;
#else
    (void)avx2;
    return plain;
#endif
}

#endif
