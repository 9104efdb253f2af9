// Attention forward, D = 128: the corrected Algorithm 2 of FlashAttention-3, with overlap of softmax and wgmma.
#include "../../common/check.cuh"
#include "../../common/tma.cuh"
#include "../wgmma.cuh"

// [section softmax]
// A thread holds parts of two rows of a 64 x N score tile: accumulators with i / 2 % 2 == 0 and == 1. The lanes
// 4q .. 4q + 3 share a row.
struct SoftmaxRows {
    float maximum[2] = {-INFINITY, -INFINITY}; // of the raw scores, equal in the four lanes
    float sum[2] = {0, 0};                     // of this lane's columns only: add up the four lanes at the end
};

// Scores to probabilities in place. rescale: what the output accumulated so far must be multiplied with, from the OLD
// maximum and the new one. scale_log2 = log2(e) / sqrt(D). Masked scores are -INFINITY.
template <int N>
DEVICE void softmax_step(float (&s)[N], SoftmaxRows &rows, float scale_log2, float (&rescale)[2])
{
    float offset[2];
#pragma unroll
    for (int r = 0; r < 2; r++) {
        float maximum = rows.maximum[r];
#pragma unroll
        for (int i = 2 * r; i < N; i += 4) {
            maximum = fmaxf(maximum, fmaxf(s[i], s[i + 1]));
        }
        maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffff, maximum, 1));
        maximum = fmaxf(maximum, __shfl_xor_sync(0xffffffff, maximum, 2));
        offset[r] = maximum == -INFINITY ? 0 : maximum * scale_log2; // a row without a visible key: no -inf - -inf
        rescale[r] = exp2_fast(rows.maximum[r] * scale_log2 - offset[r]);
        rows.maximum[r] = maximum;
        rows.sum[r] *= rescale[r];
    }
#pragma unroll
    for (int i = 0; i < N; i++) {
        s[i] = exp2_fast(s[i] * scale_log2 - offset[i / 2 % 2]);
        rows.sum[i / 2 % 2] += s[i];
    }
}
// [end]

constexpr int D = 128, QUERIES = 128, KEYS = 64, STAGES = 2, SLABS = D / 64;

struct alignas(1024) Shared {
    __nv_bfloat16 q[2][SLABS][64 * 64]; // consumer, slab of 64 columns; the output goes out through it
    __nv_bfloat16 k[STAGES][SLABS][KEYS * 64], v[STAGES][SLABS][KEYS * 64];
    uint64_t q_full, k_full[STAGES], k_empty[STAGES], v_full[STAGES], v_empty[STAGES];
};

DEVICE void load_rows(__nv_bfloat16 (*to)[64 * 64], const CUtensorMap *map, uint64_t *full, int row, int head)
{
    mbarrier_arrive_expect(full, SLABS * 64 * 64 * sizeof(__nv_bfloat16));
    for (int slab = 0; slab < SLABS; slab++) {
        tma_load_3d(to[slab], map, full, slab * 64, row, head);
    }
}

DEVICE void issue_scores(float (&s)[KEYS / 2], const __nv_bfloat16 (*q)[64 * 64], const __nv_bfloat16 (*k)[KEYS * 64])
{
    wgmma_pin(s);
    wgmma_fence();
    for (int step = 0; step < D / 16; step++) {
        wgmma_ss(s, wgmma_descriptor_k(q[step / 4]) + step % 4 * 2, wgmma_descriptor_k(k[step / 4]) + step % 4 * 2,
                 step != 0);
    }
    wgmma_commit();
}

DEVICE void issue_output(float (&o)[D / 2], uint32_t (&p)[KEYS / 4], const __nv_bfloat16 (*v)[KEYS * 64], bool first)
{
    wgmma_pin(o);
    wgmma_pin(p);
    wgmma_fence();
    for (int step = 0; step < KEYS / 16; step++) {
        wgmma_rs<1>(o, p + step * 4, wgmma_descriptor_mn(v, KEYS * 128) + step * 128, !first || step != 0);
    }
    wgmma_commit();
}

DEVICE void mask_scores(float (&s)[KEYS / 2], int query, int key, int sequence, bool causal)
{
    const int thread = threadIdx.x % 128;
    for (int i = 0; i < KEYS / 2; i++) {
        const int column = key + wgmma_column(i, thread), row = query + wgmma_row(i, thread);
        if (column >= sequence || (causal && column > row))
            s[i] = -INFINITY;
    }
}

DEVICE void release(uint64_t *empty)
{
    if (threadIdx.x % 32 == 0)
        mbarrier_arrive(empty);
}

DEVICE void consume(Shared &shared, const CUtensorMap *o_map, float *lse, int query, int head, int sequence, int blocks,
                    bool causal, float scale)
{
    const int consumer = threadIdx.x / 128 - 1;
    const float scale_log2 = scale * 1.4426950408889634f;
    const int first_query = query + consumer * 64;
    float s[KEYS / 2], o[D / 2], rescale[2];
    uint32_t p[KEYS / 4];
    SoftmaxRows rows;
    Ring<STAGES> k, v;
    mbarrier_wait(&shared.q_full, 0);
    mbarrier_wait(&shared.k_full[0], 0);
    issue_scores(s, shared.q[consumer], shared.k[0]);
    wgmma_wait<0>();
    wgmma_pin(s);
    release(&shared.k_empty[0]);
    k.advance();
    mask_scores(s, first_query, 0, sequence, causal);
    softmax_step(s, rows, scale_log2, rescale);
    wgmma_pack_a(p, s);
    for (int j = 1; j < blocks; j++, k.advance(), v.advance()) {
        mbarrier_wait(&shared.k_full[k.stage], k.parity);
        issue_scores(s, shared.q[consumer], shared.k[k.stage]);
        mbarrier_wait(&shared.v_full[v.stage], v.parity);
        issue_output(o, p, shared.v[v.stage], j == 1);
        wgmma_wait<1>(); // the scores; the output product is still running
        wgmma_pin(s);
        release(&shared.k_empty[k.stage]);
        mask_scores(s, first_query, j * KEYS, sequence, causal);
        softmax_step(s, rows, scale_log2, rescale);
        wgmma_wait<0>();
        wgmma_pin(o);
        release(&shared.v_empty[v.stage]);
        for (int i = 0; i < D / 2; i++) {
            o[i] *= rescale[i / 2 % 2];
        }
        wgmma_pack_a(p, s);
    }
    mbarrier_wait(&shared.v_full[v.stage], v.parity);
    issue_output(o, p, shared.v[v.stage], blocks == 1);
    wgmma_wait<0>();
    wgmma_pin(o);
    for (int r = 0; r < 2; r++) {
        rows.sum[r] += __shfl_xor_sync(0xffffffff, rows.sum[r], 1);
        rows.sum[r] += __shfl_xor_sync(0xffffffff, rows.sum[r], 2);
        const int row = first_query + wgmma_row(2 * r, threadIdx.x % 128);
        if (threadIdx.x % 4 == 0 && row < sequence)
            lse[head * sequence + row] = rows.maximum[r] * scale + logf(rows.sum[r]);
    }
    for (int i = 0; i < D / 2; i++) {
        o[i] /= rows.sum[i / 2 % 2];
    }
    for (int slab = 0; slab < SLABS; slab++) {
        wgmma_store_tile(shared.q[consumer][slab], o, slab); // this warpgroup alone reads its part of Q, and is done
    }
    fence_proxy_async();
    named_barrier_sync(1 + consumer, 128);
    if (threadIdx.x % 128 == 0) {
        for (int slab = 0; slab < SLABS; slab++) {
            tma_store_3d(o_map, shared.q[consumer][slab], slab * 64, first_query, head);
        }
        tma_store_commit();
        tma_store_wait<0>();
    }
}

__global__ void __launch_bounds__(384, 1)
    attention(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
              const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map, float *lse,
              int sequence, bool causal, float scale)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Shared &shared = *reinterpret_cast<Shared *>(bytes);
    const int query = static_cast<int>(blockIdx.x) * QUERIES, head = blockIdx.y;
    const int keys = causal ? min(sequence, query + QUERIES) : sequence, blocks = (keys + KEYS - 1) / KEYS;
    if (threadIdx.x == 0) {
        mbarrier_init(&shared.q_full, 2);
        for (int i = 0; i < STAGES; i++) {
            mbarrier_init(&shared.k_full[i], 1);
            mbarrier_init(&shared.v_full[i], 1);
            mbarrier_init(&shared.k_empty[i], 8);
            mbarrier_init(&shared.v_empty[i], 8);
        }
        fence_mbarrier_init();
    }
    __syncthreads();
    if (threadIdx.x < 128) {
        registers_decrease<24>();
        if (threadIdx.x == 0) {
            Ring<STAGES> ring;
            load_rows(shared.q[0], &q_map, &shared.q_full, query, head);
            load_rows(shared.q[1], &q_map, &shared.q_full, query + 64, head);
            for (int j = 0; j < blocks; j++, ring.advance()) {
                mbarrier_wait(&shared.k_empty[ring.stage], ring.parity ^ 1);
                load_rows(shared.k[ring.stage], &k_map, &shared.k_full[ring.stage], j * KEYS, head);
                mbarrier_wait(&shared.v_empty[ring.stage], ring.parity ^ 1);
                load_rows(shared.v[ring.stage], &v_map, &shared.v_full[ring.stage], j * KEYS, head);
            }
        }
    } else {
        registers_increase<240>();
        consume(shared, &o_map, lse, query, head, sequence, blocks, causal, scale);
    }
}

static CUtensorMap heads_map(void *base, uint64_t sequence, uint64_t heads)
{
    const uint64_t dims[3] = {D, sequence, heads};
    const uint32_t box[3] = {64, 64, 1};
    return make_tensor_map(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 3, base, dims, nullptr, box,
                           CU_TENSOR_MAP_SWIZZLE_128B);
}

static void try_attention(int heads, int sequence, bool causal)
{
    const size_t count = static_cast<size_t>(heads) * sequence * D;
    const Matrix q = random_matrix(count, 1), k = random_matrix(count, 2), v = random_matrix(count, 3);
    Device<__nv_bfloat16> dq(q), dk(k), dv(v), dout(count);
    Device<float> dlse(static_cast<size_t>(heads) * sequence);
    std::vector<float> out(count), lse(static_cast<size_t>(heads) * sequence), p(sequence);
    const float scale = 1 / std::sqrt(static_cast<float>(D));
    for (int row = 0; row < heads * sequence; row++) {
        const int head = row / sequence, keys = causal ? row % sequence + 1 : sequence;
        float maximum = -INFINITY, sum = 0;
        for (int j = 0; j < keys; j++) {
            p[j] = 0;
            for (int i = 0; i < D; i++)
                p[j] += as_float(q[static_cast<size_t>(row) * D + i]) *
                        as_float(k[(static_cast<size_t>(head) * sequence + j) * D + i]);
            p[j] *= scale;
            maximum = std::fmax(maximum, p[j]);
        }
        for (int j = 0; j < keys; j++)
            sum += p[j] = std::exp(p[j] - maximum);
        for (int j = 0; j < keys; j++)
            for (int i = 0; i < D; i++)
                out[static_cast<size_t>(row) * D + i] +=
                    p[j] / sum * as_float(v[(static_cast<size_t>(head) * sequence + j) * D + i]);
        lse[row] = maximum + std::log(sum);
    }
    allow_shared(attention, sizeof(Shared));
    const dim3 grid((sequence + QUERIES - 1) / QUERIES, heads);
    attention<<<grid, 384, sizeof(Shared)>>>(heads_map(dq.data, sequence, heads), heads_map(dk.data, sequence, heads),
                                             heads_map(dv.data, sequence, heads), heads_map(dout.data, sequence, heads),
                                             dlse.data, sequence, causal, scale);
    CUDA_CHECK(cudaGetLastError());
    check(all_close(dout.read(), out), causal ? "causal output" : "output");
    check(all_close(dlse.read(), lse, 1e-3f), causal ? "causal log-sum-exp" : "log-sum-exp");
}

int main()
{
    try_attention(1, 256, false);
    try_attention(2, 100, false);
    try_attention(1, 200, true);
    try_attention(1, 40, true);
    return check_done();
}
