/*
 * cp.async.bulk, cp.reduce.async.bulk, cp.async.bulk.prefetch and the bulk groups, without tensor maps. Source: PTX
 * ISA, "Data Movement and Conversion Instructions: Bulk copy" (9.7.9.25.4).
 */
#include <inttypes.h>

#include "emu/async_groups.h"
#include "emu/bulk_copy.h"
#include "emu/bulk_lower.h"
#include "emu/hazard.h"
#include "emu/lower_async.h"
#include "emu/lowerings.h"

enum { BULK_ALIGNMENT = 16 };

static bool is_space(uint16_t word)
{
    return word == PTX_M_GLOBAL || word == PTX_M_SHARED || word == PTX_M_SHARED_CTA || word == PTX_M_SHARED_CLUSTER;
}

uint16_t emu_lower_space(const struct emu_lower *l, uint32_t nth)
{
    for (uint32_t i = 0; i < l->instruction->modifier_count; i++) {
        uint16_t word = l->ptx->words[l->instruction->first_modifier + i];
        if (is_space(word) && nth-- == 0)
            return word;
    }
    return 0;
}

bool bulk_lower_reduction(struct emu_lower *l, enum bulk_operation *operation)
{
    static const struct {
        uint16_t word;
        enum bulk_operation operation;
    } rows[] = {{PTX_M_ADD, BULK_ADD}, {PTX_M_MIN, BULK_MIN}, {PTX_M_MAX, BULK_MAX}, {PTX_M_INC, BULK_INC},
                {PTX_M_DEC, BULK_DEC}, {PTX_M_AND, BULK_AND}, {PTX_M_OR, BULK_OR},   {PTX_M_XOR, BULK_XOR}};

    *operation = BULK_COPY;
    if (!emu_lower_has(l, PTX_M_REDUCE))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (emu_lower_has(l, rows[i].word))
            *operation = rows[i].operation;
    return *operation != BULK_COPY || emu_lower_refuse(l, "the reduction has no operation");
}

static bool find_type(enum ptx_type type, enum bulk_type *out)
{
    static const struct {
        enum ptx_type type;
        enum bulk_type bulk;
    } rows[] = {{PTX_F16, BULK_F16}, {PTX_BF16, BULK_BF16}, {PTX_F32, BULK_F32}, {PTX_F64, BULK_F64},
                {PTX_B32, BULK_U32}, {PTX_U32, BULK_U32},   {PTX_S32, BULK_S32}, {PTX_B64, BULK_U64},
                {PTX_U64, BULK_U64}, {PTX_S64, BULK_S64}};

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].type == type) {
            *out = rows[i].bulk;
            return true;
        }
    return false;
}

bool bulk_lower_barrier(struct emu_lower *l, uint32_t *at, struct bulk_detail *detail)
{
    bool masked = emu_lower_has(l, PTX_M_MULTICAST_CLUSTER);

    detail->has_barrier = true;
    if (!emu_lower_async_address(l, (*at)++, &detail->barrier))
        return false;
    detail->mask = EMU_NO_SLOT;
    return !masked || emu_lower_source(l, emu_lower_operand(l, (*at)++), PTX_U16, &detail->mask);
}

/* CTAs that a copy into shared memory goes to; 0 after a finding. */
static uint32_t target_ctas(const struct emu_actor *actor, const struct bulk_detail *detail, const struct emu_cta *cta)
{
    uint32_t count = cta->cluster->cta_count;

    if (detail->mask == EMU_NO_SLOT)
        return 1u << cta->rank;
    uint32_t ctas = emu_lanes32(actor->warp, detail->mask)[actor->lane] & 0xffff;
    if (ctas && ctas >> count == 0)
        return ctas;
    (void)emu_report(actor->warp, actor->op, actor->lane, EMU_ASYNC_OPERAND,
                     "multicast mask 0x%x, but the cluster has %u CTAs", ctas, count);
    return 0;
}

bool bulk_set_destination(const struct emu_actor *actor, const struct bulk_detail *detail, uint64_t address,
                          uint64_t barrier, uint32_t align, struct bulk_copy *copy)
{
    struct emu_cta *cta = emu_async_locate(actor, address, false, true, bulk_copy_shared_bytes(copy), align,
                                           "destination of the copy", &copy->to.offset);
    struct emu_cta *owner =
        emu_async_locate(actor, barrier, false, true, MBARRIER_BYTES, MBARRIER_BYTES, "mbarrier", &copy->barrier);

    if (!cta || !owner)
        return false;
    if (cta != owner) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_ASYNC_OPERAND,
                         "the destination is in CTA %u and the mbarrier in CTA %u: both must be in the same CTA",
                         cta->rank, owner->rank);
        return false;
    }
    copy->has_barrier = true;
    copy->to.ctas = target_ctas(actor, detail, cta);
    for (uint32_t left = copy->to.ctas; left; left &= left - 1)
        if (!emu_mbarrier_at(actor, &cta->cluster->ctas[__builtin_ctz(left)], copy->barrier, "the copy counts"))
            return false;
    return copy->to.ctas != 0;
}

bool bulk_set_source(const struct emu_actor *actor, uint64_t address, uint32_t align, struct bulk_copy *copy)
{
    struct emu_cta *cta = emu_async_locate(actor, address, false, false, bulk_copy_shared_bytes(copy), align,
                                           "source of the copy", &copy->from.offset);

    if (!cta)
        return false;
    copy->from.ctas = 1u << cta->rank;
    return true;
}

static bool check_global(const struct emu_actor *actor, uint64_t address, const char *what)
{
    if (address % BULK_ALIGNMENT == 0)
        return true;
    (void)emu_report(actor->warp, actor->op, actor->lane, EMU_MISALIGNED,
                     "%s address 0x%" PRIx64 " of the copy is not aligned to 16 bytes", what, address);
    return false;
}

struct addresses {
    uint64_t to[EMU_LANES], from[EMU_LANES], barrier[EMU_LANES];
};

static enum emu_result copy_lane(const struct emu_actor *actor, const struct bulk_detail *detail,
                                 const struct addresses *addresses)
{
    struct bulk_copy *copy = bulk_copy_new(actor->warp, actor->op, actor->lane, false);
    int lane = actor->lane;
    bool ok = true;

    copy->bytes = emu_lanes32(actor->warp, detail->size)[lane];
    copy->operation = detail->operation;
    copy->type = detail->type;
    copy->from = (struct bulk_end){.kind = detail->from, .address = addresses->from[lane]};
    copy->to = (struct bulk_end){.kind = detail->to, .address = addresses->to[lane]};
    if (copy->bytes % BULK_ALIGNMENT) {
        (void)emu_report(actor->warp, actor->op, lane, EMU_ASYNC_OPERAND,
                         "size %u of the copy is not a multiple of 16 bytes", copy->bytes);
        ok = false;
    }
    if (ok && detail->from == BULK_SHARED)
        ok = bulk_set_source(actor, addresses->from[lane], BULK_ALIGNMENT, copy);
    else if (ok)
        ok = check_global(actor, addresses->from[lane], "source");
    if (ok && detail->to == BULK_SHARED)
        ok = bulk_set_destination(actor, detail, addresses->to[lane], addresses->barrier[lane], BULK_ALIGNMENT, copy);
    else if (ok)
        ok = check_global(actor, addresses->to[lane], "destination");
    if (ok)
        return bulk_copy_submit(copy);
    bulk_copy_discard(copy);
    return EMU_FAULT;
}

static enum emu_result op_copy(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct bulk_detail *detail = op->detail;
    struct addresses addresses;
    enum emu_result result = EMU_CONTINUE;

    emu_address_lanes(warp, &detail->destination, addresses.to);
    emu_address_lanes(warp, &detail->source, addresses.from);
    emu_address_lanes(warp, &detail->barrier, addresses.barrier);
    for (uint32_t rest = mask; rest && result == EMU_CONTINUE; rest &= rest - 1) {
        struct emu_actor actor = {warp, op, __builtin_ctz(rest)};
        result = copy_lane(&actor, detail, &addresses);
    }
    return result;
}

static enum emu_result op_commit(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct async_warp *state = emu_async_warp(warp);

    (void)op;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        async_groups_commit(&state->bulk_groups[__builtin_ctz(rest)], state->bulk.issued);
    return EMU_CONTINUE;
}

static bool groups_are_complete(const struct emu_warp *warp, const struct emu_group *group)
{
    const struct async_order *bulk = group->wait.object;

    (void)warp;
    return bulk->landed >= group->wait.value[0] && bulk->read >= group->wait.value[1];
}

static void describe_groups(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out)
{
    const struct async_order *bulk = group->wait.object;

    (void)warp;
    (void)buffer_printf(out,
                        "bulk groups: copies complete %" PRIu64 " of %" PRIu64 ", sources read %" PRIu64 " of %" PRIu64,
                        bulk->landed, group->wait.value[0], bulk->read, group->wait.value[1]);
}

static const struct emu_wait_class wait_groups = {
    .name = "bulk groups", .ready = groups_are_complete, .describe = describe_groups};

/* immediate: groups that may be pending; target: .read */
static enum emu_result op_wait(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    struct async_warp *state = emu_async_warp(warp);
    uint64_t count = 0;

    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint64_t lane = async_groups_target(&state->bulk_groups[__builtin_ctz(rest)], op->immediate);
        count = lane > count ? lane : count;
    }
    uint64_t landed = op->target ? 0 : count;
    hazard_copies_known(warp, count);
    if (state->bulk.landed >= landed && state->bulk.read >= count)
        return EMU_CONTINUE;
    return emu_wait(warp, &wait_groups, &state->bulk, landed, count);
}

/* [to], [from], size, [barrier] {, mask} {, cache policy} */
static bool lower_copy(struct emu_lower *l)
{
    struct bulk_detail *detail = emu_lower_detail(l, sizeof *detail);
    uint16_t to = emu_lower_space(l, 0), from = emu_lower_space(l, 1);
    uint32_t at = 3;

    if (emu_lower_has(l, PTX_M_CP_MASK) || emu_lower_has(l, PTX_M_IGNORE_OOB))
        return emu_lower_unsupported(l, "byte masks");
    detail->to = to == PTX_M_GLOBAL ? BULK_GLOBAL : BULK_SHARED;
    detail->from = from == PTX_M_GLOBAL ? BULK_GLOBAL : BULK_SHARED;
    if (!to || !from || (detail->to == BULK_GLOBAL && detail->from == BULK_GLOBAL))
        return emu_lower_refuse(l, "a bulk copy has one end in shared memory");
    if (!bulk_lower_reduction(l, &detail->operation) || !emu_lower_async_address(l, 0, &detail->destination) ||
        !emu_lower_async_address(l, 1, &detail->source) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), PTX_U32, &detail->size))
        return false;
    if (detail->operation != BULK_COPY &&
        (!find_type(emu_lower_type(l, 0), &detail->type) || !bulk_reduce_allows(detail->operation, detail->type)))
        return emu_lower_refuse(l, "the reduction does not exist for this type");
    if (detail->to == BULK_SHARED) {
        if (!bulk_lower_barrier(l, &at, detail))
            return false;
    } else {
        detail->barrier = detail->destination;
    }
    emu_lower_add(l, op_copy)->detail = detail;
    return true;
}

static bool lower_wait(struct emu_lower *l)
{
    const struct ptx_operand *pending = emu_lower_operand(l, 0);

    if (!pending || pending->kind != PTX_OPERAND_IMMEDIATE)
        return emu_lower_refuse(l, "wait_group needs a constant");
    struct emu_op *op = emu_lower_add(l, op_wait);
    op->immediate = pending->bits;
    op->target = emu_lower_has(l, PTX_M_READ);
    return true;
}

bool emu_lower_cp(struct emu_lower *l)
{
    if (!emu_lower_has(l, PTX_M_BULK))
        return emu_lower_copy(l);
    if (emu_lower_has(l, PTX_M_COMMIT_GROUP)) {
        (void)emu_lower_add(l, op_commit);
        return true;
    }
    if (emu_lower_has(l, PTX_M_WAIT_GROUP))
        return lower_wait(l);
    if (emu_lower_has(l, PTX_M_PREFETCH) && !emu_lower_has(l, PTX_M_TENSOR))
        return emu_lower_no_effect(l);
    return emu_lower_has(l, PTX_M_TENSOR) ? emu_lower_tensor(l) : lower_copy(l);
}
