/*
 * The hazard layer: which orders of events the kernel allows, whatever order this run happens to take.
 *
 * Every warp of a cluster has a vector clock: what it knows to have happened. Barriers of all kinds hand clocks on. An
 * asynchronous operation is known to be complete by those who waited for it, or heard from one who did:
 * - a copy into shared memory: the mbarrier's column holds phases that were waited for;
 * - a wgmma: the column of its warpgroup holds products that were waited for;
 * - a copy out of shared memory: the column of its warp holds copies whose sources are known to have been read;
 * - a cp.async: likewise, copies that have landed.
 * Beside it each warp knows which generic writes are visible to the asynchronous proxy: fence.proxy.async makes all that
 * the warp knows of visible, and barriers hand that on too; so the fence may stand at either end.
 *
 * Every 16 bytes of shared memory remember their last writer; a tile that a copy has written is remembered as one, with
 * its tensor map and coordinates. Reads by asynchronous operations are kept in a list per CTA until they are overwritten.
 *
 * Not modelled: races between generic accesses, lanes of a warp among themselves, and synchronisation by global memory
 * other than by strong accesses (taken as ordering everything). Model: PTX ISA, "Memory Consistency Model" and its
 * proxies; in outline as Triton's concurrency sanitizer does it.
 *
 * All functions do nothing for a cluster without `hazards`. Findings are of class hazard or note, so runs go on.
 */
#ifndef PTXBENCH_EMU_HAZARD_H
#define PTXBENCH_EMU_HAZARD_H

#include "emu/bulk_copy.h"
#include "emu/machine.h"
#include "emu/wgmma_queue.h"

struct hazard_sync;

/* For kernels with asynchronous copies or wgmma; aborts when out of memory. */
void hazard_cluster_new(struct emu_cluster *cluster);
void hazard_cluster_free(struct emu_cluster *cluster);

/* The cluster has completed: tells of tiles that were read in part. */
void hazard_cluster_end(struct emu_cluster *cluster);

/* Barriers. `complete`: the waiting warps have been found by the caller, or acquire later. */
void hazard_bar_arrive(struct emu_warp *warp, uint32_t barrier);
void hazard_bar_acquire(struct emu_warp *warp, uint32_t barrier);
void hazard_bar_complete(struct emu_cta *cta, uint32_t barrier); /* after everyone has acquired */
void hazard_cluster_arrive(struct emu_warp *warp);
void hazard_cluster_complete(struct emu_cluster *cluster);
void hazard_cluster_acquire(struct emu_warp *warp);

/* mbarriers. `sync` of the barrier is made at its initialisation and freed with it (free). */
void hazard_mbarrier_init(struct emu_warp *warp, struct hazard_sync **sync);
void hazard_mbarrier_arrive(struct emu_warp *warp, struct hazard_sync *sync);
void hazard_mbarrier_complete(struct emu_cluster *cluster, struct hazard_sync *sync); /* a phase */
void hazard_mbarrier_wait(struct emu_warp *warp, struct hazard_sync *sync, uint64_t phases);
/* Whether the warp is ordered behind the initialisation. */
bool hazard_mbarrier_knows(const struct emu_warp *warp, const struct hazard_sync *sync);

/* Strong and atomic accesses: order everything among themselves. */
void hazard_memory_order(struct emu_warp *warp);

void hazard_fence_proxy(struct emu_warp *warp);

/* Waits: products of the warp's warpgroup, and copies of the warp, of which so many are complete. */
void hazard_products_known(struct emu_warp *warp, uint64_t count);
void hazard_copies_known(struct emu_warp *warp, uint64_t count);
void hazard_copies_async_known(struct emu_warp *warp, uint64_t count); /* cp.async */

/* An access of a lane to shared memory. */
void hazard_access(struct emu_warp *warp, const struct emu_op *op, int lane, struct emu_cta *owner, uint32_t offset,
                   uint32_t bytes, bool write);

/* Something that the warp does to another CTA of the cluster: that CTA must not exit before it knows of it. */
void hazard_remote(struct emu_warp *warp, const struct emu_op *op, struct emu_cta *owner);
void hazard_cta_exit(struct emu_cta *cta);

/* Asynchronous operations when they are issued. hazard_copy_async: a lane of the warp's cp.async number `number`, behind
 * the hazard_access of its write. */
void hazard_copy_async(struct emu_warp *warp, const struct emu_op *op, int lane, uint32_t offset, uint32_t bytes,
                       uint64_t number);
void hazard_copy(struct bulk_copy *copy);
void hazard_product(const struct wgmma_product *product);

/* Whether an operand of a product agrees with the tiles that copies wrote: then it means what its author meant. */
bool hazard_operand_agrees(const struct wgmma_product *product, uint64_t descriptor, bool mn_major);

#endif
