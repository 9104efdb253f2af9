/*
 * C[M,N] = A[M,K] · B[N,K]^T in bf16 with fp32 accumulation, for Blackwell (sm_100a).
 *
 * Written against the PTX ISA and compiled for sm_100a; it has not run on a Blackwell GPU yet.
 *
 * A persistent grid; a CTA computes 128x256 tiles. One thread loads A and B by TMA through four stages, one thread
 * issues tcgen05.mma (cta_group::1, M 128, N 256), and four warps read the accumulators from tensor memory, round them
 * and store them by TMA. Two accumulators share tensor memory, so that a tile is stored while the next is computed.
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

namespace gemm_tcgen05
{

constexpr int TILE_M = 128;
constexpr int TILE_N = 256;
constexpr int TILE_K = 64; /* one 128-byte swizzle span */
constexpr int STAGES = 4;
constexpr int GROUP_ROWS = 16; /* tiles walked down before the next column: keeps A and B strips in L2 */
constexpr int CHUNK_N = 64;    /* columns of C that one store covers */

constexpr int WARP_LOAD = 0, WARP_MMA = 1, WARP_TMEM = 2;
constexpr int WARP_STORE = 4; /* and the three after it: warp w reads lanes 32 * (w % 4) of tensor memory */
constexpr int THREADS = 256;
constexpr int STORE_WARPS = 4;
constexpr int STORE_THREADS = STORE_WARPS * 32;

constexpr int ACCUMULATORS = 2;
constexpr uint32_t TMEM_COLUMNS = ACCUMULATORS * TILE_N; /* one fp32 column each: all 512 */
constexpr uint32_t STAGE_BYTES = (TILE_M + TILE_N) * TILE_K * sizeof(__nv_bfloat16);

/* kind::f16: D is f32, A and B are bf16 and K-major. */
constexpr uint32_t INSTRUCTION_DESCRIPTOR = 1u << 4 | 1u << 7 | 1u << 10 | (TILE_N >> 3) << 17 | (TILE_M >> 4) << 24;

struct alignas(1024) Shared {
    __nv_bfloat16 a[STAGES][TILE_M * TILE_K];
    __nv_bfloat16 b[STAGES][TILE_N * TILE_K];
    __nv_bfloat16 c[2][TILE_M * CHUNK_N];
    uint64_t full[STAGES];             /* one arrival and the bytes of a stage */
    uint64_t empty[STAGES];            /* tcgen05.commit */
    uint64_t sums_full[ACCUMULATORS];  /* tcgen05.commit */
    uint64_t sums_empty[ACCUMULATORS]; /* every storing warp */
    uint32_t tmem;                     /* address of the allocation */
};

/* PTX. */

__device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
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

__device__ __forceinline__ void barrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
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

__device__ __forceinline__ void tma_store(const CUtensorMap *map, int column, int row, const void *from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
                 "r"(column), "r"(row), "r"(shared_address(from))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/* K-major tile of 128-byte rows in the 128-byte swizzle: 8 rows every 1024 bytes; the leading offset is unused. */
__device__ __forceinline__ uint64_t matrix_descriptor(const void *tile)
{
    const uint64_t start = (shared_address(tile) & 0x3FFFF) >> 4;
    const uint64_t leading = 1, stride = 1024 >> 4, version = 1, swizzle_128 = 2;
    return start | leading << 16 | stride << 32 | version << 46 | swizzle_128 << 61;
}

/* tmem[128,256] = or += a[128,16] · b[256,16]^T */
__device__ __forceinline__ void tcgen05_mma(uint32_t tmem, uint64_t a, uint64_t b, uint32_t accumulate)
{
    asm volatile("{\n"
                 ".reg .pred accumulate;\n"
                 "setp.ne.b32 accumulate, %4, 0;\n"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, accumulate;\n"
                 "}\n" ::"r"(tmem),
                 "l"(a), "l"(b), "r"(INSTRUCTION_DESCRIPTOR), "r"(accumulate)
                 : "memory");
}

/* Arrives on the barrier when all matrix work that this thread has issued is done. */
__device__ __forceinline__ void tcgen05_commit(uint64_t *barrier)
{
    asm volatile(
        "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(shared_address(barrier))
        : "memory");
}

__device__ __forceinline__ void tcgen05_fence_before_sync()
{
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

__device__ __forceinline__ void tcgen05_fence_after_sync()
{
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

#define REGISTERS_8(d, i)                                                                                              \
    "=r"(d[i]), "=r"(d[i + 1]), "=r"(d[i + 2]), "=r"(d[i + 3]), "=r"(d[i + 4]), "=r"(d[i + 5]), "=r"(d[i + 6]),        \
        "=r"(d[i + 7])

/* 32 columns of this warp's 32 lanes: register i of lane l is row l, column i. Waits, so that the values are there. */
__device__ __forceinline__ void tcgen05_load_32(uint32_t (&d)[32], uint32_t tmem)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 " %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, [%32];\n"
                 "tcgen05.wait::ld.sync.aligned;\n"
                 : REGISTERS_8(d, 0), REGISTERS_8(d, 8), REGISTERS_8(d, 16), REGISTERS_8(d, 24)
                 : "r"(tmem)
                 : "memory");
}

/* Work order. */

struct Problem {
    int rows;    /* tiles of TILE_M rows */
    int columns; /* tiles of TILE_N columns */
    int k_blocks;
};

struct TileOrigin {
    int row, column; /* in elements of C */
};

/* Walks down GROUP_ROWS tiles, then to the next column, so that concurrent CTAs share strips of A and B. */
__device__ __forceinline__ TileOrigin tile_origin(const Problem &problem, int tile)
{
    const int group = tile / (GROUP_ROWS * problem.columns);
    const int within = tile % (GROUP_ROWS * problem.columns);
    const int rows = min(GROUP_ROWS, problem.rows - group * GROUP_ROWS);
    return {(group * GROUP_ROWS + within % rows) * TILE_M, within / rows * TILE_N};
}

/* Position in a ring of buffers. A fresh barrier has completed no phase: waiting for parity 1 returns at once. */
template <int SIZE>
struct Ring {
    int index = 0;
    uint32_t parity = 0;

    __device__ __forceinline__ void advance()
    {
        if (++index == SIZE) {
            index = 0;
            parity ^= 1;
        }
    }
};

/* Roles. */

/* One thread. */
__device__ __forceinline__ void load_tiles(Shared &shared, const CUtensorMap *a_map, const CUtensorMap *b_map,
                                           const Problem &problem)
{
    Ring<STAGES> stage;
    for (int tile = blockIdx.x; tile < problem.rows * problem.columns; tile += gridDim.x) {
        const TileOrigin origin = tile_origin(problem, tile);
        for (int k = 0; k < problem.k_blocks; k++, stage.advance()) {
            uint64_t *full = &shared.full[stage.index];
            barrier_wait(&shared.empty[stage.index], stage.parity ^ 1);
            barrier_expect_bytes(full, STAGE_BYTES);
            tma_load(shared.a[stage.index], a_map, k * TILE_K, origin.row, full);
            tma_load(shared.b[stage.index], b_map, k * TILE_K, origin.column, full);
        }
    }
}

/* One thread. */
__device__ __forceinline__ void multiply_tiles(Shared &shared, const Problem &problem, uint32_t tmem)
{
    Ring<STAGES> stage;
    Ring<ACCUMULATORS> sums;
    for (int tile = blockIdx.x; tile < problem.rows * problem.columns; tile += gridDim.x, sums.advance()) {
        barrier_wait(&shared.sums_empty[sums.index], sums.parity ^ 1);
        tcgen05_fence_after_sync();
        for (int k = 0; k < problem.k_blocks; k++, stage.advance()) {
            barrier_wait(&shared.full[stage.index], stage.parity);
            tcgen05_fence_after_sync();
            const uint64_t a = matrix_descriptor(shared.a[stage.index]);
            const uint64_t b = matrix_descriptor(shared.b[stage.index]);
#pragma unroll
            for (int step = 0; step < TILE_K / 16; step++) { /* 16 elements are 2 units of 16 bytes */
                tcgen05_mma(tmem + sums.index * TILE_N, a + step * 2, b + step * 2, k + step != 0);
            }
            tcgen05_commit(&shared.empty[stage.index]);
        }
        tcgen05_commit(&shared.sums_full[sums.index]);
    }
}

/* 64 columns of a tile to shared memory: each thread writes its row, 16 bytes at a time, in the 128-byte swizzle. */
__device__ __forceinline__ void round_chunk(__nv_bfloat16 *buffer, uint32_t tmem, uint32_t row)
{
#pragma unroll
    for (uint32_t half = 0; half < CHUNK_N / 32; half++) {
        uint32_t sums[32];
        tcgen05_load_32(sums, tmem + half * 32);
#pragma unroll
        for (uint32_t block = 0; block < 4; block++) {
            uint32_t packed[4];
#pragma unroll
            for (uint32_t i = 0; i < 4; i++) {
                const uint32_t at = block * 8 + i * 2;
                asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
                    : "=r"(packed[i])
                    : "f"(__uint_as_float(sums[at + 1])), "f"(__uint_as_float(sums[at])));
            }
            const uint32_t swizzled = (half * 4 + block) ^ (row % 8);
            asm volatile(
                "st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(buffer) + row * 128 + swizzled * 16),
                "r"(packed[0]), "r"(packed[1]), "r"(packed[2]), "r"(packed[3])
                : "memory");
        }
    }
}

/* Four warps. */
__device__ __forceinline__ void store_tiles(Shared &shared, const CUtensorMap *c_map, const Problem &problem,
                                            uint32_t tmem)
{
    const uint32_t thread = threadIdx.x % STORE_THREADS;
    const uint32_t lanes = thread / 32 * 32 << 16;
    Ring<ACCUMULATORS> sums;
    for (int tile = blockIdx.x; tile < problem.rows * problem.columns; tile += gridDim.x, sums.advance()) {
        const TileOrigin origin = tile_origin(problem, tile);
        barrier_wait(&shared.sums_full[sums.index], sums.parity);
        tcgen05_fence_after_sync();
        for (int chunk = 0; chunk < TILE_N / CHUNK_N; chunk++) {
            __nv_bfloat16 *buffer = shared.c[chunk % 2];
            if (thread == 0) { /* the store before the last has left this buffer */
                asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
            }
            asm volatile("bar.sync 1, %0;" ::"n"(STORE_THREADS) : "memory");
            round_chunk(buffer, tmem + lanes + sums.index * TILE_N + chunk * CHUNK_N, thread);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("bar.sync 1, %0;" ::"n"(STORE_THREADS) : "memory");
            if (thread == 0) {
                tma_store(c_map, origin.column + chunk * CHUNK_N, origin.row, buffer);
            }
        }
        tcgen05_fence_before_sync();
        __syncwarp();
        if (thread % 32 == 0) {
            barrier_arrive(&shared.sums_empty[sums.index]);
        }
    }
    if (thread == 0) {
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

__global__ void __launch_bounds__(THREADS, 1)
    gemm_kernel(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
                const __grid_constant__ CUtensorMap c_map, const Problem problem)
{
    extern __shared__ __align__(1024) unsigned char shared_bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(shared_bytes);
    const uint32_t warp = threadIdx.x / 32;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(&shared.full[stage], 1);
            barrier_init(&shared.empty[stage], 1);
        }
        for (int i = 0; i < ACCUMULATORS; i++) {
            barrier_init(&shared.sums_full[i], 1);
            barrier_init(&shared.sums_empty[i], STORE_WARPS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    if (warp == WARP_TMEM) {
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;\n"
                     "tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;\n" ::"r"(shared_address(&shared.tmem)),
                     "n"(TMEM_COLUMNS)
                     : "memory");
        tcgen05_fence_before_sync();
    }
    __syncthreads();
    tcgen05_fence_after_sync();
    const uint32_t tmem = *const_cast<volatile uint32_t *>(&shared.tmem);

    if (threadIdx.x == WARP_LOAD * 32) {
        load_tiles(shared, &a_map, &b_map, problem);
    } else if (threadIdx.x == WARP_MMA * 32) {
        multiply_tiles(shared, problem, tmem);
    } else if (warp >= WARP_STORE) {
        store_tiles(shared, &c_map, problem, tmem);
    }

    __syncwarp();
    tcgen05_fence_before_sync();
    __syncthreads();
    tcgen05_fence_after_sync();
    if (warp == WARP_TMEM) {
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(tmem), "n"(TMEM_COLUMNS));
    }
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
    const CUtensorMap b_map = matrix_map(encode, B.data_ptr(), n, k, TILE_N);
    const CUtensorMap c_map = matrix_map(encode, C.data_ptr(), m, n, TILE_M);
    Problem problem;
    problem.rows = static_cast<int>((m + TILE_M - 1) / TILE_M);
    problem.columns = static_cast<int>((n + TILE_N - 1) / TILE_N);
    problem.k_blocks = static_cast<int>((k + TILE_K - 1) / TILE_K);
    const int grid = std::min(processors, problem.rows * problem.columns);

    cudaStream_t stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(device.device_type, device.device_id));
    gemm_kernel<<<grid, THREADS, sizeof(Shared), stream>>>(a_map, b_map, c_map, problem);
    check(cudaGetLastError(), "launch of gemm_kernel");
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);

} // namespace gemm_tcgen05
