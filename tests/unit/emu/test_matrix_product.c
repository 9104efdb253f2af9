/* emu/matrix_product.h against the plain triple loop, for every shape of wgmma and mma; and operands out of shared memory. */
#include "emu_test.h"

#include <math.h>

#include "emu/matrix_product.h"

enum { MAX_M = 67, MAX_N = 259, MAX_K = 32 };

static float a[MAX_M * MAX_K], b[MAX_K * MAX_N], d[MAX_M * MAX_N], expected[MAX_M * MAX_N];
static int32_t ia[MAX_M * MAX_K], ib[MAX_K * MAX_N], id[MAX_M * MAX_N], iexpected[MAX_M * MAX_N];

/* Small multiples of 1/8: every sum is exact in f32, whatever the order. */
static void fill_exact(uint64_t *random, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        values[i] = (float)((int)random_below(random, 33) - 16) / 8;
}

static void compare_f32(uint64_t *random, struct matrix_product p)
{
    size_t count = (size_t)(p.m * p.n);

    fill_exact(random, a, (size_t)(p.m * p.k));
    fill_exact(random, b, (size_t)(p.k * p.n));
    fill_exact(random, d, count);
    for (int row = 0; row < p.m; row++)
        for (int column = 0; column < p.n; column++) {
            float sum = 0;
            for (int k = 0; k < p.k; k++)
                sum += a[row * p.k + k] * b[k * p.n + column];
            expected[row * p.n + column] =
                (p.zero_d ? 0 : d[row * p.n + column]) + (p.negate_a != p.negate_b ? -sum : sum);
        }
    if (p.zero_d)
        d[0] = NAN; /* must not be read */
    matrix_product_f32(&p, a, b, d);
    for (size_t i = 0; i < count; i++)
        if (d[i] != expected[i])
            fail_msg("m %d n %d k %d, element %zu: %a, expected %a", p.m, p.n, p.k, i, (double)d[i],
                     (double)expected[i]);
}

static void every_shape_f32(void **state)
{
    (void)state;
    static const int KS[] = {4, 8, 16, 32};
    uint64_t random = 1;
    for (int n = 8; n <= 256; n += 8)
        for (int k = 0; k < 4; k++)
            compare_f32(&random, (struct matrix_product){.m = 64, .n = n, .k = KS[k]});
    for (int k = 0; k < 4; k++)
        compare_f32(&random, (struct matrix_product){.m = 16, .n = 8, .k = KS[k]});
    for (int i = 0; i < 8; i++)
        compare_f32(&random, (struct matrix_product){64, 72, 16, i & 1, i & 2, i & 4, false});
    for (int i = 0; i < 200; i++) /* shapes that no instruction has: the tails */
        compare_f32(&random, (struct matrix_product){.m = 1 + (int)random_below(&random, MAX_M),
                                                     .n = 1 + (int)random_below(&random, MAX_N),
                                                     .k = (int)random_below(&random, MAX_K)});
}

/* Inexact sums: k in ascending order with one rounding each. */
static void order_of_accumulation(void **state)
{
    (void)state;
    uint64_t random = 2;
    struct matrix_product p = {.m = 64, .n = 24, .k = 16};
    for (int i = 0; i < p.m * p.k; i++)
        a[i] = number_decode(NUMBER_BF16, (uint32_t)(0x3f00 | (next_random(&random) & 0x80ff)));
    for (int i = 0; i < p.k * p.n; i++)
        b[i] = number_decode(NUMBER_BF16, (uint32_t)(0x3f00 | (next_random(&random) & 0x80ff)));
    for (int i = 0; i < p.m * p.n; i++)
        d[i] = expected[i] = number_decode(NUMBER_F32, (uint32_t)(0x3f000000 | (next_random(&random) & 0x80ffffff)));
    for (int row = 0; row < p.m; row++)
        for (int column = 0; column < p.n; column++)
            for (int k = 0; k < p.k; k++)
                expected[row * p.n + column] =
                    fmaf(a[row * p.k + k], b[k * p.n + column], expected[row * p.n + column]);
    matrix_product_f32(&p, a, b, d);
    assert_memory_equal(d, expected, sizeof(float) * (size_t)(p.m * p.n));
}

static void every_shape_s32(void **state)
{
    (void)state;
    uint64_t random = 3;
    for (int n = 8; n <= 256; n += 8) {
        struct matrix_product p = {.m = 64, .n = n, .k = 32, .zero_d = n % 16 == 0, .saturate = n % 3 == 0};
        for (int i = 0; i < p.m * p.k; i++)
            ia[i] = (int32_t)random_below(&random, 384) - 128;
        for (int i = 0; i < p.k * n; i++)
            ib[i] = (int32_t)random_below(&random, 384) - 128;
        for (int i = 0; i < p.m * n; i++)
            id[i] = (int32_t)next_random(&random) | (i % 2 ? 0x7fff0000 : 0);
        for (int row = 0; row < p.m; row++)
            for (int column = 0; column < n; column++) {
                int64_t sum = p.zero_d ? 0 : id[row * n + column];
                for (int k = 0; k < p.k; k++)
                    sum += (int64_t)ia[row * p.k + k] * ib[k * n + column];
                if (p.saturate)
                    sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
                iexpected[row * n + column] = (int32_t)(uint32_t)(uint64_t)sum;
            }
        matrix_product_s32(&p, ia, ib, id);
        assert_memory_equal(id, iexpected, sizeof(int32_t) * (size_t)(p.m * n));
    }
    struct matrix_product odd = {.m = 3, .n = 13, .k = 5, .zero_d = true};
    for (int i = 0; i < 5 * 13; i++)
        ib[i] = i;
    for (int i = 0; i < 3 * 5; i++)
        ia[i] = i;
    matrix_product_s32(&odd, ia, ib, id);
    assert_int_equal(id[2 * 13 + 12], 10 * 12 + 11 * 25 + 12 * 38 + 13 * 51 + 14 * 64);
}

static void half_accumulators(void **state)
{
    (void)state;
    static uint16_t half[64 * 256], want[64 * 256];
    uint64_t random = 4;
    for (int n = 8; n <= 256; n += 8) {
        struct matrix_product p = {.m = 64, .n = n, .k = 16, .zero_d = n == 64};
        fill_exact(&random, a, 64 * 16);
        fill_exact(&random, b, (size_t)(16 * n));
        for (int i = 0; i < 64 * n; i++)
            half[i] = (uint16_t)number_encode(NUMBER_F16, (double)random_below(&random, 4096), NUMBER_RN, 0);
        for (int row = 0; row < 64; row++)
            for (int column = 0; column < n; column++) {
                float sum = p.zero_d ? 0 : number_decode(NUMBER_F16, half[row * n + column]);
                for (int k = 0; k < 16; k++)
                    sum += a[row * 16 + k] * b[k * n + column];
                want[row * n + column] = (uint16_t)number_encode(NUMBER_F16, (double)sum, NUMBER_RN, 0);
            }
        matrix_product_f16(&p, a, b, half, d);
        assert_memory_equal(half, want, sizeof(uint16_t) * (size_t)(64 * n));
    }
}

static void doubles(void **state)
{
    (void)state;
    double x[8 * 4], y[4 * 8], z[8 * 8], want[8 * 8];
    struct matrix_product p = {.m = 8, .n = 8, .k = 4, .negate_b = true};
    for (int i = 0; i < 32; i++) {
        x[i] = i * 0.5;
        y[i] = 7 - i;
    }
    for (int i = 0; i < 64; i++) {
        z[i] = want[i] = i;
        for (int k = 0; k < 4; k++)
            want[i] -= x[i / 8 * 4 + k] * y[k * 8 + i % 8];
    }
    matrix_product_f64(&p, x, y, z);
    assert_memory_equal(z, want, sizeof want);
}

/* A matrix is stored through the layout, one element at a time; loading gives it back in both orders. */
static void store_and_load(enum number_format format, bool mn_major, int rows, enum smem_swizzle swizzle)
{
    static uint8_t shared[1 << 18];
    static float loaded[256 * 32];
    int size = number_bytes(format);
    uint32_t span = smem_swizzle_span(swizzle);
    struct wgmma_descriptor descriptor = {
        .start = 0x400, .stride_offset = 8 * span, .leading_offset = 8192, .swizzle = swizzle};
    struct smem_operand operand;
    struct error error;
    uint64_t random = 77;

    if (swizzle == SMEM_SWIZZLE_NONE && mn_major)
        descriptor = (struct wgmma_descriptor){.start = 0x400, .stride_offset = 1024, .leading_offset = 128};
    else if (mn_major) {
        descriptor.stride_offset = 0x4000;
        descriptor.leading_offset = 8 * span;
    }
    assert_true(smem_operand_init(&operand, wgmma_descriptor_encode(&descriptor), size, rows, mn_major, &error));
    memset(shared, 0, sizeof shared);
    for (int row = 0; row < rows; row++)
        for (int k = 0; k < operand.k; k++) {
            uint32_t bits = (uint32_t)random_below(&random, 0x4000) + 1;
            memcpy(shared + smem_operand_address(&operand, row, k), &bits, (size_t)size);
        }
    for (int order = 0; order < 2; order++) {
        if (!matrix_operand_load(&operand, format, shared, sizeof shared, (enum matrix_order)order, loaded, &error))
            fail_msg("%s", error.message);
        random = 77;
        for (int row = 0; row < rows; row++)
            for (int k = 0; k < operand.k; k++) {
                uint32_t bits = (uint32_t)random_below(&random, 0x4000) + 1;
                float value = number_decode(format, bits);
                int32_t integer = format == NUMBER_S8 ? (int8_t)bits : (uint8_t)bits;
                int index = order == MATRIX_ROWS_BY_K ? row * operand.k + k : k * rows + row;
                assert_memory_equal(&loaded[index], number_is_integer(format) ? (void *)&integer : (void *)&value, 4);
            }
    }
}

static void operands(void **state)
{
    (void)state;
    static const enum number_format FORMATS[] = {NUMBER_TF32, NUMBER_F16, NUMBER_BF16, NUMBER_E4M3,
                                                 NUMBER_E5M2, NUMBER_S8,  NUMBER_U8};
    for (size_t f = 0; f < sizeof FORMATS / sizeof FORMATS[0]; f++)
        for (int swizzle = SMEM_SWIZZLE_NONE; swizzle <= SMEM_SWIZZLE_128B; swizzle++)
            for (int rows = 8; rows <= 256; rows *= 2) {
                store_and_load(FORMATS[f], false, rows, (enum smem_swizzle)swizzle);
                store_and_load(FORMATS[f], true, rows, (enum smem_swizzle)swizzle);
            }
}

static void operand_outside(void **state)
{
    (void)state;
    static uint8_t shared[8192];
    float out[64 * 16];
    struct wgmma_descriptor descriptor = {.start = 0x400, .stride_offset = 1024, .swizzle = SMEM_SWIZZLE_128B};
    struct smem_operand operand;
    struct error error;
    assert_true(smem_operand_init(&operand, wgmma_descriptor_encode(&descriptor), 2, 64, false, &error));
    assert_false(matrix_operand_load(&operand, NUMBER_BF16, shared, sizeof shared, MATRIX_ROWS_BY_K, out, &error));
    assert_non_null(strstr(error.message, "element (row 56, k 0) lies at shared address 0x2000"));
    assert_false(matrix_operand_load(&operand, NUMBER_BF16, shared, 0, MATRIX_ROWS_BY_K, out, &error));
    assert_false(matrix_operand_load(&operand, NUMBER_BF16, shared, 0x408, MATRIX_ROWS_BY_K, out, &error));
    assert_non_null(strstr(error.message, "element (row 0, k 0) lies at shared address 0x400"));
    assert_false(matrix_operand_load(&operand, NUMBER_E4M3, shared, sizeof shared, MATRIX_ROWS_BY_K, out, &error));
    assert_non_null(strstr(error.message, "type e4m3 has 1 bytes"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_f32), cmocka_unit_test(order_of_accumulation),
        cmocka_unit_test(every_shape_s32), cmocka_unit_test(half_accumulators),
        cmocka_unit_test(doubles),         cmocka_unit_test(operands),
        cmocka_unit_test(operand_outside),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
