/* emu/float_math.h against the host's arithmetic under each rounding mode, and the rules for NaN, zero and ftz. */
#include "emu_test.h"

#include <fenv.h>
#include <math.h>

#include "emu/float_math.h"

static uint32_t bits_of(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Operands that meet in sums: random mantissas, exponents near each other, with zeros and specials among them. */
static float random_operand(uint64_t *random)
{
    static const uint32_t SPECIALS[] = {0,          0x80000000, 0x3f800000, 0x7f800000, 0xff800000, 1,
                                        0x80000001, 0x007fffff, 0x00800000, 0x7f7fffff, 0x7fc00000, 0xbf800000};
    uint32_t pick = random_below(random, 16);

    if (pick == 0)
        return float_of(SPECIALS[random_below(random, 12)]);
    if (pick == 1)
        return float_of((uint32_t)next_random(random));
    if (pick == 2)
        return float_of(((uint32_t)next_random(random) & 0x80ffffff)); /* near the subnormals */
    return float_of(((uint32_t)next_random(random) & 0x807fffff) | (97 + random_below(random, 60)) << 23);
}

enum operation { ADD, SUB, MUL, FMA, DIV, SQRT, RCP, OPERATIONS };

static float host(enum operation operation, volatile float a, volatile float b, volatile float c)
{
    switch (operation) {
    case ADD:
        return a + b;
    case SUB:
        return a - b;
    case MUL:
        return a * b;
    case FMA:
        return fmaf(a, b, c);
    case DIV:
        return a / b;
    case SQRT:
        return sqrtf(a);
    default:
        return 1.0f / a;
    }
}

static float ours(enum operation operation, float a, float b, float c, enum number_rounding rounding,
                  unsigned modifiers)
{
    switch (operation) {
    case ADD:
        return f32_add(a, b, rounding, modifiers);
    case SUB:
        return f32_sub(a, b, rounding, modifiers);
    case MUL:
        return f32_mul(a, b, rounding, modifiers);
    case FMA:
        return f32_fma(a, b, c, rounding, modifiers);
    case DIV:
        return f32_div(a, b, rounding, modifiers);
    case SQRT:
        return f32_sqrt(a, rounding, modifiers);
    default:
        return f32_rcp(a, rounding, modifiers);
    }
}

static void all_rounding_modes(void **state)
{
    (void)state;
    static const struct {
        enum number_rounding rounding;
        int host;
    } modes[] = {
        {NUMBER_RN, FE_TONEAREST}, {NUMBER_RZ, FE_TOWARDZERO}, {NUMBER_RM, FE_DOWNWARD}, {NUMBER_RP, FE_UPWARD}};
    uint64_t random = 9;
    for (int i = 0; i < 100000; i++) {
        float a = random_operand(&random), b = random_operand(&random), c = random_operand(&random);
        for (int operation = 0; operation < OPERATIONS; operation++) {
            for (int m = 0; m < 4; m++) {
                (void)fesetround(modes[m].host);
                volatile float expected = host((enum operation)operation, a, b, c);
                (void)fesetround(FE_TONEAREST);
                float found = ours((enum operation)operation, a, b, c, modes[m].rounding, 0);
                uint32_t wanted = isnan(expected) ? 0x7fffffff : bits_of(expected);
                if (bits_of(found) != wanted)
                    fail_msg("operation %d, mode %d: %a %a %a: %a, expected %a", operation, m, (double)a, (double)b,
                             (double)c, (double)found, (double)float_of(wanted));
            }
        }
    }
}

/* With .ftz: the plain result of flushed operands, flushed. Results beside the smallest normal number are left out. */
static void flush_to_zero(void **state)
{
    (void)state;
    uint64_t random = 13;
    for (int i = 0; i < 100000; i++) {
        float a = random_operand(&random), b = random_operand(&random), c = random_operand(&random);
        float x = f32_flush(a), y = f32_flush(b), z = f32_flush(c);
        for (int operation = 0; operation < OPERATIONS; operation++) {
            float plain = ours((enum operation)operation, x, y, z, NUMBER_RN, 0);
            if (fabsf(plain) == 0x1p-126f)
                continue;
            float found = ours((enum operation)operation, a, b, c, NUMBER_RN, NUMBER_FTZ);
            assert_int_equal(bits_of(found), bits_of(f32_flush(plain)));
        }
    }
}

static void saturate(void **state)
{
    (void)state;
    assert_int_equal(bits_of(f32_add(3, 4, NUMBER_RN, NUMBER_SAT)), bits_of(1));
    assert_int_equal(bits_of(f32_add(-3, 0.5f, NUMBER_RN, NUMBER_SAT)), 0);
    assert_int_equal(bits_of(f32_add(NAN, 1, NUMBER_RN, NUMBER_SAT)), 0);
    assert_int_equal(bits_of(f32_mul(0.5f, 0.5f, NUMBER_RN, NUMBER_SAT)), bits_of(0.25f));
    assert_int_equal(bits_of(f32_saturate(-0.0f)), 0);
}

static void minimum_and_maximum(void **state)
{
    (void)state;
    assert_int_equal(bits_of(f32_min(0.0f, -0.0f, false, 0)), 0x80000000);
    assert_int_equal(bits_of(f32_max(-0.0f, 0.0f, false, 0)), 0);
    assert_int_equal(bits_of(f32_min(NAN, 2, false, 0)), bits_of(2));
    assert_int_equal(bits_of(f32_max(2, NAN, false, 0)), bits_of(2));
    assert_int_equal(bits_of(f32_max(2, NAN, true, 0)), 0x7fffffff);
    assert_int_equal(bits_of(f32_min(NAN, 2, true, 0)), 0x7fffffff);
    assert_int_equal(bits_of(f32_min(-NAN, NAN, false, 0)), 0x7fffffff);
    assert_int_equal(bits_of(f32_min(-INFINITY, 1, false, 0)), 0xff800000);
    assert_int_equal(bits_of(f32_max(1e-40f, -1, false, NUMBER_FTZ)), 0);
    assert_int_equal(bits_of(f32_max(3, 5, false, 0)), bits_of(5));
    assert_int_equal(bits_of(f32_min(3, 5, false, 0)), bits_of(3));
}

static void approximations(void **state)
{
    (void)state;
    uint64_t random = 17;
    for (int i = 0; i < 200000; i++) {
        float a = float_of(((uint32_t)next_random(&random) & 0x7fffff) | (110 + random_below(&random, 30)) << 23);
        double x = (double)a;
        assert_true(fabs((double)f32_rcp_approx(a, 0) * x - 1) <= 0x1p-23);
        assert_true(fabs((double)f32_rsqrt_approx(a, 0) * sqrt(x) - 1) <= 0x1p-23);
        assert_true(fabs((double)f32_sqrt_approx(a, 0) / sqrt(x) - 1) <= 0x1p-24);
        assert_true(fabs((double)f32_lg2_approx(a, 0) - log2(x)) <= 0x1p-22 * fmax(1, fabs(log2(x))));
        if (a < 100)
            assert_true(fabs((double)f32_ex2_approx(-a, 0) / exp2(-x) - 1) <= 0x1p-23);
        assert_true(fabs((double)f32_sin_approx(a, 0) - sin(x)) <= 0x1p-24);
        assert_true(fabs((double)f32_cos_approx(a, 0) - cos(x)) <= 0x1p-24);
        assert_true(fabs((double)f32_tanh_approx(a) - tanh(x)) <= 0x1p-24);
    }
    assert_int_equal(bits_of(f32_ex2_approx(-INFINITY, 0)), 0);
    assert_int_equal(bits_of(f32_ex2_approx(1e-40f, NUMBER_FTZ)), bits_of(1));
    assert_int_equal(bits_of(f32_ex2_approx(-130, NUMBER_FTZ)), 0);
    assert_true(f32_ex2_approx(-130, 0) == 0x1p-130f);
    assert_int_equal(bits_of(f32_lg2_approx(0, 0)), 0xff800000);
    assert_int_equal(bits_of(f32_lg2_approx(-1, 0)), 0x7fffffff);
    assert_int_equal(bits_of(f32_rcp_approx(-0.0f, 0)), 0xff800000);
    assert_int_equal(bits_of(f32_rcp_approx(1e-40f, NUMBER_FTZ)), 0x7f800000);
    assert_int_equal(bits_of(f32_rsqrt_approx(-0.0f, 0)), 0xff800000);
    assert_int_equal(bits_of(f32_sqrt_approx(-0.0f, 0)), 0x80000000);
    assert_int_equal(bits_of(f32_sqrt_approx(-1, 0)), 0x7fffffff);
    assert_int_equal(bits_of(f32_sin_approx(INFINITY, 0)), 0x7fffffff);
}

/* f16 and bf16 fma: one rounding, checked where the exact result fits a long double. */
static void small_fmas(void **state)
{
    (void)state;
    uint64_t random = 23;
    for (int i = 0; i < 300000; i++) {
        uint16_t a = (uint16_t)((next_random(&random) & 0x83ff) | (5 + random_below(&random, 20)) << 10);
        uint16_t b = (uint16_t)((next_random(&random) & 0x83ff) | (5 + random_below(&random, 20)) << 10);
        uint16_t c = (uint16_t)((next_random(&random) & 0x83ff) | (5 + random_below(&random, 20)) << 10);
        double exact = (double)number_decode(NUMBER_F16, a) * (double)number_decode(NUMBER_F16, b) +
                       (double)number_decode(NUMBER_F16, c); /* all within 2^-50..2^20: exact */
        assert_int_equal(small_fma(NUMBER_F16, a, b, c, 0), number_encode(NUMBER_F16, exact, NUMBER_RN, 0));
        assert_int_equal(small_fma(NUMBER_F16, a, b, c, NUMBER_RELU),
                         number_encode(NUMBER_F16, exact, NUMBER_RN, NUMBER_RELU));
    }
    assert_int_equal(small_fma(NUMBER_BF16, 0x3f80, 0x4000, 0x3f80, 0), 0x4040); /* 1 * 2 + 1 */
    /* a sum that double rounding would get wrong: 256 * 1 + (1 + tiny) lies just above a tie in bf16 */
    assert_int_equal(small_fma(NUMBER_BF16, 0x4380, 0x3f80, 0x3f81, 0), 0x4381);
    assert_int_equal(small_fma(NUMBER_BF16, 0x7fc0, 0x3f80, 0x3f80, 0), 0x7fff);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_rounding_modes),  cmocka_unit_test(flush_to_zero),  cmocka_unit_test(saturate),
        cmocka_unit_test(minimum_and_maximum), cmocka_unit_test(approximations), cmocka_unit_test(small_fmas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
