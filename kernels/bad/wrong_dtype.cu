// expect: status=RUNTIME_ERROR code=wrong_dtype task=gemm_n7168_k5120
/* Takes C for fp32 and refuses the bf16 tensor that it is given. */
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

static void run(tvm::ffi::TensorView A, tvm::ffi::TensorView B, tvm::ffi::TensorView C)
{
    (void)A, (void)B;
    if (C.dtype().code != kDLFloat || C.dtype().bits != 32) {
        TVM_FFI_THROW(TypeError) << "C must be float32";
    }
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
