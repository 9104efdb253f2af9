#include "emu/number_format.h"

#include <math.h>
#include <string.h>

#include "trace/convert.h"

/* A binary format as cvt sees it. Magnitudes are bits without the sign. */
struct number_spec {
    const char *text;
    int bytes;
    int exponent_bits, mantissa_bits;
    uint32_t largest;  /* magnitude of the largest finite value */
    uint32_t infinity; /* magnitude stored on overflow */
    uint32_t nan;      /* the canonical NaN, sign included */
    int shift;         /* zero bits below the mantissa in storage */
};

static const struct number_spec SPECS[NUMBER_FORMAT_COUNT] = {
    [NUMBER_F32] = {"f32", 4, 8, 23, 0x7f7fffff, 0x7f800000, 0x7fffffff, 0},
    [NUMBER_TF32] = {"tf32", 4, 8, 10, 0x3fbff, 0x3fc00, 0x7fffffff, 13},
    [NUMBER_F16] = {"f16", 2, 5, 10, 0x7bff, 0x7c00, 0x7fff, 0},
    [NUMBER_BF16] = {"bf16", 2, 8, 7, 0x7f7f, 0x7f80, 0x7fff, 0},
    [NUMBER_E4M3] = {"e4m3", 1, 4, 3, 0x7e, 0x7f, 0x7f, 0},
    [NUMBER_E5M2] = {"e5m2", 1, 5, 2, 0x7b, 0x7c, 0x7f, 0},
    [NUMBER_S8] = {.text = "s8", .bytes = 1},
    [NUMBER_U8] = {.text = "u8", .bytes = 1},
};

int number_bytes(enum number_format format)
{
    return SPECS[format].bytes;
}

const char *number_text(enum number_format format)
{
    return SPECS[format].text;
}

bool number_is_integer(enum number_format format)
{
    return format == NUMBER_S8 || format == NUMBER_U8;
}

/* |scaled| (exact, non-negative) rounded to an integer, for a value of the given sign. */
static double round_magnitude(double scaled, bool negative, enum number_rounding rounding)
{
    double down = floor(scaled);
    double rest = scaled - down;
    bool up = false;

    switch (rounding) {
    case NUMBER_RN:
        up = rest > 0.5 || (rest == 0.5 && fmod(down, 2) != 0);
        break;
    case NUMBER_RNA:
        up = rest >= 0.5;
        break;
    case NUMBER_RZ:
        break;
    case NUMBER_RM:
        up = negative && rest > 0;
        break;
    case NUMBER_RP:
        up = !negative && rest > 0;
        break;
    }
    return up ? down + 1 : down;
}

/* Whether a magnitude beyond the largest finite value becomes it instead of infinity. */
static bool overflow_to_largest(bool negative, enum number_rounding rounding)
{
    return rounding == NUMBER_RZ || (rounding == NUMBER_RM && !negative) || (rounding == NUMBER_RP && negative);
}

/* Magnitude bits of a finite, non-negative value. */
static uint32_t encode_magnitude(const struct number_spec *spec, double magnitude, bool negative,
                                 enum number_rounding rounding, bool *overflow)
{
    int bias = (1 << (spec->exponent_bits - 1)) - 1;
    int exponent;

    *overflow = false;
    if (magnitude == 0)
        return 0;
    (void)frexp(magnitude, &exponent);
    exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1; /* subnormals share the lowest exponent */
    double units = round_magnitude(ldexp(magnitude, spec->mantissa_bits - exponent), negative, rounding);
    if (exponent + bias > 1 << spec->exponent_bits) {
        *overflow = true;
        return spec->infinity;
    }
    /* units has the implicit bit for normal numbers; a carry moves into the exponent by itself */
    uint32_t bits = ((uint32_t)(exponent + bias - 1) << spec->mantissa_bits) + (uint32_t)units;
    *overflow = bits > spec->largest;
    return bits;
}

static uint32_t encode_integer(enum number_format format, double value, enum number_rounding rounding)
{
    bool is_signed = format == NUMBER_S8;

    return (uint32_t)(number_to_integer(value, 64, 8, is_signed, rounding) & 0xff);
}

/* The common conversions of compiled kernels, from f32 to nearest: where a plain cast does the same. False: take the
 * general way. */
static bool encode_by_cast(enum number_format format, double value, unsigned modifiers, uint32_t *bits)
{
    float narrow = (float)value;

    if ((double)narrow != value) /* also NaN */
        return false;
    if (format == NUMBER_BF16 && !modifiers)
        *bits = float_to_bfloat16(narrow);
    else if (format == NUMBER_F16 && !modifiers)
        *bits = float_to_float16(narrow);
    else if (format == NUMBER_E4M3 && modifiers == NUMBER_SATFINITE)
        *bits = float_to_e4m3fn(fmaxf(-448, fminf(narrow, 448)));
    else if (format == NUMBER_E5M2 && modifiers == NUMBER_SATFINITE)
        *bits = float_to_e5m2(fmaxf(-57344, fminf(narrow, 57344)));
    else
        return false;
    return true;
}

uint32_t number_encode(enum number_format format, double value, enum number_rounding rounding, unsigned modifiers)
{
    const struct number_spec *spec = &SPECS[format];
    bool overflow;
    uint32_t cast;

    if (rounding == NUMBER_RN && encode_by_cast(format, value, modifiers, &cast))
        return cast;
    if (number_is_integer(format))
        return encode_integer(format, value, rounding);
    if (modifiers & NUMBER_FTZ && fabs(value) < 0x1p-126)
        value = copysign(0, value);
    if (modifiers & NUMBER_SAT)
        value = value > 0 ? fmin(value, 1) : 0; /* also NaN and -0 */
    if (isnan(value))
        return spec->nan;
    if (modifiers & NUMBER_RELU && (value < 0 || signbit(value)))
        value = 0;

    bool negative = signbit(value);
    uint32_t bits = spec->infinity;
    if (isinf(value)) {
        overflow = true;
        rounding = NUMBER_RN;
    } else {
        bits = encode_magnitude(spec, fabs(value), negative, rounding, &overflow);
    }
    if (overflow)
        bits = modifiers & NUMBER_SATFINITE || overflow_to_largest(negative, rounding) ? spec->largest : spec->infinity;
    if (modifiers & NUMBER_FTZ && format == NUMBER_F32 && bits < 0x00800000)
        bits = 0;
    return (uint32_t)negative << (8 * spec->bytes - 1) | bits << spec->shift;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The small formats share one trick: their exponent and mantissa fields put at the place of an f32's, then a power of
 * two for the difference of the biases. It is exact, subnormals included. */
static inline float decode_f16(uint32_t bits)
{
    uint32_t magnitude = (bits & 0x7fff) << 13;
    float value = float_of(magnitude) * 0x1p112f;

    if (magnitude >= 0x0f800000) /* infinity and NaN: all ones in the exponent of an f32 as well */
        value = float_of(magnitude | 0x7f800000);
    return bits & 0x8000 ? -value : value;
}

static inline float decode_e4m3(uint32_t bits)
{
    float value = (bits & 0x7f) == 0x7f ? float_of(0x7fffffff) : float_of((bits & 0x7f) << 20) * 0x1p120f;

    return bits & 0x80 ? -value : value;
}

float number_decode(enum number_format format, uint32_t bits)
{
    switch (format) {
    case NUMBER_F32:
        return float_of(bits);
    case NUMBER_TF32:
        return float_of(bits & 0xffffe000);
    case NUMBER_F16:
        return decode_f16(bits);
    case NUMBER_BF16:
        return float_of(bits << 16);
    case NUMBER_E4M3:
        return decode_e4m3(bits);
    case NUMBER_E5M2:
        return decode_f16((bits & 0xff) << 8);
    case NUMBER_S8:
        return (float)(int8_t)bits;
    case NUMBER_U8:
        return (float)(uint8_t)bits;
    case NUMBER_FORMAT_COUNT:
        break;
    }
    return 0;
}

uint32_t number_encode2(enum number_format format, double high, double low, enum number_rounding rounding,
                        unsigned modifiers)
{
    int width = 8 * number_bytes(format);

    return number_encode(format, high, rounding, modifiers) << width | number_encode(format, low, rounding, modifiers);
}

#define DECODE_ARRAY(type, expression)                                                                                 \
    do {                                                                                                               \
        const type *input = source;                                                                                    \
        for (size_t i = 0; i < count; i++)                                                                             \
            out[i] = expression;                                                                                       \
    } while (0)

void number_decode_floats(enum number_format format, const void *source, float *out, size_t count)
{
    switch (format) {
    case NUMBER_F32:
        memcpy(out, source, count * sizeof *out);
        return;
    case NUMBER_TF32:
        DECODE_ARRAY(uint32_t, float_of(input[i] & 0xffffe000));
        return;
    case NUMBER_F16:
        DECODE_ARRAY(uint16_t, decode_f16(input[i]));
        return;
    case NUMBER_BF16:
        DECODE_ARRAY(uint16_t, float_of((uint32_t)input[i] << 16));
        return;
    case NUMBER_E4M3:
        DECODE_ARRAY(uint8_t, decode_e4m3(input[i]));
        return;
    case NUMBER_E5M2:
        DECODE_ARRAY(uint8_t, decode_f16((uint32_t)input[i] << 8));
        return;
    case NUMBER_S8:
        DECODE_ARRAY(int8_t, (float)input[i]);
        return;
    case NUMBER_U8:
        DECODE_ARRAY(uint8_t, (float)input[i]);
        return;
    case NUMBER_FORMAT_COUNT:
        break;
    }
}

void number_decode_integers(enum number_format format, const void *source, int32_t *out, size_t count)
{
    if (format == NUMBER_S8)
        DECODE_ARRAY(int8_t, input[i]);
    else
        DECODE_ARRAY(uint8_t, input[i]);
}

uint64_t number_to_integer(double value, int source_bits, int bits, bool is_signed, enum number_rounding rounding)
{
    if (isnan(value))
        return source_bits == 64 && bits == 64 ? 1ull << 63 : 0;

    bool negative = signbit(value);
    double limit = ldexp(1, is_signed ? bits - 1 : bits); /* first magnitude that does not fit */
    double magnitude = isinf(value) ? limit : round_magnitude(fabs(value), negative, rounding);
    uint64_t largest = is_signed ? (1ull << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);

    if (negative) {
        if (!is_signed)
            return 0;
        return magnitude >= limit ? ~largest : 0 - (uint64_t)magnitude;
    }
    return magnitude >= limit ? largest : (uint64_t)magnitude;
}
