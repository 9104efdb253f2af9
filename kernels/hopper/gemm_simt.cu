/*
 * C[M,N] = A[M,K] · B[N,K]^T in bf16 with plain fp32 multiply-adds: right for any M, N, K and free of target
 * instructions. A baseline for "correct, but not on the tensor cores".
 *
 * A block of 256 threads computes 128x128 of C, 8x8 per thread, from 128x16 tiles of A and B that lie transposed and
 * widened to fp32 in shared memory. The next tiles are on their way in registers while the current ones are used.
 */
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

namespace gemm_simt
{

constexpr int TILE = 128; /* rows and columns of C */
constexpr int DEPTH = 16; /* columns of A and B at a time */
constexpr int THREADS = 256;
constexpr int PATCH = 8; /* per thread: 8x8, as four 4x4 quarters half a tile apart */
constexpr int PITCH = TILE + 4;
constexpr int LOADED = TILE * DEPTH / THREADS; /* elements of each tile that a thread loads: one 16-byte access */
static_assert(LOADED == 8, "a thread loads 8 consecutive bf16");

struct Eight {
    __nv_bfloat16 element[LOADED];
};

/* Elements column..column+7 of a row; zero outside the matrix. */
__device__ __forceinline__ Eight load_eight(const __nv_bfloat16 *matrix, int rows, int columns, int row, int column)
{
    Eight eight = {};
    if (row < rows) {
        const __nv_bfloat16 *from = matrix + static_cast<int64_t>(row) * columns + column;
        if (columns % LOADED == 0 && column < columns) {
            const uint4 bytes = *reinterpret_cast<const uint4 *>(from);
            eight = reinterpret_cast<const Eight &>(bytes);
        } else {
#pragma unroll
            for (int i = 0; i < LOADED; i++) {
                if (column + i < columns) {
                    eight.element[i] = from[i];
                }
            }
        }
    }
    return eight;
}

__device__ __forceinline__ void store_transposed(float (*tile)[PITCH], const Eight &eight, int row, int column)
{
#pragma unroll
    for (int i = 0; i < LOADED; i++) {
        tile[column + i][row] = __bfloat162float(eight.element[i]);
    }
}

/* Two groups of four consecutive values, half a tile apart: conflict-free 16-byte reads. */
__device__ __forceinline__ void load_patch(float (&values)[PATCH], const float *line, int first)
{
    const float4 low = *reinterpret_cast<const float4 *>(line + first);
    const float4 high = *reinterpret_cast<const float4 *>(line + first + TILE / 2);
    values[0] = low.x, values[1] = low.y, values[2] = low.z, values[3] = low.w;
    values[4] = high.x, values[5] = high.y, values[6] = high.z, values[7] = high.w;
}

__global__ void __launch_bounds__(THREADS, 2)
    gemm_kernel(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int m, int n, int k)
{
    __shared__ __align__(16) float a_tile[DEPTH][PITCH], b_tile[DEPTH][PITCH];
    const int thread = static_cast<int>(threadIdx.x);
    const int c_row = static_cast<int>(blockIdx.x) * TILE, c_column = static_cast<int>(blockIdx.y) * TILE;
    /* Consecutive threads load consecutive rows, so that the transposed stores hit different banks. */
    const int load_row = thread % TILE, load_column = thread / TILE * LOADED;
    const int patch_row = thread / 16 * 4, patch_column = thread % 16 * 4;

    float sum[PATCH][PATCH] = {};
    Eight a_next = load_eight(a, m, k, c_row + load_row, load_column);
    Eight b_next = load_eight(b, n, k, c_column + load_row, load_column);
    for (int depth = 0; depth < k; depth += DEPTH) {
        store_transposed(a_tile, a_next, load_row, load_column);
        store_transposed(b_tile, b_next, load_row, load_column);
        __syncthreads();
        if (depth + DEPTH < k) {
            a_next = load_eight(a, m, k, c_row + load_row, depth + DEPTH + load_column);
            b_next = load_eight(b, n, k, c_column + load_row, depth + DEPTH + load_column);
        }
#pragma unroll
        for (int step = 0; step < DEPTH; step++) {
            float a_patch[PATCH], b_patch[PATCH];
            load_patch(a_patch, a_tile[step], patch_row);
            load_patch(b_patch, b_tile[step], patch_column);
#pragma unroll
            for (int i = 0; i < PATCH; i++) {
#pragma unroll
                for (int j = 0; j < PATCH; j++) {
                    sum[i][j] = fmaf(a_patch[i], b_patch[j], sum[i][j]);
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < PATCH; i++) {
        const int row = c_row + patch_row + i % 4 + i / 4 * (TILE / 2);
#pragma unroll
        for (int j = 0; j < PATCH; j++) {
            const int column = c_column + patch_column + j % 4 + j / 4 * (TILE / 2);
            if (row < m && column < n) {
                c[static_cast<int64_t>(row) * n + column] = __float2bfloat16(sum[i][j]);
            }
        }
    }
}

} // namespace gemm_simt

PTXBENCH_ENTRY(args, count, stream)
{
    using namespace gemm_simt;
    if (count != 3) {
        return cudaErrorInvalidValue;
    }
    for (int i = 0; i < count; i++) {
        if (args[i].rank != 2 || args[i].dtype != PTXBENCH_BFLOAT16) {
            return cudaErrorInvalidValue;
        }
    }
    const int64_t m = args[0].shape[0], n = args[1].shape[0], k = args[0].shape[1];
    if (args[1].shape[1] != k || args[2].shape[0] != m || args[2].shape[1] != n) {
        return cudaErrorInvalidValue;
    }
    if (m == 0 || n == 0) {
        return cudaSuccess;
    }
    const dim3 grid(static_cast<unsigned>((m + TILE - 1) / TILE), static_cast<unsigned>((n + TILE - 1) / TILE));
    gemm_kernel<<<grid, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<const __nv_bfloat16 *>(args[0].data), static_cast<const __nv_bfloat16 *>(args[1].data),
        static_cast<__nv_bfloat16 *>(args[2].data), static_cast<int>(m), static_cast<int>(n), static_cast<int>(k));
    return cudaGetLastError();
}
