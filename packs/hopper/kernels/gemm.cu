// C[M,N] = A[M,K] B[N,K]^T in bf16: warp specialisation, 2-CTA clusters with multicast, TMA store.
#include "../../common/check.cuh"
#include "../../common/tma.cuh"
#include "../wgmma.cuh"

// [section multicast]
// One thread of each CTA. The CTAS of a cluster compute tiles one above the other, so they need the same rows of B: each
// loads one part and multicasts it to all. Every CTA expects the bytes of its whole stage, also what its peers send.
template <int CTAS, int A_ROWS, int B_ROWS>
DEVICE void load_stage(__nv_bfloat16 *a, __nv_bfloat16 *b, const CUtensorMap *a_map, const CUtensorMap *b_map,
                       uint64_t *full, int k, int a_row, int b_row)
{
    constexpr int PART = B_ROWS / CTAS;
    const int first = static_cast<int>(cluster_rank()) * PART;
    mbarrier_arrive_expect(full, (A_ROWS + B_ROWS) * 64 * sizeof(__nv_bfloat16));
    tma_load_2d(a, a_map, full, k, a_row);
    tma_load_2d_multicast(b + first * 64, b_map, full, k, b_row + first, (1 << CTAS) - 1);
}

// Each consumer warp, when its reads of the stage are done. A peer's multicast writes into this CTA's stage, so every
// CTA's empty barrier counts the consumer warps of the whole cluster: mbarrier_init(empty, CTAS * consumer warps).
template <int CTAS>
DEVICE void release_stage(uint64_t *empty)
{
    const uint32_t lane = threadIdx.x % 32;
    if (lane < CTAS)
        mbarrier_arrive_remote(empty, lane);
}
// [end]

// [section store]
// A consumer warpgroup stores columns 64*slab .. +63 of its accumulators through one of two buffers used in turn.
template <int N>
DEVICE void store_slab(__nv_bfloat16 *buffer, const float (&d)[N], int slab, const CUtensorMap *map, int column,
                       int row, uint32_t barrier)
{
    const bool leader = threadIdx.x % 128 == 0;
    if (leader)
        tma_store_wait_read<1>(); // the store before the last no longer reads this buffer
    named_barrier_sync(barrier, 128);
    wgmma_store_tile(buffer, d, slab);
    fence_proxy_async();
    named_barrier_sync(barrier, 128);
    if (leader) {
        tma_store_2d(map, buffer, column, row);
        tma_store_commit();
    }
}
// [end]

constexpr int CTAS = 2, STAGES = 3, CONSUMERS = 2, TILE_M = 128, TILE_N = 256;

struct alignas(1024) Shared {
    __nv_bfloat16 a[STAGES][TILE_M * 64], b[STAGES][TILE_N * 64];
    __nv_bfloat16 c[CONSUMERS][2][64 * 64];
    uint64_t full[STAGES], empty[STAGES];
};

__global__ void __cluster_dims__(CTAS, 1, 1) __launch_bounds__(128 * (1 + CONSUMERS), 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap c_map, int k_blocks)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    const int warpgroup = threadIdx.x / 128;
    const int row = static_cast<int>(blockIdx.x) * TILE_M, column = static_cast<int>(blockIdx.y) * TILE_N;
    if (threadIdx.x == 0) {
        tma_prefetch_map(&a_map);
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&shared.full[i], 1);
            mbarrier_init(&shared.empty[i], CTAS * CONSUMERS * 4);
        }
        fence_mbarrier_init();
    }
    cluster_sync();

    Ring<STAGES> ring;
    if (warpgroup == 0) {
        registers_decrease<40>();
        if (threadIdx.x < 32 && elect_one()) {
            for (int k = 0; k < k_blocks; k++, ring.advance()) {
                mbarrier_wait(&shared.empty[ring.stage], ring.parity ^ 1);
                load_stage<CTAS, TILE_M, TILE_N>(shared.a[ring.stage], shared.b[ring.stage], &a_map, &b_map,
                                                 &shared.full[ring.stage], k * 64, row, column);
            }
        }
    } else {
        registers_increase<232>();
        const int consumer = warpgroup - 1;
        float d[TILE_N / 2];
        int previous = -1;
        for (int k = 0; k < k_blocks; k++, ring.advance()) {
            mbarrier_wait(&shared.full[ring.stage], ring.parity);
            const uint64_t a = wgmma_descriptor_k(shared.a[ring.stage] + consumer * 64 * 64);
            const uint64_t b = wgmma_descriptor_k(shared.b[ring.stage]);
            wgmma_fence();
            for (int step = 0; step < 4; step++) {
                wgmma_ss(d, a + step * 2, b + step * 2, k + step != 0); // the first one overwrites
            }
            wgmma_commit();
            wgmma_wait<1>();
            if (previous >= 0)
                release_stage<CTAS>(&shared.empty[previous]);
            previous = ring.stage;
        }
        wgmma_wait<0>();
        wgmma_pin(d);
        for (int slab = 0; slab < TILE_N / 64; slab++) {
            store_slab(shared.c[consumer][slab % 2], d, slab, &c_map, column + slab * 64, row + consumer * 64,
                       1 + consumer);
        }
        if (threadIdx.x % 128 == 0)
            tma_store_wait<0>();
    }
    cluster_sync(); // a peer may still send to this CTA's shared memory
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
    const CUtensorMap a_map = make_matrix_map(da.data, m, k, TILE_M);
    const CUtensorMap b_map = make_matrix_map(db.data, n, k, TILE_N / CTAS);
    const CUtensorMap c_map = make_matrix_map(dc.data, m, n, 64);
    allow_shared(gemm, sizeof(Shared));
    const dim3 grid((m + CTAS * TILE_M - 1) / (CTAS * TILE_M) * CTAS, (n + TILE_N - 1) / TILE_N);
    gemm<<<grid, 128 * (1 + CONSUMERS), sizeof(Shared)>>>(a_map, b_map, c_map, (k + 63) / 64);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(dc.read(), expected), "GEMM");
}

int main()
{
    try_gemm(256, 256, 320);
    try_gemm(200, 136, 72);
    return check_done();
}
