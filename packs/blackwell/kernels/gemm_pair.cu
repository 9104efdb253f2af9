// C[M,N] = A[M,K] B[N,K]^T in bf16 by CTA pairs (cta_group::2): one instruction computes 256 x 256.
#include "../../common/check.cuh"
#include "../tcgen05.cuh"

constexpr int STAGES = 3, TILE_M = 256, TILE_N = 256, ROWS = 128;

struct alignas(1024) Shared {
    __nv_bfloat16 a[STAGES][ROWS * 64], b[STAGES][ROWS * 64]; // own rows of A, own half of B's N
    __nv_bfloat16 c[2][ROWS * 64];
    uint64_t full[STAGES]; // of the even CTA; the odd one's is not used
    uint64_t empty[STAGES], done;
    uint32_t tmem;
};

// [section pair]
// Producer thread of each CTA of the pair. The even CTA expects the bytes of both.
template <int A_ROWS, int B_ROWS>
DEVICE void load_pair_stage(__nv_bfloat16 *a, __nv_bfloat16 *b, const CUtensorMap *a_map, const CUtensorMap *b_map,
                            uint64_t *full, int k, int a_row, int b_row)
{
    if (cluster_rank() % 2 == 0)
        mbarrier_arrive_expect(full, 2 * (A_ROWS + B_ROWS) * 64 * sizeof(__nv_bfloat16));
    tma_load_2d_pair(a, a_map, full, k, a_row);
    tma_load_2d_pair(b, b_map, full, k, b_row);
}

// One thread of the even CTA, behind its wait on full: four k16 steps, then both CTAs' empty barriers.
DEVICE void multiply_pair_stage(uint32_t tmem, const void *a, const void *b, uint32_t instruction, bool first,
                                uint64_t *empty)
{
    const uint64_t a_descriptor = tcgen05_descriptor_k(a), b_descriptor = tcgen05_descriptor_k(b);
    for (int step = 0; step < 4; step++) {
        tcgen05_mma_f16<2>(tmem, a_descriptor + step * 2, b_descriptor + step * 2, instruction, !first || step != 0);
    }
    tcgen05_commit_multicast<2>(empty, 3);
}
// [end]

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(256, 1)
    gemm_pair(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
              const __grid_constant__ CUtensorMap c_map, int k_blocks)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    const int warp = threadIdx.x / 32, rank = static_cast<int>(cluster_rank());
    const int row = static_cast<int>(blockIdx.x / 2) * TILE_M + rank * ROWS;
    const int column = static_cast<int>(blockIdx.y) * TILE_N;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&shared.full[i], 1);
            mbarrier_init(&shared.empty[i], 1);
        }
        mbarrier_init(&shared.done, 1);
        fence_mbarrier_init();
    }
    if (warp == 2) {
        tmem_alloc<2>(&shared.tmem, TILE_N);
        tmem_relinquish<2>();
        tcgen05_before_sync();
    }
    cluster_sync();
    tcgen05_after_sync();
    const uint32_t tmem = *const_cast<volatile uint32_t *>(&shared.tmem);
    Ring<STAGES> ring;
    if (warp == 0 && elect_one()) {
        for (int k = 0; k < k_blocks; k++, ring.advance()) {
            mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
            load_pair_stage<ROWS, ROWS>(shared.a[ring.stage], shared.b[ring.stage], &a_map, &b_map,
                                        &shared.full[ring.stage], k * 64, row, column + rank * ROWS);
        }
    } else if (warp == 1 && rank == 0 && elect_one()) {
        for (int k = 0; k < k_blocks; k++, ring.advance()) {
            mbarrier_wait_cluster(&shared.full[ring.stage], ring.parity);
            tcgen05_after_sync();
            multiply_pair_stage(tmem, shared.a[ring.stage], shared.b[ring.stage], tcgen05_bf16(TILE_M, TILE_N), k == 0,
                                &shared.empty[ring.stage]);
        }
        tcgen05_commit_multicast<2>(&shared.done, 3);
    } else if (warp >= 4) {
        mbarrier_wait_cluster(&shared.done, 0);
        tcgen05_after_sync();
        for (int slab = 0; slab < TILE_N / 64; slab++) { // own 128 rows, all 256 columns
            if (threadIdx.x % 128 == 0)
                tma_store_wait_read<1>();
            named_barrier_sync(1, 128);
            tmem_store_tile(shared.c[slab % 2], tmem + slab * 64);
            fence_proxy_async();
            named_barrier_sync(1, 128);
            if (threadIdx.x % 128 == 0) {
                tma_store_2d(&c_map, shared.c[slab % 2], column + slab * 64, row);
                tma_store_commit();
            }
        }
        if (threadIdx.x % 128 == 0)
            tma_store_wait<0>();
        tcgen05_before_sync();
    }
    __syncwarp();
    cluster_sync();
    if (warp == 2) {
        tcgen05_after_sync();
        tmem_free<2>(tmem, TILE_N);
    }
}

static void try_gemm(int m, int n, int k)
{
    const Matrix a = random_matrix(static_cast<size_t>(m) * k, 1), b = random_matrix(static_cast<size_t>(n) * k, 2);
    Device<__nv_bfloat16> da(a), db(b), dc(static_cast<size_t>(m) * n);
    std::vector<float> expected(static_cast<size_t>(m) * n);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                expected[static_cast<size_t>(i) * n + j] += as_float(a[i * k + l]) * as_float(b[j * k + l]);
    allow_shared(gemm_pair, sizeof(Shared));
    const dim3 grid((m + TILE_M - 1) / TILE_M * 2, (n + TILE_N - 1) / TILE_N);
    gemm_pair<<<grid, 256, sizeof(Shared)>>>(make_matrix_map(da.data, m, k, ROWS), make_matrix_map(db.data, n, k, ROWS),
                                             make_matrix_map(dc.data, m, n, ROWS), (k + 63) / 64);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(dc.read(), expected), "GEMM by pairs");
}

int main()
{
    try_gemm(256, 256, 320);
    try_gemm(300, 200, 72);
    return check_done();
}
