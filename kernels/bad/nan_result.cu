// expect: status=INCORRECT_NUMERICAL code=nan task=gemm_n7168_k5120
/* Right but for one row of C that is NaN, as an uninitialised accumulator leaves it. */
#include "plain_gemm.cuh"

static __global__ void spoil_row(__nv_bfloat16 *row, int n)
{
    for (int column = static_cast<int>(threadIdx.x); column < n; column += static_cast<int>(blockDim.x)) {
        row[column] = __float2bfloat16(__int_as_float(0x7FC00000));
    }
}

PTXBENCH_ENTRY(args, count, stream)
{
    plain::Problem problem;
    if (!plain::problem_get(args, count, &problem) || problem.m < 8) {
        return cudaErrorInvalidValue;
    }
    const cudaError_t status = plain::gemm(problem, problem.k, stream);
    if (status != cudaSuccess) {
        return status;
    }
    spoil_row<<<1, 256, 0, static_cast<cudaStream_t>(stream)>>>(problem.c + static_cast<int64_t>(7) * problem.n,
                                                                problem.n);
    return cudaGetLastError();
}
