// expect: denied_import
// Uses TVM-FFI's loader for a library of its own choice.
#include <tvm/ffi/extra/module.h>
#include <tvm/ffi/tvm_ffi.h>
static void run(tvm::ffi::TensorView)
{
    tvm::ffi::Module::LoadFromFile("/tmp/other.so");
}
TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
