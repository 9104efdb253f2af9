// expect: status=RUNTIME_ERROR code=device_trap task=gemm_n7168_k5120
/* The kernel traps, as a failed device assertion does. */
#include "plain_gemm.cuh"

static __global__ void give_up()
{
    asm volatile("trap;");
}

PTXBENCH_ENTRY(args, count, stream)
{
    const cudaError_t status = plain::gemm(args, count, stream);
    if (status != cudaSuccess) {
        return status;
    }
    give_up<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>();
    return cudaGetLastError();
}
