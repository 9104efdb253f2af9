/* Float handlers for AVX2 and FMA. */
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt")
#endif
#include "emu/alu_simd.h"

#define ALU_FLOAT_HANDLERS alu_float_avx2
#include "emu/alu_float_handlers.h"
