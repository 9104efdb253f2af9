// expect: status=RUNTIME_ERROR code=memcheck task=gemm_n7168_k5120
/* A kernel reads temporary storage after cudaFreeAsync on the same stream (paper, appendix A.2). That is undefined and
 * usually unnoticed. Target instructions run, but what is measured of an undefined program proves nothing: unknown. */
#include "plain_gemm.cuh"

/* Copies A, and passes through wgmma so that a target instruction is executed: 0 · 0 is added. */
static __global__ void producer(const __nv_bfloat16 *a, __nv_bfloat16 *copy, int64_t elements)
{
    __shared__ __align__(1024) unsigned char tile[16384];
    for (int i = static_cast<int>(threadIdx.x); i < 16384; i += static_cast<int>(blockDim.x)) {
        tile[i] = 0;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    const uint64_t descriptor = (plain::shared_address(tile) & 0x3FFFF) >> 4 | 1ull << 16 | 64ull << 32 | 1ull << 62;
    float d[4] = {};
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("{\n"
                 ".reg .pred accumulate;\n"
                 "setp.eq.u32 accumulate, 0, 1;\n"
                 "wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, accumulate, 1, 1, 0, "
                 "0;\n"
                 "}\n"
                 "wgmma.commit_group.sync.aligned;\n"
                 "wgmma.wait_group.sync.aligned 0;\n"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "l"(descriptor)
                 : "memory");
    const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += threads) {
        copy[i] = __float2bfloat16(__bfloat162float(a[i]) + d[0]);
    }
}

PTXBENCH_ENTRY(args, count, stream)
{
    plain::Problem whole;
    if (!plain::problem_get(args, count, &whole)) {
        return cudaErrorInvalidValue;
    }
    const cudaStream_t on = static_cast<cudaStream_t>(stream);
    const int64_t elements = static_cast<int64_t>(whole.m) * whole.k;
    __nv_bfloat16 *copy = nullptr;
    cudaError_t status = cudaMallocAsync(&copy, static_cast<size_t>(elements) * sizeof(*copy), on);
    if (status != cudaSuccess) {
        return status;
    }
    producer<<<264, 128, 0, on>>>(whole.a, copy, elements);
    status = cudaGetLastError();

    plain::Problem upper = whole, lower = whole;
    upper.a = copy;
    upper.m = whole.m / 2;
    lower.a = copy + static_cast<int64_t>(upper.m) * whole.k;
    lower.c = whole.c + static_cast<int64_t>(upper.m) * whole.n;
    lower.m = whole.m - upper.m;
    if (status == cudaSuccess) {
        status = plain::gemm(upper, upper.k, stream);
    }
    const cudaError_t freed = cudaFreeAsync(copy, on);
    if (status == cudaSuccess) {
        status = freed;
    }
    return status == cudaSuccess ? plain::gemm(lower, lower.k, stream) : status; /* reads freed storage */
}
