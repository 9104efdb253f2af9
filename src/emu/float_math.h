/*
 * f32 arithmetic with PTX semantics. Pure; thread-safe; default floating-point environment.
 *
 * add, sub, mul, fma, div.rn, sqrt.rn, rcp.rn are exact in all four rounding modes. NaN results are 0x7fffffff.
 * `modifiers` are NUMBER_FTZ and NUMBER_SAT of emu/number_format.h.
 *
 * The .approx functions are computed in double and rounded to nearest: at most half an ulp off the true value, where
 * the ISA allows the hardware: rcp 1 ulp, sqrt 2^-23 relative, rsqrt 2^-22.9, ex2 2^-22, lg2 2^-22 (absolute in
 * (0.5, 2)), sin and cos 2^-20.5 absolute in [-pi, pi], tanh 2^-11. So emulator and hardware differ by at most
 * that plus half an ulp. Source: PTX ISA, Floating-Point Instructions.
 */
#ifndef PTXBENCH_EMU_FLOAT_MATH_H
#define PTXBENCH_EMU_FLOAT_MATH_H

#include "emu/number_format.h"

float f32_add(float a, float b, enum number_rounding rounding, unsigned modifiers);
float f32_sub(float a, float b, enum number_rounding rounding, unsigned modifiers);
float f32_mul(float a, float b, enum number_rounding rounding, unsigned modifiers);
float f32_fma(float a, float b, float c, enum number_rounding rounding, unsigned modifiers);
float f32_div(float a, float b, enum number_rounding rounding, unsigned modifiers);
float f32_sqrt(float a, enum number_rounding rounding, unsigned modifiers);
float f32_rcp(float a, enum number_rounding rounding, unsigned modifiers);

/* fma of f16 and bf16 (bits in, bits out), rounded once to nearest even; `modifiers` may hold NUMBER_RELU. add is
 * fma(a, 1, b), mul is fma(a, b, -0). */
uint16_t small_fma(enum number_format format, uint16_t a, uint16_t b, uint16_t c, unsigned modifiers);

float f32_ex2_approx(float a, unsigned modifiers);
float f32_lg2_approx(float a, unsigned modifiers);
float f32_rcp_approx(float a, unsigned modifiers);
float f32_sqrt_approx(float a, unsigned modifiers);
float f32_rsqrt_approx(float a, unsigned modifiers);
float f32_sin_approx(float a, unsigned modifiers);
float f32_cos_approx(float a, unsigned modifiers);
float f32_tanh_approx(float a);

/* min and max: a single NaN loses against a number, two NaNs give NaN; -0 < +0. `nan`: the .NaN modifier, any NaN
 * wins. */
float f32_min(float a, float b, bool nan, unsigned modifiers);
float f32_max(float a, float b, bool nan, unsigned modifiers);

/* Subnormals to zero of the same sign; and the clamp of .sat. */
float f32_flush(float a);
float f32_saturate(float a);

#endif
