// expect: status=RUNTIME_ERROR code=guard_overwritten task=gemm_n7168_k5120
/* Right, but the last tile writes 16 elements behind the end of C. */
#include "plain_gemm.cuh"

static __global__ void store_behind(__nv_bfloat16 *end)
{
    end[threadIdx.x] = __float2bfloat16(1.0f);
}

PTXBENCH_ENTRY(args, count, stream)
{
    plain::Problem problem;
    if (!plain::problem_get(args, count, &problem)) {
        return cudaErrorInvalidValue;
    }
    const cudaError_t status = plain::gemm(problem, problem.k, stream);
    if (status != cudaSuccess) {
        return status;
    }
    store_behind<<<1, 16, 0, static_cast<cudaStream_t>(stream)>>>(problem.c +
                                                                  static_cast<int64_t>(problem.m) * problem.n);
    return cudaGetLastError();
}
