/*
 * Between float and the small floating types, round to nearest even, in portable C. Pure; thread-safe.
 * bfloat16 and float16 overflow to infinity, NaN stays a quiet NaN with its sign. float8_e4m3fn (no infinities)
 * overflows to NaN and float8_e5m2 to infinity, as PyTorch casts do; float4_e2m1 (neither) saturates to +-6 and NaN
 * becomes 6. Formats: IEEE 754-2019; OCP 8-bit Floating Point Specification 1.0; OCP Microscaling Formats 1.0.
 */
#ifndef PTXBENCH_TRACE_CONVERT_H
#define PTXBENCH_TRACE_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "trace/dtype.h"

uint16_t float_to_bfloat16(float value);
float bfloat16_to_float(uint16_t bits);
uint16_t float_to_float16(float value);
float float16_to_float(uint16_t bits);
uint8_t float_to_e4m3fn(float value);
float e4m3fn_to_float(uint8_t bits);
uint8_t float_to_e5m2(float value);
float e5m2_to_float(uint8_t bits);
uint8_t float_to_e2m1(float value); /* in the low four bits */
float e2m1_to_float(uint8_t bits);  /* of the low four bits */

/* Element `index` of a dense tensor of any dtype as double (int64 beyond 2^53 rounds). */
double tensor_load(enum dtype dtype, const void *data, size_t index);

/* Stores a value, rounding floats to nearest even (by way of float) and truncating integers. float4 keeps the other
 * half of the byte. */
void tensor_store(enum dtype dtype, void *data, size_t index, double value);

#endif
