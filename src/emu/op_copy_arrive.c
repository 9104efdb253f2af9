/*
 * cp.async.mbarrier.arrive: an arrival that waits for the earlier cp.async of its thread. It is one more operation in
 * the order of the warp's copies. Source: PTX ISA, 9.7.13.15.17.
 */
#include <stdlib.h>

#include "emu/copy_async.h"
#include "emu/hazard.h"

struct detail {
    struct emu_address barrier;
    bool generic, no_increment;
};

/* The arrivals of the lanes of one instruction. */
struct arrival {
    struct emu_async_op async;
    uint64_t number; /* in the order of the warp */
    uint32_t mask;
    uint32_t offset[EMU_LANES]; /* in the CTA */
};

static bool arrival_is_ready(const struct emu_cluster *cluster, const struct emu_async_op *op)
{
    (void)cluster;
    return emu_copy_state(op->warp)->order.landed == ((const struct arrival *)op)->number;
}

static enum emu_result arrival_land(struct emu_cluster *cluster, struct emu_async_op *op)
{
    const struct arrival *arrival = (const struct arrival *)op;
    enum emu_result result = EMU_CONTINUE;

    (void)cluster;
    hazard_copies_async_known(op->warp, arrival->number);
    for (uint32_t rest = arrival->mask; rest && result == EMU_CONTINUE; rest &= rest - 1) {
        struct emu_actor actor = {op->warp, op->op, __builtin_ctz(rest)};
        result = emu_mbarrier_arrive(&actor, op->warp->cta, arrival->offset[actor.lane], 1, false, NULL);
    }
    emu_copy_state(op->warp)->order.landed++;
    return result;
}

static void arrival_describe(const struct emu_async_op *op, struct buffer *out)
{
    (void)buffer_printf(out, "cp.async.mbarrier.arrive of lanes 0x%08x of warp %u", ((const struct arrival *)op)->mask,
                        op->warp->index);
}

static void arrival_release(struct emu_async_op *op)
{
    free(op);
}

static const struct emu_async_class arrival_class = {.name = "cp.async.mbarrier.arrive",
                                                     .ready = arrival_is_ready,
                                                     .land = arrival_land,
                                                     .describe = arrival_describe,
                                                     .release = arrival_release};

/* Finds the barrier of a lane, and counts the arrival that is to come unless .noinc says that it is counted already. */
static bool prepare_lane(const struct emu_actor *actor, const struct detail *detail, uint64_t address, uint32_t *offset)
{
    struct emu_cta *cta =
        emu_async_locate(actor, address, detail->generic, false, MBARRIER_BYTES, MBARRIER_BYTES, "mbarrier", offset);

    if (!cta)
        return false;
    return detail->no_increment ? emu_mbarrier_at(actor, cta, *offset, "cp.async.mbarrier.arrive") != NULL
                                : emu_mbarrier_add_pending(actor, cta, *offset) == EMU_CONTINUE;
}

static enum emu_result op_arrive(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct detail *detail = op->detail;
    struct arrival *arrival = emu_async_allocate(sizeof *arrival);
    uint64_t addresses[EMU_LANES];

    arrival->async = (struct emu_async_op){.class = &arrival_class, .warp = warp, .op = op};
    arrival->mask = mask;
    emu_address_lanes(warp, &detail->barrier, addresses);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        struct emu_actor actor = {warp, op, __builtin_ctz(rest)};
        if (!prepare_lane(&actor, detail, addresses[actor.lane], &arrival->offset[actor.lane])) {
            free(arrival);
            return EMU_FAULT;
        }
    }
    arrival->number = emu_copy_state(warp)->order.issued++;
    return emu_async_submit(warp->cta->cluster, &arrival->async);
}

bool emu_lower_copy_arrive(struct emu_lower *l)
{
    struct detail *detail = emu_lower_detail(l, sizeof *detail);

    detail->no_increment = emu_lower_has(l, PTX_M_NOINC);
    detail->generic = !emu_lower_has(l, PTX_M_SHARED) && !emu_lower_has(l, PTX_M_SHARED_CTA);
    if (!emu_lower_address(l, emu_lower_operand(l, 0), &detail->barrier))
        return false;
    if (detail->barrier.relative != EMU_ADDRESS_PLAIN)
        detail->generic = false;
    emu_lower_add(l, op_arrive)->detail = detail;
    return true;
}
