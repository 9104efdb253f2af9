#include "emu/float_math.h"

#include <math.h>
#include <string.h>

static uint64_t double_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/*
 * Rounding to odd: of a result that is `value` + a non-zero remainder with the sign of `remainder`, the neighbour whose
 * last bit is set. Rounding that a second time to 24 bits or fewer, in any mode, gives the correctly rounded result,
 * because a double has more than two bits to spare.
 */
static double round_to_odd(double value, double remainder)
{
    if (remainder == 0 || !isfinite(value) || double_bits(value) & 1)
        return value;
    return nextafter(value, remainder > 0 ? INFINITY : -INFINITY);
}

/* a + b to odd; the remainder of the sum is exact (Knuth's two-sum). */
static double add_to_odd(double a, double b)
{
    double sum = a + b;
    double b_part = sum - a;
    double remainder = (a - (sum - b_part)) + (b - b_part);

    return isfinite(sum) ? round_to_odd(sum, remainder) : sum;
}

/* The only cases in which the sign of an exact zero depends on the rounding mode. */
static double fix_zero_sum(double sum, double a, double b, enum number_rounding rounding)
{
    if (sum == 0 && rounding == NUMBER_RM && (signbit(a) || signbit(b)))
        return -0.0;
    return sum;
}

static float finish(double value, enum number_rounding rounding, unsigned modifiers)
{
    if (rounding == NUMBER_RN && !(modifiers & NUMBER_SAT) && !isnan(value)) /* a cast rounds alike */
        return modifiers & NUMBER_FTZ && fabs(value) < 0x1p-126 ? copysignf(0, (float)value) : (float)value;
    return float_of(number_encode(NUMBER_F32, value, rounding, modifiers & (NUMBER_FTZ | NUMBER_SAT)));
}

static float canonical(float value)
{
    return isnan(value) ? float_of(0x7fffffff) : value;
}

float f32_flush(float a)
{
    return fabsf(a) < 0x1p-126f ? copysignf(0, a) : a;
}

float f32_saturate(float a)
{
    return a > 0 ? fminf(a, 1) : 0;
}

static float input(float a, unsigned modifiers)
{
    return modifiers & NUMBER_FTZ ? f32_flush(a) : a;
}

/* The host's own operation does it: the common case of compiled kernels. */
static bool is_plain(enum number_rounding rounding, unsigned modifiers)
{
    return rounding == NUMBER_RN && !modifiers;
}

float f32_add(float a, float b, enum number_rounding rounding, unsigned modifiers)
{
    if (is_plain(rounding, modifiers))
        return canonical(a + b);

    double x = (double)input(a, modifiers), y = (double)input(b, modifiers);
    return finish(fix_zero_sum(add_to_odd(x, y), x, y, rounding), rounding, modifiers);
}

float f32_sub(float a, float b, enum number_rounding rounding, unsigned modifiers)
{
    return f32_add(a, -b, rounding, modifiers);
}

float f32_mul(float a, float b, enum number_rounding rounding, unsigned modifiers)
{
    if (is_plain(rounding, modifiers))
        return canonical(a * b);
    return finish((double)input(a, modifiers) * (double)input(b, modifiers), rounding, modifiers);
}

float f32_fma(float a, float b, float c, enum number_rounding rounding, unsigned modifiers)
{
    if (is_plain(rounding, modifiers))
        return canonical(fmaf(a, b, c));

    double product = (double)input(a, modifiers) * (double)input(b, modifiers); /* 48 bits: exact */
    double addend = (double)input(c, modifiers);
    return finish(fix_zero_sum(add_to_odd(product, addend), product, addend, rounding), rounding, modifiers);
}

float f32_div(float a, float b, enum number_rounding rounding, unsigned modifiers)
{
    if (is_plain(rounding, modifiers))
        return canonical(a / b);

    double x = (double)input(a, modifiers), y = (double)input(b, modifiers);
    double quotient = x / y;
    double remainder = y != 0 && isfinite(x) && isfinite(y) ? fma(-quotient, y, x) : 0;
    return finish(round_to_odd(quotient, signbit(y) ? -remainder : remainder), rounding, modifiers);
}

float f32_sqrt(float a, enum number_rounding rounding, unsigned modifiers)
{
    if (is_plain(rounding, modifiers))
        return canonical(sqrtf(a));

    double x = (double)input(a, modifiers);
    double root = sqrt(x);
    return finish(round_to_odd(root, isfinite(root) ? fma(-root, root, x) : 0), rounding, modifiers);
}

float f32_rcp(float a, enum number_rounding rounding, unsigned modifiers)
{
    return f32_div(1, a, rounding, modifiers);
}

uint16_t small_fma(enum number_format format, uint16_t a, uint16_t b, uint16_t c, unsigned modifiers)
{
    double product = (double)number_decode(format, a) * (double)number_decode(format, b);

    return (uint16_t)number_encode(format, add_to_odd(product, (double)number_decode(format, c)), NUMBER_RN,
                                   modifiers & (NUMBER_RELU | NUMBER_SAT));
}

float f32_ex2_approx(float a, unsigned modifiers)
{
    return finish(exp2((double)input(a, modifiers)), NUMBER_RN, modifiers);
}

float f32_lg2_approx(float a, unsigned modifiers)
{
    return finish(log2((double)input(a, modifiers)), NUMBER_RN, modifiers);
}

float f32_rcp_approx(float a, unsigned modifiers)
{
    return finish(1 / (double)input(a, modifiers), NUMBER_RN, modifiers);
}

float f32_sqrt_approx(float a, unsigned modifiers)
{
    return finish(sqrt((double)input(a, modifiers)), NUMBER_RN, modifiers);
}

float f32_rsqrt_approx(float a, unsigned modifiers)
{
    return finish(1 / sqrt((double)input(a, modifiers)), NUMBER_RN, modifiers);
}

float f32_sin_approx(float a, unsigned modifiers)
{
    return finish(sin((double)input(a, modifiers)), NUMBER_RN, modifiers);
}

float f32_cos_approx(float a, unsigned modifiers)
{
    return finish(cos((double)input(a, modifiers)), NUMBER_RN, modifiers);
}

float f32_tanh_approx(float a)
{
    return finish(tanh((double)a), NUMBER_RN, 0);
}

/* Order of min and max: as numbers, and -0 below +0. */
static bool is_less(float a, float b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

static float pick(float a, float b, bool want_less, bool nan, unsigned modifiers)
{
    a = input(a, modifiers);
    b = input(b, modifiers);
    if (isnan(a) && (nan || isnan(b)))
        return float_of(0x7fffffff);
    if (isnan(a))
        return b;
    if (isnan(b))
        return nan ? float_of(0x7fffffff) : a;
    return is_less(a, b) == want_less ? a : b;
}

float f32_min(float a, float b, bool nan, unsigned modifiers)
{
    return pick(a, b, true, nan, modifiers);
}

float f32_max(float a, float b, bool nan, unsigned modifiers)
{
    return pick(a, b, false, nan, modifiers);
}
