#include "emu/async_groups.h"

#include <stdio.h>
#include <stdlib.h>

#include "emu/wgmma_queue.h"

void *emu_async_allocate(size_t bytes)
{
    void *memory = calloc(1, bytes);

    if (!memory) {
        (void)fprintf(stderr, "emulator: out of memory for %zu bytes of asynchronous state\n", bytes);
        abort();
    }
    return memory;
}

static void free_cta(void *state)
{
    struct async_cta *cta = state;

    mbarrier_table_clear(&cta->mbarriers);
    for (uint32_t i = 0; i < cta->warpgroup_count; i++)
        async_warpgroup_free(cta->warpgroups[i]);
    free(cta->warpgroups);
    free(cta);
}

struct async_warp *emu_async_warp(struct emu_warp *warp)
{
    if (!warp->async_state) {
        warp->async_state = emu_async_allocate(sizeof(struct async_warp));
        warp->async_state_free = free;
    }
    return warp->async_state;
}

struct async_cta *emu_async_cta(struct emu_cta *cta)
{
    if (!cta->async_state) {
        struct async_cta *state = emu_async_allocate(sizeof *state);
        state->warpgroup_count = (cta->warp_count + 3) / 4;
        state->warpgroups = emu_async_allocate(state->warpgroup_count * sizeof(struct async_warpgroup *));
        cta->async_state = state;
        cta->async_state_free = free_cta;
    }
    return cta->async_state;
}

void async_groups_commit(struct async_groups *groups, uint64_t issued)
{
    groups->boundary[groups->count++ % ASYNC_GROUPS_MAX] = issued;
}

uint64_t async_groups_target(const struct async_groups *groups, uint64_t pending)
{
    if (pending >= groups->count)
        return 0;
    if (pending >= ASYNC_GROUPS_MAX)
        pending = ASYNC_GROUPS_MAX - 1;
    return groups->boundary[(groups->count - 1 - pending) % ASYNC_GROUPS_MAX];
}
