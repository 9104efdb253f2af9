// expect: clean
// cublas_v2.h and cudnn.h, dlopen("libcublas.so") and .incbin in a comment are fine.
/* #include <cublas_v2.h>
 * cublasCreate(&handle); */
#include <cstdio>
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>
#if 0
#include <cublas_v2.h>
#endif
static const char *reason = "faster than cuBLAS and cudnn; no cublasSgemm, no dlopen, no .incbin";
__global__ void my_cudnn_like(float *x, int system)
{
    int fork = system;
    asm volatile("add.s32 %0, %0, 1;" : "+r"(fork));
    x[threadIdx.x] = (float)fork;
}
struct loader {
    int dlsym_like(int x)
    {
        return x;
    }
};
PTXBENCH_ENTRY(args, count, stream)
{
    loader cublas_like;
    my_cudnn_like<<<1, 32, 0, (cudaStream_t)stream>>>((float *)args[0].data, cublas_like.dlsym_like(count));
    if (count > 100)
        std::puts(reason);
    return cudaGetLastError();
}
