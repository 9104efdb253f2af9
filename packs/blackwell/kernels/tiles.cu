// Tries the tcgen05 wrappers that the GEMMs do not use, on single tiles: fp8 kinds, block scales, copies, stores, A from
// tensor memory, the fragment load, the polynomial.
#include "../../common/check.cuh"
#include "../tcgen05.cuh"

#include <cuda_fp8.h>

struct alignas(1024) Shared {
    unsigned char a[128 * 128], b[128 * 128];
    __align__(128) unsigned char a_scales[512], b_scales[512];
    uint64_t full, done;
    uint32_t tmem;
};

DEVICE uint32_t start(Shared &shared, uint32_t columns)
{
    if (threadIdx.x == 0) {
        mbarrier_init(&shared.full, 1);
        mbarrier_init(&shared.done, 1);
        fence_mbarrier_init();
    }
    if (threadIdx.x < 32) {
        tmem_alloc<1>(&shared.tmem, columns);
        tmem_relinquish<1>();
        tcgen05_before_sync();
    }
    __syncthreads();
    tcgen05_after_sync();
    return *const_cast<volatile uint32_t *>(&shared.tmem);
}

DEVICE void finish(uint32_t tmem, uint32_t columns)
{
    tcgen05_before_sync();
    __syncthreads();
    tcgen05_after_sync();
    if (threadIdx.x < 32)
        tmem_free<1>(tmem, columns);
}

DEVICE void store_rows(float *out, uint32_t tmem, int columns)
{
    for (int column = 0; column < columns; column += 8) {
        uint32_t d[8];
        tmem_load(d, tmem_lanes(tmem) + column);
        for (int i = 0; i < 8; i++) {
            out[threadIdx.x * columns + column + i] = __uint_as_float(d[i]);
        }
    }
}

// a[128, 128] b[128, 128]^T of e4m3, plain or with a scale for each 32 of K.
template <bool SCALED>
__global__ void __launch_bounds__(128)
    product_e4m3(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
                 const unsigned char *a_scales, const unsigned char *b_scales, float *out)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    const uint32_t tmem = start(shared, 256);
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&shared.full, 2 * 128 * 128 + (SCALED ? 2 * 512 : 0));
        tma_load_2d(shared.a, &a_map, &shared.full, 0, 0);
        tma_load_2d(shared.b, &b_map, &shared.full, 0, 0);
        if (SCALED) {
            bulk_load(shared.a_scales, a_scales, 512, &shared.full);
            bulk_load(shared.b_scales, b_scales, 512, &shared.full);
        }
        mbarrier_wait(&shared.full, 0);
        tcgen05_after_sync();
        if (SCALED) { // 8 rows of 16 bytes every 128 bytes, no swizzle
            tmem_copy_scales<1>(tmem + 128, tcgen05_descriptor(smem_address(shared.a_scales), 128, 128, 0));
            tmem_copy_scales<1>(tmem + 132, tcgen05_descriptor(smem_address(shared.b_scales), 128, 128, 0));
        }
        const uint64_t a = tcgen05_descriptor_k(shared.a), b = tcgen05_descriptor_k(shared.b);
        for (uint32_t k = 0; k < 4; k++) {
            if (SCALED)
                tcgen05_mma_mx<1>(tmem, a + k * 2, b + k * 2, tcgen05_mx(128, 128, 0, 0, k), tmem + 128, tmem + 132,
                                  k != 0);
            else
                tcgen05_mma_f8<1>(tmem, a + k * 2, b + k * 2, tcgen05_f8(128, 128, 0, 0), k != 0);
        }
        tcgen05_commit<1>(&shared.done);
    }
    __syncwarp();
    mbarrier_wait(&shared.done, 0);
    tcgen05_after_sync();
    store_rows(out, tmem, 128);
    finish(tmem, 256);
}

// One step of attention: P = 2^(Q K^T) through tensor memory as the A operand of P V. Q, K, V are [128, 64].
__global__ void __launch_bounds__(128)
    attention_step(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
                   const __grid_constant__ CUtensorMap v_map, float *out)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    const uint32_t tmem = start(shared, 256); // S: columns 0 .. 127, O: 128 .. 191, P: 192 .. 255
    if (threadIdx.x == 0) {
        mbarrier_arrive_expect(&shared.full, 2 * 128 * 128);
        tma_load_2d(shared.a, &q_map, &shared.full, 0, 0);
        tma_load_2d(shared.b, &k_map, &shared.full, 0, 0);
        mbarrier_wait(&shared.full, 0);
        tcgen05_after_sync();
        for (int k = 0; k < 4; k++) {
            tcgen05_mma_f16<1>(tmem, tcgen05_descriptor_k(shared.a) + k * 2, tcgen05_descriptor_k(shared.b) + k * 2,
                               tcgen05_bf16(128, 128), k != 0);
        }
        tcgen05_commit<1>(&shared.done);
    }
    __syncwarp();
    mbarrier_wait(&shared.done, 0);
    tcgen05_after_sync();
    // Row = thread. Two probabilities a column; every fourth exponential on the fp32 units.
    for (uint32_t column = 0; column < 128; column += 64) {
        uint32_t low[32], high[32], p[32];
        tmem_load(low, tmem_lanes(tmem) + column);
        tmem_load(high, tmem_lanes(tmem) + column + 32);
        for (int i = 0; i < 16; i++) {
            const float a = __uint_as_float(low[2 * i]), b = __uint_as_float(low[2 * i + 1]);
            const float c = __uint_as_float(high[2 * i]), d = __uint_as_float(high[2 * i + 1]);
            p[i] = pack_bf16(exp2_polynomial(-fabsf(a)), exp2_fast(-fabsf(b)));
            p[16 + i] = pack_bf16(exp2_fast(-fabsf(c)), exp2_fast(-fabsf(d)));
        }
        tmem_store(tmem_lanes(tmem) + 192 + column / 2, p);
    }
    tmem_store_wait();
    tcgen05_before_sync();
    __syncthreads();
    if (threadIdx.x == 0) {
        tcgen05_after_sync();
        mbarrier_arrive_expect(&shared.full, 128 * 128);
        tma_load_2d(shared.b, &v_map, &shared.full, 0, 0);
        mbarrier_wait(&shared.full, 1);
        tcgen05_after_sync();
        for (int k = 0; k < 8; k++) { // 16 keys: 8 columns of P, 16 rows of V
            tcgen05_mma_f16_ts<1>(tmem + 128, tmem + 192 + k * 8, tcgen05_descriptor_mn(shared.b, 128 * 128) + k * 128,
                                  tcgen05_bf16(128, 64, false, true), k != 0);
        }
        tcgen05_commit<1>(&shared.done);
    }
    __syncwarp();
    mbarrier_wait(&shared.done, 1);
    tcgen05_after_sync();
    store_rows(out, tmem + 128, 64);
    finish(tmem, 256);
}

// Registers to tensor memory and back, shared to tensor memory, and the fragment load.
__global__ void __launch_bounds__(128) copies(float *out)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    const uint32_t tmem = start(shared, 32), lane = threadIdx.x % 32;
    uint32_t d[8];
    for (uint32_t i = 0; i < 8; i++) {
        d[i] = __float_as_uint(static_cast<float>(threadIdx.x * 16 + i));
        reinterpret_cast<float *>(shared.a)[(i / 4 * 128 + threadIdx.x) * 4 + i % 4] = threadIdx.x * 16 + 8 + i;
    }
    tmem_store(tmem_lanes(tmem), d);
    tmem_store_wait();
    fence_proxy_async();
    __syncthreads();
    if (threadIdx.x == 0) { // 16-byte columns 2048 bytes apart, 8 rows 128 bytes apart
        tmem_copy_128x256b<1>(tmem + 8, tcgen05_descriptor(smem_address(shared.a), 2048, 128, 0));
        tcgen05_commit<1>(&shared.done);
    }
    __syncwarp();
    mbarrier_wait(&shared.done, 0);
    tcgen05_after_sync();
    store_rows(out, tmem, 16);
    for (uint32_t half = 0; half < 2; half++) {
        tmem_load_16x256b(d, tmem_lanes(tmem) + (half * 16 << 16));
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t row = threadIdx.x / 32 * 32 + half * 16 + i / 2 % 2 * 8 + lane / 4;
            out[2048 + row * 16 + i / 4 * 8 + lane % 4 * 2 + i % 2] = __uint_as_float(d[i]);
        }
    }
    finish(tmem, 32);
}

static CUtensorMap byte_map(void *base)
{
    const uint64_t dims[2] = {128, 128};
    const uint32_t box[2] = {128, 128};
    return make_tensor_map(CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 2, base, dims, nullptr, box, CU_TENSOR_MAP_SWIZZLE_128B);
}

static std::vector<__nv_fp8_e4m3> random_e4m3(unsigned seed)
{
    std::vector<__nv_fp8_e4m3> out;
    for (__nv_bfloat16 value : random_matrix(128 * 128, seed))
        out.push_back(__nv_fp8_e4m3(value));
    return out;
}

// Scale of row r and K block k: byte k of the 32-bit word (r % 32) * 4 + r / 32.
static int scale_at(int row, int block)
{
    return (row % 32 * 4 + row / 32) * 4 + block;
}

static void try_e4m3()
{
    const std::vector<__nv_fp8_e4m3> a = random_e4m3(1), b = random_e4m3(2);
    std::vector<unsigned char> a_scales(512), b_scales(512);
    for (int i = 0; i < 512; i++) {
        a_scales[i] = static_cast<unsigned char>(125 + i * 7 % 5); // 2^-2 .. 2^2
        b_scales[i] = static_cast<unsigned char>(126 + i * 3 % 4);
    }
    Device<__nv_fp8_e4m3> da(a), db(b);
    Device<unsigned char> das(a_scales), dbs(b_scales);
    Device<float> out(128 * 128);
    std::vector<float> plain(128 * 128), scaled(128 * 128);
    for (int i = 0; i < 128; i++)
        for (int j = 0; j < 128; j++)
            for (int k = 0; k < 128; k++) {
                const float x = static_cast<float>(a[i * 128 + k]) * static_cast<float>(b[j * 128 + k]);
                plain[i * 128 + j] += x;
                scaled[i * 128 + j] +=
                    std::ldexp(x, a_scales[scale_at(i, k / 32)] + b_scales[scale_at(j, k / 32)] - 254);
            }
    allow_shared(product_e4m3<false>, sizeof(Shared));
    product_e4m3<false><<<1, 128, sizeof(Shared)>>>(byte_map(da.data), byte_map(db.data), das.data, dbs.data, out.data);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(out.read(), plain), "e4m3");
    allow_shared(product_e4m3<true>, sizeof(Shared));
    product_e4m3<true><<<1, 128, sizeof(Shared)>>>(byte_map(da.data), byte_map(db.data), das.data, dbs.data, out.data);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(out.read(), scaled), "e4m3 with block scales");
}

static void try_attention()
{
    const Matrix q = random_matrix(128 * 64, 1), k = random_matrix(128 * 64, 2), v = random_matrix(128 * 64, 3);
    Device<__nv_bfloat16> dq(q), dk(k), dv(v);
    Device<float> out(128 * 64);
    std::vector<float> expected(128 * 64);
    for (int i = 0; i < 128; i++)
        for (int j = 0; j < 128; j++) {
            float s = 0;
            for (int c = 0; c < 64; c++)
                s += as_float(q[i * 64 + c]) * as_float(k[j * 64 + c]);
            for (int c = 0; c < 64; c++)
                expected[i * 64 + c] += std::exp2(-std::fabs(s)) * as_float(v[j * 64 + c]);
        }
    allow_shared(attention_step, sizeof(Shared));
    attention_step<<<1, 128, sizeof(Shared)>>>(make_matrix_map(dq.data, 128, 64, 128),
                                               make_matrix_map(dk.data, 128, 64, 128),
                                               make_matrix_map(dv.data, 128, 64, 128), out.data);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(out.read(), expected, 2e-2f), "A operand from tensor memory");
}

static void try_copies()
{
    Device<float> out(2 * 2048);
    std::vector<float> expected(2 * 2048);
    for (int i = 0; i < 2 * 2048; i++)
        expected[i] = static_cast<float>(i % 2048);
    allow_shared(copies, sizeof(Shared));
    copies<<<1, 128, sizeof(Shared)>>>(out.data);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(out.read(), expected, 0), "stores, copies and fragments of tensor memory");
}

int main()
{
    try_e4m3();
    try_attention();
    try_copies();
    return check_done();
}
