/* A shipped kernel, called as a candidate is, against a CPU loop. Linked with kernels/hopper/gemm_simt.cu. */
#include "check.h"

#include <cmath>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>
#include <vector>

constexpr int M = 70, N = 96, K = 64; /* M is no multiple of the kernel's tile */

extern "C" int ptxbench_run(const ptxbench_arg *args, int count, void *stream);

using Matrix = std::vector<__nv_bfloat16>;

static Matrix numbers(size_t count, unsigned seed)
{
    Matrix out(count);

    for (auto &value : out) {
        seed = seed * 1664525 + 1013904223;
        value = __float2bfloat16((float)(seed >> 24) / 128 - 1);
    }
    return out;
}

static void *upload(const Matrix &from)
{
    void *device = nullptr;

    cudaMalloc(&device, from.size() * sizeof from[0]);
    cudaMemcpy(device, from.data(), from.size() * sizeof from[0], cudaMemcpyHostToDevice);
    return device;
}

static int count_wrong(const Matrix &a, const Matrix &b, const Matrix &c)
{
    int wrong = 0;

    for (int row = 0; row < M; row++) {
        for (int column = 0; column < N; column++) {
            float sum = 0;
            for (int k = 0; k < K; k++) {
                sum += __bfloat162float(a[row * K + k]) * __bfloat162float(b[column * K + k]);
            }
            wrong += !(std::fabs(__bfloat162float(c[row * N + column]) - sum) <= 1e-2f + 1e-2f * std::fabs(sum));
        }
    }
    return wrong;
}

int main()
{
    const Matrix a = numbers((size_t)M * K, 1), b = numbers((size_t)N * K, 2);
    Matrix c((size_t)M * N);
    const int64_t a_shape[] = {M, K}, b_shape[] = {N, K}, c_shape[] = {M, N};
    ptxbench_arg args[] = {{upload(a), a_shape, 2, PTXBENCH_BFLOAT16, {0}},
                           {upload(b), b_shape, 2, PTXBENCH_BFLOAT16, {0}},
                           {nullptr, c_shape, 2, PTXBENCH_BFLOAT16, {0}}};

    check(cudaMalloc(&args[2].data, c.size() * sizeof c[0]) == cudaSuccess, "output");
    check(ptxbench_run(args, 3, nullptr) == 0 && cudaDeviceSynchronize() == cudaSuccess, "the kernel runs");
    check(cudaMemcpy(c.data(), args[2].data, c.size() * sizeof c[0], cudaMemcpyDeviceToHost) == cudaSuccess, "read");
    check(count_wrong(a, b, c) == 0, "every element is right");
    return check_failed != 0;
}
