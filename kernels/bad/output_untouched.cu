// expect: status=INCORRECT_NUMERICAL code=output_untouched task=gemm_n7168_k5120
/* Reports success and does nothing. */
#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)count, (void)stream;
    return cudaSuccess;
}
