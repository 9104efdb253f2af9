/*
 * D = A * B + D as mma and wgmma compute it, on operands decoded to float, int32 or double. Pure; thread-safe.
 *
 * A is m x k, B is k x n, D is m x n, all row-major and dense. Any m, n, k >= 0; fastest when m is a multiple of 4
 * and n of 8.
 *
 * Numerics: products of 16-bit and 8-bit floats and of tf32 are exact in f32 and are added one k after the other
 * with rounding to nearest. The tensor core aligns the products of a block and truncates (and keeps fewer bits
 * for 8-bit floats on Hopper), so single results differ in the last bits; both are within the error bound of an f32
 * accumulation, not bit for bit equal. s32 is exact.
 */
#ifndef PTXBENCH_EMU_MATRIX_PRODUCT_H
#define PTXBENCH_EMU_MATRIX_PRODUCT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "emu/number_format.h"
#include "emu/smem_layout.h"

struct matrix_product {
    int m, n, k;
    bool zero_d;   /* scale-d = 0: D = A * B, what D held before is not read (it may be NaN) */
    bool negate_a; /* imm-scale-a = -1; floats only */
    bool negate_b;
    bool saturate; /* .satfinite of the integer kinds: D clamps instead of wrapping */
};

void matrix_product_f32(const struct matrix_product *product, const float *a, const float *b, float *d);
void matrix_product_s32(const struct matrix_product *product, const int32_t *a, const int32_t *b, int32_t *d);
void matrix_product_f64(const struct matrix_product *product, const double *a, const double *b, double *d);

/* f16 accumulators: added up in f32, rounded to nearest even once at the end. `work` has m * n floats. */
void matrix_product_f16(const struct matrix_product *product, const float *a, const float *b, uint16_t *d, float *work);

enum matrix_order {
    MATRIX_ROWS_BY_K, /* out[row * k + kk]: for A */
    MATRIX_K_BY_ROWS  /* out[kk * rows + row]: for B */
};

/* Decodes an operand out of shared memory: `out` gets rows * k floats (float formats) or int32_t (S8, U8). ERROR_INPUT
 * when the operand leaves the `shared_bytes` of shared memory or the format's size is not the operand's; the message
 * names the first element outside. */
MUST_CHECK bool matrix_operand_load(const struct smem_operand *operand, enum number_format format,
                                    const uint8_t *shared, uint32_t shared_bytes, enum matrix_order order, void *out,
                                    struct error *error);

#endif
