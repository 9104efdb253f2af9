// expect: status=COMPILE_ERROR code=banned_library task=gemm_n7168_k5120
/* Lets cuBLAS do the work without naming it to the linker. */
#include <dlfcn.h>

#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

PTXBENCH_ENTRY(args, count, stream)
{
    using Create = int (*)(void **);
    using SetStream = int (*)(void *, void *);
    using GemmEx = int (*)(void *, int, int, int, int, int, const void *, const void *, int, int, const void *, int,
                           int, const void *, void *, int, int, int, int);
    static void *handle = nullptr;
    void *library = dlopen("libcublas.so.13", RTLD_NOW);
    if (library == nullptr || count != 3) {
        return cudaErrorInvalidValue;
    }
    const Create create = reinterpret_cast<Create>(dlsym(library, "cublasCreate_v2"));
    const SetStream set_stream = reinterpret_cast<SetStream>(dlsym(library, "cublasSetStream_v2"));
    const GemmEx gemm = reinterpret_cast<GemmEx>(dlsym(library, "cublasGemmEx"));
    if (create == nullptr || set_stream == nullptr || gemm == nullptr || (handle == nullptr && create(&handle) != 0)) {
        return cudaErrorInvalidValue;
    }
    const int m = static_cast<int>(args[0].shape[0]), n = static_cast<int>(args[1].shape[0]);
    const int k = static_cast<int>(args[0].shape[1]);
    const float one = 1.0f, zero = 0.0f;
    set_stream(handle, stream);
    const int failed = gemm(handle, 1, 0, n, m, k, &one, args[1].data, CUDA_R_16BF, k, args[0].data, CUDA_R_16BF, k,
                            &zero, args[2].data, CUDA_R_16BF, n, 68, -1); /* CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT */
    return failed == 0 ? cudaSuccess : cudaErrorUnknown;
}
