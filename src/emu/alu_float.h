/*
 * Floating-point operations with the default rounding, one row each, as C expressions that the compiler vectorises:
 * X(opcode, variant, type, shape, out, in, expression of x, y, z). FLUSH: the .ftz form. Other rounding modes, .sat and the
 * approximate functions go lane by lane through float_math.h (alu_float.c). Source: PTX ISA, 9.7.3.
 */
#ifndef PTXBENCH_EMU_ALU_FLOAT_H
#define PTXBENCH_EMU_ALU_FLOAT_H

#define ALU_FLOAT_ROWS(X)                                                                                              \
    X(ADD, PLAIN, F32, BINARY, f32, f32, canonical(x + y))                                                             \
    X(SUB, PLAIN, F32, BINARY, f32, f32, canonical(x - y))                                                             \
    X(MUL, PLAIN, F32, BINARY, f32, f32, canonical(x *y))                                                              \
    X(FMA, PLAIN, F32, TERNARY, f32, f32, canonical(fused(x, y, z)))                                                   \
    X(DIV, PLAIN, F32, BINARY, f32, f32, canonical(x / y))                                                             \
    X(SQRT, PLAIN, F32, UNARY, f32, f32, canonical(sqrtf(x)))                                                          \
    X(RCP, PLAIN, F32, UNARY, f32, f32, canonical(1 / x))                                                              \
    X(MIN, PLAIN, F32, BINARY, f32, f32, smaller(x, y))                                                                \
    X(MAX, PLAIN, F32, BINARY, f32, f32, canonical(-smaller(-x, -y)))                                                  \
    X(ADD, FLUSH, F32, BINARY, f32, f32, canonical(flush(flush(x) + flush(y))))                                        \
    X(SUB, FLUSH, F32, BINARY, f32, f32, canonical(flush(flush(x) - flush(y))))                                        \
    X(MUL, FLUSH, F32, BINARY, f32, f32, canonical(flush(flush(x) * flush(y))))                                        \
    X(FMA, FLUSH, F32, TERNARY, f32, f32, canonical(flush(fused(flush(x), flush(y), flush(z)))))                       \
    X(MIN, FLUSH, F32, BINARY, f32, f32, smaller(flush(x), flush(y)))                                                  \
    X(MAX, FLUSH, F32, BINARY, f32, f32, canonical(-smaller(-flush(x), -flush(y))))                                    \
    X(ABS, PLAIN, F32, UNARY, u32, u32, x & 0x7fffffff)                                                                \
    X(ABS, FLUSH, F32, UNARY, f32, f32, fabsf(flush(x)))                                                               \
    X(NEG, PLAIN, F32, UNARY, u32, u32, x ^ 0x80000000)                                                                \
    X(NEG, FLUSH, F32, UNARY, f32, f32, -flush(x))                                                                     \
    X(COPYSIGN, PLAIN, F32, BINARY, u32, u32, (y & 0x7fffffff) | (x & 0x80000000))                                     \
    X(ADD, PLAIN, F64, BINARY, f64, f64, x + y)                                                                        \
    X(SUB, PLAIN, F64, BINARY, f64, f64, x - y)                                                                        \
    X(MUL, PLAIN, F64, BINARY, f64, f64, x *y)                                                                         \
    X(FMA, PLAIN, F64, TERNARY, f64, f64, fma(x, y, z))                                                                \
    X(DIV, PLAIN, F64, BINARY, f64, f64, x / y)                                                                        \
    X(SQRT, PLAIN, F64, UNARY, f64, f64, sqrt(x))                                                                      \
    X(RCP, PLAIN, F64, UNARY, f64, f64, 1 / x)                                                                         \
    X(RSQRT, PLAIN, F64, UNARY, f64, f64, 1 / sqrt(x))                                                                 \
    X(MIN, PLAIN, F64, BINARY, f64, f64, fmin(x, y))                                                                   \
    X(MAX, PLAIN, F64, BINARY, f64, f64, fmax(x, y))                                                                   \
    X(ABS, PLAIN, F64, UNARY, u64, u64, x &INT64_MAX)                                                                  \
    X(NEG, PLAIN, F64, UNARY, u64, u64, x ^ (UINT64_C(1) << 63))                                                       \
    X(COPYSIGN, PLAIN, F64, BINARY, u64, u64, (y & INT64_MAX) | (x & (UINT64_C(1) << 63)))                             \
    X(ABS, PLAIN, F16, UNARY, u16, u16, x & 0x7fff)                                                                    \
    X(ABS, PLAIN, BF16, UNARY, u16, u16, x & 0x7fff)                                                                   \
    X(ABS, PLAIN, F16X2, UNARY, u32, u32, x & 0x7fff7fff)                                                              \
    X(ABS, PLAIN, BF16X2, UNARY, u32, u32, x & 0x7fff7fff)                                                             \
    X(NEG, PLAIN, F16, UNARY, u16, u16, x ^ 0x8000u)                                                                   \
    X(NEG, PLAIN, BF16, UNARY, u16, u16, x ^ 0x8000u)                                                                  \
    X(NEG, PLAIN, F16X2, UNARY, u32, u32, x ^ 0x80008000)                                                              \
    X(NEG, PLAIN, BF16X2, UNARY, u32, u32, x ^ 0x80008000)

/* f32 functions that go lane by lane: X(opcode, needs `.approx`, sources, call with a, b, c, rounding, modifiers) */
#define ALU_FLOAT_CALLS(X)                                                                                             \
    X(ADD, false, 2, f32_add(a, b, rounding, modifiers))                                                               \
    X(SUB, false, 2, f32_sub(a, b, rounding, modifiers))                                                               \
    X(MUL, false, 2, f32_mul(a, b, rounding, modifiers))                                                               \
    X(FMA, false, 3, f32_fma(a, b, c, rounding, modifiers))                                                            \
    X(DIV, false, 2, f32_div(a, b, rounding, modifiers))                                                               \
    X(SQRT, false, 1, f32_sqrt(a, rounding, modifiers))                                                                \
    X(RCP, false, 1, f32_rcp(a, rounding, modifiers))                                                                  \
    X(DIV, true, 2, f32_div(a, b, NUMBER_RN, modifiers))                                                               \
    X(SQRT, true, 1, f32_sqrt_approx(a, modifiers))                                                                    \
    X(RCP, true, 1, f32_rcp_approx(a, modifiers))                                                                      \
    X(RSQRT, true, 1, f32_rsqrt_approx(a, modifiers))                                                                  \
    X(EX2, true, 1, f32_ex2_approx(a, modifiers))                                                                      \
    X(LG2, true, 1, f32_lg2_approx(a, modifiers))                                                                      \
    X(SIN, true, 1, f32_sin_approx(a, modifiers))                                                                      \
    X(COS, true, 1, f32_cos_approx(a, modifiers))                                                                      \
    X(TANH, true, 1, f32_tanh_approx(a))

#endif
