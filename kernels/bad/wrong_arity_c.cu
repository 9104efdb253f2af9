// expect: status=RUNTIME_ERROR code=entry_failed task=gemm_n7168_k5120
/* The entry expects its output as result, so two arguments, and refuses three. */
#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    (void)args, (void)stream;
    return count == 2 ? cudaErrorNotSupported : cudaErrorInvalidValue;
}
