// expect: status=RUNTIME_ERROR code=illegal_address task=gemm_n7168_k5120
/* A store far outside every allocation. */
#include "plain_gemm.cuh"

static __global__ void store_far(__nv_bfloat16 *c)
{
    c[(static_cast<int64_t>(1) << 40) + threadIdx.x] = __float2bfloat16(1.0f);
}

PTXBENCH_ENTRY(args, count, stream)
{
    const cudaError_t status = plain::gemm(args, count, stream);
    if (status != cudaSuccess) {
        return status;
    }
    store_far<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<__nv_bfloat16 *>(args[2].data));
    return cudaGetLastError();
}
