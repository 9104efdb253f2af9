// expect: status=INCORRECT_NUMERICAL code=output_untouched task=gemm_n7168_k5120
/* Returns at once; a host thread launches the work 200 ms later. */
#include <chrono>
#include <thread>

#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    plain::Problem problem;
    if (!plain::problem_get(args, count, &problem)) {
        return cudaErrorInvalidValue;
    }
    std::thread([problem, stream] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        (void)plain::gemm(problem, problem.k, stream);
    }).detach();
    return cudaSuccess;
}
