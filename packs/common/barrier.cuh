#pragma once
#include "simt.cuh"

// Clusters.

DEVICE uint32_t cluster_rank()
{
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

DEVICE void cluster_arrive() // every thread of every CTA
{
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}

DEVICE void cluster_wait()
{
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

DEVICE void cluster_sync()
{
    cluster_arrive();
    cluster_wait();
}

// The address of the same place in the shared memory of CTA `rank`, for .shared::cluster operands.
DEVICE uint32_t cluster_map(uint32_t address, uint32_t rank)
{
    uint32_t remote;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address), "r"(rank));
    return remote;
}

// mbarrier: 8 bytes in shared memory, 8-byte aligned.

DEVICE void mbarrier_init(uint64_t *barrier, uint32_t arrivals) // one thread; then fence_mbarrier_init and a barrier
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(arrivals) : "memory");
}

DEVICE void mbarrier_invalidate(uint64_t *barrier) // before its memory serves anything else
{
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(smem_address(barrier)) : "memory");
}

// Makes the inits of this thread visible to the async proxy and to the cluster. Follow with __syncthreads, or with
// cluster_sync when another CTA or a multicast uses the barriers.
DEVICE void fence_mbarrier_init()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

DEVICE void mbarrier_arrive(uint64_t *barrier)
{
    asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(smem_address(barrier)) : "memory");
}

// One arrival, and `bytes` that asynchronous copies must deliver before the phase can complete.
DEVICE void mbarrier_arrive_expect(uint64_t *barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [%0], %1;" ::"r"(smem_address(barrier)),
                 "r"(bytes)
                 : "memory");
}

DEVICE void mbarrier_expect(uint64_t *barrier, uint32_t bytes) // bytes without an arrival
{
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(smem_address(barrier)), "r"(bytes)
                 : "memory");
}

// The same on the barrier at the same offset in CTA `rank` of the cluster, which may be this one.
DEVICE void mbarrier_arrive_remote(uint64_t *barrier, uint32_t rank)
{
    asm volatile(
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(cluster_map(smem_address(barrier), rank))
        : "memory");
}

DEVICE void mbarrier_arrive_expect_remote(uint64_t *barrier, uint32_t rank, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(
                     cluster_map(smem_address(barrier), rank)),
                 "r"(bytes)
                 : "memory");
}

DEVICE bool mbarrier_try_wait(uint64_t *barrier, uint32_t parity) // may sleep a while in hardware
{
    uint32_t done;
    asm volatile("{\n.reg .pred p;\n"
                 "mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 p, [%1], %2;\n"
                 "selp.u32 %0, 1, 0, p;\n}"
                 : "=r"(done)
                 : "r"(smem_address(barrier)), "r"(parity)
                 : "memory");
    return done != 0;
}

// Returns when the phase of this parity is complete. The first phase has parity 0; on a fresh barrier parity 1 returns
// at once.
DEVICE void mbarrier_wait(uint64_t *barrier, uint32_t parity)
{
    while (!mbarrier_try_wait(barrier, parity)) {
    }
}

// As mbarrier_wait, and also acquires what other CTAs released by mbarrier_arrive_remote.
DEVICE void mbarrier_wait_cluster(uint64_t *barrier, uint32_t parity)
{
    uint32_t done = 0;
    while (!done) {
        asm volatile("{\n.reg .pred p;\n"
                     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], %2;\n"
                     "selp.u32 %0, 1, 0, p;\n}"
                     : "=r"(done)
                     : "r"(smem_address(barrier)), "r"(parity)
                     : "memory");
    }
}

// Ordinary writes to shared memory before it are seen by TMA, wgmma and tcgen05 after it. Executed by each writing
// thread, then a barrier, then the asynchronous instruction.
DEVICE void fence_proxy_async()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// The same for global memory as well: data that this thread wrote with st.global and TMA will read.
DEVICE void fence_proxy_async_all()
{
    asm volatile("fence.proxy.async;" ::: "memory");
}

// Named barriers 1..15 (0 is __syncthreads). `threads` counts those that sync and those that only arrive.

DEVICE void named_barrier_sync(uint32_t id, uint32_t threads)
{
    asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

DEVICE void named_barrier_arrive(uint32_t id, uint32_t threads)
{
    asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// All CTAs of a grid whose CTAs are all resident (cooperative launch). Both words are 0 before the first launch and
// `arrived` is 0 again behind each use; clear them with cudaMemsetAsync if a launch may have been aborted.
struct GridBarrier {
    unsigned arrived, generation;
};

DEVICE void grid_sync(GridBarrier *barrier, unsigned blocks)
{
    __syncthreads();
    if (threadIdx.x == 0 && threadIdx.y == 0 && threadIdx.z == 0) {
        unsigned mine, now, before;
        // The generation is read before arriving: afterwards the last CTA may already have moved it on.
        asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(mine) : "l"(&barrier->generation) : "memory");
        asm volatile("atom.add.acq_rel.gpu.global.u32 %0, [%1], 1;" : "=r"(before) : "l"(&barrier->arrived) : "memory");
        if (before == blocks - 1) {
            asm volatile("st.relaxed.gpu.global.u32 [%0], 0;" ::"l"(&barrier->arrived) : "memory");
            asm volatile("st.release.gpu.global.u32 [%0], %1;" ::"l"(&barrier->generation), "r"(mine + 1) : "memory");
        } else {
            do {
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(&barrier->generation) : "memory");
            } while (now == mine);
        }
    }
    __syncthreads();
}

// Position in a ring of STAGES buffers, each with a "full" and an "empty" barrier. Producer: mbarrier_wait(empty[stage],
// parity ^ 1), fill, advance. Consumer: mbarrier_wait(full[stage], parity), use, arrive on empty[stage], advance.
template <int STAGES>
struct Ring {
    int stage = 0;
    uint32_t parity = 0;

    DEVICE void advance()
    {
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1;
        }
    }
};
