#include "trace/random.h"

#include <math.h>

#include "base/splitmix.h"
#include "trace/convert.h"

uint64_t random_key(uint64_t seed, uint64_t tensor_index)
{
    return splitmix_mix(seed + SPLITMIX_STEP * (tensor_index + 1));
}

uint64_t random_key_bits(uint64_t key, uint64_t element)
{
    return splitmix_mix(key + SPLITMIX_STEP * (element + 1));
}

uint64_t random_bits(uint64_t seed, uint64_t tensor_index, uint64_t element)
{
    return random_key_bits(random_key(seed, tensor_index), element);
}

/* Root x >= 0 of erfc(x / sqrt 2) / 2 = tail by Newton's method in double, from the quantile of the neighbour. The
 * tail function is convex there and `x` is at most the root, so the steps climb monotonically. */
static double upper_quantile(double tail, double x)
{
    for (int i = 0; i < 60; i++) {
        double density = exp(-0.5 * x * x) * 0.39894228040143267794;
        double step = (0.5 * erfc(x * 0.70710678118654752440) - tail) / density;
        x += step;
        if (fabs(step) < 1e-15)
            break;
    }
    return x;
}

void random_normal_table(float table[RANDOM_TABLE_SIZE])
{
    enum { HALF = RANDOM_TABLE_SIZE / 2 };
    double x = 0;

    for (int i = 0; i < HALF; i++) {
        x = upper_quantile(0.5 - (i + 0.5) / RANDOM_TABLE_SIZE, x);
        table[HALF + i] = (float)x;
        table[HALF - 1 - i] = -(float)x;
    }
}

static float clamp2(float value)
{
    return value < -2 ? -2 : value > 2 ? 2 : value;
}

static double value_of(const float *table, enum dtype dtype, uint64_t bits)
{
    switch (dtype) {
    case DTYPE_FLOAT32:
    case DTYPE_FLOAT16:
    case DTYPE_BFLOAT16:
        return (double)table[bits >> 48];
    case DTYPE_FLOAT8_E4M3FN:
    case DTYPE_FLOAT8_E5M2:
    case DTYPE_FLOAT4_E2M1:
        return (double)clamp2(table[bits >> 48]);
    case DTYPE_BOOL:
        return (double)(bits >> 63);
    case DTYPE_INT8:
        return (double)(bits >> 56) - 128;
    case DTYPE_INT16:
    case DTYPE_INT32:
    case DTYPE_INT64:
    case DTYPE_COUNT:
        break;
    }
    return (double)(bits >> 53) - 1024;
}

void random_fill(const float table[RANDOM_TABLE_SIZE], enum dtype dtype, uint64_t seed, uint64_t tensor_index,
                 uint64_t first, size_t count, void *out)
{
    uint64_t key = random_key(seed, tensor_index);

    if (dtype == DTYPE_BFLOAT16) {
        uint16_t *to = out;
        for (size_t i = 0; i < count; i++)
            to[i] = float_to_bfloat16(table[random_key_bits(key, first + i) >> 48]);
        return;
    }
    if (dtype == DTYPE_FLOAT4_E2M1 && count % 2)
        ((uint8_t *)out)[count / 2] = 0; /* the unused half of the last byte */
    for (size_t i = 0; i < count; i++)
        tensor_store(dtype, out, i, value_of(table, dtype, random_key_bits(key, first + i)));
}
