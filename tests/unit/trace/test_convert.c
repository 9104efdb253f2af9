/* trace/convert.h, exhaustively: every code survives, every midpoint ties to even, its neighbours round to nearest. */
#include "trace_test.h"

#include <math.h>

#include "trace/convert.h"

/* One format as the tests see it. */
struct format {
    const char *name;
    enum dtype dtype;
    uint32_t count;    /* codes */
    uint32_t sign;     /* sign bit */
    uint32_t largest;  /* code of the largest finite value */
    uint32_t overflow; /* code beyond it, for a positive value */
};

static const struct format formats[] = {
    {"bfloat16", DTYPE_BFLOAT16, 65536, 0x8000, 0x7f7f, 0x7f80},
    {"float16", DTYPE_FLOAT16, 65536, 0x8000, 0x7bff, 0x7c00},
    {"e4m3fn", DTYPE_FLOAT8_E4M3FN, 256, 0x80, 0x7e, 0x7f},
    {"e5m2", DTYPE_FLOAT8_E5M2, 256, 0x80, 0x7b, 0x7c},
    {"e2m1", DTYPE_FLOAT4_E2M1, 16, 0x8, 0x7, 0x7},
};

static uint32_t encode(const struct format *format, float value)
{
    uint16_t bits = 0;

    tensor_store(format->dtype, &bits, 0, (double)value);
    return bits;
}

static float decode(const struct format *format, uint32_t code)
{
    uint16_t bits = (uint16_t)code;

    return (float)tensor_load(format->dtype, &bits, 0);
}

static void test_every_code_survives(void **state)
{
    (void)state;
    for (size_t f = 0; f < ARRAY_LEN(formats); f++)
        for (uint32_t code = 0; code < formats[f].count; code++) {
            float value = decode(&formats[f], code);
            if (isnan(value)) {
                assert_true(formats[f].dtype != DTYPE_FLOAT4_E2M1);
                assert_true(isnan(decode(&formats[f], encode(&formats[f], value))));
            } else if (encode(&formats[f], value) != code) {
                fail_msg("%s: code %x is %g, which encodes to %x", formats[f].name, code, (double)value,
                         encode(&formats[f], value));
            }
        }
}

/* Between each two neighbouring codes: the midpoint goes to the even one, the floats beside it to the nearer one. */
static void test_rounding(void **state)
{
    (void)state;
    for (size_t f = 0; f < ARRAY_LEN(formats); f++)
        for (uint32_t sign = 0; sign <= formats[f].sign; sign += formats[f].sign)
            for (uint32_t code = 0; code < formats[f].largest; code++) {
                float low = decode(&formats[f], sign | code);
                float high = decode(&formats[f], sign | (code + 1));
                float middle = low + (high - low) / 2;
                if ((double)middle != ((double)low + (double)high) / 2)
                    continue; /* not a float: bfloat16 subnormals */
                uint32_t even = code & 1 ? code + 1 : code;
                assert_int_equal(encode(&formats[f], middle), sign | even);
                assert_int_equal(encode(&formats[f], nextafterf(middle, low)), sign | code);
                assert_int_equal(encode(&formats[f], nextafterf(middle, high)), sign | (code + 1));
            }
}

static void test_overflow(void **state)
{
    (void)state;
    for (size_t f = 0; f < ARRAY_LEN(formats); f++) {
        const struct format *format = &formats[f];
        float largest = decode(format, format->largest);
        float step = largest - decode(format, format->largest - 1);
        double tie = (double)largest + (double)step / 2;
        assert_int_equal(encode(format, INFINITY), format->overflow);
        assert_int_equal(encode(format, -INFINITY), format->overflow | format->sign);
        assert_int_equal(encode(format, nextafterf((float)tie, 0)), format->largest);
        /* the tie beyond an odd largest code rounds up, beyond an even one down */
        assert_int_equal(encode(format, (float)tie), format->largest & 1 ? format->overflow : format->largest);
        assert_int_equal(encode(format, nextafterf((float)tie, INFINITY)), format->overflow);
    }
}

static void test_known_values(void **state)
{
    (void)state;
    assert_int_equal(float_to_bfloat16(1), 0x3f80);
    assert_int_equal(float_to_bfloat16(-2.5f), 0xc020);
    assert_int_equal(float_to_bfloat16(NAN) & 0x7fff, 0x7fc0);
    assert_int_equal(float_to_float16(1), 0x3c00);
    assert_int_equal(float_to_float16(65504), 0x7bff);
    assert_int_equal(float_to_float16(5.9604645e-8f), 1);
    assert_int_equal(float_to_float16(1e-10f), 0);
    assert_int_equal(float_to_float16(1e-45f), 0);
    assert_int_equal(float_to_float16(-0.0f), 0x8000);
    assert_true(e4m3fn_to_float(0x7e) == 448);
    assert_true(e4m3fn_to_float(0x01) == 0.001953125f);
    assert_true(isnan(e4m3fn_to_float(0x7f)) && isnan(e4m3fn_to_float(0xff)));
    assert_true(e5m2_to_float(0x7b) == 57344);
    assert_true(isinf(e5m2_to_float(0x7c)));
    assert_true(isnan(e5m2_to_float(0x7d)));
    static const float fp4[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    for (uint8_t code = 0; code < 8; code++) {
        assert_true(e2m1_to_float(code) == fp4[code]);
        assert_true(e2m1_to_float(code | 8) == -fp4[code]);
    }
    assert_int_equal(float_to_e2m1(100), 7);
    assert_int_equal(float_to_e2m1(-100), 15);
    assert_int_equal(float_to_e2m1(NAN), 7);
    assert_int_equal(float_to_e2m1(5), 6);
    assert_int_equal(float_to_e2m1(0.25f), 0);
}

static void test_tensor_access(void **state)
{
    uint8_t packed[2] = {0, 0};
    int64_t wide[2];
    uint8_t truth[1];

    (void)state;
    tensor_store(DTYPE_FLOAT4_E2M1, packed, 0, 6);
    tensor_store(DTYPE_FLOAT4_E2M1, packed, 1, -1);
    tensor_store(DTYPE_FLOAT4_E2M1, packed, 2, 0.5);
    assert_int_equal(packed[0], 0xa7);
    assert_int_equal(packed[1], 0x01);
    assert_true(tensor_load(DTYPE_FLOAT4_E2M1, packed, 1) == -1);
    tensor_store(DTYPE_INT64, wide, 1, -1024);
    assert_true(wide[1] == -1024);
    tensor_store(DTYPE_BOOL, truth, 0, 3);
    assert_int_equal(truth[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_survives),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_known_values),
        cmocka_unit_test(test_tensor_access),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
