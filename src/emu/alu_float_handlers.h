/* The handlers of alu_float.h, as ALU_FLOAT_HANDLERS: see alu_integer_handlers.h. */
#include <math.h>

#include "emu/alu_float.h"
#include "emu/alu_types.h"

#pragma GCC optimize("O3")
#pragma GCC optimize("fp-contract=off")

static inline float canonical(float x)
{
    return emu_f32(x == x ? emu_f32_bits(x) : 0x7fffffff);
}

static inline float flush(float x)
{
    return x < 0x1p-126f && x > -0x1p-126f ? emu_f32(emu_f32_bits(x) & 0x80000000) : x;
}

/* Lets -0 be less than +0; a NaN loses against a number. */
static inline float smaller(float x, float y)
{
    uint32_t a = emu_f32_bits(x), b = emu_f32_bits(y);
    uint32_t less = x < y ? a : b;

    less = x == y ? (a | b) : less;
    less = y != y ? a : less;
    less = x != x ? b : less;
    return emu_f32(x != x && y != y ? 0x7fffffff : less);
}

static inline float fused(float x, float y, float z)
{
    return fmaf(x, y, z);
}

#define X(opcode, variant, type, shape, out, in, expression)                                                           \
    ALU_##shape(float_##opcode##_##variant##_##type, out, in, expression)
ALU_FLOAT_ROWS(X)
#undef X

emu_handler *const ALU_FLOAT_HANDLERS[] = {
#define X(opcode, variant, type, shape, out, in, expression) float_##opcode##_##variant##_##type,
    ALU_FLOAT_ROWS(X)
#undef X
};
