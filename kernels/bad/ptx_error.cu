// expect: status=COMPILE_ERROR code=compile_error task=gemm_n7168_k5120
/* The C++ is fine; ptxas refuses the inline PTX: a wgmma with N = 260, which no shape has. */
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

__global__ void gemm_kernel(float *c)
{
    float d = 0.0f;
    asm volatile("wgmma.mma_async.sync.aligned.m64n260k16.f32.bf16.bf16 {%0}, 0, 0, 1, 1, 1, 0, 0;" : "+f"(d));
    c[threadIdx.x] = d;
}

PTXBENCH_ENTRY(args, count, stream)
{
    gemm_kernel<<<1, 128, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<float *>(args[2].data));
    return count == 3 ? cudaGetLastError() : cudaErrorInvalidValue;
}
