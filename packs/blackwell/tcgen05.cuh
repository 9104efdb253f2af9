#pragma once
#include "../common/tma.cuh"

// One asm text for both values of cta_group. All tcgen05 instructions of a kernel use the same.
#define TCGEN05(group, before, after, ...)                                                                             \
    do {                                                                                                               \
        if constexpr ((group) == 1)                                                                                    \
            asm volatile(before "cta_group::1" after __VA_ARGS__);                                                     \
        else                                                                                                           \
            asm volatile(before "cta_group::2" after __VA_ARGS__);                                                     \
    } while (0)

// Tensor memory. One whole warp (of each CTA of a pair); the address is written to *slot in shared memory. columns: a power
// of two, 32 .. 512.
template <int GROUP>
DEVICE void tmem_alloc(uint32_t *slot, uint32_t columns)
{
    TCGEN05(GROUP, "tcgen05.alloc.", ".sync.aligned.shared::cta.b32 [%0], %1;", ::"r"(smem_address(slot)), "r"(columns)
            : "memory");
}

template <int GROUP>
DEVICE void tmem_relinquish() // no further allocation by this CTA: another CTA on the SM may go on
{
    TCGEN05(GROUP, "tcgen05.relinquish_alloc_permit.", ".sync.aligned;", ::: "memory");
}

template <int GROUP>
DEVICE void tmem_free(uint32_t address, uint32_t columns) // the warp that allocated, before the CTA exits
{
    TCGEN05(GROUP, "tcgen05.dealloc.", ".sync.aligned.b32 %0, %1;", ::"r"(address), "r"(columns) : "memory");
}

// Address of this warp's 32 lanes: warp w of a warpgroup reaches lanes 32w .. 32w + 31 only.
DEVICE uint32_t tmem_lanes(uint32_t address)
{
    return address + (threadIdx.x / 32 % 4 * 32 << 16);
}

// Around every barrier between threads that orders tcgen05 instructions: before it in the thread that goes first, after it
// in the thread that follows.
DEVICE void tcgen05_before_sync()
{
    asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}

DEVICE void tcgen05_after_sync()
{
    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

// One thread: an arrival on the barrier when all mma and cp that this thread issued before are complete.
template <int GROUP>
DEVICE void tcgen05_commit(uint64_t *barrier)
{
    TCGEN05(GROUP, "tcgen05.commit.", ".mbarrier::arrive::one.shared::cluster.b64 [%0];", ::"r"(smem_address(barrier))
            : "memory");
}

// The same, on the barrier at this offset in every CTA of the mask (3: both of the pair 0, 1).
template <int GROUP>
DEVICE void tcgen05_commit_multicast(uint64_t *barrier, uint16_t ctas)
{
    TCGEN05(GROUP, "tcgen05.commit.", ".mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 [%0], %1;",
            ::"r"(smem_address(barrier)), "h"(ctas)
            : "memory");
}

// Shared-memory descriptor. swizzle: 0 none, 1 128B with 32-byte atoms, 2 128B, 4 64B, 6 32B.
DEVICE uint64_t tcgen05_descriptor(uint32_t address, uint32_t leading_bytes, uint32_t stride_bytes, uint64_t swizzle)
{
    return static_cast<uint64_t>((address & 0x3FFFF) >> 4) | static_cast<uint64_t>(leading_bytes >> 4) << 16 |
           static_cast<uint64_t>(stride_bytes >> 4) << 32 | 1ull << 46 | swizzle << 61;
}

// K-major tile of 128-byte rows, 128-byte swizzle. Next K of 32 bytes (16 bf16, 32 fp8): + 2.
DEVICE uint64_t tcgen05_descriptor_k(const void *tile)
{
    return tcgen05_descriptor(smem_address(tile), 16, 1024, 2);
}

// MN-major tile: rows are K, 64 bf16 of MN each; slabs of 64 MN are slab_bytes apart. Next K of 16: + 128.
DEVICE uint64_t tcgen05_descriptor_mn(const void *tile, uint32_t slab_bytes)
{
    return tcgen05_descriptor(smem_address(tile), slab_bytes, 1024, 2);
}

// Instruction descriptors, f32 accumulators. M is that of the whole instruction: 256 for a full pair.
DEVICE constexpr uint32_t tcgen05_bf16(uint32_t m, uint32_t n, bool a_mn = false,
                                       bool b_mn = false) // f16: types 0 for 1
{
    return 1u << 4 | 1u << 7 | 1u << 10 | (a_mn ? 1u << 15 : 0) | (b_mn ? 1u << 16 : 0) | n >> 3 << 17 | m >> 4 << 24;
}

// Types: 0 e4m3, 1 e5m2, 3 e2m3, 4 e3m2, 5 e2m1.
DEVICE constexpr uint32_t tcgen05_f8(uint32_t m, uint32_t n, uint32_t a_type, uint32_t b_type)
{
    return 1u << 4 | a_type << 7 | b_type << 10 | n >> 3 << 17 | m >> 4 << 24;
}

// Block scales of type ue8m0. scale_byte: which byte of the scales' 32-bit columns this instruction takes (K block % 4).
DEVICE constexpr uint32_t tcgen05_mx(uint32_t m, uint32_t n, uint32_t a_type, uint32_t b_type, uint32_t scale_byte)
{
    return scale_byte << 4 | a_type << 7 | b_type << 10 | n >> 3 << 17 | 1u << 23 | m >> 4 << 24 | scale_byte << 29;
}

// d[M, N] = a[M, 16] b[N, 16]^T + (accumulate ? d : 0). One thread issues; for a pair one thread of the even CTA.
template <int GROUP>
DEVICE void tcgen05_mma_f16(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, uint32_t accumulate)
{
    TCGEN05(GROUP, "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.", ".kind::f16 [%0], %1, %2, %3, p;\n}",
            ::"r"(d), "l"(a), "l"(b), "r"(instruction), "r"(accumulate)
            : "memory");
}

// A from tensor memory: lane = row, two bf16 of K in each column.
template <int GROUP>
DEVICE void tcgen05_mma_f16_ts(uint32_t d, uint32_t a, uint64_t b, uint32_t instruction, uint32_t accumulate)
{
    TCGEN05(GROUP, "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.", ".kind::f16 [%0], [%1], %2, %3, p;\n}",
            ::"r"(d), "r"(a), "l"(b), "r"(instruction), "r"(accumulate)
            : "memory");
}

// 8-, 6- and 4-bit floats, K = 32.
template <int GROUP>
DEVICE void tcgen05_mma_f8(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, uint32_t accumulate)
{
    TCGEN05(GROUP, "{\n.reg .pred p;\nsetp.ne.b32 p, %4, 0;\ntcgen05.mma.", ".kind::f8f6f4 [%0], %1, %2, %3, p;\n}",
            ::"r"(d), "l"(a), "l"(b), "r"(instruction), "r"(accumulate)
            : "memory");
}

// The same with one ue8m0 scale for each row and 32 of K, in tensor memory.
template <int GROUP>
DEVICE void tcgen05_mma_mx(uint32_t d, uint64_t a, uint64_t b, uint32_t instruction, uint32_t a_scales,
                           uint32_t b_scales, uint32_t accumulate)
{
    TCGEN05(GROUP, "{\n.reg .pred p;\nsetp.ne.b32 p, %6, 0;\ntcgen05.mma.",
            ".kind::mxf8f6f4.block_scale.scale_vec::1X [%0], %1, %2, %3, [%4], [%5], p;\n}", ::"r"(d), "l"(a), "l"(b),
            "r"(instruction), "r"(a_scales), "r"(b_scales), "r"(accumulate)
            : "memory");
}

// Shared to tensor memory, one thread; complete at a commit, in order with mma of the same thread. 128 lanes x 32 bytes.
template <int GROUP>
DEVICE void tmem_copy_128x256b(uint32_t to, uint64_t from)
{
    TCGEN05(GROUP, "tcgen05.cp.", ".128x256b [%0], %1;", ::"r"(to), "l"(from) : "memory");
}

// 32 lanes x 16 bytes, repeated in all four lane groups: the scales of 128 rows.
template <int GROUP>
DEVICE void tmem_copy_scales(uint32_t to, uint64_t from)
{
    TCGEN05(GROUP, "tcgen05.cp.", ".32x128b.warpx4 [%0], %1;", ::"r"(to), "l"(from) : "memory");
}

// Tensor memory to registers and back, by a whole warp. 32x32b.xN: register i of lane l is column i of lane l of the
// warp's lanes. Registers are valid behind the wait, which is part of these loads.
#define TMEM_8(c, d, i)                                                                                                \
    c(d[i]), c(d[i + 1]), c(d[i + 2]), c(d[i + 3]), c(d[i + 4]), c(d[i + 5]), c(d[i + 6]), c(d[i + 7])
#define TMEM_32(c, d) TMEM_8(c, d, 0), TMEM_8(c, d, 8), TMEM_8(c, d, 16), TMEM_8(c, d, 24)

DEVICE void tmem_load(uint32_t (&d)[8], uint32_t address)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
                 "tcgen05.wait::ld.sync.aligned;"
                 : TMEM_8("=r", d, 0)
                 : "r"(address)
                 : "memory");
}

DEVICE void tmem_load(uint32_t (&d)[32], uint32_t address)
{
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x32.b32 {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
                 "}, [%32];\n"
                 "tcgen05.wait::ld.sync.aligned;"
                 : TMEM_32("=r", d)
                 : "r"(address)
                 : "memory");
}

// 16x256b.x2: 16 lanes x 16 columns as the fragments of mma.m16n8: registers 4j .. 4j + 3 are columns 8j .. 8j + 7, of
// these 0 and 1 row lane / 4, 2 and 3 row lane / 4 + 8, columns 2 * (lane % 4) and + 1. The address lane is 0 or 16.
DEVICE void tmem_load_16x256b(uint32_t (&d)[8], uint32_t address)
{
    asm volatile("tcgen05.ld.sync.aligned.16x256b.x2.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];\n"
                 "tcgen05.wait::ld.sync.aligned;"
                 : TMEM_8("=r", d, 0)
                 : "r"(address)
                 : "memory");
}

DEVICE void tmem_store(uint32_t address, const uint32_t (&d)[8])
{
    asm volatile("tcgen05.st.sync.aligned.32x32b.x8.b32 [%8], {%0, %1, %2, %3, %4, %5, %6, %7};" ::TMEM_8("r", d, 0),
                 "r"(address)
                 : "memory");
}

DEVICE void tmem_store(uint32_t address, const uint32_t (&d)[32])
{
    asm volatile("tcgen05.st.sync.aligned.32x32b.x32.b32 [%32], {"
                 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
                 "};" ::TMEM_32("r", d),
                 "r"(address)
                 : "memory");
}

DEVICE void tmem_store_wait() // before the data is used by another instruction or thread
{
    asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory");
}

// Columns 0 .. 63 of the accumulators at `address` as bf16 to a tile of 128 rows x 128 bytes with the 128-byte swizzle, by
// a warpgroup: thread = row. Then fence_proxy_async, a barrier, TMA store.
DEVICE void tmem_store_tile(void *tile, uint32_t address)
{
    const uint32_t row = threadIdx.x % 128;
#pragma unroll
    for (uint32_t half = 0; half < 2; half++) {
        uint32_t d[32];
        tmem_load(d, tmem_lanes(address) + half * 32);
#pragma unroll
        for (uint32_t chunk = 0; chunk < 4; chunk++) {
            uint32_t p[4];
#pragma unroll
            for (uint32_t i = 0; i < 4; i++) {
                p[i] = pack_bf16(__uint_as_float(d[chunk * 8 + i * 2]), __uint_as_float(d[chunk * 8 + i * 2 + 1]));
            }
            st_shared_128(smem_address(tile) + swizzle_128(row, half * 4 + chunk), p[0], p[1], p[2], p[3]);
        }
    }
}

// A load by either CTA of a pair, whose bytes count on the barrier of the even CTA: bit 24 of a shared address is the peer.
DEVICE void tma_load_2d_pair(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.cta_group::2 "
                 "[%0], [%1, {%3, %4}], [%2];" ::"r"(smem_address(to)),
                 "l"(map), "r"(smem_address(barrier) & 0xFEFFFFFF), "r"(x), "r"(y)
                 : "memory");
}

// 2^x for x <= 0 on the fp32 units, relative error 1.2e-4: for a part of the exponentials, when ex2 is the bottleneck.
DEVICE float exp2_polynomial(float x)
{
    x = fmaxf(x, -126.0f);
    const float whole = floorf(x), f = x - whole;
    const float y = 1.0f + f * (0.695f + f * (0.2274884f + f * 0.0775116f));
    return __int_as_float(__float_as_int(y) + (static_cast<int>(whole) << 23));
}
