// expect: status=RUNTIME_ERROR code=misaligned_address task=gemm_n7168_k5120
/* A 16-byte store to an address that is only 2-byte aligned. */
#include "plain_gemm.cuh"

static __global__ void store_odd(__nv_bfloat16 *c)
{
    *reinterpret_cast<uint4 *>(c + 1) = make_uint4(0, 0, 0, 0);
}

PTXBENCH_ENTRY(args, count, stream)
{
    const cudaError_t status = plain::gemm(args, count, stream);
    if (status != cudaSuccess) {
        return status;
    }
    store_odd<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<__nv_bfloat16 *>(args[2].data));
    return cudaGetLastError();
}
