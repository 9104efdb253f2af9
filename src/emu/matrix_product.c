#include "emu/matrix_product.h"

#include <math.h>
#include <string.h>

/* Unaligned, and aliases of float; the compiler splits them where the machine has fewer lanes. */
typedef float lanes8 __attribute__((vector_size(32), aligned(4), may_alias));
typedef float lanes16 __attribute__((vector_size(64), aligned(4), may_alias));
typedef uint32_t integer_lanes __attribute__((vector_size(32), aligned(4), may_alias));

enum { LANES = 8, BLOCK_ROWS = 4, NEGATED_MAX = 2048 };

/*
 * d += a * b for rows in blocks of `height` and columns in blocks of `width` vectors; the sums of a block stay in
 * registers. Every element adds its products in the order of k, whatever the block. Macros, because vectors wider than
 * the base machine's are split up before an inline function is inlined.
 */
#define DEFINE_BLOCKS(name, lanes, height, width, attributes)                                                          \
    attributes static void name(long rows, long columns, long n, long k, const float *a, const float *b, float *d)     \
    {                                                                                                                  \
        enum { COUNT = sizeof(lanes) / sizeof(float) };                                                                \
        for (long row = 0; row < rows; row += (height)) {                                                              \
            for (long column = 0; column < columns; column += (width)*COUNT) {                                         \
                const float *left = a + row * k, *right = b + column;                                                  \
                float *out = d + row * n + column;                                                                     \
                lanes sums[height][width];                                                                             \
                for (int r = 0; r < (height); r++)                                                                     \
                    for (int c = 0; c < (width); c++)                                                                  \
                        sums[r][c] = *(const lanes *)(out + r * n + c * COUNT);                                        \
                for (long kk = 0; kk < k; kk++)                                                                        \
                    for (int r = 0; r < (height); r++)                                                                 \
                        for (int c = 0; c < (width); c++)                                                              \
                            sums[r][c] += left[r * k + kk] * *(const lanes *)(right + kk * n + c * COUNT);             \
                for (int r = 0; r < (height); r++)                                                                     \
                    for (int c = 0; c < (width); c++)                                                                  \
                        *(lanes *)(out + r * n + c * COUNT) = sums[r][c];                                              \
            }                                                                                                          \
        }                                                                                                              \
    }

#define DEFINE_INTEGERS(name, attributes)                                                                              \
    attributes static void name(long count, long k, long n, const int32_t *a, const int32_t *b, uint32_t *sum)         \
    {                                                                                                                  \
        for (long column = 0; column < count; column += LANES) {                                                       \
            integer_lanes total = {0};                                                                                 \
            for (long kk = 0; kk < k; kk++)                                                                            \
                total += (uint32_t)a[kk] * *(const integer_lanes *)(b + kk * n + column);                              \
            *(integer_lanes *)(sum + column) = total;                                                                  \
        }                                                                                                              \
    }

DEFINE_BLOCKS(multiply_4x8_base, lanes8, 4, 1, )
DEFINE_INTEGERS(multiply_integers_base, )
#if defined(__x86_64__)
#define AVX2 __attribute__((target("avx2,fma")))
#define AVX512 __attribute__((target("avx512f")))
DEFINE_BLOCKS(multiply_4x8_avx2, lanes8, 4, 1, AVX2)
DEFINE_BLOCKS(multiply_4x16_avx2, lanes8, 4, 2, AVX2)
DEFINE_BLOCKS(multiply_8x32_avx512, lanes16, 8, 2, AVX512)
DEFINE_INTEGERS(multiply_integers_avx2, AVX2)
#endif

static bool has_avx2(void)
{
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#else
    return false;
#endif
}

/* Rows in multiples of BLOCK_ROWS, columns of LANES. */
static void multiply_blocks(long rows, long columns, long n, long k, const float *a, const float *b, float *d)
{
#if defined(__x86_64__)
    if (has_avx2()) {
        long wide = 0;
        if (rows % 8 == 0 && __builtin_cpu_supports("avx512f")) {
            wide = columns & ~31L;
            multiply_8x32_avx512(rows, wide, n, k, a, b, d);
        }
        long middle = (columns - wide) & ~15L;
        multiply_4x16_avx2(rows, middle, n, k, a, b + wide, d + wide);
        wide += middle;
        multiply_4x8_avx2(rows, columns - wide, n, k, a, b + wide, d + wide);
        return;
    }
#endif
    multiply_4x8_base(rows, columns, n, k, a, b, d);
}

/* The same with a * -1: negated in portions of rows, so that the inner loops know nothing of it. */
static void multiply_negated(long rows, long columns, long n, long k, const float *a, const float *b, float *d)
{
    float negated[NEGATED_MAX];
    long step = k ? NEGATED_MAX / k & ~(BLOCK_ROWS - 1L) : rows;

    for (long row = 0; row < rows; row += step) {
        long here = rows - row < step ? rows - row : step;
        for (long i = 0; i < here * k; i++)
            negated[i] = -a[row * k + i];
        multiply_blocks(here, columns, n, k, negated, b, d + row * n);
    }
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
    long rows = product->m & ~(BLOCK_ROWS - 1), columns = product->n & ~(LANES - 1), n = product->n, k = product->k;
    bool negated = product->negate_a != product->negate_b;

    if (product->zero_d)
        memset(d, 0, (size_t)product->m * (size_t)n * sizeof *d);
    if (negated && k > NEGATED_MAX / BLOCK_ROWS)
        rows = 0;
    if (negated && rows)
        multiply_negated(rows, columns, n, k, a, b, d);
    else
        multiply_blocks(rows, columns, n, k, a, b, d);
    for (long row = 0; row < product->m; row++)
        multiply_elements(product, row, row < rows ? columns : 0, negated ? -1.0f : 1.0f, a, b, d);
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
