/*
 * cp.async (not bulk): copies of 4, 8 or 16 bytes from global to shared memory, in groups of each thread. The copies of one
 * instruction are one operation of the cluster's queue; those of a warp land in order. Source: PTX ISA, 9.7.9.25.3.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "emu/copy_async.h"
#include "emu/hazard.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/op_move.h"

enum { COPY_BYTES_MAX = 16 };

struct copy {
    struct emu_address to, from;
    uint32_t bytes;      /* written */
    emu_slot read_bytes; /* read, the rest is zero; EMU_NO_SLOT: all of them */
    emu_slot ignore;     /* predicate: read nothing; EMU_NO_SLOT: never */
    bool negated;
};

struct pending {
    struct emu_async_op base;
    uint64_t number; /* in the warp's order */
    uint32_t mask;
    uint32_t bytes;
    uint8_t *to[EMU_LANES];
    const uint8_t *from[EMU_LANES];
    uint32_t read[EMU_LANES];
};

struct copy_state *emu_copy_state(struct emu_warp *warp)
{
    if (!warp->copy_state)
        warp->copy_state = emu_async_allocate(sizeof(struct copy_state));
    return warp->copy_state;
}

static bool copy_is_ready(const struct emu_cluster *cluster, const struct emu_async_op *op)
{
    const struct pending *pending = (const struct pending *)op;
    const struct copy_state *state = op->warp->copy_state;

    (void)cluster;
    return state->order.landed == pending->number;
}

static enum emu_result copy_land(struct emu_cluster *cluster, struct emu_async_op *op)
{
    struct pending *pending = (struct pending *)op;
    struct copy_state *state = op->warp->copy_state;

    (void)cluster;
    EMU_FOR_MASK(lane, pending->mask)
    {
        if (pending->read[lane])
            memcpy(pending->to[lane], pending->from[lane], pending->read[lane]);
        memset(pending->to[lane] + pending->read[lane], 0, pending->bytes - pending->read[lane]);
    }
    state->order.landed++;
    return EMU_CONTINUE;
}

static void copy_describe(const struct emu_async_op *op, struct buffer *out)
{
    const struct pending *pending = (const struct pending *)op;

    buffer_printf(out, "cp.async of %u bytes by %d lanes of warp %u", pending->bytes, __builtin_popcount(pending->mask),
                  op->warp->index);
}

static void copy_release(struct emu_async_op *op)
{
    free(op);
}

static const struct emu_async_class copy_class = {
    .name = "cp.async", .ready = copy_is_ready, .land = copy_land, .describe = copy_describe, .release = copy_release};

/* Resolves and checks the addresses of a lane. */
static bool prepare_lane(struct emu_warp *warp, const struct emu_op *op, struct pending *pending, uint32_t lane,
                         uint64_t to, uint64_t from)
{
    const struct copy *copy = op->detail;
    uint32_t read = copy->bytes;

    if (copy->read_bytes != EMU_NO_SLOT)
        read = emu_lanes32(warp, copy->read_bytes)[lane];
    if (copy->ignore != EMU_NO_SLOT &&
        (emu_predicate(warp, copy->ignore) ^ (copy->negated ? UINT32_MAX : 0)) & emu_lane_bit[lane])
        read = 0;
    if (read > copy->bytes) {
        (void)emu_report(warp, op, (int)lane, EMU_BAD_INSTRUCTION, "cp.async reads %u bytes but writes only %u", read,
                         copy->bytes);
        return false;
    }
    pending->read[lane] = read;
    pending->to[lane] = emu_shared_bytes(warp, op, (int)lane, to, copy->bytes, copy->bytes, true, false, NULL);
    if (!pending->to[lane])
        return false;
    hazard_copy_async(warp, op, (int)lane, (uint32_t)(pending->to[lane] - warp->cta->shared), copy->bytes,
                      pending->number);
    if (!read)
        return true;
    pending->from[lane] = emu_global_bytes(warp, op, (int)lane, from, read, 1, false);
    if (pending->from[lane] && from % copy->bytes) {
        (void)emu_report(warp, op, (int)lane, EMU_MISALIGNED, "cp.async from 0x%" PRIx64 ", no multiple of %u", from,
                         copy->bytes);
        return false;
    }
    return pending->from[lane] != NULL;
}

static enum emu_result op_copy(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct copy *copy = op->detail;
    struct copy_state *state = emu_copy_state(warp);
    struct pending *pending = emu_async_allocate(sizeof *pending);
    uint64_t to[EMU_LANES], from[EMU_LANES];

    *pending = (struct pending){.base = {.class = &copy_class, .warp = warp, .op = op},
                                .number = state->order.issued,
                                .mask = mask,
                                .bytes = copy->bytes};
    emu_address_lanes(warp, &copy->to, to);
    emu_address_lanes(warp, &copy->from, from);
    EMU_FOR_MASK(lane, mask)
    {
        if (!prepare_lane(warp, op, pending, lane, to[lane], from[lane])) {
            free(pending);
            return EMU_FAULT;
        }
    }
    state->order.issued++;
    emu_progress(warp);
    return emu_async_submit(warp->cta->cluster, &pending->base);
}

static enum emu_result op_commit(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct copy_state *state = emu_copy_state(warp);

    (void)op;
    EMU_FOR_MASK(lane, mask)
    async_groups_commit(&state->groups[lane], state->order.issued);
    return EMU_CONTINUE;
}

static bool copies_have_landed(const struct emu_warp *warp, const struct emu_group *group)
{
    const struct copy_state *state = warp->copy_state;

    return state->order.landed >= group->wait.value[0];
}

static void describe_copies(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out)
{
    const struct copy_state *state = warp->copy_state;

    buffer_printf(out, "cp.async: %" PRIu64 " of %" PRIu64 " copies have landed", state->order.landed,
                  group->wait.value[0]);
}

static const struct emu_wait_class wait_copies = {
    .name = "cp.async group", .ready = copies_have_landed, .describe = describe_copies};

/* `immediate`: groups that may be on their way; UINT64_MAX: wait_all, which needs no commit. */
static enum emu_result op_wait_copies(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct copy_state *state = emu_copy_state(warp);
    uint64_t target = 0;

    EMU_FOR_MASK(lane, mask)
    {
        uint64_t own = op->immediate == UINT64_MAX ? state->order.issued
                                                   : async_groups_target(&state->groups[lane], op->immediate);

        target = own > target ? own : target;
    }
    hazard_copies_async_known(warp, target);
    return state->order.landed >= target ? EMU_CONTINUE : emu_wait(warp, &wait_copies, NULL, target, 0);
}

static bool lower_extra(struct emu_lower *l, struct copy *copy)
{
    const struct ptx_operand *extra = emu_lower_operand(l, 3);
    bool policy = emu_lower_has(l, PTX_M_L2_CACHE_HINT);

    copy->read_bytes = copy->ignore = EMU_NO_SLOT;
    if (!extra || (policy && l->instruction->operand_count == 4))
        return true;
    if (emu_lower_register_bits(l, extra) == 1)
        return emu_lower_predicate(l, extra, &copy->ignore, &copy->negated);
    return emu_lower_source(l, extra, PTX_U32, &copy->read_bytes);
}

bool emu_lower_copy(struct emu_lower *l)
{
    struct copy *copy = emu_lower_detail(l, sizeof *copy);
    const struct ptx_operand *size = emu_lower_operand(l, 2);

    if (emu_lower_has(l, PTX_M_COMMIT_GROUP)) {
        emu_lower_add(l, op_commit);
        return true;
    }
    if (emu_lower_has(l, PTX_M_WAIT_ALL) || emu_lower_has(l, PTX_M_WAIT_GROUP)) {
        const struct ptx_operand *count = emu_lower_operand(l, 0);

        emu_lower_add(l, op_wait_copies)->immediate =
            emu_lower_has(l, PTX_M_WAIT_ALL) || !count ? UINT64_MAX : count->bits;
        return true;
    }
    if (emu_lower_has(l, PTX_M_MBARRIER))
        return emu_lower_copy_arrive(l);
    if (!size || size->kind != PTX_OPERAND_IMMEDIATE || (size->bits != 4 && size->bits != 8 && size->bits != 16))
        return emu_lower_refuse(l, "cp.async copies 4, 8 or 16 bytes");
    copy->bytes = (uint32_t)size->bits;
    if (!emu_lower_address(l, emu_lower_operand(l, 0), &copy->to) ||
        !emu_lower_address(l, emu_lower_operand(l, 1), &copy->from) || !lower_extra(l, copy))
        return false;
    emu_lower_add(l, op_copy)->detail = copy;
    return true;
}
