#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

namespace {

__global__ void add_bias_kernel(const float *x, float bias, float *y, int64_t n)
{
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n)
        y[i] = x[i] + bias;
}

// Inputs, then outputs, as declared: x is a tensor, bias a scalar, y the output.
void run(tvm::ffi::TensorView x, double bias, tvm::ffi::TensorView y)
{
    if (x.ndim() != 1 || x.dtype().code != kDLFloat || x.dtype().bits != 32)
        TVM_FFI_THROW(TypeError) << "x must be a float32 vector";
    int64_t n = x.size(0);
    if (n == 0)
        return;
    DLDevice device = x.device();
    cudaStream_t stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(device.device_type, device.device_id));
    add_bias_kernel<<<unsigned((n + 255) / 256), 256, 0, stream>>>(static_cast<const float *>(x.data_ptr()), float(bias),
                                                                   static_cast<float *>(y.data_ptr()), n);
    cudaError_t status = cudaGetLastError();
    if (status != cudaSuccess)
        TVM_FFI_THROW(RuntimeError) << "add_bias_kernel: " << cudaGetErrorString(status);
}

} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);
