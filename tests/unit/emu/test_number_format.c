/*
 * emu/number_format.h: every code of the 8- and 16-bit formats, every midpoint between neighbours in every rounding
 * mode, against a value table built from the definition of the formats; and f32 against the host's conversions.
 */
#include "emu_test.h"

#include <fenv.h>
#include <math.h>

#include "emu/number_format.h"
#include "trace/convert.h"

struct small_format {
    enum number_format format;
    int exponent_bits, mantissa_bits;
    uint32_t sign, largest, infinity, nan;
    int shift; /* storage bits below the mantissa */
};

static const struct small_format FORMATS[] = {
    {NUMBER_F16, 5, 10, 0x8000, 0x7bff, 0x7c00, 0x7fff, 0},
    {NUMBER_BF16, 8, 7, 0x8000, 0x7f7f, 0x7f80, 0x7fff, 0},
    {NUMBER_E4M3, 4, 3, 0x80, 0x7e, 0x7f, 0x7f, 0},
    {NUMBER_E5M2, 5, 2, 0x80, 0x7b, 0x7c, 0x7f, 0},
    {NUMBER_TF32, 8, 10, 0x40000, 0x3fbff, 0x3fc00, 0x7fffffff >> 13, 13},
};
enum { FORMAT_COUNT = 5 };

/* Value of a finite magnitude, from the definition: (implicit bit + fraction) * 2^(exponent - bias). */
static double value_of(const struct small_format *f, uint32_t magnitude)
{
    int bias = (1 << (f->exponent_bits - 1)) - 1;
    uint32_t exponent = magnitude >> f->mantissa_bits, fraction = magnitude & ((1u << f->mantissa_bits) - 1);
    double unit = ldexp(1, 1 - bias - f->mantissa_bits);

    if (exponent == 0)
        return fraction * unit;
    return ldexp((double)(fraction + (1u << f->mantissa_bits)) * unit, (int)exponent - 1);
}

static uint32_t encode(const struct small_format *f, double value, enum number_rounding rounding, unsigned modifiers)
{
    uint32_t bits = number_encode(f->format, value, rounding, modifiers);

    assert_int_equal(bits & ((1u << f->shift) - 1), 0);
    return f->shift ? bits >> f->shift & (f->sign | (f->sign - 1)) : bits;
}

static void expect(const struct small_format *f, double value, enum number_rounding rounding, unsigned modifiers,
                   uint32_t expected)
{
    uint32_t found = encode(f, value, rounding, modifiers);

    if (found != expected)
        fail_msg("%s: %.17g, rounding %d, modifiers %u: 0x%x, expected 0x%x", number_text(f->format), value,
                 (int)rounding, modifiers, found, expected);
}

/* `value` lies between magnitudes low and low + 1 (as codes), `side`: -1 below the midpoint, 0 on it, 1 above. */
static void expect_between(const struct small_format *f, double value, uint32_t low, int side)
{
    uint32_t high = low + 1 > f->largest ? f->infinity : low + 1;
    uint32_t nearest = side < 0 ? low : side > 0 ? high : low % 2 ? high : low;

    expect(f, value, NUMBER_RN, 0, nearest);
    expect(f, -value, NUMBER_RN, 0, nearest | f->sign);
    expect(f, value, NUMBER_RNA, 0, side < 0 ? low : high);
    expect(f, -value, NUMBER_RNA, 0, (side < 0 ? low : high) | f->sign);
    expect(f, value, NUMBER_RZ, 0, low);
    expect(f, -value, NUMBER_RZ, 0, low | f->sign);
    expect(f, value, NUMBER_RM, 0, low);
    expect(f, -value, NUMBER_RM, 0, high | f->sign);
    expect(f, value, NUMBER_RP, 0, high);
    expect(f, -value, NUMBER_RP, 0, low | f->sign);
    expect(f, value, NUMBER_RN, NUMBER_SATFINITE, nearest > f->largest ? f->largest : nearest);
    expect(f, -value, NUMBER_RN, NUMBER_RELU, 0);
}

static void every_code_and_midpoint(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const struct small_format *f = &FORMATS[i];
        for (uint32_t code = 0; code <= f->largest; code++) {
            double value = value_of(f, code), next = value + (value_of(f, code | 1) - value_of(f, code & ~1u));
            for (int rounding = NUMBER_RN; rounding <= NUMBER_RNA; rounding++) {
                expect(f, value, (enum number_rounding)rounding, 0, code);
                expect(f, -value, (enum number_rounding)rounding, 0, code | f->sign);
            }
            assert_true((double)number_decode(f->format, code << f->shift) == value);
            assert_true((double)number_decode(f->format, (code | f->sign) << f->shift) == -value);
            if (code < f->largest)
                next = value_of(f, code + 1);
            double middle = value / 2 + next / 2;
            expect_between(f, middle, code, 0);
            expect_between(f, nextafter(middle, 0), code, middle == 0 ? 0 : -1);
            expect_between(f, nextafter(middle, INFINITY), code, 1);
        }
    }
}

static void specials(void **state)
{
    (void)state;
    for (size_t i = 0; i < FORMAT_COUNT; i++) {
        const struct small_format *f = &FORMATS[i];
        uint32_t nan_bits = f->format == NUMBER_TF32 ? 0x7fffffff : f->nan;
        assert_int_equal(number_encode(f->format, (double)NAN, NUMBER_RN, 0), nan_bits);
        assert_int_equal(number_encode(f->format, -(double)NAN, NUMBER_RZ, NUMBER_SATFINITE), nan_bits);
        assert_int_equal(number_encode(f->format, (double)NAN, NUMBER_RN, NUMBER_RELU), nan_bits);
        assert_int_equal(number_encode(f->format, (double)NAN, NUMBER_RN, NUMBER_SAT), 0);
        expect(f, INFINITY, NUMBER_RZ, 0, f->infinity);
        expect(f, -INFINITY, NUMBER_RN, 0, f->infinity | f->sign);
        expect(f, INFINITY, NUMBER_RN, NUMBER_SATFINITE, f->largest);
        expect(f, 1e300, NUMBER_RZ, 0, f->largest);
        expect(f, 1e300, NUMBER_RM, 0, f->largest);
        expect(f, -1e300, NUMBER_RM, 0, f->infinity | f->sign);
        expect(f, 1e300, NUMBER_RN, 0, f->infinity);
        expect(f, -1e-300, NUMBER_RN, 0, f->sign);
        expect(f, 1e-300, NUMBER_RP, 0, 1);
        expect(f, -0.0, NUMBER_RN, NUMBER_RELU, 0);
        expect(f, 7.0, NUMBER_RN, NUMBER_SAT, encode(f, 1.0, NUMBER_RN, 0));
        assert_true(isnan(number_decode(f->format, nan_bits)));
    }
    assert_true(isinf(number_decode(NUMBER_F16, 0xfc00)) && number_decode(NUMBER_F16, 0xfc00) < 0);
    assert_true(isinf(number_decode(NUMBER_E5M2, 0x7c)));
    assert_true(isnan(number_decode(NUMBER_E5M2, 0x7d)));
    assert_true(isnan(number_decode(NUMBER_E4M3, 0xff)));
    assert_true(number_decode(NUMBER_TF32, 0x3f801fff) == 1.0f); /* truncated on input */
}

/* Round to nearest agrees with the casts of trace/convert.h wherever neither is NaN; and with itself on the general
 * way, which .sat takes, for values that .sat leaves alone. */
static void agrees_with_trace(void **state)
{
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 2000000; i++) {
        uint32_t bits = (uint32_t)next_random(&random);
        float value;
        memcpy(&value, &bits, sizeof value);
        if (isnan(value))
            continue;
        assert_int_equal(number_encode(NUMBER_F16, (double)value, NUMBER_RN, 0), float_to_float16(value));
        assert_int_equal(number_encode(NUMBER_BF16, (double)value, NUMBER_RN, 0), float_to_bfloat16(value));
        assert_int_equal(number_encode(NUMBER_E5M2, (double)value, NUMBER_RN, 0), float_to_e5m2(value));
        assert_int_equal(number_encode(NUMBER_E4M3, (double)value, NUMBER_RN, 0), float_to_e4m3fn(value));
        assert_int_equal(number_encode(NUMBER_F32, (double)value, NUMBER_RN, 0), bits);
        if (value < 0 || value > 1 || signbit(value))
            continue;
        for (int f = NUMBER_F16; f <= NUMBER_E5M2; f++) {
            enum number_format format = (enum number_format)f;
            assert_int_equal(number_encode(format, (double)value, NUMBER_RN, NUMBER_SAT),
                             number_encode(format, (double)value, NUMBER_RN, NUMBER_SATFINITE));
        }
    }
}

/* f64 to f32 as the host rounds it. */
static void doubles_to_f32(void **state)
{
    (void)state;
    static const struct {
        enum number_rounding rounding;
        int host;
    } modes[] = {
        {NUMBER_RN, FE_TONEAREST}, {NUMBER_RZ, FE_TOWARDZERO}, {NUMBER_RM, FE_DOWNWARD}, {NUMBER_RP, FE_UPWARD}};
    uint64_t random = 5;
    for (int i = 0; i < 200000; i++) {
        volatile double value = ldexp((double)(int64_t)next_random(&random), (int)random_below(&random, 300) - 230);
        for (int m = 0; m < 4; m++) {
            (void)fesetround(modes[m].host);
            volatile float expected = (float)value;
            (void)fesetround(FE_TONEAREST);
            float wanted = expected;
            uint32_t bits;
            memcpy(&bits, &wanted, sizeof bits);
            assert_int_equal(number_encode(NUMBER_F32, value, modes[m].rounding, 0), bits);
        }
    }
    assert_int_equal(number_encode(NUMBER_F32, 0x1p-130, NUMBER_RN, NUMBER_FTZ), 0);
    assert_int_equal(number_encode(NUMBER_F32, -0x1p-130, NUMBER_RN, NUMBER_FTZ), 0x80000000);
}

static void packed(void **state)
{
    (void)state;
    assert_int_equal(number_encode2(NUMBER_BF16, 1.0, -2.0, NUMBER_RN, 0), 0x3f80c000);
    assert_int_equal(number_encode2(NUMBER_F16, -2.0, 1.0, NUMBER_RN, NUMBER_RELU), 0x00003c00);
    assert_int_equal(number_encode2(NUMBER_E4M3, 1000.0, 1.0, NUMBER_RN, NUMBER_SATFINITE), 0x7e38);
    assert_int_equal(number_encode2(NUMBER_E5M2, 1.0, -1e9, NUMBER_RN, NUMBER_SATFINITE), 0x3cfb);
}

static void arrays(void **state)
{
    (void)state;
    static uint32_t words[65536];
    static uint16_t halves[65536];
    static uint8_t bytes[256];
    static float out[65536];
    static int32_t integers[256];
    for (uint32_t i = 0; i < 65536; i++) {
        words[i] = i * 65537;
        halves[i] = (uint16_t)i;
        bytes[i % 256] = (uint8_t)i;
    }
    for (int f = 0; f < NUMBER_FORMAT_COUNT; f++) {
        enum number_format format = (enum number_format)f;
        size_t size = (size_t)number_bytes(format), count = size == 1 ? 256 : 65536;
        const void *source = size == 1 ? (const void *)bytes : size == 2 ? (const void *)halves : (const void *)words;
        number_decode_floats(format, source, out, count);
        for (size_t i = 0; i < count; i++) {
            uint32_t bits = size == 1 ? bytes[i] : size == 2 ? halves[i] : words[i];
            float expected = number_decode(format, bits);
            assert_memory_equal(&out[i], &expected, sizeof expected);
        }
    }
    number_decode_integers(NUMBER_S8, bytes, integers, 256);
    assert_int_equal(integers[200], -56);
    number_decode_integers(NUMBER_U8, bytes, integers, 256);
    assert_int_equal(integers[200], 200);
}

static void integers(void **state)
{
    (void)state;
    assert_int_equal(number_to_integer(2.5, 32, 32, true, NUMBER_RN), 2);
    assert_int_equal(number_to_integer(3.5, 32, 32, true, NUMBER_RN), 4);
    assert_true(number_to_integer(-2.5, 32, 32, true, NUMBER_RZ) == (uint64_t)-2);
    assert_true(number_to_integer(-2.5, 32, 32, true, NUMBER_RM) == (uint64_t)-3);
    assert_int_equal(number_to_integer(2.1, 32, 32, true, NUMBER_RP), 3);
    assert_int_equal(number_to_integer(1e10, 32, 32, true, NUMBER_RZ), INT32_MAX);
    assert_true(number_to_integer(-1e10, 32, 32, true, NUMBER_RZ) == (uint64_t)(int64_t)INT32_MIN);
    assert_int_equal(number_to_integer(1e10, 32, 32, false, NUMBER_RZ), UINT32_MAX);
    assert_int_equal(number_to_integer(-5, 32, 32, false, NUMBER_RZ), 0);
    assert_int_equal(number_to_integer((double)NAN, 32, 32, true, NUMBER_RZ), 0);
    assert_true(number_to_integer((double)NAN, 64, 64, true, NUMBER_RZ) == 1ull << 63);
    assert_true(number_to_integer(1e300, 64, 64, false, NUMBER_RZ) == UINT64_MAX);
    assert_true(number_to_integer(INFINITY, 64, 64, true, NUMBER_RZ) == INT64_MAX);
    assert_true(number_to_integer(-INFINITY, 64, 64, true, NUMBER_RZ) == (uint64_t)INT64_MIN);
    assert_int_equal(number_encode(NUMBER_S8, -200, NUMBER_RN, 0), 0x80);
    assert_int_equal(number_encode(NUMBER_U8, 300, NUMBER_RN, 0), 0xff);
    assert_int_equal(number_encode(NUMBER_S8, -1, NUMBER_RN, 0), 0xff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_and_midpoint),
        cmocka_unit_test(specials),
        cmocka_unit_test(agrees_with_trace),
        cmocka_unit_test(doubles_to_f32),
        cmocka_unit_test(packed),
        cmocka_unit_test(arrays),
        cmocka_unit_test(integers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
