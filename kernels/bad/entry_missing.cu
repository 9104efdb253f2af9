// expect: status=COMPILE_ERROR code=entry_missing task=gemm_n7168_k5120
/* Compiles, but exports no entry of any binding. */
#include "plain_gemm.cuh"

extern "C" __attribute__((visibility("default"))) int launch_gemm(const ptxbench_arg *args, int count, void *stream)
{
    return plain::gemm(args, count, stream);
}
