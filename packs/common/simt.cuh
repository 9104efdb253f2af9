#pragma once
#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_runtime.h>

#include <cstdint>

#define DEVICE __device__ __forceinline__

// Address in the shared window: what PTX wants for every .shared operand. Bits 31:24 are the CTA's rank in its cluster.
DEVICE uint32_t smem_address(const void *pointer)
{
    return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

DEVICE uint32_t sm_id()
{
    uint32_t id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

// True in one lane of the warp. All 32 lanes must call it, converged; the same lane is chosen each time.
DEVICE bool elect_one()
{
    uint32_t elected;
    asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xffffffff;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected)::"memory");
    return elected != 0;
}

// setmaxnreg: N = 24..256 in steps of 8, executed by every warp of the warpgroup.
template <int N>
DEVICE void registers_increase() // blocks until other warpgroups have given registers back
{
    asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}

template <int N>
DEVICE void registers_decrease()
{
    asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

DEVICE float exp2_fast(float x) // 2^x on the special function unit; exp(x) = exp2_fast(x * 1.4426950408889634f)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

DEVICE uint32_t pack_bf16(float low, float high) // low in bits 15:0, the lower column
{
    uint32_t packed;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
    return packed;
}

DEVICE void st_shared_128(uint32_t address, uint32_t a, uint32_t b, uint32_t c, uint32_t d) // 16-byte aligned
{
    asm volatile("st.shared.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(a), "r"(b), "r"(c), "r"(d) : "memory");
}

// Four 8x8 matrices of b16. Lane l gives the address of row l%8 of matrix l/8 (16 bytes); register i holds matrix i:
// lane l has row l/4, columns 2*(l%4) and +1. _trans: the lane's pair is column l/4, rows 2*(l%4) and +1.
DEVICE void stmatrix_x4(uint32_t address, uint32_t m0, uint32_t m1, uint32_t m2, uint32_t m3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(m0), "r"(m1),
                 "r"(m2), "r"(m3)
                 : "memory");
}

DEVICE void stmatrix_x4_trans(uint32_t address, uint32_t m0, uint32_t m1, uint32_t m2, uint32_t m3)
{
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), "r"(m0),
                 "r"(m1), "r"(m2), "r"(m3)
                 : "memory");
}

DEVICE void ldmatrix_x4(uint32_t (&m)[4], uint32_t address)
{
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(m[0]), "=r"(m[1]), "=r"(m[2]), "=r"(m[3])
                 : "r"(address)
                 : "memory");
}

// Byte offset of a 16-byte chunk in a tile of 128-byte rows with the 128-byte swizzle; the tile is 1024-byte aligned.
DEVICE uint32_t swizzle_128(uint32_t row, uint32_t chunk)
{
    return row * 128 + ((chunk ^ (row % 8)) * 16);
}
