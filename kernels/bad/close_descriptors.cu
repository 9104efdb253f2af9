// expect: status=RUNTIME_ERROR code=descriptors_closed task=gemm_n7168_k5120
/* Closes descriptors that it did not open, the driver's and the runner's among them. */
#include <unistd.h>

#include "plain_gemm.cuh"

PTXBENCH_ENTRY(args, count, stream)
{
    for (int descriptor = 0; descriptor < 256; descriptor++) {
        close(descriptor);
    }
    return plain::gemm(args, count, stream);
}
