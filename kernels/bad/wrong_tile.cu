// expect: status=INCORRECT_NUMERICAL code=numerical_mismatch task=gemm_n7168_k5120
/* Right but for one 64x64 tile of C, which is doubled. */
#include "plain_gemm.cuh"

static __global__ void double_tile(__nv_bfloat16 *c, int n, int row, int column)
{
    __nv_bfloat16 *element = c + static_cast<int64_t>(row + threadIdx.y) * n + column + threadIdx.x;
    for (int i = 0; i < 4; i++, element += static_cast<int64_t>(16) * n) {
        *element = __float2bfloat16(2.0f * __bfloat162float(*element));
    }
}

PTXBENCH_ENTRY(args, count, stream)
{
    plain::Problem problem;
    if (!plain::problem_get(args, count, &problem) || problem.m < 192 || problem.n < 128) {
        return cudaErrorInvalidValue;
    }
    const cudaError_t status = plain::gemm(problem, problem.k, stream);
    if (status != cudaSuccess) {
        return status;
    }
    double_tile<<<1, dim3(64, 16), 0, static_cast<cudaStream_t>(stream)>>>(problem.c, problem.n, 128, 64);
    return cudaGetLastError();
}
