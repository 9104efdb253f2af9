// expect: status=RUNTIME_ERROR code=input_overwritten task=gemm_n7168_k5120
/* Scales its input A in place before it computes. Inputs are read-only: on a GPU the store faults. */
#include "plain_gemm.cuh"

static __global__ void halve(__nv_bfloat16 *a, int64_t elements)
{
    const int64_t threads = static_cast<int64_t>(gridDim.x) * blockDim.x;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < elements; i += threads) {
        a[i] = __float2bfloat16(0.5f * __bfloat162float(a[i]));
    }
}

PTXBENCH_ENTRY(args, count, stream)
{
    plain::Problem problem;
    if (!plain::problem_get(args, count, &problem)) {
        return cudaErrorInvalidValue;
    }
    halve<<<1024, 256, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<__nv_bfloat16 *>(args[0].data),
                                                               static_cast<int64_t>(problem.m) * problem.k);
    const cudaError_t status = cudaGetLastError();
    return status == cudaSuccess ? plain::gemm(problem, problem.k, stream) : status;
}
