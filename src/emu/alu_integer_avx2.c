/* Integer handlers for AVX2. */
#if defined(__x86_64__) && !defined(__clang__)
#pragma GCC target("avx2,fma,bmi,bmi2,lzcnt,popcnt")
#endif
#include "emu/alu_simd.h"

#define ALU_INTEGER_HANDLERS alu_integer_avx2
#include "emu/alu_integer_handlers.h"
