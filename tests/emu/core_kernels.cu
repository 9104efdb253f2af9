/* Kernels of the core's test (test_core_kernels.c): plain CUDA, as nvcc compiles it. */
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        y[i] = a * x[i] + y[i];
    }
}

extern "C" __global__ void reduce(int n, const float *x, float *sum)
{
    __shared__ float partial[32];
    float own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        own += x[i];
    }
    for (int step = 16; step > 0; step /= 2) {
        own += __shfl_xor_sync(0xffffffff, own, step);
    }
    if (threadIdx.x % 32 == 0) {
        partial[threadIdx.x / 32] = own;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        own = threadIdx.x < blockDim.x / 32 ? partial[threadIdx.x] : 0;
        for (int step = 16; step > 0; step /= 2) {
            own += __shfl_down_sync(0xffffffff, own, step);
        }
        if (threadIdx.x == 0) {
            atomicAdd(sum, own);
        }
    }
}

/* C = A * B, row-major, any sizes. */
extern "C" __global__ void gemm(int m, int n, int k, const float *a, const float *b, float *c)
{
    __shared__ float a_tile[16][17], b_tile[16][17];
    const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int at = 0; at < k; at += 16) {
        a_tile[threadIdx.y][threadIdx.x] =
            row < m && at + threadIdx.x < static_cast<unsigned>(k) ? a[row * k + at + threadIdx.x] : 0;
        b_tile[threadIdx.y][threadIdx.x] =
            at + threadIdx.y < static_cast<unsigned>(k) && column < n ? b[(at + threadIdx.y) * n + column] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) {
            sum += a_tile[threadIdx.y][i] * b_tile[i][threadIdx.x];
        }
        __syncthreads();
    }
    if (row < m && column < n) {
        c[row * n + column] = sum;
    }
}

extern "C" __global__ void histogram(int n, const uint8_t *x, unsigned *bins)
{
    extern __shared__ unsigned local[];
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        local[i] = 0;
    }
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[x[i]], 1);
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < 256; i += blockDim.x) {
        atomicAdd(&bins[i], local[i]);
    }
}

extern "C" __global__ void print(int n, const char *word)
{
    if (threadIdx.x < n) {
        printf("%s %d of %5.2f%% %llx %c\n", word, threadIdx.x, 12.5 * threadIdx.x, 0x123456789abcull, 'z');
    }
}

__device__ __noinline__ int fibonacci(int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recurse(int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

struct Pair {
    double value;
    int index;
    int table[5];
};

__device__ __noinline__ Pair pick(const Pair &a, Pair b, int lane)
{
    Pair result = a.value < b.value ? a : b;
    result.table[lane % 5] += lane;
    return result;
}

extern "C" __global__ void structures(const double *x, double *out)
{
    Pair a = {x[threadIdx.x], 1, {1, 2, 3, 4, 5}}, b = {x[threadIdx.x + 1], 2, {10, 20, 30, 40, 50}};
    Pair chosen = pick(a, b, threadIdx.x);
    int sum = 0;
    for (int i = 0; i < 5; i++) {
        sum += chosen.table[(i + threadIdx.x) % 5] * (i + 1);
    }
    out[threadIdx.x] = chosen.value + sum + chosen.index;
}

__device__ unsigned arrived;

/* A barrier across the whole grid, with nothing but global memory. */
extern "C" __global__ void grid_barrier(unsigned *flags, unsigned *out)
{
    if (threadIdx.x == 0) {
        flags[blockIdx.x] = blockIdx.x + 1;
        __threadfence();
        atomicAdd(&arrived, 1);
        while (*(volatile unsigned *)&arrived < gridDim.x) {
        }
        __threadfence();
    }
    __syncthreads();
    if (threadIdx.x < gridDim.x) {
        atomicAdd(&out[blockIdx.x], *(volatile unsigned *)&flags[threadIdx.x]);
    }
}

extern "C" __global__ void spin_lock(unsigned *lock, unsigned *counter)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile unsigned *)counter = *(volatile unsigned *)counter + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_sum(unsigned *out)
{
    namespace cg = cooperative_groups;
    __shared__ unsigned mine[64];
    cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = cluster.block_rank() * 100 + threadIdx.x;
    cluster.sync();
    unsigned sum = 0;
    for (unsigned rank = 0; rank < cluster.num_blocks(); rank++) {
        sum += *cluster.map_shared_rank(&mine[threadIdx.x], rank);
    }
    cluster.sync();
    out[blockIdx.x * 64 + threadIdx.x] = sum;
}

/* Conversions and arithmetic of many kinds, folded into one number per thread. */
extern "C" __global__ void arithmetic(const float *x, const int *n, double *out)
{
    const float v = x[threadIdx.x];
    const int i = n[threadIdx.x];
    double sum = __half2float(__float2half(v)) + __bfloat162float(__float2bfloat16(v));
    sum += i / 7 + i % 5 + (i >> 3) + __popc(i) + __clz(i) + (int)v + (long long)(v * 1000.0f);
    sum += sqrtf(fabsf(v)) + 1.0f / (v + 100.0f) + fminf(v, 2.0f) + fmaxf(v, -1.0f) + floorf(v) + rintf(v);
    sum += (double)v * 0.5 + sqrt(fabs((double)v)) + (unsigned)__brev(i) % 1000 + __ffs(i);
    sum += (short)i + (signed char)i + (unsigned short)i + (unsigned char)i;
    sum += expf(v * 0.1f) + logf(fabsf(v) + 1.0f) + sinf(v) + cosf(v) + tanhf(v) + powf(fabsf(v), 0.5f);
    sum += (double)((unsigned long long)(unsigned)i * 0x123456789ull >> 20) / ((i & 15) + 1);
    out[threadIdx.x] = sum;
}

extern "C" __global__ void switches(const int *n, int *out)
{
    int value = n[threadIdx.x];
    for (int step = 0; step < 6; step++) {
        switch ((value + step) & 7) {
        case 0:
            value = value * 3 + 1;
            break;
        case 1:
            value ^= 0x55;
            break;
        case 2:
            value -= step * 11;
            break;
        case 3:
            value = __shfl_sync(__activemask(), value, threadIdx.x & 31);
            break;
        case 4:
            value = -value;
            break;
        case 5:
            if (value > 1000) {
                out[threadIdx.x] = value;
                return;
            }
            value += 997;
            break;
        default:
            value = value / 3 + 7;
            break;
        }
    }
    out[threadIdx.x] = value;
}

extern "C" __global__ void missing_arrival()
{
    if (threadIdx.x < 64) {
        asm volatile("bar.sync 1, 96;" ::: "memory");
    }
}
