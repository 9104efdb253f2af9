/*
 * The correct GEMM that the known-bad candidates misuse: C[M,N] = A[M,K] · B[N,K]^T in bf16 by mma.sync, which is not
 * among Hopper's target instructions. N and K are multiples of 8. Compiles fast and runs in a few milliseconds on the
 * paper's shape.
 */
#ifndef PLAIN_GEMM_CUH
#define PLAIN_GEMM_CUH

#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <ptxbench/candidate.h>

namespace plain
{

constexpr int TILE = 128;
constexpr int DEPTH = 32;
constexpr int PITCH = DEPTH + 8; /* 80-byte rows: ldmatrix reads 8 of them without bank conflicts */
constexpr int THREADS = 256;     /* 8 warps, each 64x32 of C */

struct Stage {
    __nv_bfloat16 a[TILE][PITCH], b[TILE][PITCH];
};

__device__ __forceinline__ uint32_t shared_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

/* Starts copying a TILE x DEPTH tile; elements outside the matrix become zero. */
__device__ __forceinline__ void tile_copy(__nv_bfloat16 (*tile)[PITCH], const __nv_bfloat16 *matrix, int rows,
                                          int columns, int pitch, int first_row, int first_column)
{
#pragma unroll
    for (int i = static_cast<int>(threadIdx.x); i < TILE * DEPTH / 8; i += THREADS) {
        const int row = i / (DEPTH / 8), column = i % (DEPTH / 8) * 8;
        const bool inside = first_row + row < rows && first_column + column < columns;
        const __nv_bfloat16 *from =
            inside ? matrix + static_cast<int64_t>(first_row + row) * pitch + first_column + column : matrix;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(&tile[row][column])),
                     "l"(from), "r"(inside ? 16 : 0)
                     : "memory");
    }
}

__device__ __forceinline__ void ldmatrix_x4(uint32_t (&m)[4], const void *row)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(shared_address(row))
                 : "memory");
}

__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/* Sums over the first `depth` of `k` columns; a right result needs all of them. */
static __global__ void __launch_bounds__(THREADS, 2)
    gemm_kernel(const __nv_bfloat16 *a, const __nv_bfloat16 *b, __nv_bfloat16 *c, int m, int n, int k, int depth)
{
    __shared__ Stage stages[2];
    const int lane = static_cast<int>(threadIdx.x % 32), warp = static_cast<int>(threadIdx.x / 32);
    const int c_row = static_cast<int>(blockIdx.x) * TILE, c_column = static_cast<int>(blockIdx.y) * TILE;
    const int warp_row = warp / 4 * 64, warp_column = warp % 4 * 32;
    float d[4][4][4] = {};

    const int steps = (depth + DEPTH - 1) / DEPTH;
    for (int step = -1; step < steps; step++) {
        if (step + 1 < steps) {
            Stage &next = stages[(step + 1) % 2];
            tile_copy(next.a, a, m, depth, k, c_row, (step + 1) * DEPTH);
            tile_copy(next.b, b, n, depth, k, c_column, (step + 1) * DEPTH);
        }
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (step < 0) {
            continue;
        }
        asm volatile("cp.async.wait_group 1;" ::: "memory");
        __syncthreads();
        const Stage &stage = stages[step % 2];
#pragma unroll
        for (int at = 0; at < DEPTH; at += 16) {
            uint32_t a_part[4][4], b_part[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                ldmatrix_x4(a_part[i], &stage.a[warp_row + i * 16 + lane % 16][at + lane / 16 * 8]);
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                ldmatrix_x4(b_part[j],
                            &stage.b[warp_column + j * 16 + lane / 16 * 8 + lane % 8][at + lane / 8 % 2 * 8]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    mma_m16n8k16(d[i][j], a_part[i], b_part[j / 2][j % 2 * 2], b_part[j / 2][j % 2 * 2 + 1]);
                }
            }
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < 4; i++) {
#pragma unroll
        for (int j = 0; j < 4; j++) {
#pragma unroll
            for (int half = 0; half < 2; half++) {
                const int row = c_row + warp_row + i * 16 + half * 8 + lane / 4;
                const int column = c_column + warp_column + j * 8 + lane % 4 * 2;
                if (row < m && column < n) {
                    *reinterpret_cast<__nv_bfloat162 *>(c + static_cast<int64_t>(row) * n + column) =
                        __floats2bfloat162_rn(d[i][j][half * 2], d[i][j][half * 2 + 1]);
                }
            }
        }
    }
}

/* A[M,K], B[N,K], C[M,N]. */
struct Problem {
    const __nv_bfloat16 *a, *b;
    __nv_bfloat16 *c;
    int m, n, k;
};

/* False when the arguments are not those of a GEMM. */
inline bool problem_get(const ptxbench_arg *args, int count, Problem *problem)
{
    if (count != 3) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (args[i].rank != 2 || args[i].dtype != PTXBENCH_BFLOAT16) {
            return false;
        }
    }
    problem->a = static_cast<const __nv_bfloat16 *>(args[0].data);
    problem->b = static_cast<const __nv_bfloat16 *>(args[1].data);
    problem->c = static_cast<__nv_bfloat16 *>(args[2].data);
    problem->m = static_cast<int>(args[0].shape[0]);
    problem->n = static_cast<int>(args[1].shape[0]);
    problem->k = static_cast<int>(args[0].shape[1]);
    return problem->n % 8 == 0 && problem->k % 8 == 0;
}

inline cudaError_t gemm(const Problem &problem, int depth, void *stream)
{
    const dim3 grid(static_cast<unsigned>((problem.m + TILE - 1) / TILE),
                    static_cast<unsigned>((problem.n + TILE - 1) / TILE));
    gemm_kernel<<<grid, THREADS, 0, static_cast<cudaStream_t>(stream)>>>(problem.a, problem.b, problem.c, problem.m,
                                                                         problem.n, problem.k, depth);
    return cudaGetLastError();
}

/* The whole of a well-behaved candidate. */
inline cudaError_t gemm(const ptxbench_arg *args, int count, void *stream)
{
    Problem problem;
    return problem_get(args, count, &problem) ? gemm(problem, problem.k, stream) : cudaErrorInvalidValue;
}

} // namespace plain

#endif
