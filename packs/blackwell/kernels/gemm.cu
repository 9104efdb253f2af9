// C[M,N] = A[M,K] B[N,K]^T in bf16 on one CTA: TMA ring, one issuing thread, accumulators in tensor memory, TMA store.
#include "../../common/check.cuh"
#include "../tcgen05.cuh"

constexpr int STAGES = 3, TILE_M = 128, TILE_N = 128;

struct alignas(1024) Shared {
    __nv_bfloat16 a[STAGES][TILE_M * 64], b[STAGES][TILE_N * 64], c[2][2][TILE_M * 64];
    uint64_t full[STAGES], empty[STAGES], done;
    uint32_t tmem;
};

// [section store]
// A warpgroup stores a 128-row tile in slabs of 64 columns, through two buffers used in turn.
DEVICE void store_slabs(__nv_bfloat16 (*buffers)[128 * 64], uint32_t tmem, int slabs, const CUtensorMap *map,
                        int column, int row, uint32_t barrier)
{
    const bool leader = threadIdx.x % 128 == 0;
    for (int slab = 0; slab < slabs; slab++) {
        if (leader)
            tma_store_wait_read<1>(); // the store before the last no longer reads this buffer
        named_barrier_sync(barrier, 128);
        tmem_store_tile(buffers[slab % 2], tmem + slab * 64);
        fence_proxy_async();
        named_barrier_sync(barrier, 128);
        if (leader) {
            tma_store_2d(map, buffers[slab % 2], column + slab * 64, row);
            tma_store_commit();
        }
    }
}
// [end]

__global__ void __launch_bounds__(384, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, int k_blocks)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    const int warp = threadIdx.x / 32;
    const int row = static_cast<int>(blockIdx.x) * TILE_M, column = static_cast<int>(blockIdx.y) * TILE_N;
    if (threadIdx.x == 0) {
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&shared.full[i], 1);
            mbarrier_init(&shared.empty[i], 1);
        }
        mbarrier_init(&shared.done, 1);
        fence_mbarrier_init();
    }
    if (warp == 2) {
        tmem_alloc<1>(&shared.tmem, TILE_N);
        tmem_relinquish<1>();
        tcgen05_before_sync();
    }
    __syncthreads();
    tcgen05_after_sync();
    const uint32_t tmem = *const_cast<volatile uint32_t *>(&shared.tmem);
    Ring<STAGES> ring;
    if (warp < 4)
        registers_decrease<64>();
    else
        registers_increase<208>();
    if (warp == 0 && elect_one()) {
        for (int k = 0; k < k_blocks; k++, ring.advance()) {
            uint64_t *full = &shared.full[ring.stage];
            mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
            mbarrier_arrive_expect(full, (TILE_M + TILE_N) * 128);
            tma_load_2d(shared.a[ring.stage], &a_map, full, k * 64, row);
            tma_load_2d(shared.b[ring.stage], &b_map, full, k * 64, column);
        }
    } else if (warp == 1 && elect_one()) {
        for (int k = 0; k < k_blocks; k++, ring.advance()) {
            mbarrier_wait(&shared.full[ring.stage], ring.parity);
            tcgen05_after_sync();
            const uint64_t a = tcgen05_descriptor_k(shared.a[ring.stage]);
            const uint64_t b = tcgen05_descriptor_k(shared.b[ring.stage]);
            for (int step = 0; step < 4; step++) {
                tcgen05_mma_f16<1>(tmem, a + step * 2, b + step * 2, tcgen05_bf16(TILE_M, TILE_N), k + step != 0);
            }
            tcgen05_commit<1>(&shared.empty[ring.stage]);
        }
        tcgen05_commit<1>(&shared.done);
    } else if (warp >= 4) {
        mbarrier_wait(&shared.done, 0);
        tcgen05_after_sync();
        const int part = warp / 4 - 1; // two warpgroups, 64 columns each
        store_slabs(shared.c[part], tmem + part * 64, 1, &c_map, column + part * 64, row, 1 + part);
        if (threadIdx.x % 128 == 0)
            tma_store_wait<0>();
        tcgen05_before_sync();
    }
    __syncwarp();
    __syncthreads();
    if (warp == 2) {
        tcgen05_after_sync();
        tmem_free<1>(tmem, TILE_N);
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
    allow_shared(gemm, sizeof(Shared));
    const dim3 grid((m + TILE_M - 1) / TILE_M, (n + TILE_N - 1) / TILE_N);
    gemm<<<grid, 384, sizeof(Shared)>>>(make_matrix_map(da.data, m, k, TILE_M), make_matrix_map(db.data, n, k, TILE_N),
                                        make_matrix_map(dc.data, m, n, 128), (k + 63) / 64);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(dc.read(), expected), "GEMM");
}

int main()
{
    try_gemm(256, 128, 320);
    try_gemm(200, 136, 72);
    return check_done();
}
