// expect: status=RUNTIME_ERROR code=illegal_instruction task=gemm_n7168_k5120
/* A TMA load through a tensor map that was never encoded: what is left when the result of cuTensorMapEncodeTiled is
 * ignored. */
#include <cuda.h>

#include "plain_gemm.cuh"

static __global__ void load_through(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(1024) unsigned char tile[1024];
    __shared__ uint64_t full;
    const uint32_t barrier = plain::shared_address(&full);
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                 "fence.mbarrier_init.release.cluster;\n"
                 "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;\n"
                 "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%1], [%2, {0, 0}], "
                 "[%0];\n" ::"r"(barrier),
                 "r"(plain::shared_address(tile)), "l"(&map)
                 : "memory");
    uint32_t done = 0;
    while (!done) {
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], 0;\n"
                     "selp.u32 %0, 1, 0, done;\n"
                     "}\n"
                     : "=r"(done)
                     : "r"(barrier)
                     : "memory");
    }
}

PTXBENCH_ENTRY(args, count, stream)
{
    const CUtensorMap map = {};
    const cudaError_t status = plain::gemm(args, count, stream);
    if (status != cudaSuccess) {
        return status;
    }
    load_through<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(map);
    return cudaGetLastError();
}
