// expect: status=RUNTIME_ERROR code=host_exit task=gemm_n7168_k5120
/* Leaves the process, as error macros that call exit(1) do. */
#include <cstdlib>

#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    if (plain::gemm(args, count, stream) == cudaSuccess) {
        std::exit(1);
    }
    return cudaErrorUnknown;
}
