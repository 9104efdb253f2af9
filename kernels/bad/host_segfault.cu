// expect: status=RUNTIME_ERROR code=host_signal task=gemm_n7168_k5120
/* Host code reads an element of A, which lies in device memory. */
#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    const volatile unsigned short *element = static_cast<const volatile unsigned short *>(args[0].data);
    return *element == 0 ? cudaErrorUnknown : plain::gemm(args, count, stream);
}
