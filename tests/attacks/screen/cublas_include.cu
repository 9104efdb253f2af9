// expect: vendor_include vendor_call
// Calls cuBLAS openly.
#include <cublas_v2.h>
#include <ptxbench/candidate.h>
PTXBENCH_ENTRY(args, count, stream)
{
    cublasHandle_t handle;
    (void)args, (void)count, (void)stream;
    return cublasCreate(&handle);
}
