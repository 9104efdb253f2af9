// expect: status=RUNTIME_ERROR code=late_work task=gemm_n7168_k5120
/* Launches on a stream of its own that does not wait for the given one, and returns without waiting: the given stream
 * is done long before the result is there. */
#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    (void)stream;
    static cudaStream_t own = nullptr;
    if (own == nullptr) {
        const cudaError_t status = cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking);
        if (status != cudaSuccess) {
            return status;
        }
    }
    return plain::gemm(args, count, own);
}
