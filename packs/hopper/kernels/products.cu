// Tries every shape, operand layout and epilogue of the wgmma wrappers on one 64 x N x 64 product.
#include "../../common/check.cuh"
#include "../../common/tma.cuh"
#include "../wgmma.cuh"

#include <cuda_fp8.h>

enum Layout { K_128B, K_64B, K_32B, K_NONE, MN_128B, MN_NONE };

struct alignas(1024) Shared {
    unsigned char a[64 * 64 * 2], b[256 * 64 * 2], tile[64 * 64 * 2];
    uint64_t full;
};

// Loads a[64, 64] and b[N, 64], or their transposes when MN-major. Boxes of `span` columns lie one behind the other.
template <int N, Layout LAYOUT>
DEVICE void load(Shared &shared, const CUtensorMap *a_map, const CUtensorMap *b_map, uint32_t bytes)
{
    constexpr bool IS_MN = LAYOUT == MN_128B || LAYOUT == MN_NONE;
    constexpr int SPAN = LAYOUT == K_128B || LAYOUT == MN_128B ? 64 : LAYOUT == K_64B ? 32 : LAYOUT == K_32B ? 16 : 8;
    if (threadIdx.x == 0) {
        mbarrier_init(&shared.full, 1);
        fence_mbarrier_init();
        mbarrier_arrive_expect(&shared.full, bytes);
        for (int at = 0; at < 64; at += SPAN) {
            tma_load_2d(shared.a + at * 64 * 2, a_map, &shared.full, at, 0);
        }
        for (int at = 0; at < (IS_MN ? N : 64); at += SPAN) {
            tma_load_2d(shared.b + at * (IS_MN ? 64 : N) * 2, b_map, &shared.full, at, 0);
        }
    }
    __syncthreads();
    mbarrier_wait(&shared.full, 0);
}

// Descriptors of k16 step k, for an operand of `rows` rows of MN: the table of the contract.
template <Layout LAYOUT>
DEVICE uint64_t descriptor(const unsigned char *tile, int rows, int k)
{
    const uint32_t address = smem_address(tile);
    if (LAYOUT == K_128B)
        return wgmma_descriptor_k(tile) + k * 2;
    if (LAYOUT == K_64B) // 32 columns a box
        return wgmma_descriptor(address + k / 2 * rows * 64 + k % 2 * 32, 16, 512, 2);
    if (LAYOUT == K_32B)
        return wgmma_descriptor(address + k * rows * 32, 16, 256, 3);
    if (LAYOUT == K_NONE) // leading: next 8 of K; stride: next 8 rows
        return wgmma_descriptor(address + k * 2 * rows * 16, rows * 16, 128, 0);
    if (LAYOUT == MN_128B)
        return wgmma_descriptor_mn(tile, 64 * 128) + k * 128;
    return wgmma_descriptor(address + k * 256, 128, 64 * 16, 0); // leading: next 8 of K; stride: next 8 of MN
}

template <int N, Layout LAYOUT>
__global__ void __launch_bounds__(128)
    product(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, float *out, int rows)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    constexpr int IS_MN = LAYOUT == MN_128B || LAYOUT == MN_NONE;
    float d[N / 2];
    load<N, LAYOUT>(shared, &a_map, &b_map, (64 + N) * 128);
    wgmma_fence();
    for (int k = 0; k < 4; k++) {
        wgmma_ss<IS_MN, IS_MN>(d, descriptor<LAYOUT>(shared.a, 64, k), descriptor<LAYOUT>(shared.b, N, k), k != 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_pin(d);
    wgmma_store_f32(out, N, d, rows, N);
}

template <int N>
__global__ void __launch_bounds__(128)
    product_e4m3(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, float *out, int)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    float d[N / 2];
    load<N, K_128B>(shared, &a_map, &b_map, (64 + N) * 128);
    wgmma_fence();
    for (int k = 0; k < 4; k++) { // 32 bytes are 32 elements
        wgmma_e4m3(d, wgmma_descriptor_k(shared.a) + k * 2, wgmma_descriptor_k(shared.b) + k * 2, k != 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_pin(d);
    wgmma_store_f32(out, N, d, 64, N);
}

// a times the first 64 rows of b as the next product's A operand: from registers, then from shared memory, straight and transposed.
template <int N, int WAY>
__global__ void __launch_bounds__(128)
    chain(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map, float *out, int)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    float s[32], d[N / 2];
    uint32_t p[16];
    load<N, K_128B>(shared, &a_map, &b_map, (64 + N) * 128);
    wgmma_fence();
    for (int k = 0; k < 4; k++) {
        wgmma_ss(s, wgmma_descriptor_k(shared.a) + k * 2, wgmma_descriptor_k(shared.b) + k * 2, k != 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_pin(s);
    if (WAY == 0)
        wgmma_pack_a(p, s);
    else if (WAY == 1)
        wgmma_store_tile(shared.tile, s, 0);
    else
        wgmma_store_tile_trans(shared.tile, s, 0);
    fence_proxy_async();
    __syncthreads();
    if (WAY == 0)
        wgmma_pin(p);
    wgmma_fence();
    for (int k = 0; k < 4; k++) {
        if (WAY == 0)
            wgmma_rs(d, p + k * 4, wgmma_descriptor_k(shared.b) + k * 2, k != 0);
        else if (WAY == 1)
            wgmma_ss(d, wgmma_descriptor_k(shared.tile) + k * 2, wgmma_descriptor_k(shared.b) + k * 2, k != 0);
        else
            wgmma_ss<1, 0>(d, wgmma_descriptor_mn(shared.tile, 8192) + k * 128, wgmma_descriptor_k(shared.b) + k * 2,
                           k != 0);
    }
    wgmma_commit();
    wgmma_wait<0>();
    wgmma_pin(d);
    wgmma_store_f32(out, N, d, 64, N);
}

template <typename T>
static std::vector<float> multiply(const std::vector<T> &a, const std::vector<T> &b, int n, int k)
{
    std::vector<float> out(64 * n);
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < n; j++)
            for (int l = 0; l < k; l++)
                out[i * n + j] += static_cast<float>(a[i * k + l]) * static_cast<float>(b[j * k + l]);
    return out;
}

static Matrix transpose(const Matrix &m, int rows, int columns)
{
    Matrix out(m.size());
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            out[j * rows + i] = m[i * columns + j];
    return out;
}

static CUtensorMap byte_map(void *base, uint64_t rows)
{
    const uint64_t dims[2] = {128, rows};
    const uint32_t box[2] = {128, static_cast<uint32_t>(rows)};
    return make_tensor_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 2, base, dims, nullptr, box, CU_TENSOR_MAP_SWIZZLE_128B);
}

static CUtensorMap span_map(void *base, uint64_t rows, uint64_t columns, uint32_t span, CUtensorMapSwizzle swizzle)
{
    const uint64_t dims[2] = {columns, rows};
    const uint32_t box[2] = {span, static_cast<uint32_t>(rows)};
    return make_tensor_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 2, base, dims, nullptr, box, swizzle);
}

template <typename Kernel>
static void launch(Kernel kernel, const CUtensorMap &a, const CUtensorMap &b, float *out, int argument)
{
    allow_shared(kernel, sizeof(Shared));
    kernel<<<1, 128, sizeof(Shared)>>>(a, b, out, argument);
    CUDA_CHECK(cudaGetLastError());
}

template <int N, Layout LAYOUT>
static void try_layout(const char *name, uint32_t span, CUtensorMapSwizzle swizzle)
{
    const bool is_mn = LAYOUT == MN_128B || LAYOUT == MN_NONE;
    const Matrix a = random_matrix(64 * 64, 1), b = random_matrix(N * 64, 2);
    Device<__nv_bfloat16> da(is_mn ? transpose(a, 64, 64) : a), db(is_mn ? transpose(b, N, 64) : b);
    Device<float> out(64 * N);
    launch(product<N, LAYOUT>, span_map(da.data, 64, 64, span, swizzle),
           span_map(db.data, is_mn ? 64 : N, is_mn ? N : 64, span, swizzle), out.data, 64);
    check(all_close(out.read(), multiply(a, b, N, 64)), name);
}

template <int N>
static void try_layouts()
{
    try_layout<N, K_128B>("K-major, 128B", 64, CU_TENSOR_MAP_SWIZZLE_128B);
    try_layout<N, K_64B>("K-major, 64B", 32, CU_TENSOR_MAP_SWIZZLE_64B);
    try_layout<N, K_32B>("K-major, 32B", 16, CU_TENSOR_MAP_SWIZZLE_32B);
    try_layout<N, K_NONE>("K-major, no swizzle", 8, CU_TENSOR_MAP_SWIZZLE_NONE);
    try_layout<N, MN_128B>("MN-major, 128B", 64, CU_TENSOR_MAP_SWIZZLE_128B);
    try_layout<N, MN_NONE>("MN-major, no swizzle", 8, CU_TENSOR_MAP_SWIZZLE_NONE);
}

template <int N>
static void try_more()
{
    const Matrix a = random_matrix(64 * 64, 1), b = random_matrix(N * 64, 2);
    Device<__nv_bfloat16> da(a), db(b);
    Device<float> out(64 * N);
    std::vector<float> square = multiply(a, b, 64, 64);
    Matrix rounded(square.size());
    for (size_t i = 0; i < square.size(); i++)
        rounded[i] = __float2bfloat16(square[i]);
    const std::vector<float> expected = multiply(rounded, b, N, 64);
    const CUtensorMap a_map = make_matrix_map(da.data, 64, 64, 64), b_map = make_matrix_map(db.data, N, 64, N);
    launch(chain<N, 0>, a_map, b_map, out.data, 0);
    check(all_close(out.read(), expected), "A from registers");
    launch(chain<N, 1>, a_map, b_map, out.data, 0);
    check(all_close(out.read(), expected), "A through stmatrix");
    launch(chain<N, 2>, a_map, b_map, out.data, 0);
    check(all_close(out.read(), expected), "A through stmatrix, transposed");
    std::vector<__nv_fp8_e4m3> a8(64 * 128), b8(N * 128);
    const Matrix values = random_matrix(a8.size() + b8.size(), 5);
    for (size_t i = 0; i < values.size(); i++)
        (i < a8.size() ? a8[i] : b8[i - a8.size()]) = __nv_fp8_e4m3(values[i]);
    Device<__nv_fp8_e4m3> da8(a8), db8(b8);
    launch(product_e4m3<N>, byte_map(da8.data, 64), byte_map(db8.data, N), out.data, 0);
    check(all_close(out.read(), multiply(a8, b8, N, 128)), "e4m3");
}

int main()
{
    try_layouts<64>();
    try_layouts<128>();
    try_layouts<256>();
    try_more<64>();
    try_more<128>();
    return check_done();
}
