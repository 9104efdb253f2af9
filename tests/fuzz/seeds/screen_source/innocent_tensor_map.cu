// expect: clean
// The usual way to encode a tensor map without linking libcuda, and macros that wrap inline PTX.
#include <cuda.h>
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>
#define DEVICE __device__ __forceinline__
#define FENCE() asm volatile("fence.proxy.async;" ::: "memory")
namespace detail {
template <int N> struct ops {
    DEVICE static void fence() { FENCE(); }
    __host__ __device__ static int size() {
#ifdef __CUDA_ARCH__
        asm volatile("" ::: "memory");
#endif
        return N;
    }
};
} // namespace detail
__global__ void kernel(const __grid_constant__ CUtensorMap map, float *out)
{
    detail::ops<3>::fence();
    out[0] = (float)detail::ops<3>::size() + (float)((const char *)&map)[0];
}
typedef CUresult encode_function(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                                 const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                                 CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
PTXBENCH_ENTRY(args, count, stream)
{
    void *function = nullptr;
    CUtensorMap map = {};
    cudaDriverEntryPointQueryResult found;
    (void)count;
    cudaError_t error = cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000,
                                                         cudaEnableDefault, &found);
    if (error != cudaSuccess)
        return error;
    kernel<<<1, 1, 0, (cudaStream_t)stream>>>(map, (float *)args[0].data);
    return function ? cudaGetLastError() : 1;
}
