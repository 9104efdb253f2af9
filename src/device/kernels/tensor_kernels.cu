// Device code of the worker and the runner: seeded fill, poison check, compare, L2 flush. Host side: device_kernels.c.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cstdint>

#include "device/compare_stats.h"

namespace
{

// Must equal random_bits() of src/trace/random.h bit for bit; a test on the GPU compares both.
__device__ __forceinline__ uint64_t random_bits(uint64_t stream, uint64_t element)
{
    uint64_t z = stream + (element + 1) * 0x9e3779b97f4a7c15ull;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

template <typename T>
__device__ __forceinline__ void fill_from_table(T *out, int64_t count, uint64_t stream, const T *table)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;

    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        out[i] = table[random_bits(stream, (uint64_t)i) >> 48];
}

__device__ __forceinline__ float to_float(float value)
{
    return value;
}
__device__ __forceinline__ float to_float(__half value)
{
    return __half2float(value);
}
__device__ __forceinline__ float to_float(__nv_bfloat16 value)
{
    return __bfloat162float(value);
}
__device__ __forceinline__ float to_float(__nv_fp8_e4m3 value)
{
    return (float)value;
}
__device__ __forceinline__ float to_float(__nv_fp8_e5m2 value)
{
    return (float)value;
}
__device__ __forceinline__ float to_float(long long value)
{
    return (float)value;
}
__device__ __forceinline__ float to_float(int value)
{
    return (float)value;
}
__device__ __forceinline__ float to_float(short value)
{
    return (float)value;
}
__device__ __forceinline__ float to_float(signed char value)
{
    return (float)value;
}

template <typename T>
__device__ __forceinline__ bool is_poison(T value)
{
    const unsigned char *bytes = reinterpret_cast<const unsigned char *>(&value);
    bool all = true;

#pragma unroll
    for (unsigned i = 0; i < sizeof(T); i++)
        all &= bytes[i] == COMPARE_POISON_BYTE;
    return all;
}

struct accumulator {
    unsigned long long mismatches = 0, nans = 0, infinities = 0, untouched = 0, first = ~0ull;
    float max_abs = 0, max_rel = 0;
    double error = 0, reference = 0;
};

// The tolerance rules are documented with their tests in src/judge/tolerance.h.
__device__ __forceinline__ bool is_close(float got, float expected, float difference, float relative,
                                         const compare_rule &rule)
{
    if (got == expected) // equal infinities included
        return true;
    if (!isfinite(got) || !isfinite(expected))
        return false;
    return rule.kind == COMPARE_ALLCLOSE ? difference <= rule.atol + rule.rtol * fabsf(expected)
                                         : difference <= rule.atol || relative <= rule.rtol;
}

__device__ __forceinline__ bool add_pair(accumulator &sum, float got, float expected, bool poison,
                                         unsigned long long index, const compare_rule &rule)
{
    float difference = fabsf(got - expected);
    float relative = difference / (fabsf(expected) + 1e-8f);
    bool close = is_close(got, expected, difference, relative, rule);

    if (!close) {
        sum.mismatches++;
        sum.first = min(sum.first, index);
    }
    sum.untouched += poison;
    sum.nans += isnan(got);
    sum.infinities += isinf(got);
    if (isfinite(difference)) {
        sum.max_abs = fmaxf(sum.max_abs, difference);
        sum.max_rel = fmaxf(sum.max_rel, relative);
        sum.error += (double)difference * difference;
        sum.reference += (double)expected * expected;
    }
    return close;
}

// The same decision without the figures that only an explanation needs: for outputs that are expected to be right.
template <typename T>
__device__ __forceinline__ void check_pair(accumulator &sum, T left, T right, unsigned long long index,
                                           const compare_rule &rule)
{
    float got = to_float(left), expected = to_float(right);
    float difference = fabsf(got - expected);
    bool close = got == expected ||
                 (difference <= rule.atol + (rule.kind == COMPARE_ALLCLOSE ? rule.rtol * fabsf(expected) : 0.0f));

    if (close && difference < INFINITY) { // false for NaN and for infinities of either side
        sum.max_abs = fmaxf(sum.max_abs, difference);
        return;
    }
    add_pair(sum, got, expected, is_poison(left), index, rule);
}

template <typename V>
__device__ __forceinline__ V warp_sum(V value)
{
    for (int offset = 16; offset; offset /= 2)
        value += __shfl_down_sync(~0u, value, offset);
    return value;
}

__device__ void publish(const accumulator &sum, compare_stats *stats)
{
    unsigned long long mismatches = warp_sum(sum.mismatches), nans = warp_sum(sum.nans);
    unsigned long long infinities = warp_sum(sum.infinities), untouched = warp_sum(sum.untouched);
    double error = warp_sum(sum.error), reference = warp_sum(sum.reference);
    unsigned long long first = sum.first;
    float max_abs = sum.max_abs, max_rel = sum.max_rel;

    for (int offset = 16; offset; offset /= 2) {
        first = min(first, __shfl_down_sync(~0u, first, offset));
        max_abs = fmaxf(max_abs, __shfl_down_sync(~0u, max_abs, offset));
        max_rel = fmaxf(max_rel, __shfl_down_sync(~0u, max_rel, offset));
    }
    if (threadIdx.x % 32)
        return;
    if (mismatches) {
        atomicAdd(&stats->mismatches, mismatches);
        atomicMin(&stats->first_mismatch, first);
    }
    if (nans)
        atomicAdd(&stats->nans, nans);
    if (infinities)
        atomicAdd(&stats->infinities, infinities);
    if (untouched)
        atomicAdd(&stats->untouched, untouched);
    // Non-negative floats order like their bits.
    atomicMax(&stats->max_abs_bits, __float_as_uint(max_abs));
    atomicMax(&stats->max_rel_bits, __float_as_uint(max_rel));
    atomicAdd(&stats->sum_square_error, error);
    atomicAdd(&stats->sum_square_reference, reference);
}

template <bool full, typename T>
__device__ void compare_elements(const T *got, const T *expected, int64_t count, compare_rule rule,
                                 compare_stats *stats)
{
    constexpr int width = 16 / sizeof(T); // elements in one 16-byte access
    struct alignas(16) pack {
        T values[width];
    };
    accumulator sum;
    int64_t packs = count / width;
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    int64_t thread = (int64_t)blockIdx.x * blockDim.x + threadIdx.x;

    for (int64_t i = thread; i < packs; i += step) {
        pack left = reinterpret_cast<const pack *>(got)[i];
        pack right = reinterpret_cast<const pack *>(expected)[i];
#pragma unroll
        for (int k = 0; k < width; k++)
            if (full)
                add_pair(sum, to_float(left.values[k]), to_float(right.values[k]), is_poison(left.values[k]),
                         (unsigned long long)(i * width + k), rule);
            else
                check_pair(sum, left.values[k], right.values[k], (unsigned long long)(i * width + k), rule);
    }
    for (int64_t i = packs * width + thread; i < count; i += step)
        add_pair(sum, to_float(got[i]), to_float(expected[i]), is_poison(got[i]), (unsigned long long)i, rule);
    publish(sum, stats);
}

// Mismatches per tile of a [rows, columns] matrix: tiles[(row / tile) * tile_columns + column / tile].
template <typename T>
__device__ void count_tiles(const T *got, const T *expected, int64_t rows, int64_t columns, compare_rule rule,
                            unsigned *tiles)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    int64_t tile_columns = (columns + COMPARE_TILE - 1) / COMPARE_TILE;

    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < rows * columns; i += step) {
        accumulator ignored;
        if (!add_pair(ignored, to_float(got[i]), to_float(expected[i]), false, 0, rule))
            atomicAdd(&tiles[i / columns / COMPARE_TILE * tile_columns + i % columns / COMPARE_TILE], 1u);
    }
}

} // namespace

#define FILL_KERNEL(bits, type)                                                                                        \
    extern "C" __global__ void ptxbench_fill_##bits(type *out, int64_t count, uint64_t stream, const type *table)      \
    {                                                                                                                  \
        fill_from_table(out, count, stream, table);                                                                    \
    }
FILL_KERNEL(8, uint8_t)
FILL_KERNEL(16, uint16_t)
FILL_KERNEL(32, uint32_t)
FILL_KERNEL(64, uint64_t)

#define COMPARE_KERNELS(name, type)                                                                                    \
    extern "C" __global__ void ptxbench_compare_##name(const type *got, const type *expected, int64_t count,           \
                                                       compare_rule rule, compare_stats *stats)                        \
    {                                                                                                                  \
        compare_elements<true>(got, expected, count, rule, stats);                                                     \
    }                                                                                                                  \
    extern "C" __global__ void ptxbench_check_##name(const type *got, const type *expected, int64_t count,             \
                                                     compare_rule rule, compare_stats *stats)                          \
    {                                                                                                                  \
        compare_elements<false>(got, expected, count, rule, stats);                                                    \
    }                                                                                                                  \
    extern "C" __global__ void ptxbench_tiles_##name(const type *got, const type *expected, int64_t rows,              \
                                                     int64_t columns, compare_rule rule, unsigned *tiles)              \
    {                                                                                                                  \
        count_tiles(got, expected, rows, columns, rule, tiles);                                                        \
    }
COMPARE_KERNELS(float32, float)
COMPARE_KERNELS(float16, __half)
COMPARE_KERNELS(bfloat16, __nv_bfloat16)
COMPARE_KERNELS(float8_e4m3fn, __nv_fp8_e4m3)
COMPARE_KERNELS(float8_e5m2, __nv_fp8_e5m2)
COMPARE_KERNELS(int64, long long)
COMPARE_KERNELS(int32, int)
COMPARE_KERNELS(int16, short)
COMPARE_KERNELS(int8, signed char)

// Counts bytes of [bytes] that are no longer the poison pattern.
extern "C" __global__ void ptxbench_count_touched(const unsigned char *bytes, int64_t count,
                                                  unsigned long long *touched)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;
    unsigned long long found = 0;

    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        found += bytes[i] != COMPARE_POISON_BYTE;
    found = warp_sum(found);
    if (threadIdx.x % 32 == 0 && found)
        atomicAdd(touched, found);
}

// Runs behind a candidate's call on its stream: what ends after this has started did not wait for the stream.
extern "C" __global__ void ptxbench_call_end()
{
}

// Evicts the L2 cache by writing a buffer of twice its size. The name marks iteration boundaries in activity records.
extern "C" __global__ void ptxbench_l2_flush(uint4 *buffer, int64_t count)
{
    int64_t step = (int64_t)gridDim.x * blockDim.x;

    for (int64_t i = (int64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
        buffer[i] = make_uint4(0, 0, 0, 0);
}
