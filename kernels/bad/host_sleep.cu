// expect: status=TIMEOUT code=host_hang task=gemm_n7168_k5120
/* The entry never returns although the device is idle. */
#include <unistd.h>

#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    const cudaError_t status = plain::gemm(args, count, stream);
    if (status != cudaSuccess) {
        return status;
    }
    for (;;) {
        sleep(1000);
    }
}
