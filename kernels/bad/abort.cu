// expect: status=RUNTIME_ERROR code=host_abort task=gemm_n7168_k5120
/* A failed assertion on the host. */
#include <cstdlib>

#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    if (plain::gemm(args, count, stream) == cudaSuccess) {
        std::abort();
    }
    return cudaErrorUnknown;
}
