/* Building and taking down the clusters of a grid. */
#include "emu/machine_new.h"

#include <stdlib.h>

#include "emu/hazard.h"
#include "emu/hazard_registers.h"
#include "emu/lanes.h"
#include "emu/op_control.h"

static void fill(uint32_t *row, uint32_t value)
{
    EMU_FOR_LANES(l)
    row[l] = value;
}

static void set_cta_specials(struct emu_cta *cta)
{
    const struct emu_cluster *cluster = cta->cluster;
    const struct emu_grid *grid = cluster->grid;
    const struct emulator_launch *launch = grid->launch;
    uint32_t rank = cta->rank;

    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t width = launch->cluster[axis];
        uint32_t within = rank % width;

        rank /= width;
        cta->id[axis] = cluster->id[axis] * width + within;
        fill(cta->special[EMU_CTA_NTID_X + axis], launch->block[axis]);
        fill(cta->special[EMU_CTA_CTAID_X + axis], cta->id[axis]);
        fill(cta->special[EMU_CTA_NCTAID_X + axis], launch->grid[axis]);
        fill(cta->special[EMU_CTA_CLUSTERID_X + axis], cluster->id[axis]);
        fill(cta->special[EMU_CTA_NCLUSTERID_X + axis], launch->grid[axis] / width);
        fill(cta->special[EMU_CTA_CLUSTER_CTAID_X + axis], within);
        fill(cta->special[EMU_CTA_CLUSTER_NCTAID_X + axis], width);
    }

    uint32_t multiprocessors = (uint32_t)emulator_properties(grid->emulator)->multiprocessors;

    fill(cta->special[EMU_CTA_CLUSTER_CTARANK], cta->rank);
    fill(cta->special[EMU_CTA_CLUSTER_NCTARANK], grid->cluster_ctas);
    fill(cta->special[EMU_CTA_NWARPID], cta->warp_count);
    fill(cta->special[EMU_CTA_SMID], (uint32_t)((cluster->index * grid->cluster_ctas + cta->rank) % multiprocessors));
    fill(cta->special[EMU_CTA_NSMID], multiprocessors);
    fill(cta->special[EMU_CTA_TOTAL_SMEM], grid->shared_bytes - EMU_SHARED_RESERVED);
    fill(cta->special[EMU_CTA_DYNAMIC_SMEM], launch->shared_bytes);
}

static void set_warp_specials(struct emu_warp *warp)
{
    const uint32_t *block = emu_grid_of(warp)->launch->block;

    for (uint32_t l = 0; l < EMU_LANES; l++) {
        uint32_t thread = warp->index * EMU_LANES + l;
        uint32_t bit = emu_lane_bit[l];

        warp->special[EMU_WARP_TID_X][l] = thread % block[0];
        warp->special[EMU_WARP_TID_Y][l] = thread / block[0] % block[1];
        warp->special[EMU_WARP_TID_Z][l] = thread / block[0] / block[1];
        warp->special[EMU_WARP_LANEID][l] = l;
        warp->special[EMU_WARP_LANEMASK_EQ][l] = bit;
        warp->special[EMU_WARP_LANEMASK_LT][l] = bit - 1;
        warp->special[EMU_WARP_LANEMASK_LE][l] = bit | (bit - 1);
        warp->special[EMU_WARP_LANEMASK_GE][l] = ~(bit - 1);
        warp->special[EMU_WARP_LANEMASK_GT][l] = ~(bit | (bit - 1));
        warp->special[EMU_WARP_WARPID][l] = warp->index;
    }
}

static bool warp_init(struct emu_warp *warp, struct emu_cta *cta, uint32_t index)
{
    const struct emu_program *program = cta->cluster->grid->program;
    const struct emu_function *entry = &program->functions[0];
    uint32_t left = cta->threads - index * EMU_LANES;

    warp->cta = cta;
    warp->index = index;
    warp->first_lanes = left >= EMU_LANES ? UINT32_MAX : (1u << left) - 1;
    warp->live = warp->first_lanes;
    set_warp_specials(warp);
    warp->local_bytes = entry->local_bytes;
    if (warp->local_bytes) {
        warp->local = malloc((size_t)EMU_LANES * warp->local_bytes);
        if (!warp->local)
            return false;
        memset(warp->local, 0xff, (size_t)EMU_LANES * warp->local_bytes);
    }
    warp->entry_frame = emu_frame_new(warp, entry, warp->live, NULL, 0);
    if (!warp->entry_frame)
        return false;
    warp->groups[0] = (struct emu_group){.pc = entry->first_op, .mask = warp->live, .frame = warp->entry_frame};
    warp->group_count = 1;
    warp->current = &warp->groups[0];
    warp->base[EMU_BASE_FRAME] = warp->entry_frame->registers;
    warp->base[EMU_BASE_CONSTANT] = (uint8_t *)(uintptr_t)program->constants; /* handlers only read there */
    warp->base[EMU_BASE_WARP] = (uint8_t *)warp->special;
    warp->base[EMU_BASE_CTA] = (uint8_t *)cta->special;
    return true;
}

static bool cta_init(struct emu_cta *cta, struct emu_cluster *cluster, uint32_t rank)
{
    const struct emu_grid *grid = cluster->grid;
    const uint32_t *block = grid->launch->block;

    cta->cluster = cluster;
    cta->rank = rank;
    cta->threads = block[0] * block[1] * block[2];
    cta->live_threads = cta->threads;
    cta->warp_count = (cta->threads + EMU_LANES - 1) / EMU_LANES;
    set_cta_specials(cta);
    cta->shared_bytes = grid->shared_bytes;
    cta->shared = aligned_alloc(1024, (grid->shared_bytes + 1023u) & ~1023u);
    cta->shared_written = calloc((grid->shared_bytes + 63) / 64 + 1, sizeof *cta->shared_written);
    cta->warps = calloc(cta->warp_count, sizeof *cta->warps);
    if (!cta->shared || !cta->shared_written || !cta->warps) {
        cta->warp_count = cta->warps ? cta->warp_count : 0;
        return false;
    }
    memset(cta->shared, 0xff, grid->shared_bytes);
    for (uint32_t i = 0; i < cta->warp_count; i++) {
        if (!warp_init(&cta->warps[i], cta, i))
            return false;
    }
    return true;
}

struct emu_cluster *emu_cluster_new(struct emu_grid *grid, uint64_t index)
{
    const struct emulator_launch *launch = grid->launch;
    struct emu_cluster *cluster = calloc(1, sizeof *cluster);
    uint64_t rest = index;

    if (!cluster)
        return NULL;
    cluster->grid = grid;
    cluster->index = index;
    cluster->async_tail = &cluster->async_head;
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t width = launch->grid[axis] / launch->cluster[axis];

        cluster->id[axis] = (uint32_t)(rest % width);
        rest /= width;
    }
    cluster->ctas = calloc(grid->cluster_ctas, sizeof *cluster->ctas);
    if (!cluster->ctas) {
        free(cluster);
        return NULL;
    }
    cluster->cta_count = grid->cluster_ctas;
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++) {
        if (!cta_init(&cluster->ctas[rank], cluster, rank)) {
            emu_cluster_free(cluster);
            return NULL;
        }
        cluster->live_threads += cluster->ctas[rank].threads;
    }
    if (grid->program->uses_async && !grid->schedule.unchecked)
        hazard_cluster_new(cluster);
    return cluster;
}

static void warp_free(struct emu_warp *warp)
{
    while (warp->frames) {
        struct emu_frame *frame = warp->frames;

        warp->frames = frame->next_owned;
        emu_frame_free(frame);
    }
    free(warp->local);
    free(warp->copy_state);
    hazard_registers_free(warp);
    if (warp->async_state_free)
        warp->async_state_free(warp->async_state);
}

void emu_cluster_free(struct emu_cluster *cluster)
{
    if (!cluster)
        return;
    while (cluster->async_head) {
        struct emu_async_op *op = cluster->async_head;

        cluster->async_head = op->next;
        op->class->release(op);
    }
    hazard_cluster_free(cluster);
    for (uint32_t rank = 0; rank < cluster->cta_count; rank++) {
        struct emu_cta *cta = &cluster->ctas[rank];

        for (uint32_t i = 0; i < cta->warp_count; i++)
            warp_free(&cta->warps[i]);
        if (cta->async_state_free)
            cta->async_state_free(cta->async_state);
        free(cta->warps);
        free(cta->shared);
        free(cta->shared_written);
    }
    free(cluster->ctas);
    free(cluster);
}
