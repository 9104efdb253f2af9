// expect: status=INCORRECT_NUMERICAL code=timed_output_wrong task=gemm_n7168_k5120
/* Right in the first eleven calls (the check and ten warm-ups), then computes only the first K step. */
#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    static int calls = 0;
    plain::Problem problem;
    if (!plain::problem_get(args, count, &problem)) {
        return cudaErrorInvalidValue;
    }
    return plain::gemm(problem, ++calls <= 11 ? problem.k : plain::DEPTH, stream);
}
