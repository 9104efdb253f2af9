// Tries the wrappers that Hopper and Blackwell share: copies of every kind, barriers, lanes, clusters.
#include "../check.cuh"
#include "../tma.cuh"

#include <numeric>

constexpr int SIDE = 4, RANK_MAX = 5;

struct alignas(1024) Tile {
    float data[1024];
};

// A box of SIDE in every dimension, at coordinates SIDE, 0, SIDE, ..., from one tensor to another.
template <int RANK>
__global__ void copy_box(const __grid_constant__ CUtensorMap from, const __grid_constant__ CUtensorMap to)
{
    __shared__ Tile tile;
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        fence_mbarrier_init();
        tma_prefetch_map(&from);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        uint32_t bytes = 4;
        for (int i = 0; i < RANK; i++) {
            bytes *= SIDE;
        }
        mbarrier_expect(&full, bytes);
        mbarrier_arrive(&full);
        if constexpr (RANK == 1)
            tma_load_1d(&tile, &from, &full, SIDE);
        if constexpr (RANK == 2)
            tma_load_2d_hint(&tile, &from, &full, SIDE, 0, l2_policy_evict_last());
        if constexpr (RANK == 3)
            tma_load_3d(&tile, &from, &full, SIDE, 0, SIDE);
        if constexpr (RANK == 4)
            tma_load_4d(&tile, &from, &full, SIDE, 0, SIDE, 0);
        if constexpr (RANK == 5)
            tma_load_5d(&tile, &from, &full, SIDE, 0, SIDE, 0, SIDE);
    }
    mbarrier_wait(&full, 0);
    if (threadIdx.x == 0) {
        if constexpr (RANK == 1)
            tma_store_1d(&to, &tile, SIDE);
        if constexpr (RANK == 2) {
            tma_store_2d(&to, &tile, SIDE, 0);
            tma_store_commit();
            tma_store_wait<0>(); // the reduction must find what was stored
            tma_reduce_add_2d(&to, &tile, SIDE, 0);
        }
        if constexpr (RANK == 3)
            tma_store_3d(&to, &tile, SIDE, 0, SIDE);
        if constexpr (RANK == 4)
            tma_store_4d(&to, &tile, SIDE, 0, SIDE, 0);
        if constexpr (RANK == 5)
            tma_store_5d(&to, &tile, SIDE, 0, SIDE, 0, SIDE);
        tma_store_commit();
        tma_store_wait_read<0>();
        tma_store_wait<0>();
        mbarrier_invalidate(&full);
    }
}

template <int RANK>
static void try_box(const char *name)
{
    uint64_t dims[RANK_MAX], at[RANK_MAX] = {SIDE, 0, SIDE, 0, SIDE};
    uint32_t box[RANK_MAX];
    size_t count = 1;
    for (int i = 0; i < RANK; i++) {
        dims[i] = 2 * SIDE;
        box[i] = SIDE;
        count *= 2 * SIDE;
    }
    std::vector<float> source(count), expected(count, 0.0f);
    std::iota(source.begin(), source.end(), 1.0f);
    Device<float> from(source), to(expected);
    const CUtensorMap maps[2] = {make_tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, RANK, from.data, dims, nullptr,
                                                 box, CU_TENSOR_MAP_SWIZZLE_NONE),
                                 make_tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, RANK, to.data, dims, nullptr, box,
                                                 CU_TENSOR_MAP_SWIZZLE_NONE)};
    for (size_t i = 0; i < count; i++) {
        bool inside = true;
        size_t rest = i;
        for (int d = 0; d < RANK; d++, rest /= 2 * SIDE)
            inside = inside && rest % (2 * SIDE) >= at[d] && rest % (2 * SIDE) < at[d] + SIDE;
        if (inside)
            expected[i] = source[i] * (RANK == 2 ? 2 : 1);
    }
    copy_box<RANK><<<1, 32>>>(maps[0], maps[1]);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(to.read(), expected, 0), name);
}

// A CTA pair: each loads half of a row and multicasts it; CTA 1 arms CTA 0's second barrier, on which CTA 0 waits.
__global__ void __cluster_dims__(2, 1, 1) exchange(const __grid_constant__ CUtensorMap map, float *out, unsigned *ids)
{
    __shared__ Tile tile, copied;
    __shared__ uint64_t full, ready, loaded;
    __shared__ unsigned from_peer;
    const uint32_t rank = cluster_rank();
    if (threadIdx.x == 0) {
        mbarrier_init(&full, 1);
        mbarrier_init(&ready, 2);
        mbarrier_init(&loaded, 1);
        fence_mbarrier_init();
    }
    cluster_arrive();
    cluster_wait();
    if (threadIdx.x < 32 && elect_one()) {
        mbarrier_arrive_expect(&full, 2 * 32 * sizeof(float));
        tma_load_2d_multicast(tile.data + rank * 32, &map, &full, 0, static_cast<int>(rank), 3);
        if (rank == 1) {
            asm volatile("st.shared::cluster.u32 [%0], 7;" ::"r"(cluster_map(smem_address(&from_peer), 0)) : "memory");
            mbarrier_arrive_remote(&ready, 0);
            mbarrier_arrive_expect_remote(&ready, 0, 0);
        }
    }
    mbarrier_wait(&full, 0);
    if (rank == 0) {
        mbarrier_wait_cluster(&ready, 0);
        if (threadIdx.x == 0) {
            ids[0] = from_peer;
            ids[1] = sm_id();
        }
    }
    const float value = tile.data[threadIdx.x] + rank;
    __syncthreads();
    tile.data[threadIdx.x] = value;
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        bulk_store(out + rank * 64, tile.data, 256);
        tma_store_commit();
        tma_store_wait<0>();
        fence_proxy_async_all();
        mbarrier_arrive_expect(&loaded, 256);
        bulk_load(copied.data, out + rank * 64, 256, &loaded);
    }
    while (!mbarrier_try_wait(&loaded, 0)) {
    }
    out[128 + rank * 64 + threadIdx.x] = copied.data[threadIdx.x];
    cluster_sync();
}

static void try_exchange()
{
    std::vector<float> source(64), expected(256);
    std::iota(source.begin(), source.end(), 1.0f);
    Device<float> from(source), out(256);
    Device<unsigned> ids(2);
    const uint64_t dims[2] = {32, 2};
    const uint32_t box[2] = {32, 1};
    for (int i = 0; i < 256; i++)
        expected[i] = source[i % 64] + i / 64 % 2;
    exchange<<<2, 64>>>(make_tensor_map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 2, from.data, dims, nullptr, box,
                                        CU_TENSOR_MAP_SWIZZLE_NONE),
                        out.data, ids.data);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(out.read(), expected, 0), "multicast and bulk copies in a pair");
    check(ids.read()[0] == 7, "a remote write seen behind a cluster wait");
}

// ldmatrix reads what stmatrix wrote; the transposed store is the transpose; both through the 128-byte swizzle.
__global__ void matrices(uint32_t *out)
{
    __shared__ __align__(1024) unsigned char tile[1024], other[1024];
    const uint32_t lane = threadIdx.x;
    const uint32_t value = pack_bf16(static_cast<float>(lane / 4 * 8 + lane % 4 * 2), static_cast<float>(lane));
    const uint32_t address = smem_address(tile) + swizzle_128(lane % 8, lane / 8);
    uint32_t back[4], turned[4];
    stmatrix_x4(address, value, value + 1, value + 2, value + 3);
    stmatrix_x4_trans(smem_address(other) + swizzle_128(lane % 8, lane / 8), value, value, value, value);
    __syncwarp();
    ldmatrix_x4(back, address);
    ldmatrix_x4(turned, smem_address(other) + swizzle_128(lane % 8, lane / 8));
    for (int i = 0; i < 4; i++) {
        out[i * 32 + lane] = back[i] - i;
    }
    out[128 + lane] = value;
    out[160 + lane] = turned[lane % 4];
    st_shared_128(smem_address(tile) + lane * 16, lane, lane + 1, lane + 2, lane + 3);
    __syncwarp();
    out[192 + lane] = reinterpret_cast<uint32_t *>(tile)[lane * 4 + 3];
    out[224 + lane] = __float_as_uint(exp2_fast(static_cast<float>(lane % 8)));
}

static void try_matrices()
{
    Device<uint32_t> out(256);
    matrices<<<1, 32>>>(out.data);
    CUDA_CHECK(cudaGetLastError());
    const std::vector<uint32_t> got = out.read();
    bool same = true, turned = true, rest = true;
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; i < 4; i++)
            same = same && got[i * 32 + lane] == got[128 + lane];
        // Lane's pair is row lane / 4, columns 2 * (lane % 4) and +1 of the transpose.
        const uint32_t row = lane / 4, column = lane % 4 * 2;
        const uint32_t low = got[128 + column * 4 + row / 2], high = got[128 + (column + 1) * 4 + row / 2];
        const uint32_t shift = row % 2 * 16;
        turned = turned && got[160 + lane] == ((low >> shift & 0xffff) | (high >> shift & 0xffff) << 16);
        float power;
        memcpy(&power, &got[224 + lane], 4);
        rest = rest && got[192 + lane] == lane + 3 && power == static_cast<float>(1 << lane % 8);
    }
    check(same, "stmatrix and ldmatrix");
    check(turned, "stmatrix.trans");
    check(rest, "128-bit shared stores and ex2");
}

// Warps 0 and 1 produce, warps 2 and 3 consume through a named barrier; then all CTAs of the grid meet, twice.
__global__ void meet(GridBarrier *barrier, int *slots, int *sums)
{
    __shared__ int value;
    if (threadIdx.x < 64) {
        if (threadIdx.x == 0)
            value = static_cast<int>(blockIdx.x) + 1;
        named_barrier_arrive(1, 128);
    } else {
        named_barrier_sync(1, 128);
        if (threadIdx.x == 64)
            slots[blockIdx.x] = value;
    }
    for (int round = 0; round < 2; round++) {
        grid_sync(barrier, gridDim.x);
        if (threadIdx.x == 0) {
            int sum = 0;
            for (unsigned i = 0; i < gridDim.x; i++) {
                sum += *const_cast<volatile int *>(&slots[i]);
            }
            sums[round * gridDim.x + blockIdx.x] = sum;
        }
        grid_sync(barrier, gridDim.x);
        if (threadIdx.x == 0)
            slots[blockIdx.x] *= 2;
    }
}

static void try_meet()
{
    const int blocks = 6;
    Device<GridBarrier> barrier(std::vector<GridBarrier>(1, {0, 0}));
    Device<int> slots(blocks), sums(2 * blocks);
    int *slot_data = slots.data, *sum_data = sums.data;
    GridBarrier *barrier_data = barrier.data;
    void *arguments[] = {&barrier_data, &slot_data, &sum_data};
    CUDA_CHECK(cudaLaunchCooperativeKernel(meet, dim3(blocks), dim3(128), arguments, 0, nullptr));
    bool ok = true;
    const std::vector<int> got = sums.read();
    for (int i = 0; i < 2 * blocks; i++)
        ok = ok && got[i] == (i < blocks ? 21 : 42);
    check(ok, "named barriers and the grid barrier");
    check(barrier.read()[0].arrived == 0, "the grid barrier is ready for the next launch");
}

int main()
{
    try_box<1>("1-D copies");
    try_box<2>("2-D copies and a reduction");
    try_box<3>("3-D copies");
    try_box<4>("4-D copies");
    try_box<5>("5-D copies");
    try_exchange();
    try_matrices();
    try_meet();
    return check_done();
}
