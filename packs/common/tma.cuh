#pragma once
#include "barrier.cuh"

// One thread issues each of these. Coordinates are in elements, innermost dimension first, and may lie outside the
// tensor: loads fill with zeros (and still count the whole box's bytes), stores are clipped.

DEVICE void tma_prefetch_map(const CUtensorMap *map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

#define TMA_LOAD(dims) "cp.async.bulk.tensor." dims ".shared::cluster.global.tile.mbarrier::complete_tx::bytes"

DEVICE void tma_load_1d(void *to, const CUtensorMap *map, uint64_t *barrier, int x)
{
    asm volatile(TMA_LOAD("1d") " [%0], [%1, {%3}], [%2];" ::"r"(smem_address(to)), "l"(map),
                 "r"(smem_address(barrier)), "r"(x)
                 : "memory");
}

DEVICE void tma_load_2d(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y)
{
    asm volatile(TMA_LOAD("2d") " [%0], [%1, {%3, %4}], [%2];" ::"r"(smem_address(to)), "l"(map),
                 "r"(smem_address(barrier)), "r"(x), "r"(y)
                 : "memory");
}

DEVICE void tma_load_3d(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y, int z)
{
    asm volatile(TMA_LOAD("3d") " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(smem_address(to)), "l"(map),
                 "r"(smem_address(barrier)), "r"(x), "r"(y), "r"(z)
                 : "memory");
}

DEVICE void tma_load_4d(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y, int z, int u)
{
    asm volatile(TMA_LOAD("4d") " [%0], [%1, {%3, %4, %5, %6}], [%2];" ::"r"(smem_address(to)), "l"(map),
                 "r"(smem_address(barrier)), "r"(x), "r"(y), "r"(z), "r"(u)
                 : "memory");
}

DEVICE void tma_load_5d(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y, int z, int u, int v)
{
    asm volatile(TMA_LOAD("5d") " [%0], [%1, {%3, %4, %5, %6, %7}], [%2];" ::"r"(smem_address(to)), "l"(map),
                 "r"(smem_address(barrier)), "r"(x), "r"(y), "r"(z), "r"(u), "r"(v)
                 : "memory");
}

// The same box into every CTA of `ctas` (bit = rank), at the same offset as `to`; each CTA's barrier at the offset of
// `barrier` gets the bytes.
DEVICE void tma_load_2d_multicast(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y, uint16_t ctas)
{
    asm volatile(TMA_LOAD("2d") ".multicast::cluster [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(smem_address(to)), "l"(map),
                 "r"(smem_address(barrier)), "h"(ctas), "r"(x), "r"(y)
                 : "memory");
}

// A cache policy is a value made by createpolicy; 0 is none. Leave the operand out when there is no policy.
DEVICE uint64_t l2_policy_evict_last() // for data that many CTAs read; evict_first for data read once
{
    uint64_t policy;
    asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    return policy;
}

DEVICE void tma_load_2d_hint(void *to, const CUtensorMap *map, uint64_t *barrier, int x, int y, uint64_t policy)
{
    asm volatile(TMA_LOAD("2d") ".L2::cache_hint [%0], [%1, {%4, %5}], [%2], %3;" ::"r"(smem_address(to)), "l"(map),
                 "r"(smem_address(barrier)), "l"(policy), "r"(x), "r"(y)
                 : "memory");
}

// Stores: fill shared memory, fence_proxy_async in every writing thread, a barrier, then one thread stores and commits;
// the same thread waits.
#define TMA_STORE(dims) "cp.async.bulk.tensor." dims ".global.shared::cta.tile.bulk_group"

DEVICE void tma_store_1d(const CUtensorMap *map, const void *from, int x)
{
    asm volatile(TMA_STORE("1d") " [%0, {%2}], [%1];" ::"l"(map), "r"(smem_address(from)), "r"(x) : "memory");
}

DEVICE void tma_store_2d(const CUtensorMap *map, const void *from, int x, int y)
{
    asm volatile(TMA_STORE("2d") " [%0, {%2, %3}], [%1];" ::"l"(map), "r"(smem_address(from)), "r"(x), "r"(y)
                 : "memory");
}

DEVICE void tma_store_3d(const CUtensorMap *map, const void *from, int x, int y, int z)
{
    asm volatile(TMA_STORE("3d") " [%0, {%2, %3, %4}], [%1];" ::"l"(map), "r"(smem_address(from)), "r"(x), "r"(y),
                 "r"(z)
                 : "memory");
}

DEVICE void tma_store_4d(const CUtensorMap *map, const void *from, int x, int y, int z, int u)
{
    asm volatile(TMA_STORE("4d") " [%0, {%2, %3, %4, %5}], [%1];" ::"l"(map), "r"(smem_address(from)), "r"(x), "r"(y),
                 "r"(z), "r"(u)
                 : "memory");
}

DEVICE void tma_store_5d(const CUtensorMap *map, const void *from, int x, int y, int z, int u, int v)
{
    asm volatile(TMA_STORE("5d") " [%0, {%2, %3, %4, %5, %6}], [%1];" ::"l"(map), "r"(smem_address(from)), "r"(x),
                 "r"(y), "r"(z), "r"(u), "r"(v)
                 : "memory");
}

// Adds the box to global memory, atomically for each element (also .min .max .inc .dec .and .or .xor).
DEVICE void tma_reduce_add_2d(const CUtensorMap *map, const void *from, int x, int y)
{
    asm volatile(
        "cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map),
        "r"(smem_address(from)), "r"(x), "r"(y)
        : "memory");
}

// Copies without a tensor map: 16-byte aligned addresses, a multiple of 16 bytes.
DEVICE void bulk_load(void *to, const void *from, uint32_t bytes, uint64_t *barrier)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     smem_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(smem_address(barrier))
                 : "memory");
}

DEVICE void bulk_store(void *to, const void *from, uint32_t bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(__cvta_generic_to_global(to)),
                 "r"(smem_address(from)), "r"(bytes)
                 : "memory");
}

DEVICE void tma_store_commit() // closes a group of this thread's stores and reductions
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// At most PENDING groups of this thread still read shared memory: enough to write the buffer again.
template <int PENDING>
DEVICE void tma_store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(PENDING) : "memory");
}

// At most PENDING groups are unfinished: their writes are visible to this thread. wait<0> before the CTA exits.
template <int PENDING>
DEVICE void tma_store_wait()
{
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(PENDING) : "memory");
}
