/* st.async: a store into shared memory of the cluster that an mbarrier counts. Source: PTX ISA, st.async (9.7.9.13). */
#include <string.h>

#include "emu/async_groups.h"
#include "emu/bulk_lower.h"
#include "emu/lowerings.h"

enum { VALUES_MAX = 4 };

struct detail {
    struct bulk_detail copy;
    uint32_t count, element_bytes;
    emu_slot values[VALUES_MAX];
};

static enum emu_result store_lane(const struct emu_actor *actor, const struct detail *detail, uint64_t to,
                                  uint64_t barrier)
{
    struct bulk_copy *copy = bulk_copy_new(actor->warp, actor->op, actor->lane, false);

    copy->bytes = detail->count * detail->element_bytes;
    copy->from.kind = BULK_REGISTERS;
    copy->to.kind = BULK_SHARED;
    copy->buffer = emu_async_allocate(copy->bytes);
    for (uint32_t i = 0; i < detail->count; i++) {
        uint8_t *bytes = copy->buffer + i * detail->element_bytes;
        if (detail->element_bytes == 8)
            memcpy(bytes, &emu_lanes64(actor->warp, detail->values[i])[actor->lane], 8);
        else
            memcpy(bytes, &emu_lanes32(actor->warp, detail->values[i])[actor->lane], 4);
    }
    if (bulk_set_destination(actor, &detail->copy, to, barrier, copy->bytes, copy))
        return bulk_copy_submit(copy);
    bulk_copy_discard(copy);
    return EMU_FAULT;
}

static enum emu_result op_store(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct detail *detail = op->detail;
    uint64_t to[EMU_LANES], barriers[EMU_LANES];
    enum emu_result result = EMU_CONTINUE;

    emu_address_lanes(warp, &detail->copy.destination, to);
    emu_address_lanes(warp, &detail->copy.barrier, barriers);
    for (uint32_t rest = mask; rest && result == EMU_CONTINUE; rest &= rest - 1) {
        struct emu_actor actor = {warp, op, __builtin_ctz(rest)};
        result = store_lane(&actor, detail, to[actor.lane], barriers[actor.lane]);
    }
    return result;
}

/* [to], value or {values}, [barrier] */
bool emu_lower_store_async(struct emu_lower *l)
{
    struct detail *detail = emu_lower_detail(l, sizeof *detail);
    const struct ptx_operand *value = emu_lower_operand(l, 1);
    enum ptx_type type = emu_lower_type(l, 0);

    if (!emu_lower_has(l, PTX_M_MBARRIER_COMPLETE_TX_BYTES))
        return emu_lower_unsupported(l, "st.async without an mbarrier");
    bool vector = value && value->kind == PTX_OPERAND_VECTOR;
    if (!value || type >= PTX_TYPE_COUNT || ptx_type_bits(type) < 32 || ptx_type_bits(type) > 64 ||
        (vector && value->count > VALUES_MAX))
        return emu_lower_refuse(l, "st.async stores one, two or four values of 32 or 64 bits");
    detail->count = vector ? value->count : 1;
    detail->element_bytes = ptx_type_bits(type) / 8;
    detail->copy.mask = EMU_NO_SLOT;
    for (uint32_t i = 0; i < detail->count; i++)
        if (!emu_lower_source(l, vector ? emu_lower_element(l, value, i) : value, type, &detail->values[i]))
            return false;
    if (!emu_lower_address(l, emu_lower_operand(l, 0), &detail->copy.destination) ||
        !emu_lower_address(l, emu_lower_operand(l, 2), &detail->copy.barrier))
        return false;
    emu_lower_add(l, op_store)->detail = detail;
    return true;
}
