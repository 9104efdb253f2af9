// expect: status=TIMEOUT code=kernel_hang task=gemm_n7168_k5120
/* Waits for a phase that never completes: the barrier expects two arrivals and gets one. */
#include "plain_gemm.cuh"

static __global__ void wait_forever()
{
    __shared__ uint64_t barrier;
    const uint32_t address = plain::shared_address(&barrier);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 2;\n"
                     "mbarrier.arrive.shared::cta.b64 _, [%0];\n" ::"r"(address)
                     : "memory");
    }
    __syncthreads();
    uint32_t done = 0;
    while (!done) {
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, done;\n"
                     "}\n"
                     : "=r"(done)
                     : "r"(address)
                     : "memory");
    }
}

PTXBENCH_ENTRY(args, count, stream)
{
    const cudaError_t status = plain::gemm(args, count, stream);
    if (status != cudaSuccess) {
        return status;
    }
    wait_forever<<<1, 128, 0, static_cast<cudaStream_t>(stream)>>>();
    return cudaGetLastError();
}
