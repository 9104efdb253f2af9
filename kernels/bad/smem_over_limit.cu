// expect: status=RUNTIME_ERROR code=entry_failed task=gemm_n7168_k5120
/* Asks for 100 KiB of dynamic shared memory without cudaFuncSetAttribute: the launch is refused. */
#include "plain_gemm.cuh"

static __global__ void needs_shared(__nv_bfloat16 *c)
{
    extern __shared__ unsigned char bytes[];
    bytes[threadIdx.x] = 0;
    c[threadIdx.x] = __float2bfloat16(static_cast<float>(bytes[threadIdx.x]));
}

PTXBENCH_ENTRY(args, count, stream)
{
    if (count != 3) {
        return cudaErrorInvalidValue;
    }
    needs_shared<<<1, 128, 100 * 1024, static_cast<cudaStream_t>(stream)>>>(static_cast<__nv_bfloat16 *>(args[2].data));
    return cudaGetLastError();
}
