#include "emu/matrix_product.h"

#include <math.h>
#include <string.h>

/* Eight lanes; the compiler splits them where the machine has fewer. Unaligned, and an alias of float. */
typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));

enum { LANES = 8, BLOCK_ROWS = 4 };

#define LOAD(pointer) (*(const lanes *)(pointer))
#define STORE(pointer, value) (*(lanes *)(pointer) = (value))

/* d[4 x 16] += a[4 x k] * b[k x 16]; the eight sums stay in registers. */
#define MULTIPLY_4X16(a, b, d)                                                                                         \
    do {                                                                                                               \
        lanes s00 = LOAD(d), s01 = LOAD(d + LANES), s10 = LOAD(d + n), s11 = LOAD(d + n + LANES);                      \
        lanes s20 = LOAD(d + 2 * n), s21 = LOAD(d + 2 * n + LANES);                                                    \
        lanes s30 = LOAD(d + 3 * n), s31 = LOAD(d + 3 * n + LANES);                                                    \
        for (long kk = 0; kk < k; kk++) {                                                                              \
            lanes left = LOAD(b + kk * n) * sign, right = LOAD(b + kk * n + LANES) * sign;                             \
            s00 += a[kk] * left;                                                                                       \
            s01 += a[kk] * right;                                                                                      \
            s10 += a[k + kk] * left;                                                                                   \
            s11 += a[k + kk] * right;                                                                                  \
            s20 += a[2 * k + kk] * left;                                                                               \
            s21 += a[2 * k + kk] * right;                                                                              \
            s30 += a[3 * k + kk] * left;                                                                               \
            s31 += a[3 * k + kk] * right;                                                                              \
        }                                                                                                              \
        STORE(d, s00);                                                                                                 \
        STORE(d + LANES, s01);                                                                                         \
        STORE(d + n, s10);                                                                                             \
        STORE(d + n + LANES, s11);                                                                                     \
        STORE(d + 2 * n, s20);                                                                                         \
        STORE(d + 2 * n + LANES, s21);                                                                                 \
        STORE(d + 3 * n, s30);                                                                                         \
        STORE(d + 3 * n + LANES, s31);                                                                                 \
    } while (0)

/* The same for the last eight columns. */
#define MULTIPLY_4X8(a, b, d)                                                                                          \
    do {                                                                                                               \
        lanes s0 = LOAD(d), s1 = LOAD(d + n), s2 = LOAD(d + 2 * n), s3 = LOAD(d + 3 * n);                              \
        for (long kk = 0; kk < k; kk++) {                                                                              \
            lanes right = LOAD(b + kk * n) * sign;                                                                     \
            s0 += a[kk] * right;                                                                                       \
            s1 += a[k + kk] * right;                                                                                   \
            s2 += a[2 * k + kk] * right;                                                                               \
            s3 += a[3 * k + kk] * right;                                                                               \
        }                                                                                                              \
        STORE(d, s0);                                                                                                  \
        STORE(d + n, s1);                                                                                              \
        STORE(d + 2 * n, s2);                                                                                          \
        STORE(d + 3 * n, s3);                                                                                          \
    } while (0)

typedef uint32_t integer_lanes __attribute__((vector_size(32), aligned(4), may_alias));

/*
 * The kernels, once per instruction set: rows [0, rows) in blocks of four, columns [0, columns) in blocks of eight.
 * Macros, because vectors wider than the base machine's are split up before an inline function is inlined.
 */
#define DEFINE_KERNELS(suffix, attributes)                                                                             \
    attributes static void multiply_blocks_##suffix(long rows, long columns, long n, long k, float sign,               \
                                                    const float *a, const float *b, float *d)                          \
    {                                                                                                                  \
        for (long row = 0; row < rows; row += BLOCK_ROWS) {                                                            \
            const float *left_rows = a + row * k;                                                                      \
            float *out = d + row * n;                                                                                  \
            long column = 0;                                                                                           \
            for (; column + 2 * LANES <= columns; column += 2 * LANES)                                                 \
                MULTIPLY_4X16(left_rows, (b + column), (out + column));                                                \
            if (column < columns)                                                                                      \
                MULTIPLY_4X8(left_rows, (b + column), (out + column));                                                 \
        }                                                                                                              \
    }                                                                                                                  \
    attributes static void multiply_integers_##suffix(long count, long k, long n, const int32_t *a, const int32_t *b,  \
                                                      uint32_t *sum)                                                   \
    {                                                                                                                  \
        for (long column = 0; column < count; column += LANES) {                                                       \
            integer_lanes total = {0};                                                                                 \
            for (long kk = 0; kk < k; kk++)                                                                            \
                total += (uint32_t)a[kk] * *(const integer_lanes *)(b + kk * n + column);                              \
            *(integer_lanes *)(sum + column) = total;                                                                  \
        }                                                                                                              \
    }

DEFINE_KERNELS(base, )
#if defined(__x86_64__)
DEFINE_KERNELS(avx2, __attribute__((target("avx2,fma"))))
#endif

static bool has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

static void multiply_blocks(long rows, long columns, long n, long k, float sign, const float *a, const float *b,
                            float *d)
{
#if defined(__x86_64__)
    if (has_avx2()) {
        multiply_blocks_avx2(rows, columns, n, k, sign, a, b, d);
        return;
    }
#endif
    multiply_blocks_base(rows, columns, n, k, sign, a, b, d);
}

/* sum[0..count) = a row of A times `count` columns of B, modulo 2^32. */
static void multiply_integers(long count, long k, long n, const int32_t *a, const int32_t *b, uint32_t *sum)
{
    long whole = count & ~(LANES - 1);

#if defined(__x86_64__)
    if (has_avx2())
        multiply_integers_avx2(whole, k, n, a, b, sum);
    else
#endif
        multiply_integers_base(whole, k, n, a, b, sum);
    for (long column = whole; column < count; column++) {
        sum[column] = 0;
        for (long kk = 0; kk < k; kk++)
            sum[column] += (uint32_t)a[kk] * (uint32_t)b[kk * n + column];
    }
}

/* Rows and columns outside of the blocks. fmaf rounds as the blocks do for every operand type of the tensor core. */
static void multiply_elements(const struct matrix_product *p, long row, long first_column, float sign, const float *a,
                              const float *b, float *d)
{
    for (long column = first_column; column < p->n; column++) {
        float sum = d[row * p->n + column];
        for (long kk = 0; kk < p->k; kk++)
            sum = fmaf(sign * a[row * p->k + kk], b[kk * p->n + column], sum);
        d[row * p->n + column] = sum;
    }
}

void matrix_product_f32(const struct matrix_product *product, const float *a, const float *b, float *d)
{
    long rows = product->m & ~(BLOCK_ROWS - 1), columns = product->n & ~(LANES - 1);
    float sign = product->negate_a != product->negate_b ? -1.0f : 1.0f;

    if (product->zero_d)
        memset(d, 0, (size_t)product->m * (size_t)product->n * sizeof *d);
    multiply_blocks(rows, columns, product->n, product->k, sign, a, b, d);
    for (long row = 0; row < product->m; row++)
        multiply_elements(product, row, row < rows ? columns : 0, sign, a, b, d);
}

void matrix_product_f16(const struct matrix_product *product, const float *a, const float *b, uint16_t *d, float *work)
{
    size_t count = (size_t)product->m * (size_t)product->n;

    if (!product->zero_d)
        number_decode_floats(NUMBER_F16, d, work, count);
    matrix_product_f32(product, a, b, work);
    for (size_t i = 0; i < count; i++)
        d[i] = (uint16_t)number_encode(NUMBER_F16, (double)work[i], NUMBER_RN, 0);
}

static int32_t add_integers(int32_t a, int64_t b, bool saturate)
{
    int64_t sum = a + b;

    if (!saturate)
        return (int32_t)(uint32_t)(uint64_t)sum;
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

void matrix_product_s32(const struct matrix_product *product, const int32_t *a, const int32_t *b, int32_t *d)
{
    enum { STRIP = 256 };
    uint32_t sum[STRIP];
    long n = product->n, k = product->k;

    for (long row = 0; row < product->m; row++) {
        for (long first = 0; first < n; first += STRIP) {
            long count = n - first < STRIP ? n - first : STRIP;
            multiply_integers(count, k, n, a + row * k, b + first, sum);
            for (long i = 0; i < count; i++) {
                int32_t *out = &d[row * n + first + i];
                *out = add_integers(product->zero_d ? 0 : *out, (int32_t)sum[i], product->saturate);
            }
        }
    }
}

void matrix_product_f64(const struct matrix_product *product, const double *a, const double *b, double *d)
{
    double sign = product->negate_a != product->negate_b ? -1 : 1;
    long n = product->n, k = product->k;

    for (long row = 0; row < product->m; row++) {
        for (long column = 0; column < n; column++) {
            double sum = product->zero_d ? 0 : d[row * n + column];
            for (long kk = 0; kk < k; kk++)
                sum = fma(sign * a[row * k + kk], b[kk * n + column], sum);
            d[row * n + column] = sum;
        }
    }
}
