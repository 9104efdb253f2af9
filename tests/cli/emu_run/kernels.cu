/* Kernels on the emulator: results, launch rules, and the codes of those that fail. The argument names the part. */
#include "check.h"

#include <cstring>
#include <cuda_runtime.h>
#include <vector>

__device__ int calls;

__global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

__global__ void sum(const float *x, float *out, int n)
{
    extern __shared__ float part[];
    float total = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        total += x[i];
    }
    part[threadIdx.x] = total;
    __syncthreads();
    for (int width = blockDim.x / 2; width; width /= 2) {
        if (threadIdx.x < width) {
            part[threadIdx.x] += part[threadIdx.x + width];
        }
        __syncthreads();
    }
    if (!threadIdx.x) {
        *out = part[0];
    }
}

__global__ void count_calls()
{
    if (!threadIdx.x) {
        atomicAdd(&calls, 1);
    }
}

__global__ void __launch_bounds__(64) small_blocks()
{
}

static void check_results()
{
    constexpr int n = 1000;
    std::vector<float> x(n), y(n, 1);
    float *dx, *dy, *total, host = 0;
    int called = 0;

    for (int i = 0; i < n; i++) {
        x[i] = (float)i;
    }
    cudaMalloc(&dx, n * sizeof *dx);
    cudaMalloc(&dy, n * sizeof *dy);
    cudaMalloc(&total, sizeof *total);
    cudaMemcpy(dx, x.data(), n * sizeof *dx, cudaMemcpyHostToDevice);
    cudaMemcpy(dy, y.data(), n * sizeof *dy, cudaMemcpyHostToDevice);
    saxpy<<<(n + 127) / 128, 128>>>(2, dx, dy, n);
    check(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, "saxpy runs");
    sum<<<1, 128, 128 * sizeof(float)>>>(dy, total, n);
    check(cudaMemcpy(&host, total, sizeof host, cudaMemcpyDeviceToHost) == cudaSuccess && host == 1000 * 1000,
          "and a reduction in shared memory adds it up");
    count_calls<<<7, 32>>>();
    check(cudaMemcpyFromSymbol(&called, calls, sizeof called) == cudaSuccess && called == 7, "a device variable");
}

static void check_rules()
{
    float *memory;
    cudaLaunchAttribute cluster = {};
    cudaLaunchConfig_t config = {};

    cudaMalloc(&memory, 4096);
    saxpy<<<0, 128>>>(1, memory, memory, 1);
    check(cudaGetLastError() == cudaErrorInvalidConfiguration, "an empty grid");
    saxpy<<<1, 1025>>>(1, memory, memory, 1);
    check(cudaGetLastError() == cudaErrorInvalidConfiguration, "a block that is too large");
    small_blocks<<<1, 128>>>();
    check(cudaGetLastError() == cudaErrorLaunchOutOfResources, "a block beyond __launch_bounds__");
    sum<<<1, 32, 100000>>>(memory, memory, 1);
    check(cudaGetLastError() == cudaErrorInvalidValue, "dynamic shared memory without the attribute");
    check(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449) == cudaErrorInvalidValue,
          "more than an SM has");
    cudaGetLastError();
    check(cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000) == cudaSuccess, "set");
    cudaMemset(memory, 0, 4096);
    sum<<<1, 32, 100000>>>(memory, memory + 1, 1);
    check(cudaGetLastError() == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess, "and with it");
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim.x = 2;
    cluster.val.clusterDim.y = cluster.val.clusterDim.z = 1;
    config.attrs = &cluster;
    config.numAttrs = 1;
    config.blockDim = dim3(32);
    config.gridDim = dim3(3);
    check(cudaLaunchKernelEx(&config, count_calls) == cudaErrorInvalidClusterSize, "a cluster that does not divide");
    cudaGetLastError();
    config.gridDim = dim3(4);
    check(cudaLaunchKernelEx(&config, count_calls) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess,
          "clusters");
}

/* The failure shows at the next call that waits, and never goes away. */
static void check_fault()
{
    float *memory;

    cudaMalloc(&memory, 4000);
    cudaMemset(memory, 0, 4000);
    saxpy<<<8, 128>>>(1, memory, memory, 1024);
    check(cudaGetLastError() == cudaSuccess, "a launch is asynchronous");
    check(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "an access out of bounds");
    check(cudaGetLastError() == cudaErrorIllegalAddress && cudaGetLastError() == cudaErrorIllegalAddress, "is sticky");
    check(cudaMalloc(&memory, 4) == cudaErrorIllegalAddress, "everywhere");
}

static void check_stream_order()
{
    float *memory;

    cudaMallocAsync(&memory, 4096, 0);
    cudaMemsetAsync(memory, 0, 4096, 0);
    cudaFreeAsync(memory, 0);
    saxpy<<<1, 128>>>(1, memory, memory, 128);
    check(cudaStreamSynchronize(0) == cudaErrorIllegalAddress, "memory that cudaFreeAsync has freed");
}

int main(int argc, char **argv)
{
    const char *part = argc > 1 ? argv[1] : "results";

    if (!std::strcmp(part, "results")) {
        check_results();
    } else if (!std::strcmp(part, "rules")) {
        check_rules();
    } else if (!std::strcmp(part, "fault")) {
        check_fault();
    } else {
        check_stream_order();
    }
    return check_failed != 0;
}
