/*
 * C[M,N] = A[M,K] · B[N,K]^T in bf16 with fp32 accumulation, for Hopper (sm_90a).
 *
 * A persistent grid of 2-CTA clusters. Each CTA computes 128x256 tiles with two consumer warpgroups (64 rows each,
 * wgmma m64n256k16) that one producer thread feeds by TMA through a ring of four stages. The CTAs of a cluster take
 * tiles one above the other, so they need the same rows of B: each loads one half and multicasts it to both. The
 * result goes through swizzled shared memory and leaves by TMA, which also clips it at the edges of C.
 *
 * M is any size, N and K are multiples of 8 (a tensor map's row pitch is a multiple of 16 bytes); ragged edges are
 * zero-filled on load and dropped on store.
 */
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include <algorithm>
#include <cstdint>

namespace gemm_wgmma
{

constexpr int TILE_M = 128;
constexpr int TILE_N = 256;
constexpr int TILE_K = 64; /* one 128-byte swizzle span */
constexpr int STAGES = 4;
constexpr int CLUSTER = 2;
constexpr int GROUP_ROWS = 8; /* cluster tiles walked down before the next column: keeps A and B strips in L2 */

constexpr int WARPGROUP = 128;
constexpr int CONSUMERS = 2;
constexpr int THREADS = WARPGROUP * (1 + CONSUMERS);
constexpr int CONSUMER_WARPS = CONSUMERS * WARPGROUP / 32;
constexpr int PRODUCER_REGISTERS = 40;
constexpr int CONSUMER_REGISTERS = 232;
/* setmaxnreg moves registers between warpgroups; what they get must not exceed what the launch reserves, in steps of 8
 * per thread, or the last one waits for ever. */
static_assert(WARPGROUP * (PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS) <= THREADS * (65536 / THREADS / 8 * 8),
              "more registers than the launch reserves");

constexpr int ROWS_PER_CONSUMER = TILE_M / CONSUMERS;
constexpr int B_ROWS_PER_CTA = TILE_N / CLUSTER;
constexpr int ACCUMULATORS = ROWS_PER_CONSUMER * TILE_N / WARPGROUP;
constexpr int CHUNK_N = 64; /* columns of C that one store covers */
constexpr int CHUNK_ACCUMULATORS = ACCUMULATORS * CHUNK_N / TILE_N;
constexpr uint32_t STAGE_BYTES = (TILE_M + TILE_N) * TILE_K * sizeof(__nv_bfloat16);

struct alignas(1024) Shared {
    __nv_bfloat16 a[STAGES][TILE_M * TILE_K];
    __nv_bfloat16 b[STAGES][TILE_N * TILE_K];
    __nv_bfloat16 c[CONSUMERS][2][ROWS_PER_CONSUMER * CHUNK_N];
    uint64_t full[STAGES];  /* one arrival and the bytes of a stage */
    uint64_t empty[STAGES]; /* every consumer warp of the cluster, since its CTAs write into each other's stages */
};

/* PTX. */

__device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

__device__ __forceinline__ uint32_t cluster_rank()
{
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ __forceinline__ void cluster_sync()
{
    asm volatile("barrier.cluster.arrive.release;\n"
                 "barrier.cluster.wait.acquire;\n" ::
                     : "memory");
}

__device__ __forceinline__ void barrier_init(uint64_t *barrier, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void barrier_expect_bytes(uint64_t *barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)), "r"(bytes)
                 : "memory");
}

/* Arrives on the barrier at the same place in another CTA of the cluster. No scope of its own: `.release.cluster` costs
 * a memory barrier for ordinary writes, and there are none to release here. */
__device__ __forceinline__ void barrier_arrive_remote(uint64_t *barrier, uint32_t cta)
{
    asm volatile("{\n"
                 ".reg .b32 remote;\n"
                 "mapa.shared::cluster.u32 remote, %0, %1;\n"
                 "mbarrier.arrive.shared::cluster.b64 _, [remote];\n"
                 "}\n" ::"r"(shared_address(barrier)),
                 "r"(cta)
                 : "memory");
}

__device__ __forceinline__ void barrier_wait(uint64_t *barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (!done) {
        asm volatile("{\n"
                     ".reg .pred done;\n"
                     "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, done;\n"
                     "}\n"
                     : "=r"(done)
                     : "r"(shared_address(barrier)), "r"(parity)
                     : "memory");
    }
}

__device__ __forceinline__ void tma_load(void *to, const CUtensorMap *map, int column, int row, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
                 "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier))
                 : "memory");
}

/* The same bytes into every CTA of `ctas`, each counted on that CTA's own barrier. */
__device__ __forceinline__ void tma_load_multicast(void *to, const CUtensorMap *map, int column, int row,
                                                   uint64_t *barrier, uint16_t ctas)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
                 "[%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
                 "l"(map), "r"(column), "r"(row), "r"(shared_address(barrier)), "h"(ctas)
                 : "memory");
}

__device__ __forceinline__ void tma_store(const CUtensorMap *map, int column, int row, const void *from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
                 "r"(column), "r"(row), "r"(shared_address(from))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* Returns when at most `PENDING` stores of this thread still read shared memory. */
template <int PENDING>
__device__ __forceinline__ void tma_store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

__device__ __forceinline__ void tma_store_wait_all()
{
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

__device__ __forceinline__ void fence_async_proxy()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ __forceinline__ void warpgroup_sync(uint32_t warpgroup)
{
    asm volatile("bar.sync %0, %1;" ::"r"(1 + warpgroup), "n"(WARPGROUP) : "memory");
}

template <int REGISTERS>
__device__ __forceinline__ void registers_shrink()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

template <int REGISTERS>
__device__ __forceinline__ void registers_grow()
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(REGISTERS));
}

__device__ __forceinline__ void stmatrix_x4(uint32_t address, uint32_t m0, uint32_t m1, uint32_t m2, uint32_t m3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(m0),
                 "r"(m1), "r"(m2), "r"(m3)
                 : "memory");
}

/* K-major tile of 128-byte rows in the 128-byte swizzle: 8 rows every 1024 bytes; the leading offset is unused. */
__device__ __forceinline__ uint64_t matrix_descriptor(const void *tile)
{
    const uint64_t start = (shared_address(tile) & 0x3FFFF) >> 4;
    const uint64_t leading = 1, stride = 1024 >> 4, swizzle_128 = 1;
    return start | leading << 16 | stride << 32 | swizzle_128 << 62;
}

__device__ __forceinline__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int PENDING>
__device__ __forceinline__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/* Ties the accumulators to this point, so that no read of them moves above a wait. */
__device__ __forceinline__ void wgmma_pin(float (&d)[ACCUMULATORS])
{
#pragma unroll
    for (int i = 0; i < ACCUMULATORS; i++) {
        asm volatile("" : "+f"(d[i])::"memory");
    }
}

#define REGISTERS_8(d, i)                                                                                              \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]),        \
        "+f"(d[i + 7])
#define REGISTERS_32(d, i) REGISTERS_8(d, i), REGISTERS_8(d, i + 8), REGISTERS_8(d, i + 16), REGISTERS_8(d, i + 24)

/* d[64,256] += a[64,16] · b[256,16]^T */
__device__ __forceinline__ void wgmma_m64n256k16(float (&d)[ACCUMULATORS], uint64_t a, uint64_t b)
{
    asm volatile("{\n"
                 ".reg .pred accumulate;\n"
                 "setp.eq.u32 accumulate, 0, 0;\n"
                 "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
                 " %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
                 " %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
                 " %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
                 " %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
                 " %96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
                 " %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
                 "%128, %129, accumulate, 1, 1, 0, 0;\n"
                 "}\n"
                 : REGISTERS_32(d, 0), REGISTERS_32(d, 32), REGISTERS_32(d, 64), REGISTERS_32(d, 96)
                 : "l"(a), "l"(b)
                 : "memory");
}

/* Work order. */

struct Problem {
    int cluster_rows; /* tiles of CLUSTER * TILE_M rows */
    int columns;      /* tiles of TILE_N columns */
    int k_blocks;
};

struct TileOrigin {
    int row, column; /* in elements of C */
};

/* Walks down GROUP_ROWS tiles, then to the next column, so that concurrent clusters share strips of A and B. */
__device__ __forceinline__ TileOrigin tile_origin(const Problem &problem, int tile, uint32_t rank)
{
    const int group = tile / (GROUP_ROWS * problem.columns);
    const int within = tile % (GROUP_ROWS * problem.columns);
    const int rows = min(GROUP_ROWS, problem.cluster_rows - group * GROUP_ROWS);
    const int cluster_row = group * GROUP_ROWS + within % rows;
    return {(cluster_row * CLUSTER + static_cast<int>(rank)) * TILE_M, within / rows * TILE_N};
}

/* Position in the ring of stages. A fresh barrier has completed no phase: waiting for parity 1 returns at once. */
struct Ring {
    int stage = 0;
    uint32_t parity = 0;

    __device__ __forceinline__ void advance()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* Roles. */

/* One thread of the producer warpgroup. */
__device__ __forceinline__ void produce(Shared &shared, const CUtensorMap *a_map, const CUtensorMap *b_map,
                                        const Problem &problem, uint32_t rank)
{
    const int tiles = problem.cluster_rows * problem.columns;
    Ring ring;
    for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += gridDim.x / CLUSTER) {
        const TileOrigin origin = tile_origin(problem, tile, rank);
        const int b_offset = static_cast<int>(rank) * B_ROWS_PER_CTA;
        for (int k = 0; k < problem.k_blocks; k++, ring.advance()) {
            uint64_t *full = &shared.full[ring.stage];
            barrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
            barrier_expect_bytes(full, STAGE_BYTES);
            tma_load(shared.a[ring.stage], a_map, k * TILE_K, origin.row, full);
            tma_load_multicast(shared.b[ring.stage] + b_offset * TILE_K, b_map, k * TILE_K, origin.column + b_offset,
                               full, (1 << CLUSTER) - 1);
        }
    }
}

/* Each warp tells every CTA of the cluster that it has read the stage. */
__device__ __forceinline__ void release(Shared &shared, int stage)
{
    const uint32_t lane = threadIdx.x % 32;
    if (lane < CLUSTER) {
        barrier_arrive_remote(&shared.empty[stage], lane);
    }
}

/* The 64x256 accumulators of a warpgroup to C, in chunks of 64 columns through two buffers. */
__device__ __forceinline__ void store_tile(Shared &shared, const CUtensorMap *c_map, const float (&d)[ACCUMULATORS],
                                           TileOrigin origin, uint32_t consumer)
{
    const uint32_t thread = threadIdx.x % WARPGROUP, lane = thread % 32;
    /* Lane l addresses row l%8 of 8x8 matrix l/8; matrices 0,1 are the upper and lower rows of the left 8 columns. */
    const uint32_t row = thread / 32 * 16 + (lane / 8 % 2) * 8 + lane % 8, half = lane / 16;
#pragma unroll
    for (int chunk = 0; chunk < TILE_N / CHUNK_N; chunk++) {
        __nv_bfloat16 *buffer = shared.c[consumer][chunk % 2];
        if (thread == 0) {
            tma_store_wait_read<1>();
        }
        warpgroup_sync(consumer);
        const uint32_t row_address = shared_address(buffer) + row * 128;
#pragma unroll
        for (uint32_t block = 0; block < CHUNK_N / 8; block += 2) {
            uint32_t packed[4];
#pragma unroll
            for (uint32_t i = 0; i < 4; i++) {
                const float *pair = &d[chunk * CHUNK_ACCUMULATORS + block * 4 + i * 2];
                asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed[i]) : "f"(pair[1]), "f"(pair[0]));
            }
            const uint32_t swizzled = (block + half) ^ (row % 8);
            stmatrix_x4(row_address + swizzled * 16, packed[0], packed[1], packed[2], packed[3]);
        }
        fence_async_proxy();
        warpgroup_sync(consumer);
        if (thread == 0) {
            tma_store(c_map, origin.column + chunk * CHUNK_N,
                      origin.row + static_cast<int>(consumer) * ROWS_PER_CONSUMER, buffer);
        }
    }
}

/* A consumer warpgroup. */
__device__ __forceinline__ void consume(Shared &shared, const CUtensorMap *c_map, const Problem &problem, uint32_t rank,
                                        uint32_t consumer)
{
    const int tiles = problem.cluster_rows * problem.columns;
    Ring ring;
    for (int tile = blockIdx.x / CLUSTER; tile < tiles; tile += gridDim.x / CLUSTER) {
        float d[ACCUMULATORS];
#pragma unroll
        for (int i = 0; i < ACCUMULATORS; i++) {
            d[i] = 0.0f;
        }
        int previous = -1;
        for (int k = 0; k < problem.k_blocks; k++, ring.advance()) {
            barrier_wait(&shared.full[ring.stage], ring.parity);
            const uint64_t a = matrix_descriptor(shared.a[ring.stage] + consumer * ROWS_PER_CONSUMER * TILE_K);
            const uint64_t b = matrix_descriptor(shared.b[ring.stage]);
            wgmma_fence();
#pragma unroll
            for (int step = 0; step < TILE_K / 16; step++) {
                wgmma_m64n256k16(d, a + step * 2, b + step * 2); /* 16 elements are 2 units of 16 bytes */
            }
            wgmma_commit();
            /* The block before this one is done; this one stays in flight over the next wait. */
            wgmma_wait<1>();
            if (previous >= 0) {
                release(shared, previous);
            }
            previous = ring.stage;
        }
        wgmma_wait<0>();
        wgmma_pin(d);
        release(shared, previous);
        store_tile(shared, c_map, d, tile_origin(problem, tile, rank), consumer);
    }
    if (threadIdx.x % WARPGROUP == 0) {
        tma_store_wait_all();
    }
}

__global__ void __cluster_dims__(CLUSTER, 1, 1) __launch_bounds__(THREADS, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
                const __grid_constant__ CUtensorMap c_map, const Problem problem)
{
    extern __shared__ __align__(1024) unsigned char shared_bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes);
    const uint32_t rank = cluster_rank();
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(&shared.full[stage], 1);
            barrier_init(&shared.empty[stage], CONSUMER_WARPS * CLUSTER);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    cluster_sync();

    const uint32_t warpgroup = threadIdx.x / WARPGROUP;
    if (warpgroup == 0) {
        registers_shrink<PRODUCER_REGISTERS>();
        if (threadIdx.x == 0) {
            produce(shared, &a_map, &b_map, problem, rank);
        }
    } else {
        registers_grow<CONSUMER_REGISTERS>();
        consume(shared, &c_map, problem, rank, warpgroup - 1);
    }
    cluster_sync(); /* a CTA's shared memory must outlive the copies and arrivals of its peer */
}

/* Host. */

using EncodeTiled = decltype(&cuTensorMapEncodeTiled);

void check(cudaError_t status, const char *what)
{
    if (status != cudaSuccess) {
        TVM_FFI_THROW(RuntimeError) << what << ": " << cudaGetErrorString(status);
    }
}

EncodeTiled find_encode_tiled()
{
    void *function = nullptr;
    cudaDriverEntryPointQueryResult found;
    check(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &found),
          "cudaGetDriverEntryPointByVersion");
    if (found != cudaDriverEntryPointSuccess) {
        TVM_FFI_THROW(RuntimeError) << "this driver has no cuTensorMapEncodeTiled";
    }
    return reinterpret_cast<EncodeTiled>(function);
}

/* A dense [rows, columns] bf16 matrix, read or written in boxes of `box_rows` x 64 in the 128-byte swizzle. */
CUtensorMap matrix_map(EncodeTiled encode, void *data, int64_t rows, int64_t columns, uint32_t box_rows)
{
    CUtensorMap map;
    const cuuint64_t sizes[2] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint64_t pitches[1] = {static_cast<cuuint64_t>(columns) * sizeof(__nv_bfloat16)};
    const cuuint32_t box[2] = {TILE_K, box_rows};
    const cuuint32_t steps[2] = {1, 1};
    const CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, data, sizes, pitches, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS) {
        TVM_FFI_THROW(RuntimeError) << "cuTensorMapEncodeTiled: CUresult " << static_cast<int>(status);
    }
    return map;
}

void check_matrix(const tvm::ffi::TensorView &tensor, const char *name, int64_t rows, int64_t columns)
{
    const DLDataType type = tensor.dtype();
    if (type.code != kDLBfloat || type.bits != 16 || type.lanes != 1) {
        TVM_FFI_THROW(TypeError) << name << " is not bfloat16";
    }
    if (tensor.ndim() != 2 || tensor.size(0) != rows || tensor.size(1) != columns || !tensor.IsContiguous()) {
        TVM_FFI_THROW(ValueError) << name << " is not a dense [" << rows << ", " << columns << "] matrix";
    }
}

void run(tvm::ffi::TensorView A, tvm::ffi::TensorView B, tvm::ffi::TensorView C)
{
    if (A.ndim() != 2 || B.ndim() != 2) {
        TVM_FFI_THROW(ValueError) << "A and B must be matrices";
    }
    const int64_t m = A.size(0), n = B.size(0), k = A.size(1);
    check_matrix(A, "A", m, k);
    check_matrix(B, "B", n, k);
    check_matrix(C, "C", m, n);
    if (k == 0 || n % 8 != 0 || k % 8 != 0) {
        TVM_FFI_THROW(ValueError) << "N and K must be positive multiples of 8, got N=" << n << " K=" << k;
    }
    if (m == 0 || n == 0) {
        return;
    }

    const DLDevice device = A.device();
    int processors = 0;
    check(cudaSetDevice(device.device_id), "cudaSetDevice");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device.device_id),
          "cudaDeviceGetAttribute");
    check(cudaFuncSetAttribute(gemm_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)),
          "cudaFuncSetAttribute");

    const EncodeTiled encode = find_encode_tiled();
    const CUtensorMap a_map = matrix_map(encode, A.data_ptr(), m, k, TILE_M);
    const CUtensorMap b_map = matrix_map(encode, B.data_ptr(), n, k, B_ROWS_PER_CTA);
    const CUtensorMap c_map = matrix_map(encode, C.data_ptr(), m, n, ROWS_PER_CONSUMER);
    Problem problem;
    problem.cluster_rows = static_cast<int>((m + CLUSTER * TILE_M - 1) / (CLUSTER * TILE_M));
    problem.columns = static_cast<int>((n + TILE_N - 1) / TILE_N);
    problem.k_blocks = static_cast<int>((k + TILE_K - 1) / TILE_K);
    const int clusters = std::min(processors / CLUSTER, problem.cluster_rows * problem.columns);

    cudaStream_t stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(device.device_type, device.device_id));
    gemm_kernel<<<clusters * CLUSTER, THREADS, sizeof(Shared), stream>>>(a_map, b_map, c_map, problem);
    check(cudaGetLastError(), "launch of gemm_kernel");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);

} // namespace gemm_wgmma
