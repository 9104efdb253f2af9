// expect: status=COMPILE_ERROR code=compile_error task=gemm_n7168_k5120
/* An undeclared identifier in device code. */
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

__global__ void gemm_kernel(const void *a, const void *b, void *c)
{
    tile_load(a, b, c); /* never declared */
}

PTXBENCH_ENTRY(args, count, stream)
{
    gemm_kernel<<<1, 32, 0, static_cast<cudaStream_t>(stream)>>>(args[0].data, args[1].data, args[2].data);
    return count == 3 ? cudaGetLastError() : cudaErrorInvalidValue;
}
