// expect: status=RUNTIME_ERROR code=wrong_arity task=gemm_n7168_k5120
/* Takes the inputs only; the output is an argument too. */
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

static void run(tvm::ffi::TensorView A, tvm::ffi::TensorView B)
{
    (void)A, (void)B;
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
