/* trace/random.h: the contract that a second implementation must meet bit for bit, pinned. */
#include "trace_test.h"

#include <math.h>

#include "base/hash.h"
#include "trace/convert.h"
#include "trace/random.h"

/* Made by an independent implementation of the header in another language. */
#define PINNED_BITS 0xa706dd2f4d197e6fu
#define PINNED_TABLE "1cfbba1e07e34386a57626f82aeb43e6ed54ba70a3ea6b7d964dc66a841074a8"
#define PINNED_DTYPE_FLOAT32 "175909548a181575"
#define PINNED_DTYPE_FLOAT16 "200ddc58b2e727a5"
#define PINNED_DTYPE_BFLOAT16 "a53e73bb3757aa30"
#define PINNED_DTYPE_FLOAT8_E4M3FN "2a18c345d9b04d9a"
#define PINNED_DTYPE_FLOAT8_E5M2 "aabf89c3235fd2a1"
#define PINNED_DTYPE_FLOAT4_E2M1 "7077c027b6061a97"
#define PINNED_DTYPE_INT64 "94b363114e571bd0"
#define PINNED_DTYPE_INT32 "2dbb49c4b8ef7667"
#define PINNED_DTYPE_INT16 "2a782005c82a9e77"
#define PINNED_DTYPE_INT8 "07266810964f5f93"
#define PINNED_DTYPE_BOOL "20d44ef0af6c0979"

static float table[RANDOM_TABLE_SIZE];

static void test_bits(void **state)
{
    (void)state;
    /* SplitMix64 started at 0 gives this first value; mix(0) is 0 */
    assert_true(random_key(0, 0) == 0xe220a8397b1dcdafu);
    assert_true(random_key(-0x9e3779b97f4a7c15u, 0) == 0);
    assert_true(random_key_bits(0, 0) == 0xe220a8397b1dcdafu);
    assert_true(random_key_bits(0, 1) == 0x6e789e6aa1b965f4u);
    assert_true(random_bits(7, 2, 3) == random_key_bits(random_key(7, 2), 3));
    assert_true(random_bits(0, 0, 0) == PINNED_BITS);
}

static void test_table(void **state)
{
    static const double quantiles[][2] = {{0.5 + 0.5 / 65536, 1.9123e-5}, {0.975, 1.959964}, {0.99865, 2.99998}};
    char digest[HASH_TEXT_BYTES];

    (void)state;
    random_normal_table(table);
    for (size_t i = 0; i < ARRAY_LEN(quantiles); i++) {
        double value = (double)table[(size_t)(quantiles[i][0] * 65536)];
        assert_true(fabs(value - quantiles[i][1]) < 1e-3 * quantiles[i][1] + 1e-5);
    }
    for (size_t i = 0; i < RANDOM_TABLE_SIZE; i++) {
        assert_true(table[i] == -table[RANDOM_TABLE_SIZE - 1 - i]);
        assert_true(i == 0 || table[i] > table[i - 1]);
        /* the residual of the definition, in probability */
        double p = 0.5 * erfc(-(double)table[i] * 0.70710678118654752440);
        assert_true(fabs(p - ((double)i + 0.5) / 65536) < 1e-7 * p + 1e-8);
    }
    hash_bytes(table, sizeof table, digest);
    assert_string_equal(digest, PINNED_TABLE);
}

static void expect_digest(enum dtype dtype, const char *expected)
{
    enum { COUNT = 4097 };
    static unsigned char bytes[COUNT * 8];
    struct tensor_shape shape = {.dtype = dtype, .rank = 1, .dims = {COUNT}};
    char digest[HASH_TEXT_BYTES];

    memset(bytes, 0xaa, sizeof bytes);
    random_fill(table, dtype, 42, 1, 0, COUNT, bytes);
    hash_bytes(bytes, (size_t)tensor_bytes(&shape), digest);
    if (strncmp(digest, expected, strlen(expected)) != 0)
        fail_msg("%s: %s", dtype_text(dtype), digest);
}

static void test_pinned_bytes(void **state)
{
    (void)state;
#define X(name, text, safetensors, bits, dlpack) expect_digest(name, PINNED_##name);
    DTYPES(X)
#undef X
}

static void test_chunks_agree(void **state)
{
    static const enum dtype dtypes[] = {DTYPE_BFLOAT16, DTYPE_FLOAT32, DTYPE_INT8, DTYPE_FLOAT4_E2M1};
    unsigned char whole[400];
    unsigned char part[400];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(dtypes); i++) {
        size_t skip = 30 * (size_t)dtype_bits(dtypes[i]) / 8;
        random_fill(table, dtypes[i], 9, 0, 0, 100, whole);
        random_fill(table, dtypes[i], 9, 0, 30, 70, part);
        assert_memory_equal(whole + skip, part, 70 * (size_t)dtype_bits(dtypes[i]) / 8);
    }
}

static void test_value_ranges(void **state)
{
    static const struct {
        enum dtype dtype;
        double low, high;
    } ranges[] = {
        {DTYPE_FLOAT8_E4M3FN, -2, 2}, {DTYPE_FLOAT8_E5M2, -2, 2}, {DTYPE_FLOAT4_E2M1, -2, 2}, {DTYPE_INT8, -128, 127},
        {DTYPE_INT16, -1024, 1023},   {DTYPE_INT32, -1024, 1023}, {DTYPE_INT64, -1024, 1023}, {DTYPE_BOOL, 0, 1},
    };
    static unsigned char bytes[65536 * 8];

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(ranges); i++) {
        double low = 0;
        double high = 0;
        random_fill(table, ranges[i].dtype, 3, 0, 0, 65536, bytes);
        for (size_t k = 0; k < 65536; k++) {
            double value = tensor_load(ranges[i].dtype, bytes, k);
            low = fmin(low, value);
            high = fmax(high, value);
        }
        assert_true(low == ranges[i].low && high == ranges[i].high);
    }
}

static void test_moments(void **state)
{
    enum { COUNT = 1 << 18 };
    AUTO_FREE float *values = malloc(COUNT * sizeof *values);
    double sum = 0;
    double squares = 0;
    double fourth = 0;
    double neighbours = 0;

    (void)state;
    assert_non_null(values);
    random_fill(table, DTYPE_FLOAT32, 1, 0, 0, COUNT, values);
    for (size_t i = 0; i < COUNT; i++) {
        double x = (double)values[i];
        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
        neighbours += i ? x * (double)values[i - 1] : 0;
    }
    assert_true(fabs(sum / COUNT) < 0.01);
    assert_true(fabs(squares / COUNT - 1) < 0.02);
    assert_true(fabs(fourth / COUNT - 3) < 0.1);
    assert_true(fabs(neighbours / COUNT) < 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bits),         cmocka_unit_test(test_table),        cmocka_unit_test(test_pinned_bytes),
        cmocka_unit_test(test_chunks_agree), cmocka_unit_test(test_value_ranges), cmocka_unit_test(test_moments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
