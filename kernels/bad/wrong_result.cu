// expect: status=INCORRECT_NUMERICAL code=numerical_mismatch task=gemm_n7168_k5120
/* The last 32 of the K columns are left out: an off-by-one in the number of K steps. */
#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    plain::Problem problem;
    if (!plain::problem_get(args, count, &problem)) {
        return cudaErrorInvalidValue;
    }
    return plain::gemm(problem, problem.k - plain::DEPTH, stream);
}
