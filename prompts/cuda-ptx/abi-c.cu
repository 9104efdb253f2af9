#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

namespace {

__global__ void add_bias_kernel(const float *x, float bias, float *y, int64_t n)
{
    int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
    if (i < n)
        y[i] = x[i] + bias;
}

} // namespace

// args: inputs, then outputs, as declared. Scalars have rank -1 and their value in `scalar`.
PTXBENCH_ENTRY(args, count, stream)
{
    if (count != 3 || args[0].rank != 1 || args[0].dtype != PTXBENCH_FLOAT32)
        return cudaErrorInvalidValue;
    const float *x = static_cast<const float *>(args[0].data);
    float bias = float(args[1].scalar.real);
    float *y = static_cast<float *>(args[2].data);
    int64_t n = args[0].shape[0];
    if (n == 0)
        return cudaSuccess;
    add_bias_kernel<<<unsigned((n + 255) / 256), 256, 0, static_cast<cudaStream_t>(stream)>>>(x, bias, y, n);
    return cudaGetLastError(); // 0: launched
}
