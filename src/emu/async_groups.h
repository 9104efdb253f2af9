/*
 * What warps and CTAs remember about asynchronous operations: how many a warp has issued and how many of them have
 * landed, where its commit_groups lie in that order, the mbarriers of a CTA and its warpgroups.
 *
 * Operations of one order (cp.async of a warp, bulk stores of a warp, wgmma of a warpgroup) land in order of issue, so
 * a group is complete when a number of operations has landed. Waits beyond ASYNC_GROUPS_MAX groups wait for more than
 * they need.
 */
#ifndef PTXBENCH_EMU_ASYNC_GROUPS_H
#define PTXBENCH_EMU_ASYNC_GROUPS_H

#include <stddef.h>
#include <stdint.h>

#include "emu/machine.h"
#include "emu/mbarrier_table.h"

enum { ASYNC_GROUPS_MAX = 32 };

/* Operations, in order. */
struct async_order {
    uint64_t issued;
    uint64_t read;   /* have read their sources */
    uint64_t landed; /* are complete */
};

/* The commit_groups of one lane, or of one warp. */
struct async_groups {
    uint64_t count;
    uint64_t boundary[ASYNC_GROUPS_MAX]; /* operations issued before the commit; a ring */
};

struct async_warp {
    struct async_order bulk; /* cp.async.bulk with .bulk_group */
    struct async_groups bulk_groups[EMU_LANES];
    uint64_t wgmma_issued;
    struct async_groups wgmma_groups;
};

struct async_warpgroup; /* wgmma_queue.h */

struct async_cta {
    struct mbarrier_table mbarriers;
    struct async_warpgroup **warpgroups; /* [warpgroup_count]; NULL until used */
    uint32_t warpgroup_count;
};

/* Of a warp or a CTA; made at the first call, freed with it by way of its async_state_free. */
struct async_warp *emu_async_warp(struct emu_warp *warp);
struct async_cta *emu_async_cta(struct emu_cta *cta);

void async_groups_commit(struct async_groups *groups, uint64_t issued);

/* How many operations must have landed so that at most `pending` of the last groups are not complete. */
uint64_t async_groups_target(const struct async_groups *groups, uint64_t pending);

/* Zeroed memory of bounded size; aborts when there is none, as an arena does. */
void *emu_async_allocate(size_t bytes);

#endif
