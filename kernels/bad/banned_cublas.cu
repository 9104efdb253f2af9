// expect: status=COMPILE_ERROR code=banned_library task=gemm_n7168_k5120
/* Lets cuBLAS do the work. */
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

PTXBENCH_ENTRY(args, count, stream)
{
    static cublasHandle_t handle = nullptr;
    if (count != 3 || (handle == nullptr && cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)) {
        return cudaErrorInvalidValue;
    }
    const int m = static_cast<int>(args[0].shape[0]), n = static_cast<int>(args[1].shape[0]);
    const int k = static_cast<int>(args[0].shape[1]);
    const float one = 1.0f, zero = 0.0f;
    cublasSetStream(handle, static_cast<cudaStream_t>(stream));
    const cublasStatus_t status =
        cublasGemmEx(handle, CUBLAS_OP_T, CUBLAS_OP_N, n, m, k, &one, args[1].data, CUDA_R_16BF, k, args[0].data,
                     CUDA_R_16BF, k, &zero, args[2].data, CUDA_R_16BF, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT);
    return status == CUBLAS_STATUS_SUCCESS ? cudaSuccess : cudaErrorUnknown;
}
