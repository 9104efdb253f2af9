// expect: status=INCORRECT_NUMERICAL code=numerical_mismatch task=gemm_n7168_k5120
/* A small TMA and WGMMA GEMM, C[M,N] = A[M,K] · B[N,K]^T, one 64x64 tile a CTA, right but for one number: the matrix
 * descriptors say that groups of 8 rows lie 512 bytes apart, where rows of 128 bytes put them 1024 apart. */
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

constexpr int TILE = 64; /* rows of A, rows of B, columns of one step: 128 bytes, the span of the swizzle */
constexpr int THREADS = 128;
constexpr int STRIDE = 512; /* the defect: 1024 */

struct Shared {
    __nv_bfloat16 a[TILE * TILE], b[TILE * TILE];
    uint64_t landed;
};

__device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ void load(void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
                 : "memory");
}

__device__ __forceinline__ void wait(uint64_t *barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (!done) {
        asm volatile("{\n.reg .pred done;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, done;\n}\n"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    }
}

__device__ __forceinline__ uint64_t descriptor(const __nv_bfloat16 *tile)
{
    return (shared_address(tile) & 0x3FFFF) >> 4 | 1ull << 16 | static_cast<uint64_t>(STRIDE >> 4) << 32 | 1ull << 62;
}

#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define SIXTEEN(d, i) FOUR(d, i), FOUR(d, i + 4), FOUR(d, i + 8), FOUR(d, i + 12)

/* d[64,64] += a[64,16] · b[64,16]^T */
__device__ __forceinline__ void multiply(float (&d)[32], uint64_t a, uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "%32, %33, 1, 1, 1, 0, 0;\n"
                 : SIXTEEN(d, 0), SIXTEEN(d, 16)
                 : "l"(a), "l"(b)
                 : "memory");
}

static __global__ void __launch_bounds__(THREADS)
    gemm_kernel(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, __nv_bfloat16 *c,
                int m, int n, int k)
{
    extern __shared__ __align__(1024) uint8_t memory[];
    Shared &shared = *reinterpret_cast<Shared *>(memory);
    const int row = static_cast<int>(blockIdx.y) * TILE, column = static_cast<int>(blockIdx.x) * TILE;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    float d[32] = {};

    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\n"
                     "fence.mbarrier_init.release.cluster;" ::"r"(shared_address(&shared.landed))
                     : "memory");
    }
    __syncthreads();
    for (int step = 0; step * TILE < k; step++) {
        if (threadIdx.x == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&shared.landed)),
                         "n"(2 * sizeof shared.a)
                         : "memory");
            load(shared.a, &a_map, step * TILE, row, &shared.landed);
            load(shared.b, &b_map, step * TILE, column, &shared.landed);
        }
        wait(&shared.landed, step & 1);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int slice = 0; slice < TILE / 16; slice++) {
            multiply(d, descriptor(shared.a) + slice * 2, descriptor(shared.b) + slice * 2);
        }
        asm volatile("wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;" ::: "memory");
        __syncthreads();
    }
    for (int i = 0; i < 32; i++) {
        const int r = row + warp * 16 + lane / 4 + i % 4 / 2 * 8, at = column + i / 4 * 8 + lane % 4 * 2 + i % 2;
        if (r < m && at < n) {
            c[static_cast<int64_t>(r) * n + at] = __float2bfloat16(d[i]);
        }
    }
}

static bool encode(CUtensorMap *map, void *data, int64_t rows, int64_t columns)
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    if (cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found) !=
            cudaSuccess ||
        found != cudaDriverEntryPointSuccess) {
        return false;
    }
    const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint64_t pitch = static_cast<cuuint64_t>(columns) * sizeof(__nv_bfloat16);
    const cuuint32_t box[2] = {TILE, TILE}, steps[2] = {1, 1};
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function)(
               map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, &pitch, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE,
               CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
               CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE) == CUDA_SUCCESS;
}

PTXBENCH_ENTRY(args, count, stream)
{
    CUtensorMap a_map, b_map;
    if (count != 3 || args[0].rank != 2 || args[1].rank != 2) {
        return cudaErrorInvalidValue;
    }
    const int64_t m = args[0].shape[0], k = args[0].shape[1], n = args[1].shape[0];
    if (k % 8 != 0 || !encode(&a_map, args[0].data, m, k) || !encode(&b_map, args[1].data, n, k)) {
        return cudaErrorInvalidValue;
    }
    const int bytes = sizeof(Shared) + 1024;
    cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
    const dim3 grid(static_cast<unsigned>((n + TILE - 1) / TILE), static_cast<unsigned>((m + TILE - 1) / TILE));
    gemm_kernel<<<grid, THREADS, bytes, static_cast<cudaStream_t>(stream)>>>(
        a_map, b_map, static_cast<__nv_bfloat16 *>(args[2].data), static_cast<int>(m), static_cast<int>(n),
        static_cast<int>(k));
    return cudaGetLastError();
}
