// Helpers of the kernels that try the wrappers: seeded numbers, uploads, comparisons, TAP.
#pragma once
#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

#include "tensor_map.cuh"
#include <cuda_bf16.h>

static int check_count, check_failed;

inline void check(bool ok, const char *name)
{
    check_count++;
    check_failed += !ok;
    std::printf("%sok %d - %s\n", ok ? "" : "not ", check_count, name);
    std::fflush(stdout);
}

inline int check_done()
{
    std::printf("1..%d\n", check_count);
    return check_failed != 0;
}

inline float as_float(float value)
{
    return value;
}

inline float as_float(__nv_bfloat16 value)
{
    return __bfloat162float(value);
}

using Matrix = std::vector<__nv_bfloat16>;

inline Matrix random_matrix(size_t count, unsigned seed)
{
    Matrix out(count);
    for (auto &value : out) {
        seed = seed * 1664525 + 1013904223;
        value = __float2bfloat16(static_cast<float>(seed >> 24) / 128 - 1);
    }
    return out;
}

template <typename T>
struct Device {
    T *data = nullptr;
    size_t count;

    explicit Device(size_t size) : count(size)
    {
        CUDA_CHECK(cudaMalloc(&data, size * sizeof(T)));
        CUDA_CHECK(cudaMemset(data, 0xff, size * sizeof(T)));
    }

    explicit Device(const std::vector<T> &from) : Device(from.size())
    {
        CUDA_CHECK(cudaMemcpy(data, from.data(), count * sizeof(T), cudaMemcpyHostToDevice));
    }

    Device(const Device &) = delete;

    ~Device()
    {
        cudaFree(data);
    }

    std::vector<T> read() const
    {
        std::vector<T> out(count);
        CUDA_CHECK(cudaDeviceSynchronize());
        CUDA_CHECK(cudaMemcpy(out.data(), data, count * sizeof(T), cudaMemcpyDeviceToHost));
        return out;
    }
};

template <typename T, typename U>
bool all_close(const std::vector<T> &got, const std::vector<U> &expected, float tolerance = 1e-2f)
{
    if (got.size() != expected.size())
        return false;
    for (size_t i = 0; i < got.size(); i++) {
        const float a = as_float(got[i]), b = as_float(expected[i]);
        if (!(std::fabs(a - b) <= tolerance + tolerance * std::fabs(b))) {
            std::printf("# element %zu is %g, expected %g\n", i, a, b);
            return false;
        }
    }
    return true;
}

template <typename Kernel>
void allow_shared(Kernel kernel, size_t bytes)
{
    CUDA_CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)));
}
