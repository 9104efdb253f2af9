/*
 * The small number formats of the tensor core and what `cvt` does with them. Pure; thread-safe. Assumes that the
 * floating-point environment is the default one (round to nearest, no flush to zero).
 *
 * Differs from trace/convert.h, which casts as PyTorch does: here are all rounding modes, .satfinite, .relu, and NaN
 * is the canonical one of the hardware (0x7fff for 16-bit types, 0x7f for 8-bit, 0x7fffffff for f32 and tf32).
 * Source: PTX ISA, cvt; Alternate Floating-Point Data Formats.
 */
#ifndef PTXBENCH_EMU_NUMBER_FORMAT_H
#define PTXBENCH_EMU_NUMBER_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum number_format {
    NUMBER_F32,
    NUMBER_TF32, /* in 32 bits; the low 13 are zero after a conversion and ignored by the tensor core */
    NUMBER_F16,
    NUMBER_BF16,
    NUMBER_E4M3,
    NUMBER_E5M2,
    NUMBER_S8,
    NUMBER_U8,
    NUMBER_FORMAT_COUNT
};

enum number_rounding {
    NUMBER_RN,  /* nearest, ties to even */
    NUMBER_RZ,  /* toward zero */
    NUMBER_RM,  /* toward minus infinity */
    NUMBER_RP,  /* toward plus infinity */
    NUMBER_RNA, /* nearest, ties away from zero */
};

/* Modifiers, combined by |. */
enum {
    NUMBER_SATFINITE = 1, /* overflow and infinities become the largest finite value; NaN stays NaN */
    NUMBER_RELU = 2,      /* negative values (and -0) become +0 */
    NUMBER_SAT = 4,       /* clamp to [0, 1], NaN becomes +0 */
    NUMBER_FTZ = 8,       /* subnormal f32 inputs and results become a zero of the same sign */
};

int number_bytes(enum number_format format); /* 1, 2 or 4 */
const char *number_text(enum number_format format);
bool number_is_integer(enum number_format format);

/* Bits of `value` in the format. Exact for every double: f32, f16 and f64 sources convert by way of double without a
 * second rounding. Integer formats clamp to their range; NaN becomes 0. Without .satfinite, e4m3 overflows to NaN. */
uint32_t number_encode(enum number_format format, double value, enum number_rounding rounding, unsigned modifiers);

/* Value of the low bits. tf32 drops the low 13 bits, as the tensor core does. Integers yield their value. */
float number_decode(enum number_format format, uint32_t bits);

/* Packed conversion cvt...x2 d, high, low: two elements, `low` in the low half, of 2 x 16 or 2 x 8 bits. */
uint32_t number_encode2(enum number_format format, double high, double low, enum number_rounding rounding,
                        unsigned modifiers);

/* Whole arrays of `count` dense elements, aligned to their size. Any format / S8 and U8 only. */
void number_decode_floats(enum number_format format, const void *source, float *out, size_t count);
void number_decode_integers(enum number_format format, const void *source, int32_t *out, size_t count);

/* cvt to an integer of `bits` 8..64 from a float of `source_bits` (16, 32 or 64): rounds (rni, rzi, rmi, rpi), clamps;
 * NaN becomes 0, but the most negative pattern (1 << 63) when an f64 goes to 64 bits. Sign-extended result. */
uint64_t number_to_integer(double value, int source_bits, int bits, bool is_signed, enum number_rounding rounding);

#endif
