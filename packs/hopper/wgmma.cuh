#pragma once
#include "../common/simt.cuh"

DEVICE void wgmma_fence() // before the first wgmma, and whenever registers it uses were written by other instructions
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

DEVICE void wgmma_commit()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

template <int PENDING>
DEVICE void wgmma_wait() // at most PENDING committed groups unfinished
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(PENDING) : "memory");
}

// Ties registers to this point, so that the compiler moves no use of them across a wait. Needed for accumulators (and A
// registers) behind wgmma_wait and in front of wgmma_fence.
template <typename T, int N>
DEVICE void wgmma_pin(T (&d)[N])
{
#pragma unroll
    for (int i = 0; i < N; i++) {
        if constexpr (sizeof(T) == 4 && T(1) / 2 != 0)
            asm volatile("" : "+f"(d[i])::"memory");
        else
            asm volatile("" : "+r"(d[i])::"memory");
    }
}

// Matrix descriptor of an operand in shared memory. swizzle: 0 none, 1 128 bytes, 2 64 bytes, 3 32 bytes.
DEVICE uint64_t wgmma_descriptor(uint32_t address, uint32_t leading_bytes, uint32_t stride_bytes, uint64_t swizzle)
{
    return static_cast<uint64_t>((address & 0x3FFFF) >> 4) | static_cast<uint64_t>(leading_bytes >> 4) << 16 |
           static_cast<uint64_t>(stride_bytes >> 4) << 32 | swizzle << 62;
}

// K-major tile of 128-byte rows (64 bf16 of K) in the 128-byte swizzle. Next K of 16 bf16: + 2 (32 bytes >> 4).
DEVICE uint64_t wgmma_descriptor_k(const void *tile)
{
    return wgmma_descriptor(smem_address(tile), 16, 1024, 1);
}

// MN-major tile (read "transposed"): rows are K, 128-byte rows of 64 MN elements, 128-byte swizzle. slab_bytes is the
// distance between slabs of 64 MN elements: rows of K in the slab * 128. Next K of 16: + 128 (2048 bytes >> 4).
DEVICE uint64_t wgmma_descriptor_mn(const void *tile, uint32_t slab_bytes)
{
    return wgmma_descriptor(smem_address(tile), slab_bytes, 1024, 1);
}

// Operand lists for 32, 64 and 128 accumulators: N = 64, 128, 256.
#define ACC_NAMES_32                                                                                                   \
    "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                                           \
    "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define ACC_NAMES_64                                                                                                   \
    ACC_NAMES_32 ", "                                                                                                  \
                 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "                    \
                 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define ACC_NAMES_128                                                                                                  \
    ACC_NAMES_64 ", "                                                                                                  \
                 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "                    \
                 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "                    \
                 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "        \
                 "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define ACC_8(d, i)                                                                                                    \
    "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]),        \
        "+f"(d[i + 7])
#define ACC_32(d, i) ACC_8(d, i), ACC_8(d, i + 8), ACC_8(d, i + 16), ACC_8(d, i + 24)
#define ACC_REGISTERS_32(d) ACC_32(d, 0)
#define ACC_REGISTERS_64(d) ACC_32(d, 0), ACC_32(d, 32)
#define ACC_REGISTERS_128(d) ACC_REGISTERS_64(d), ACC_32(d, 64), ACC_32(d, 96)

// d[64, n] = a * b + (accumulate ? d : 0); a[64, 16] and b[n, 16] in shared memory. count = n / 2 registers a thread.
// A_MN, B_MN: 1 when that operand is MN-major in shared memory. Scales (both 1) come between accumulate and these.
#define WGMMA_SS(n, count, a_name, b_name, accumulate_name, a_mn_name, b_mn_name)                                      \
    template <int A_MN = 0, int B_MN = 0>                                                                              \
    DEVICE void wgmma_ss(float(&d)[count], uint64_t a, uint64_t b, int accumulate)                                     \
    {                                                                                                                  \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " accumulate_name ", 0;\n"                                      \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16 {" ACC_NAMES_##count                    \
                     "}, " a_name ", " b_name ", p, 1, 1, " a_mn_name ", " b_mn_name ";\n}"                            \
                     : ACC_REGISTERS_##count(d)                                                                        \
                     : "l"(a), "l"(b), "r"(accumulate), "n"(A_MN), "n"(B_MN)                                           \
                     : "memory");                                                                                      \
    }

WGMMA_SS(64, 32, "%32", "%33", "%34", "%35", "%36")
WGMMA_SS(128, 64, "%64", "%65", "%66", "%67", "%68")
WGMMA_SS(256, 128, "%128", "%129", "%130", "%131", "%132")

// The same with a[64, 16] in four registers of packed bf16 (always K-major).
#define WGMMA_RS(n, count, a0, a1, a2, a3, b_name, accumulate_name, b_mn_name)                                         \
    template <int B_MN = 0>                                                                                            \
    DEVICE void wgmma_rs(float(&d)[count], const uint32_t *a, uint64_t b, int accumulate)                              \
    {                                                                                                                  \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " accumulate_name ", 0;\n"                                      \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k16.f32.bf16.bf16 {" ACC_NAMES_##count                    \
                     "}, {" a0 ", " a1 ", " a2 ", " a3 "}, " b_name ", p, 1, 1, " b_mn_name ";\n}"                     \
                     : ACC_REGISTERS_##count(d)                                                                        \
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(accumulate), "n"(B_MN)                  \
                     : "memory");                                                                                      \
    }

WGMMA_RS(64, 32, "%32", "%33", "%34", "%35", "%36", "%37", "%38")
WGMMA_RS(128, 64, "%64", "%65", "%66", "%67", "%68", "%69", "%70")

// fp8 (also e5m2): K = 32, both operands K-major in shared memory, no transposition.
#define WGMMA_E4M3(n, count, a_name, b_name, accumulate_name)                                                          \
    DEVICE void wgmma_e4m3(float(&d)[count], uint64_t a, uint64_t b, int accumulate)                                   \
    {                                                                                                                  \
        asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " accumulate_name ", 0;\n"                                      \
                     "wgmma.mma_async.sync.aligned.m64n" #n "k32.f32.e4m3.e4m3 {" ACC_NAMES_##count                    \
                     "}, " a_name ", " b_name ", p, 1, 1;\n}"                                                          \
                     : ACC_REGISTERS_##count(d)                                                                        \
                     : "l"(a), "l"(b), "r"(accumulate)                                                                 \
                     : "memory");                                                                                      \
    }

WGMMA_E4M3(64, 32, "%32", "%33", "%34")
WGMMA_E4M3(128, 64, "%64", "%65", "%66")

// Where accumulator i of this thread stands in its 64 x N tile; `thread` is the index in the warpgroup.
DEVICE int wgmma_row(int i, int thread)
{
    return thread / 32 * 16 + i / 2 % 2 * 8 + thread % 32 / 4;
}

DEVICE int wgmma_column(int i, int thread)
{
    return i / 4 * 8 + thread % 4 * 2 + i % 2;
}

// Accumulators as A operand of wgmma_rs: k16 step j is a + 4 * j.
template <int N>
DEVICE void wgmma_pack_a(uint32_t (&a)[N / 2], const float (&d)[N])
{
#pragma unroll
    for (int i = 0; i < N / 2; i++) {
        a[i] = pack_bf16(d[2 * i], d[2 * i + 1]);
    }
}

// Accumulators to a dense f32 matrix; rows and columns at and beyond the limits are not written.
template <int N>
DEVICE void wgmma_store_f32(float *to, int pitch, const float (&d)[N], int rows, int columns)
{
    const int thread = threadIdx.x % 128;
#pragma unroll
    for (int i = 0; i < N; i++) {
        const int row = wgmma_row(i, thread), column = wgmma_column(i, thread);
        if (row < rows && column < columns)
            to[static_cast<size_t>(row) * pitch + column] = d[i];
    }
}

// Columns 64*slab .. +63 of the accumulators as bf16 to a 64 x 64 tile (8192 bytes, 1024-byte aligned) in the 128-byte
// swizzle, ready for tma_store_2d or as a K-major operand. Then fence_proxy_async and a barrier.
template <int N>
DEVICE void wgmma_store_tile(void *tile, const float (&d)[N], int slab)
{
    const uint32_t thread = threadIdx.x % 128, lane = thread % 32;
    const uint32_t row = thread / 32 * 16 + lane % 16, half = lane / 16;
#pragma unroll
    for (uint32_t block = 0; block < 8; block += 2) {
        const float *from = &d[slab * 32 + block * 4];
        stmatrix_x4(smem_address(tile) + swizzle_128(row, block + half), pack_bf16(from[0], from[1]),
                    pack_bf16(from[2], from[3]), pack_bf16(from[4], from[5]), pack_bf16(from[6], from[7]));
    }
}

// The transpose of those 64 columns: tile row = accumulator column, 64 tile columns = the 64 rows.
template <int N>
DEVICE void wgmma_store_tile_trans(void *tile, const float (&d)[N], int slab)
{
    const uint32_t thread = threadIdx.x % 128, lane = thread % 32;
    const uint32_t row = lane / 16 * 8 + lane % 8, chunk = thread / 32 * 2 + lane / 8 % 2;
#pragma unroll
    for (uint32_t block = 0; block < 8; block += 2) {
        const float *from = &d[slab * 32 + block * 4];
        stmatrix_x4_trans(smem_address(tile) + swizzle_128(block * 8 + row, chunk), pack_bf16(from[0], from[1]),
                          pack_bf16(from[2], from[3]), pack_bf16(from[4], from[5]), pack_bf16(from[6], from[7]));
    }
}
