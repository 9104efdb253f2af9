// expect: status=TIMEOUT code=kernel_hang task=gemm_n7168_k5120
/* The kernel spins on a flag that nobody sets. */
#include "plain_gemm.cuh"

static __global__ void spin(const volatile __nv_bfloat16 *flag)
{
    const volatile unsigned short *bits = reinterpret_cast<const volatile unsigned short *>(flag);
    const unsigned short first = *bits;
    while (*bits == first) {
    }
}

PTXBENCH_ENTRY(args, count, stream)
{
    const cudaError_t status = plain::gemm(args, count, stream);
    if (status != cudaSuccess) {
        return status;
    }
    spin<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<const __nv_bfloat16 *>(args[0].data));
    return cudaGetLastError();
}
