/*
 * Multi-head attention forward with log-sum-exp for Hopper (sm_90a): O = softmax(Q·K^T / sqrt(D)) · V in bf16 and
 * L = ln(sum(exp(scores))) in fp32. Q, K, V, O are [B,H,S,D], L is [B,H,S]; D is 64 or 128. With CAUSAL defined as 1,
 * query i sees keys 0..i (see mha_fwd_causal.cu).
 *
 * A CTA takes 128 queries of one head at a time. One producer thread streams K and V by TMA through two stages each;
 * two consumer warpgroups own 64 queries each. Scores stay in registers: the accumulator fragment of
 * Q·K^T, exponentiated and rounded, is the A fragment of P·V. Each warpgroup issues the next Q·K^T before the current
 * P·V and does its softmax while P·V runs; the two take turns at issuing, so that one's softmax overlaps the other's
 * matrix work. The technique is that of FlashAttention-3 (arXiv 2407.08608).
 *
 * Without a mask all blocks cost the same and the grid is persistent. With one, a CTA takes a single block, those with
 * the most keys come first, and the hardware's block scheduler evens out the rest.
 */
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/function.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#ifndef CAUSAL
#define CAUSAL 0
#endif

namespace mha_fwd
{

constexpr bool IS_CAUSAL = CAUSAL != 0;
constexpr int QUERIES = 128; /* of a CTA */
/* 160 fills shared memory at D=128. Causal tiles are square, so that only the first one needs a mask. */
constexpr int KEYS = IS_CAUSAL ? QUERIES : 160;
constexpr int STAGES = 2;
constexpr int SPAN = 64; /* bf16 elements of a 128-byte swizzle span; wider rows are split into such columns */

constexpr int WARPGROUP = 128;
constexpr int CONSUMERS = 2;
constexpr int THREADS = WARPGROUP * (1 + CONSUMERS);
constexpr int CONSUMER_WARPS = CONSUMERS * WARPGROUP / 32;
constexpr int PRODUCER_REGISTERS = 40;
constexpr int CONSUMER_REGISTERS = 232;
/* setmaxnreg moves registers between warpgroups; what they get must not exceed what the launch reserves, in steps of 8
 * per thread, or the last one waits for ever. */
static_assert(WARPGROUP * (PRODUCER_REGISTERS + CONSUMERS * CONSUMER_REGISTERS) <= THREADS * (65536 / THREADS / 8 * 8),
              "more registers than the launch reserves");
constexpr int ROWS = QUERIES / CONSUMERS; /* queries of a warpgroup */
constexpr int SCORES = ROWS * KEYS / WARPGROUP;
constexpr int64_t L2_BUDGET = 16 << 20; /* bytes of K and V of the heads that are worked on at a time */

constexpr float LOG2_E = 1.4426950408889634f;
constexpr float LN_2 = 0.6931471805599453f;

template <int D>
struct alignas(1024) Shared {
    __nv_bfloat16 q[D / SPAN][QUERIES * SPAN];
    __nv_bfloat16 k[STAGES][D / SPAN][KEYS * SPAN];
    __nv_bfloat16 v[STAGES][D / SPAN][KEYS * SPAN];
    __nv_bfloat16 o[CONSUMERS][D / SPAN][ROWS * SPAN];
    uint64_t q_full, q_empty;
    uint64_t k_full[STAGES], k_empty[STAGES];
    uint64_t v_full[STAGES], v_empty[STAGES];
};

/* Named barriers; 0 is __syncthreads. */
constexpr uint32_t BARRIER_WARPGROUP = 1; /* + consumer */
constexpr uint32_t BARRIER_TURN = 3;      /* + consumer */

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

/* One arrival for the calling warp. */
__device__ __forceinline__ void barrier_arrive_warp(uint64_t *barrier)
{
    if (threadIdx.x % 32 == 0) {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
    }
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

__device__ __forceinline__ void tma_load(void *to, const CUtensorMap *map, int column, int row, int head,
                                         uint64_t *barrier)
{
    asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
                 "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(to)),
                 "l"(map), "r"(column), "r"(row), "r"(head), "r"(shared_address(barrier))
                 : "memory");
}

__device__ __forceinline__ void tma_store(const CUtensorMap *map, int column, int row, int head, const void *from)
{
    asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(map),
                 "r"(column), "r"(row), "r"(head), "r"(shared_address(from))
                 : "memory");
}

__device__ __forceinline__ void named_barrier_sync(uint32_t barrier, uint32_t threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ void named_barrier_arrive(uint32_t barrier, uint32_t threads)
{
    asm volatile("bar.arrive %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ __forceinline__ void stmatrix_x4(uint32_t address, const uint32_t (&m)[4])
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared::cta.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(m[0]),
                 "r"(m[1]), "r"(m[2]), "r"(m[3])
                 : "memory");
}

__device__ __forceinline__ float exp2_approx(float x)
{
    float result;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
    return result;
}

__device__ __forceinline__ uint32_t pack_bf16(float low, float high)
{
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

/* Tile of 128-byte rows in the 128-byte swizzle: 8 rows every 1024 bytes. `leading` is the distance in bytes between
 * spans of 64 columns for an operand that is read across rows (V); an operand read along rows ignores it (1). */
__device__ __forceinline__ uint64_t matrix_descriptor(const void *tile, uint64_t leading)
{
    const uint64_t start = (shared_address(tile) & 0x3FFFF) >> 4;
    return start | leading << 16 | static_cast<uint64_t>(1024 >> 4) << 32 | static_cast<uint64_t>(1) << 62;
}

__device__ __forceinline__ void wgmma_fence()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int PENDING>
__device__ __forceinline__ void wgmma_wait()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

/* Ties registers to this point, so that nothing that reads or writes them moves above a wait. */
template <int N>
__device__ __forceinline__ void wgmma_pin(float (&d)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        asm volatile("" : "+f"(d[i])::"memory");
    }
}

template <int N>
__device__ __forceinline__ void wgmma_pin(uint32_t (&a)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        asm volatile("" : "+r"(a[i])::"memory");
    }
}

#define NAMES_32                                                                                                       \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                           \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define NAMES_64                                                                                                       \
    NAMES_32 ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                      \
             "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define NAMES_80 NAMES_64 ", %64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define REGISTERS_8(d, i)                                                                                              \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]),        \
        "+f"(d[i + 7])
#define REGISTERS_16(d, i) REGISTERS_8(d, i), REGISTERS_8(d, i + 8)
#define REGISTERS_32(d) REGISTERS_16(d, 0), REGISTERS_16(d, 16)
#define REGISTERS_64(d) REGISTERS_32(d), REGISTERS_16(d, 32), REGISTERS_16(d, 48)
#define REGISTERS_80(d) REGISTERS_64(d), REGISTERS_16(d, 64)

/* s[64,KEYS] = or += q[64,16] · k[KEYS,16]^T, both read along rows from shared memory. */
#define WGMMA_SCORES(keys, names, registers, q_name, k_name, accumulate_name)                                          \
    __device__ __forceinline__ void wgmma_scores(float(&s)[ROWS * keys / WARPGROUP], uint64_t q, uint64_t k,           \
                                                 int accumulate)                                                       \
    {                                                                                                                  \
        asm volatile("{\n"                                                                                             \
                     ".reg .pred accumulate;\n"                                                                        \
                     "setp.ne.b32 accumulate, " accumulate_name ", 0;\n"                                               \
                     "wgmma.mma_async.sync.aligned.m64n" #keys "k16.f32.bf16.bf16 {" names "}, " q_name ", " k_name    \
                     ", accumulate, 1, 1, 0, 0;\n"                                                                     \
                     "}\n"                                                                                             \
                     : registers(s)                                                                                    \
                     : "l"(q), "l"(k), "r"(accumulate)                                                                 \
                     : "memory");                                                                                      \
    }

/* o[64,D] += p[64,16] · v[16,D], p from registers, v read across rows. */
#define WGMMA_OUTPUT(d, names, registers, p0, p1, p2, p3, v_name)                                                      \
    __device__ __forceinline__ void wgmma_output(float(&o)[ROWS * d / WARPGROUP], const uint32_t *p, uint64_t v)       \
    {                                                                                                                  \
        asm volatile("{\n"                                                                                             \
                     ".reg .pred accumulate;\n"                                                                        \
                     "setp.eq.u32 accumulate, 0, 0;\n"                                                                 \
                     "wgmma.mma_async.sync.aligned.m64n" #d "k16.f32.bf16.bf16 {" names "}, {" p0 ", " p1 ", " p2      \
                     ", " p3 "}, " v_name ", accumulate, 1, 1, 1;\n"                                                   \
                     "}\n"                                                                                             \
                     : registers(o)                                                                                    \
                     : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(v)                                              \
                     : "memory");                                                                                      \
    }

#if CAUSAL
WGMMA_SCORES(128, NAMES_64, REGISTERS_64, "%64", "%65", "%66")
#else
WGMMA_SCORES(160, NAMES_80, REGISTERS_80, "%80", "%81", "%82")
#endif
WGMMA_OUTPUT(64, NAMES_32, REGISTERS_32, "%32", "%33", "%34", "%35", "%36")
WGMMA_OUTPUT(128, NAMES_64, REGISTERS_64, "%64", "%65", "%66", "%67", "%68")

/* Work order. */

struct Problem {
    int sequence;
    int heads;   /* batch * heads */
    int blocks;  /* of QUERIES */
    int group;   /* heads whose K and V share L2 */
    int works;   /* heads * blocks */
    float scale; /* 1 / sqrt(D) */
};

struct Work {
    int head, query; /* first query */
    int key_blocks;
};

/* Work of a CTA in a round; false when nothing is left. Within a group of heads, the blocks with the most keys come
 * first. */
__device__ __forceinline__ bool work_get(const Problem &problem, int round, Work *work)
{
    const int index = round * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
    if (index >= problem.works) {
        return false;
    }
    const int group = index / (problem.group * problem.blocks), within = index % (problem.group * problem.blocks);
    const int heads = min(problem.group, problem.heads - group * problem.group);
    work->head = group * problem.group + within % heads;
    work->query = (problem.blocks - 1 - within / heads) * QUERIES;
    const int keys = IS_CAUSAL ? min(work->query + QUERIES, problem.sequence) : problem.sequence;
    work->key_blocks = (keys + KEYS - 1) / KEYS;
    return true;
}

/* Position in a ring of stages. A fresh barrier has completed no phase: waiting for parity 1 returns at once. */
struct Ring {
    int stage = 0;
    uint32_t parity = 0;

    __device__ __forceinline__ void advance()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};

/* Producer: one thread. */

template <int D, int ROWS_LOADED>
__device__ __forceinline__ void load_rows(__nv_bfloat16 (*to)[ROWS_LOADED * SPAN], const CUtensorMap *map, int row,
                                          int head, uint64_t *full)
{
    barrier_expect_bytes(full, ROWS_LOADED * D * sizeof(__nv_bfloat16));
#pragma unroll
    for (int span = 0; span < D / SPAN; span++) {
        tma_load(to[span], map, span * SPAN, row, head, full);
    }
}

/* Key blocks go from last to first, V one block behind K: the order in which the consumers use them. */
template <int D>
__device__ __forceinline__ void produce(Shared<D> &shared, const CUtensorMap *q_map, const CUtensorMap *k_map,
                                        const CUtensorMap *v_map, const Problem &problem)
{
    Ring k_ring, v_ring;
    Work work;
    for (int round = 0; work_get(problem, round, &work); round++) {
        barrier_wait(&shared.q_empty, round % 2 ^ 1);
        load_rows<D, QUERIES>(shared.q, q_map, work.query, work.head, &shared.q_full);
        for (int block = work.key_blocks - 1; block >= -1; block--) {
            if (block >= 0) {
                barrier_wait(&shared.k_empty[k_ring.stage], k_ring.parity ^ 1);
                load_rows<D, KEYS>(shared.k[k_ring.stage], k_map, block * KEYS, work.head,
                                   &shared.k_full[k_ring.stage]);
                k_ring.advance();
            }
            if (block + 1 < work.key_blocks) {
                barrier_wait(&shared.v_empty[v_ring.stage], v_ring.parity ^ 1);
                load_rows<D, KEYS>(shared.v[v_ring.stage], v_map, (block + 1) * KEYS, work.head,
                                   &shared.v_full[v_ring.stage]);
                v_ring.advance();
            }
        }
    }
}

/* Consumer: a warpgroup. */

/* The two consumers take turns at issuing matrix instructions. */
__device__ __forceinline__ void turn_wait(uint32_t consumer)
{
    named_barrier_sync(BARRIER_TURN + consumer, CONSUMERS * WARPGROUP);
}

__device__ __forceinline__ void turn_pass(uint32_t consumer)
{
    named_barrier_arrive(BARRIER_TURN + (consumer ^ 1), CONSUMERS * WARPGROUP);
}

/* s = q · k^T, issued and committed. */
template <int D>
__device__ __forceinline__ void scores_issue(float (&s)[SCORES], const Shared<D> &shared, int stage, uint32_t consumer)
{
    wgmma_fence();
#pragma unroll
    for (int span = 0; span < D / SPAN; span++) {
        const uint64_t q = matrix_descriptor(shared.q[span] + consumer * ROWS * SPAN, 1);
        const uint64_t k = matrix_descriptor(shared.k[stage][span], 1);
#pragma unroll
        for (int step = 0; step < SPAN / 16; step++) {
            wgmma_scores(s, q + step * 2, k + step * 2, span + step != 0); /* 2 units of 16 bytes: 16 columns */
        }
    }
    wgmma_commit();
}

/* o += p · v, issued and committed. */
template <int D>
__device__ __forceinline__ void output_issue(float (&o)[ROWS * D / WARPGROUP], const uint32_t (&p)[SCORES / 2],
                                             const Shared<D> &shared, int stage)
{
    wgmma_fence();
    const uint64_t v = matrix_descriptor(shared.v[stage], sizeof(shared.v[stage][0]) >> 4);
#pragma unroll
    for (int step = 0; step < KEYS / 16; step++) {
        wgmma_output(o, p + step * 4, v + step * (16 * SPAN * sizeof(__nv_bfloat16) >> 4));
    }
    wgmma_commit();
}

/* Scores that the mask or the end of the sequence hides become -inf. */
__device__ __forceinline__ void scores_mask(float (&s)[SCORES], int key, int query, int sequence)
{
    const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
    for (int i = 0; i < SCORES; i++) {
        const int column = key + i / 4 * 8 + lane % 4 * 2 + i % 2;
        const int last = IS_CAUSAL ? min(query + i / 2 % 2 * 8, sequence - 1) : sequence - 1;
        s[i] = column > last ? -INFINITY : s[i];
    }
}

/* Running maximum and sum of the two rows that a thread has a part of; the sum is of this thread's part only. */
struct Softmax {
    float maximum[2] = {-INFINITY, -INFINITY};
    float sum[2] = {0.0f, 0.0f};

    /* Replaces scores by exp(scale * (score - maximum)); `factor` is what earlier results must be multiplied by. */
    __device__ __forceinline__ void step(float (&s)[SCORES], float scale_log2, float (&factor)[2])
    {
        float highest[2] = {maximum[0], maximum[1]};
#pragma unroll
        for (int i = 0; i < SCORES; i++) {
            highest[i / 2 % 2] = fmaxf(highest[i / 2 % 2], s[i]);
        }
        float offset[2];
#pragma unroll
        for (int row = 0; row < 2; row++) {
            highest[row] = fmaxf(highest[row], __shfl_xor_sync(0xFFFFFFFF, highest[row], 1));
            highest[row] = fmaxf(highest[row], __shfl_xor_sync(0xFFFFFFFF, highest[row], 2));
            offset[row] = highest[row] * scale_log2;
            factor[row] = exp2_approx(maximum[row] * scale_log2 - offset[row]);
            maximum[row] = highest[row];
            sum[row] *= factor[row];
        }
#pragma unroll
        for (int i = 0; i < SCORES; i++) {
            s[i] = exp2_approx(s[i] * scale_log2 - offset[i / 2 % 2]);
            sum[i / 2 % 2] += s[i];
        }
    }
};

/* The accumulator fragment of q·k^T, rounded, is the A fragment of p·v. */
__device__ __forceinline__ void probabilities_pack(uint32_t (&p)[SCORES / 2], const float (&s)[SCORES])
{
#pragma unroll
    for (int i = 0; i < SCORES / 2; i++) {
        p[i] = pack_bf16(s[i * 2], s[i * 2 + 1]);
    }
}

/* Divides by the sums and writes 64 rows of O and L. */
template <int D>
__device__ __forceinline__ void output_store(Shared<D> &shared, const CUtensorMap *o_map, float *lse,
                                             const float (&o)[ROWS * D / WARPGROUP], Softmax &softmax,
                                             const Problem &problem, const Work &work, uint32_t consumer)
{
    const uint32_t thread = threadIdx.x % WARPGROUP, lane = thread % 32;
    const int first = work.query + static_cast<int>(consumer) * ROWS;
    float inverse[2];
#pragma unroll
    for (int row = 0; row < 2; row++) {
        float sum = softmax.sum[row];
        sum += __shfl_xor_sync(0xFFFFFFFF, sum, 1);
        sum += __shfl_xor_sync(0xFFFFFFFF, sum, 2);
        inverse[row] = 1.0f / sum;
        const int query = first + static_cast<int>(thread / 32 * 16 + lane / 4) + row * 8;
        if (lane % 4 == 0 && query < problem.sequence) {
            lse[static_cast<int64_t>(work.head) * problem.sequence + query] =
                softmax.maximum[row] * problem.scale + __log2f(sum) * LN_2;
        }
    }

    if (thread == 0) {
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); /* the previous store has left the buffer */
    }
    named_barrier_sync(BARRIER_WARPGROUP + consumer, WARPGROUP);
    /* Lane l addresses row l%8 of 8x8 matrix l/8; matrices 0,1 are the upper and lower rows of the left 8 columns. */
    const uint32_t row = thread / 32 * 16 + (lane / 8 % 2) * 8 + lane % 8, half = lane / 16;
#pragma unroll
    for (uint32_t block = 0; block < D / 8; block += 2) {
        uint32_t packed[4];
#pragma unroll
        for (uint32_t i = 0; i < 4; i++) {
            packed[i] = pack_bf16(o[block * 4 + i * 2] * inverse[i % 2], o[block * 4 + i * 2 + 1] * inverse[i % 2]);
        }
        const uint32_t swizzled = (block % 8 + half) ^ (row % 8);
        stmatrix_x4(shared_address(shared.o[consumer][block / 8]) + row * 128 + swizzled * 16, packed);
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    named_barrier_sync(BARRIER_WARPGROUP + consumer, WARPGROUP);
    if (thread == 0) {
#pragma unroll
        for (int span = 0; span < D / SPAN; span++) {
            tma_store(o_map, span * SPAN, first, work.head, shared.o[consumer][span]);
        }
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    }
}

template <int D>
__device__ __forceinline__ void consume(Shared<D> &shared, const CUtensorMap *o_map, float *lse, const Problem &problem,
                                        uint32_t consumer)
{
    const uint32_t thread = threadIdx.x % WARPGROUP;
    const float scale_log2 = problem.scale * LOG2_E;
    if (consumer == 1) {
        turn_pass(consumer); /* consumer 0 begins */
    }
    Ring k_ring, v_ring;
    Work work;
    for (int round = 0; work_get(problem, round, &work); round++) {
        float s[SCORES], o[ROWS * D / WARPGROUP], factor[2];
        uint32_t p[SCORES / 2];
        Softmax softmax;
#pragma unroll
        for (float &element : o) {
            element = 0.0f;
        }

        barrier_wait(&shared.q_full, round % 2);
        barrier_wait(&shared.k_full[k_ring.stage], k_ring.parity);
        turn_wait(consumer);
        scores_issue<D>(s, shared, k_ring.stage, consumer);
        turn_pass(consumer);
        wgmma_wait<0>();
        wgmma_pin(s);
        barrier_arrive_warp(&shared.k_empty[k_ring.stage]);
        k_ring.advance();
        const int last_key = (work.key_blocks - 1) * KEYS;
        if (IS_CAUSAL || last_key + KEYS > problem.sequence) {
            const int row = static_cast<int>(consumer * ROWS + thread / 32 * 16 + thread % 32 / 4);
            scores_mask(s, last_key, work.query + row, problem.sequence);
        }
        softmax.step(s, scale_log2, factor);
        probabilities_pack(p, s);

        for (int block = work.key_blocks - 2; block >= 0; block--) {
            barrier_wait(&shared.k_full[k_ring.stage], k_ring.parity);
            turn_wait(consumer);
            scores_issue<D>(s, shared, k_ring.stage, consumer);
            barrier_wait(&shared.v_full[v_ring.stage], v_ring.parity);
            output_issue<D>(o, p, shared, v_ring.stage);
            turn_pass(consumer);
            wgmma_wait<1>();
            wgmma_pin(s);
            barrier_arrive_warp(&shared.k_empty[k_ring.stage]);
            k_ring.advance();
            softmax.step(s, scale_log2, factor);
            wgmma_wait<0>();
            wgmma_pin(o);
            wgmma_pin(p);
            barrier_arrive_warp(&shared.v_empty[v_ring.stage]);
            v_ring.advance();
#pragma unroll
            for (int i = 0; i < ROWS * D / WARPGROUP; i++) {
                o[i] *= factor[i / 2 % 2];
            }
            probabilities_pack(p, s);
        }
        barrier_arrive_warp(&shared.q_empty);

        barrier_wait(&shared.v_full[v_ring.stage], v_ring.parity);
        output_issue<D>(o, p, shared, v_ring.stage);
        wgmma_wait<0>();
        wgmma_pin(o);
        barrier_arrive_warp(&shared.v_empty[v_ring.stage]);
        v_ring.advance();
        output_store<D>(shared, o_map, lse, o, softmax, problem, work, consumer);
    }
    if (consumer == 0) {
        turn_wait(consumer); /* takes the turn that consumer 1 passed last: no barrier is left half full */
    }
    if (thread == 0) {
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

template <int D>
__global__ void __launch_bounds__(THREADS, 1)
    mha_fwd_kernel(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
                   const __grid_constant__ CUtensorMap v_map, const __grid_constant__ CUtensorMap o_map, float *lse,
                   const Problem problem)
{
    extern __shared__ __align__(1024) unsigned char shared_bytes[];
    Shared<D> &shared = *reinterpret_cast<Shared<D> *>(shared_bytes);
    if (threadIdx.x == 0) {
        barrier_init(&shared.q_full, 1);
        barrier_init(&shared.q_empty, CONSUMER_WARPS);
        for (int stage = 0; stage < STAGES; stage++) {
            barrier_init(&shared.k_full[stage], 1);
            barrier_init(&shared.k_empty[stage], CONSUMER_WARPS);
            barrier_init(&shared.v_full[stage], 1);
            barrier_init(&shared.v_empty[stage], CONSUMER_WARPS);
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();

    const uint32_t warpgroup = threadIdx.x / WARPGROUP;
    if (warpgroup == 0) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(PRODUCER_REGISTERS));
        if (threadIdx.x == 0) {
            produce<D>(shared, &q_map, &k_map, &v_map, problem);
        }
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(CONSUMER_REGISTERS));
        consume<D>(shared, &o_map, lse, problem, warpgroup - 1);
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

/* A dense [heads, sequence, columns] bf16 tensor in boxes of 1 x `box_rows` x 64 in the 128-byte swizzle. */
CUtensorMap heads_map(EncodeTiled encode, void *data, int64_t heads, int64_t sequence, int64_t columns,
                      uint32_t box_rows)
{
    CUtensorMap map;
    const cuuint64_t row_bytes = static_cast<cuuint64_t>(columns) * sizeof(__nv_bfloat16);
    const cuuint64_t sizes[3] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(sequence),
                                 static_cast<cuuint64_t>(heads)};
    const cuuint64_t pitches[2] = {row_bytes, row_bytes * static_cast<cuuint64_t>(sequence)};
    const cuuint32_t box[3] = {SPAN, box_rows, 1};
    const cuuint32_t steps[3] = {1, 1, 1};
    const CUresult status = encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 3, data, sizes, pitches, box, steps,
                                   CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS) {
        TVM_FFI_THROW(RuntimeError) << "cuTensorMapEncodeTiled: CUresult " << static_cast<int>(status);
    }
    return map;
}

void check_tensor(const tvm::ffi::TensorView &tensor, const char *name, const tvm::ffi::TensorView &like, int rank,
                  DLDataType type)
{
    const DLDataType got = tensor.dtype();
    if (got.code != type.code || got.bits != type.bits || got.lanes != 1) {
        TVM_FFI_THROW(TypeError) << name << " has the wrong dtype";
    }
    bool same = tensor.ndim() == rank && like.ndim() == 4 && tensor.IsContiguous();
    for (int i = 0; same && i < rank; i++) {
        same = tensor.size(i) == like.size(i);
    }
    if (!same) {
        TVM_FFI_THROW(ValueError) << name << " does not have the shape of Q" << (rank == 3 ? " without D" : "");
    }
}

template <int D>
void launch(const tvm::ffi::TensorView &Q, const tvm::ffi::TensorView &K, const tvm::ffi::TensorView &V,
            const tvm::ffi::TensorView &O, const tvm::ffi::TensorView &L)
{
    const int64_t heads = Q.size(0) * Q.size(1), sequence = Q.size(2);
    const DLDevice device = Q.device();
    int processors = 0;
    check(cudaSetDevice(device.device_id), "cudaSetDevice");
    check(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device.device_id),
          "cudaDeviceGetAttribute");
    check(cudaFuncSetAttribute(mha_fwd_kernel<D>, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared<D>)),
          "cudaFuncSetAttribute");

    const EncodeTiled encode = find_encode_tiled();
    const CUtensorMap q_map = heads_map(encode, Q.data_ptr(), heads, sequence, D, QUERIES);
    const CUtensorMap k_map = heads_map(encode, K.data_ptr(), heads, sequence, D, KEYS);
    const CUtensorMap v_map = heads_map(encode, V.data_ptr(), heads, sequence, D, KEYS);
    const CUtensorMap o_map = heads_map(encode, O.data_ptr(), heads, sequence, D, ROWS);

    const int64_t head_bytes = 2 * sequence * D * static_cast<int64_t>(sizeof(__nv_bfloat16));
    Problem problem;
    problem.sequence = static_cast<int>(sequence);
    problem.heads = static_cast<int>(heads);
    problem.blocks = static_cast<int>((sequence + QUERIES - 1) / QUERIES);
    problem.group = static_cast<int>(std::clamp(L2_BUDGET / head_bytes, int64_t{1}, heads));
    problem.works = problem.heads * problem.blocks;
    problem.scale = 1.0f / std::sqrt(static_cast<float>(D));

    cudaStream_t stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(device.device_type, device.device_id));
    const int grid = IS_CAUSAL ? problem.works : std::min(processors, problem.works);
    mha_fwd_kernel<D><<<grid, THREADS, sizeof(Shared<D>), stream>>>(q_map, k_map, v_map, o_map,
                                                                    static_cast<float *>(L.data_ptr()), problem);
    check(cudaGetLastError(), "launch of mha_fwd_kernel");
}

void run(tvm::ffi::TensorView Q, tvm::ffi::TensorView K, tvm::ffi::TensorView V, tvm::ffi::TensorView O,
         tvm::ffi::TensorView L)
{
    const DLDataType bf16 = {kDLBfloat, 16, 1}, f32 = {kDLFloat, 32, 1};
    check_tensor(Q, "Q", Q, 4, bf16);
    check_tensor(K, "K", Q, 4, bf16);
    check_tensor(V, "V", Q, 4, bf16);
    check_tensor(O, "O", Q, 4, bf16);
    check_tensor(L, "L", Q, 3, f32);
    if (Q.numel() == 0) {
        return;
    }
    switch (Q.size(3)) {
    case 64:
        launch<64>(Q, K, V, O, L);
        break;
    case 128:
        launch<128>(Q, K, V, O, L);
        break;
    default:
        TVM_FFI_THROW(ValueError) << "the head dimension must be 64 or 128, got " << Q.size(3);
    }
}

TVM_FFI_DLL_EXPORT_TYPED_FUNC(run, run);

} // namespace mha_fwd
