"""Small kernels that the answers of the corpus are made around. They differ in binding, style and lexical traps."""

SCALE_FFI = r'''#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

__global__ void scale_kernel(const float *x, float *y, long n)
{
    long i = blockIdx.x * (long)blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = 2.0f * x[i];
}

void run(tvm::ffi::TensorView x, tvm::ffi::TensorView y)
{
    long n = x.size(0);
    cudaStream_t stream = (cudaStream_t)TVMFFIEnvGetStream(x.device().device_type, x.device().device_id);
    scale_kernel<<<(n + 255) / 256, 256, 0, stream>>>((const float *)x.data_ptr(), (float *)y.data_ptr(), n);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
'''

COPY_C = r'''#include <ptxbench/candidate.h>
#include <cuda_runtime.h>
#include <stdint.h>

__global__ void copy_kernel(const uint4 *from, uint4 *to, int64_t n)
{
    for (int64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x)
        to[i] = from[i];
}

PTXBENCH_ENTRY(args, count, stream)
{
    int64_t n = args[0].shape[0] * args[0].shape[1] / 8;
    copy_kernel<<<132, 512, 0, (cudaStream_t)stream>>>((const uint4 *)args[0].data, (uint4 *)args[1].data, n);
    return cudaGetLastError();
}
'''

# inline PTX with braces in strings, a digit separator, apostrophes in comments
WGMMA = r'''// GEMM on Hopper's tensor cores; don't launch it with fewer than 128 threads
#include <cuda.h>
#include <cuda_bf16.h>
#include <tvm/ffi/function.h>

constexpr int kBig = 1'000'000;
constexpr char kOpen = '{', kQuote = '"';

__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;\n" ::: "memory"); }

__device__ __forceinline__ bool wait(uint32_t bar, uint32_t parity)
{
    uint32_t done;
    asm volatile("{\n"
                 ".reg .pred p;\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n"
                 "}\n" : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    return done;
}

__global__ void __launch_bounds__(128) gemm(const __grid_constant__ CUtensorMap a, __nv_bfloat16 *c)
{
    extern __shared__ __align__(1024) uint8_t smem[];
    wgmma_fence();
    if (threadIdx.x == 0)
        c[0] = __float2bfloat16(0.f);
}

static void run(tvm::ffi::TensorView A, tvm::ffi::TensorView C)
{
    CUtensorMap map{};
    gemm<<<dim3(64, 56), 128, 98304>>>(map, static_cast<__nv_bfloat16 *>(C.data_ptr()));
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
'''

# a comment with fences, and a raw string
FENCED_COMMENT = r'''/*
 * Usage:
 *
 */
/*
Build it by hand:
```
nvcc -arch=sm_90a -shared kernel.cu
```
*/
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

static const char *kHelp = R"(
```text
none
```
)";

template <int N> __global__ void fill(float *out, float value)
{
#pragma unroll
    for (int i = 0; i < N; i++)
        out[threadIdx.x * N + i] = value;
}

PTXBENCH_ENTRY(args, count, stream)
{
    (void)kHelp;
    fill<4><<<1, 32, 0, (cudaStream_t)stream>>>((float *)args[0].data, 1.f);
    return 0;
}
'''

LAUNCH_EX = r'''#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

extern "C" __global__ void __cluster_dims__(2, 1, 1) pair(int *out) { out[blockIdx.x] = (int)blockIdx.x; }

extern "C" int ptxbench_run(const ptxbench_arg *args, int count, void *stream)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(2);
    config.blockDim = dim3(32);
    config.stream = (cudaStream_t)stream;
    return cudaLaunchKernelEx(&config, pair, (int *)args[0].data);
}
'''

SOFTMAX = r'''#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

namespace {

__device__ float warp_max(float v)
{
    for (int offset = 16; offset; offset >>= 1)
        v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, offset));
    return v;
}

__global__ void softmax(const __nv_bfloat16 *in, __nv_bfloat16 *out, int columns)
{
    const int row = blockIdx.x;
    float best = -INFINITY, sum = 0.f;
    for (int c = threadIdx.x; c < columns; c += 32)
        best = fmaxf(best, __bfloat162float(in[row * columns + c]));
    best = warp_max(best);
    for (int c = threadIdx.x; c < columns; c += 32)
        sum += __expf(__bfloat162float(in[row * columns + c]) - best);
    if (!threadIdx.x)
        out[row] = __float2bfloat16(sum);
}

} // namespace

void run(tvm::ffi::TensorView in, tvm::ffi::TensorView out)
{
    auto rows = in.size(0), columns = in.size(1);
    softmax<<<(unsigned)rows, 32>>>((const __nv_bfloat16 *)in.data_ptr(), (__nv_bfloat16 *)out.data_ptr(), (int)columns);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run)
'''

# conditional compilation with brackets in both branches; macros; tabs
CONDITIONAL = '''#include <ptxbench/candidate.h>
#include <cuda_runtime.h>
#define CHECK(x) do { cudaError_t e_ = (x); if (e_ != cudaSuccess) return (int)e_; } while (0)

#ifdef WIDE
__global__ void add(const double *a, const double *b, double *c, int n)
{
#else
__global__ void add(const float *a, const float *b, float *c, int n)
{
#endif
\tint i = blockIdx.x * blockDim.x + threadIdx.x;
\tif (i < n)
\t\tc[i] = a[i] + b[i];
}

PTXBENCH_ENTRY(args, count, stream)
{
\tint n = (int)args[0].shape[0];
\tadd<<<(n + 127) / 128, 128, 0, (cudaStream_t)stream>>>((const float *)args[0].data, (const float *)args[1].data,
\t                                                      (float *)args[2].data, n);
\tCHECK(cudaGetLastError());
\treturn 0;
}
'''

ATTENTION = r'''#include <cuda_runtime.h>
#include <cstdint>
#include <tvm/ffi/tvm_ffi.h>

using tvm::ffi::TensorView;

/// One row of scores: S[i] = q . k_i   (i < S)
template <typename T, int D>
__global__ void scores(const T *__restrict__ q, const T *__restrict__ k, float *__restrict__ s, int S)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= S) return;
    float acc = 0.f;
    for (int d = 0; d < D; ++d) acc += float(q[d]) * float(k[size_t(i) * D + d]);
    s[i] = acc;
}

void run(TensorView q, TensorView k, TensorView s) {
    auto launch = [&](auto kernel) { kernel<<<(unsigned)((k.size(0) + 255) / 256), 256>>>(
        static_cast<const float*>(q.data_ptr()), static_cast<const float*>(k.data_ptr()),
        static_cast<float*>(s.data_ptr()), (int)k.size(0)); };
    launch(scores<float, 128>);
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
'''

ALL = [SCALE_FFI, COPY_C, WGMMA, FENCED_COMMENT, LAUNCH_EX, SOFTMAX, CONDITIONAL, ATTENTION]

# The same work in two files.
HELPER = r'''#pragma once
#include <cuda_runtime.h>

__device__ __forceinline__ float twice(float v) { return v + v; }
'''
USES_HELPER = r'''#include "helper.cuh"
#include <ptxbench/candidate.h>

__global__ void doubled(const float *x, float *y) { y[threadIdx.x] = twice(x[threadIdx.x]); }

PTXBENCH_ENTRY(args, count, stream)
{
    doubled<<<1, 64, 0, (cudaStream_t)stream>>>((const float *)args[0].data, (float *)args[1].data);
    return cudaGetLastError();
}
'''
JOINED_HELPER = USES_HELPER.replace('#include "helper.cuh"\n', HELPER)

DEVICE_PART = r'''#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

__global__ void negate(float *out, const float *in)
{
    out[threadIdx.x] = -in[threadIdx.x];
}
'''
HOST_PART = r'''PTXBENCH_ENTRY(args, count, stream)
{
    negate<<<1, 128, 0, (cudaStream_t)stream>>>((float *)args[1].data, (const float *)args[0].data);
    return cudaGetLastError();
}
'''

TRITON = r'''import triton
import triton.language as tl


@triton.jit
def scale_kernel(x, y, n, BLOCK: tl.constexpr):
    """Doubles a vector; the string's brackets ( do not count."""
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(y + offsets, 2.0 * tl.load(x + offsets, mask=mask), mask=mask)


def run(x, y):
    n = x.numel()
    scale_kernel[(triton.cdiv(n, 1024),)](x, y, n, BLOCK=1024)
'''
