/* Vector clocks, and how barriers hand them on. */
#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/hazard_state.h"

static void clock_init(const struct hazards *hazards, struct hazard_clock *clock)
{
    clock->known = emu_async_allocate((hazards->capacity + hazards->warps) * sizeof *clock->known);
    clock->fenced = clock->known + hazards->capacity;
}

static void clock_clear(const struct hazards *hazards, struct hazard_clock *clock)
{
    memset(clock->known, 0, (hazards->capacity + hazards->warps) * sizeof *clock->known);
}

static void join(const struct hazards *hazards, struct hazard_clock *to, const struct hazard_clock *from)
{
    for (uint32_t i = 0; i < hazards->columns; i++)
        to->known[i] = to->known[i] > from->known[i] ? to->known[i] : from->known[i];
    for (uint32_t i = 0; i < hazards->warps; i++)
        to->fenced[i] = to->fenced[i] > from->fenced[i] ? to->fenced[i] : from->fenced[i];
}

static struct hazard_clock *clock_of(const struct emu_warp *warp)
{
    return &hazards_of(warp)->clocks[hazard_warp_index(warp)];
}

/* What the warp does from now on is not handed on any more. */
static void release(const struct emu_warp *warp, struct hazard_clock *to)
{
    struct hazard_clock *own = clock_of(warp);

    join(hazards_of(warp), to, own);
    own->known[hazard_warp_index(warp)]++;
}

static void acquire(const struct emu_warp *warp, const struct hazard_clock *from)
{
    join(hazards_of(warp), clock_of(warp), from);
}

static void cta_new(const struct emu_cta *cta, struct hazard_cta *state)
{
    uint32_t blocks = (cta->shared_bytes + HAZARD_BLOCK_BYTES - 1) / HAZARD_BLOCK_BYTES;

    state->blocks = emu_async_allocate(blocks * sizeof *state->blocks);
    state->granules = emu_async_allocate(blocks * HAZARD_GRANULES * sizeof *state->granules);
    state->remotes = emu_async_allocate(cta->cluster->hazards->warps * sizeof *state->remotes);
    state->readers = emu_async_allocate(blocks * HAZARD_GRANULES * sizeof *state->readers);
    state->tile_count = 1;
    state->reads_begin = UINT32_MAX;
}

void hazard_cluster_new(struct emu_cluster *cluster)
{
    struct hazards *hazards = emu_async_allocate(sizeof *hazards);

    cluster->hazards = hazards;
    hazards->warps_of_cta = cluster->ctas[0].warp_count;
    hazards->groups_of_cta = (hazards->warps_of_cta + WGMMA_WARPS - 1) / WGMMA_WARPS;
    hazards->warps = cluster->cta_count * hazards->warps_of_cta;
    hazards->columns = 3 * hazards->warps + cluster->cta_count * hazards->groups_of_cta;
    hazards->capacity = hazards->columns + HAZARD_MBARRIERS_MAX;
    hazards->clocks = emu_async_allocate(hazards->warps * sizeof *hazards->clocks);
    hazards->bars = emu_async_allocate(cluster->cta_count * EMU_BARRIERS * sizeof *hazards->bars);
    hazards->ctas = emu_async_allocate(cluster->cta_count * sizeof *hazards->ctas);
    for (uint32_t i = 0; i < hazards->warps; i++) {
        clock_init(hazards, &hazards->clocks[i]);
        hazards->clocks[i].known[i] = 1;
    }
    clock_init(hazards, &hazards->cluster_pending);
    clock_init(hazards, &hazards->cluster_complete);
    clock_init(hazards, &hazards->memory);
    for (uint32_t i = 0; i < cluster->cta_count; i++)
        cta_new(&cluster->ctas[i], &hazards->ctas[i]);
}

void hazard_cluster_free(struct emu_cluster *cluster)
{
    struct hazards *hazards = cluster->hazards;

    if (!hazards)
        return;
    for (uint32_t i = 0; i < hazards->warps; i++)
        free(hazards->clocks[i].known);
    for (uint32_t i = 0; i < cluster->cta_count * EMU_BARRIERS; i++)
        free(hazards->bars[i].known);
    for (uint32_t i = 0; i < cluster->cta_count; i++) {
        free(hazards->ctas[i].blocks);
        free(hazards->ctas[i].granules);
        free(hazards->ctas[i].readers);
        free(hazards->ctas[i].remotes);
        free(hazards->ctas[i].tiles);
    }
    free(hazards->cluster_pending.known);
    free(hazards->cluster_complete.known);
    free(hazards->memory.known);
    free(hazards->clocks);
    free(hazards->bars);
    free(hazards->ctas);
    free(hazards);
    cluster->hazards = NULL;
}

static struct hazard_clock *bar_of(const struct emu_cta *cta, uint32_t barrier)
{
    struct hazards *hazards = cta->cluster->hazards;
    struct hazard_clock *bar = &hazards->bars[cta->rank * EMU_BARRIERS + barrier];

    if (!bar->known)
        clock_init(hazards, bar);
    return bar;
}

void hazard_bar_arrive(struct emu_warp *warp, uint32_t barrier)
{
    if (hazards_of(warp))
        release(warp, bar_of(warp->cta, barrier));
}

void hazard_bar_acquire(struct emu_warp *warp, uint32_t barrier)
{
    if (hazards_of(warp))
        acquire(warp, bar_of(warp->cta, barrier));
}

void hazard_bar_complete(struct emu_cta *cta, uint32_t barrier)
{
    if (cta->cluster->hazards)
        clock_clear(cta->cluster->hazards, bar_of(cta, barrier));
}

void hazard_cluster_arrive(struct emu_warp *warp)
{
    if (hazards_of(warp))
        release(warp, &hazards_of(warp)->cluster_pending);
}

void hazard_cluster_complete(struct emu_cluster *cluster)
{
    struct hazards *hazards = cluster->hazards;

    if (!hazards)
        return;
    join(hazards, &hazards->cluster_complete, &hazards->cluster_pending);
    clock_clear(hazards, &hazards->cluster_pending);
}

void hazard_cluster_acquire(struct emu_warp *warp)
{
    if (hazards_of(warp))
        acquire(warp, &hazards_of(warp)->cluster_complete);
}

static struct hazard_sync *sync_new(struct hazards *hazards)
{
    uint32_t words = hazards->capacity + hazards->warps;
    struct hazard_sync *sync = emu_async_allocate(sizeof *sync + 2 * words * sizeof(uint32_t));

    sync->pending.known = (uint32_t *)(void *)(sync + 1);
    sync->pending.fenced = sync->pending.known + hazards->capacity;
    sync->complete.known = sync->pending.known + words;
    sync->complete.fenced = sync->complete.known + hazards->capacity;
    sync->column = hazards->columns < hazards->capacity ? hazards->columns++ : HAZARD_NO_COLUMN;
    return sync;
}

void hazard_mbarrier_init(struct emu_warp *warp, struct hazard_sync **sync)
{
    struct hazards *hazards = hazards_of(warp);

    if (!hazards)
        return;
    free(*sync); /* initialised again: phases count from 0, in a column of their own */
    *sync = sync_new(hazards);
    (*sync)->warp = hazard_warp_index(warp);
    (*sync)->epoch = clock_of(warp)->known[(*sync)->warp];
}

void hazard_mbarrier_arrive(struct emu_warp *warp, struct hazard_sync *sync)
{
    if (sync)
        release(warp, &sync->pending);
}

void hazard_mbarrier_complete(struct emu_cluster *cluster, struct hazard_sync *sync)
{
    if (!sync)
        return;
    join(cluster->hazards, &sync->complete, &sync->pending);
    clock_clear(cluster->hazards, &sync->pending);
}

void hazard_mbarrier_wait(struct emu_warp *warp, struct hazard_sync *sync, uint64_t phases)
{
    if (!sync)
        return;
    acquire(warp, &sync->complete);
    if (sync->column != HAZARD_NO_COLUMN && clock_of(warp)->known[sync->column] < phases)
        clock_of(warp)->known[sync->column] = (uint32_t)phases;
}

bool hazard_mbarrier_knows(const struct emu_warp *warp, const struct hazard_sync *sync)
{
    return !sync || clock_of(warp)->known[sync->warp] >= sync->epoch;
}

void hazard_memory_order(struct emu_warp *warp)
{
    struct hazards *hazards = hazards_of(warp);

    if (!hazards)
        return;
    acquire(warp, &hazards->memory);
    release(warp, &hazards->memory);
}

void hazard_fence_proxy(struct emu_warp *warp)
{
    struct hazards *hazards = hazards_of(warp);
    struct hazard_clock *own;

    if (!hazards)
        return;
    own = clock_of(warp);
    for (uint32_t i = 0; i < hazards->warps; i++)
        own->fenced[i] = own->known[i];
    own->known[hazard_warp_index(warp)]++;
}

void hazard_remote(struct emu_warp *warp, const struct emu_op *op, struct emu_cta *owner)
{
    uint32_t index;

    if (!hazards_of(warp) || owner == warp->cta)
        return;
    index = hazard_warp_index(warp);
    hazard_cta_of(owner)->remotes[index] =
        (struct hazard_remote){.epoch = clock_of(warp)->known[index], .warp = warp, .op = op};
}

static bool knows_of(const struct emu_cta *cta, uint32_t column, uint32_t epoch)
{
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (clock_of(&cta->warps[i])->known[column] >= epoch)
            return true;
    return false;
}

void hazard_cta_exit(struct emu_cta *cta)
{
    const struct hazards *hazards = cta->cluster->hazards;

    for (uint32_t i = 0; hazards && i < hazards->warps; i++) {
        const struct hazard_remote *remote = &hazard_cta_of(cta)->remotes[i];

        if (remote->epoch && !knows_of(cta, i, remote->epoch))
            (void)emu_report(
                remote->warp, remote->op, -1, EMU_COPY_AFTER_EXIT,
                "CTA %u of the cluster may exit before this reaches its shared memory: none of its threads "
                "waits for it",
                cta->rank);
    }
}

static void raise(struct emu_warp *warp, uint32_t column, uint64_t count)
{
    uint32_t *known = &clock_of(warp)->known[column];

    if (*known < count)
        *known = (uint32_t)count;
}

void hazard_products_known(struct emu_warp *warp, uint64_t count)
{
    if (hazards_of(warp))
        raise(warp, hazard_group_column(warp->cta, warp->index / WGMMA_WARPS), count);
}

void hazard_copies_known(struct emu_warp *warp, uint64_t count)
{
    if (hazards_of(warp))
        raise(warp, hazard_copy_column(warp), count);
}

void hazard_copies_async_known(struct emu_warp *warp, uint64_t count)
{
    if (hazards_of(warp))
        raise(warp, hazard_copy_async_column(warp), count);
}

struct hazard_view hazard_view_of(struct emu_warp *warp, const struct emu_op *op, int lane)
{
    return (struct hazard_view){.clocks = {clock_of(warp)}, .count = 1, .warp = warp, .op = op, .lane = lane};
}

bool hazard_knows(const struct hazard_view *view, uint32_t column, uint32_t epoch)
{
    if (column == HAZARD_NO_COLUMN)
        return true;
    for (uint32_t i = 0; i < view->count; i++)
        if (view->clocks[i]->known[column] >= epoch)
            return true;
    return false;
}

bool hazard_sees(const struct hazard_view *view, uint32_t warp, uint32_t epoch)
{
    for (uint32_t i = 0; i < view->count; i++)
        if (view->clocks[i]->fenced[warp] >= epoch)
            return true;
    return false;
}
