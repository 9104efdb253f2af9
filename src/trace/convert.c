#include "trace/convert.h"

#include <math.h>
#include <string.h>

/* A binary format of at most 16 bits with IEEE-like exponent and subnormals. */
struct small_format {
    int exponent_bits;
    int mantissa_bits;
    uint32_t overflow; /* magnitude stored for values that round beyond the largest finite one */
    uint32_t largest;  /* magnitude of the largest finite value */
    uint32_t nan;      /* magnitude stored for NaN */
};

static const struct small_format FLOAT16 = {5, 10, 0x7c00, 0x7bff, 0x7e00};
static const struct small_format E4M3FN = {4, 3, 0x7f, 0x7e, 0x7f};
static const struct small_format E5M2 = {5, 2, 0x7c, 0x7b, 0x7e};
static const struct small_format E2M1 = {2, 1, 0x7, 0x7, 0x7};

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float from_bits(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* value >> shift, rounded to nearest even; shift 1..31. */
static uint32_t shift_round(uint32_t value, int shift)
{
    uint32_t half = 1u << (shift - 1);
    uint32_t kept = value >> shift;
    uint32_t rest = value & ((half << 1) - 1);

    return kept + (rest > half || (rest == half && (kept & 1)));
}

/* Magnitude bits of |value| in the format. */
static uint32_t encode(const struct small_format *format, uint32_t magnitude)
{
    int bias = (1 << (format->exponent_bits - 1)) - 1;
    int drop = 23 - format->mantissa_bits;
    int exponent = (int)(magnitude >> 23) - 127 + bias;
    uint32_t result;

    if (magnitude > 0x7f800000)
        return format->nan;
    if (exponent > 0) {
        /* rebias in place; a carry out of the mantissa moves into the exponent by itself */
        if (exponent >= 1 << format->exponent_bits)
            return format->overflow;
        result = shift_round((magnitude & 0x7fffff) | (uint32_t)exponent << 23, drop);
    } else {
        int shift = drop + 1 - exponent;
        if (shift > 24)
            shift = 25; /* everything is below half of the smallest subnormal */
        uint32_t significand = magnitude < 0x00800000 ? 0 : (magnitude & 0x7fffff) | 0x800000;
        result = shift_round(significand, shift);
    }
    return result > format->largest ? format->overflow : result;
}

static float decode(const struct small_format *format, uint32_t magnitude)
{
    int bias = (1 << (format->exponent_bits - 1)) - 1;
    uint32_t exponent = magnitude >> format->mantissa_bits;
    uint32_t mantissa = magnitude & ((1u << format->mantissa_bits) - 1);

    if (magnitude > format->largest)
        return magnitude == format->overflow && format->overflow != format->nan ? INFINITY : NAN;
    if (!exponent)
        return ldexpf((float)mantissa, 1 - bias - format->mantissa_bits);
    return ldexpf((float)(mantissa | 1u << format->mantissa_bits), (int)exponent - bias - format->mantissa_bits);
}

uint16_t float_to_bfloat16(float value)
{
    uint32_t bits = bits_of(value);

    if ((bits & 0x7fffffff) > 0x7f800000)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

float bfloat16_to_float(uint16_t bits)
{
    return from_bits((uint32_t)bits << 16);
}

uint16_t float_to_float16(float value)
{
    uint32_t bits = bits_of(value);

    return (uint16_t)((bits >> 16 & 0x8000) | encode(&FLOAT16, bits & 0x7fffffff));
}

float float16_to_float(uint16_t bits)
{
    return copysignf(decode(&FLOAT16, bits & 0x7fff), bits & 0x8000 ? -1.0f : 1.0f);
}

uint8_t float_to_e4m3fn(float value)
{
    uint32_t bits = bits_of(value);

    return (uint8_t)((bits >> 24 & 0x80) | encode(&E4M3FN, bits & 0x7fffffff));
}

float e4m3fn_to_float(uint8_t bits)
{
    return copysignf(decode(&E4M3FN, bits & 0x7f), bits & 0x80 ? -1.0f : 1.0f);
}

uint8_t float_to_e5m2(float value)
{
    uint32_t bits = bits_of(value);

    return (uint8_t)((bits >> 24 & 0x80) | encode(&E5M2, bits & 0x7fffffff));
}

float e5m2_to_float(uint8_t bits)
{
    return copysignf(decode(&E5M2, bits & 0x7f), bits & 0x80 ? -1.0f : 1.0f);
}

uint8_t float_to_e2m1(float value)
{
    uint32_t bits = bits_of(value);
    bool nan = (bits & 0x7fffffff) > 0x7f800000;

    return (uint8_t)((nan ? 0 : bits >> 28 & 0x8) | encode(&E2M1, bits & 0x7fffffff));
}

float e2m1_to_float(uint8_t bits)
{
    return copysignf(decode(&E2M1, bits & 0x7), bits & 0x8 ? -1.0f : 1.0f);
}

#define LOAD(type) (((const type *)data)[index])

double tensor_load(enum dtype dtype, const void *data, size_t index)
{
    switch (dtype) {
    case DTYPE_FLOAT32:
        return (double)LOAD(float);
    case DTYPE_FLOAT16:
        return (double)float16_to_float(LOAD(uint16_t));
    case DTYPE_BFLOAT16:
        return (double)bfloat16_to_float(LOAD(uint16_t));
    case DTYPE_FLOAT8_E4M3FN:
        return (double)e4m3fn_to_float(LOAD(uint8_t));
    case DTYPE_FLOAT8_E5M2:
        return (double)e5m2_to_float(LOAD(uint8_t));
    case DTYPE_FLOAT4_E2M1:
        return (double)e2m1_to_float((uint8_t)(((const uint8_t *)data)[index / 2] >> 4 * (index % 2)));
    case DTYPE_INT64:
        return (double)LOAD(int64_t);
    case DTYPE_INT32:
        return (double)LOAD(int32_t);
    case DTYPE_INT16:
        return (double)LOAD(int16_t);
    case DTYPE_INT8:
        return (double)LOAD(int8_t);
    case DTYPE_BOOL:
        return LOAD(uint8_t) ? 1 : 0;
    case DTYPE_COUNT:
        break;
    }
    return 0;
}

#define STORE(type, converted) (void)(((type *)data)[index] = (converted))

void tensor_store(enum dtype dtype, void *data, size_t index, double value)
{
    switch (dtype) {
    case DTYPE_FLOAT32:
        return STORE(float, (float)value);
    case DTYPE_FLOAT16:
        return STORE(uint16_t, float_to_float16((float)value));
    case DTYPE_BFLOAT16:
        return STORE(uint16_t, float_to_bfloat16((float)value));
    case DTYPE_FLOAT8_E4M3FN:
        return STORE(uint8_t, float_to_e4m3fn((float)value));
    case DTYPE_FLOAT8_E5M2:
        return STORE(uint8_t, float_to_e5m2((float)value));
    case DTYPE_FLOAT4_E2M1: {
        uint8_t *byte = (uint8_t *)data + index / 2;
        int shift = index % 2 ? 4 : 0;
        *byte = (uint8_t)((*byte & ~(0xf << shift)) | float_to_e2m1((float)value) << shift);
        return;
    }
    case DTYPE_INT64:
        return STORE(int64_t, (int64_t)value);
    case DTYPE_INT32:
        return STORE(int32_t, (int32_t)value);
    case DTYPE_INT16:
        return STORE(int16_t, (int16_t)value);
    case DTYPE_INT8:
        return STORE(int8_t, (int8_t)value);
    case DTYPE_BOOL:
        return STORE(uint8_t, value != 0);
    case DTYPE_COUNT:
        break;
    }
}
