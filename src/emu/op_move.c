/* mov: copies, packing and unpacking, addresses of variables, special registers. */
#include "emu/op_move.h"

#include "emu/lanes.h"
#include "emu/lowerings.h"

const uint32_t emu_lane_bit[EMU_LANES] = {
#define BIT4(n) 1u << (n), 1u << ((n) + 1), 1u << ((n) + 2), 1u << ((n) + 3)
    BIT4(0), BIT4(4), BIT4(8), BIT4(12), BIT4(16), BIT4(20), BIT4(24), BIT4(28)};

enum emu_result emu_op_nothing(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    (void)warp, (void)op, (void)mask;
    return EMU_CONTINUE;
}

enum emu_result emu_op_mov32(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t *d = emu_lanes32(warp, op->d);
    const uint32_t *a = emu_lanes32(warp, op->a);

    if (d != a)
        emu_commit32(d, a, mask);
    return EMU_CONTINUE;
}

enum emu_result emu_op_mov64(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint64_t *d = emu_lanes64(warp, op->d);
    const uint64_t *a = emu_lanes64(warp, op->a);

    if (d != a)
        emu_commit64(d, a, mask);
    return EMU_CONTINUE;
}

static enum emu_result op_mov_predicate(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t value = emu_predicate(warp, op->a);

    emu_set_predicate(warp, op->d, op->immediate ? ~value : value, mask);
    return EMU_CONTINUE;
}

/* Clocks count the instructions of the grid: they only ever grow. */
static uint64_t read_special(const struct emu_warp *warp, uint64_t special)
{
    struct emu_grid *grid = emu_grid_of(warp);
    uint64_t clock = grid->instructions + 32 * ++grid->clock_reads;

    switch (special) {
    case PTX_SPECIAL_CLOCK:
    case PTX_SPECIAL_CLOCK64:
    case PTX_SPECIAL_GLOBALTIMER:
    case PTX_SPECIAL_GLOBALTIMER_LO:
        return clock;
    case PTX_SPECIAL_CLOCK_HI:
    case PTX_SPECIAL_GLOBALTIMER_HI:
        return clock >> 32;
    case PTX_SPECIAL_GRIDID:
        return 1;
    default:
        return 0;
    }
}

enum emu_result emu_op_special32(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t *d = emu_lanes32(warp, op->d);
    uint32_t value = (uint32_t)read_special(warp, op->immediate);

    EMU_FOR_LANES(l)
    d[l] = mask & emu_lane_bit[l] ? value : d[l];
    return EMU_CONTINUE;
}

enum emu_result emu_op_special64(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint64_t *d = emu_lanes64(warp, op->d);
    uint64_t value = read_special(warp, op->immediate);

    EMU_FOR_LANES(l)
    d[l] = mask & emu_lane_bit[l] ? value : d[l];
    return EMU_CONTINUE;
}

static uint64_t relative_base(const struct emu_warp *warp, enum emu_relative relative)
{
    uint64_t rank = (uint64_t)warp->cta->rank << EMU_CTA_SHIFT;

    switch (relative) {
    case EMU_ADDRESS_STATIC:
        return rank;
    case EMU_ADDRESS_DYNAMIC:
        return rank + emu_grid_of(warp)->dynamic_base;
    case EMU_ADDRESS_LOCAL:
        return warp->current->frame->local_base;
    case EMU_ADDRESS_PLAIN:
        break;
    }
    return 0;
}

void emu_address_lanes(const struct emu_warp *warp, const struct emu_address *address, uint64_t out[EMU_LANES])
{
    uint64_t offset = relative_base(warp, address->relative) + (uint64_t)address->offset;

    if (address->base == EMU_NO_SLOT) {
        EMU_FOR_LANES(l)
        out[l] = offset;
    } else if (address->wide) {
        const uint64_t *base = emu_lanes64(warp, address->base);

        EMU_FOR_LANES(l)
        out[l] = base[l] + offset;
    } else {
        const uint32_t *base = emu_lanes32(warp, address->base);

        EMU_FOR_LANES(l)
        out[l] = (uint32_t)(base[l] + (uint32_t)offset);
    }
}

enum emu_result emu_op_address32(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint64_t addresses[EMU_LANES];
    uint32_t values[EMU_LANES];

    emu_address_lanes(warp, op->detail, addresses);
    EMU_FOR_LANES(l)
    values[l] = (uint32_t)addresses[l];
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

enum emu_result emu_op_address64(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint64_t addresses[EMU_LANES];

    emu_address_lanes(warp, op->detail, addresses);
    emu_commit64(emu_lanes64(warp, op->d), addresses, mask);
    return EMU_CONTINUE;
}

/* d = host address of the entry's parameters + immediate */
static enum emu_result op_parameter_address(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint64_t value = (uintptr_t)emu_grid_of(warp)->parameters + op->immediate;
    uint64_t *d = emu_lanes64(warp, op->d);

    EMU_FOR_LANES(l)
    d[l] = mask & emu_lane_bit[l] ? value : d[l];
    return EMU_CONTINUE;
}

enum { PARTS_MAX = 4 };

/* {p0, p1, ...}: parts from the low bits up; EMU_NO_SLOT for `_`. */
struct parts {
    emu_slot slot[PARTS_MAX];
    uint32_t count;
    unsigned part_bits, whole_bits;
};

static uint64_t part_get(const struct emu_warp *warp, const struct parts *parts, uint32_t part, uint32_t lane)
{
    return parts->part_bits > 32 ? emu_lanes64(warp, parts->slot[part])[lane]
                                 : emu_lanes32(warp, parts->slot[part])[lane];
}

static enum emu_result op_pack(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct parts *parts = op->detail;

    EMU_FOR_MASK(lane, mask)
    {
        uint64_t whole = 0;

        for (uint32_t part = 0; part < parts->count; part++)
            whole |= part_get(warp, parts, part, lane) << (part * parts->part_bits);
        if (parts->whole_bits > 32)
            emu_lanes64(warp, op->d)[lane] = whole;
        else
            emu_lanes32(warp, op->d)[lane] = (uint32_t)whole;
    }
    return EMU_CONTINUE;
}

static enum emu_result op_pack_halves(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *low = emu_lanes32(warp, op->a), *high = emu_lanes32(warp, op->b);
    uint32_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = low[l] | high[l] << 16;
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

static enum emu_result op_pack_words(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *low = emu_lanes32(warp, op->a), *high = emu_lanes32(warp, op->b);
    uint64_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = low[l] | (uint64_t)high[l] << 32;
    emu_commit64(emu_lanes64(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

static enum emu_result op_unpack(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct parts *parts = op->detail;
    uint64_t part_mask = (UINT64_C(1) << parts->part_bits) - 1;
    uint64_t whole[EMU_LANES]; /* a part may be the whole's own register */

    EMU_FOR_LANES(l)
    whole[l] = parts->whole_bits > 32 ? emu_lanes64(warp, op->a)[l] : emu_lanes32(warp, op->a)[l];
    for (uint32_t part = 0; part < parts->count; part++) {
        uint32_t values[EMU_LANES];

        if (parts->slot[part] == EMU_NO_SLOT)
            continue;
        EMU_FOR_LANES(l)
        values[l] = (uint32_t)(whole[l] >> (part * parts->part_bits) & part_mask);
        emu_commit32(emu_lanes32(warp, parts->slot[part]), values, mask);
    }
    return EMU_CONTINUE;
}

static bool lower_parts(struct emu_lower *l, const struct ptx_operand *vector, unsigned whole_bits, bool target,
                        struct parts **out)
{
    static const enum ptx_type types[] = {[1] = PTX_B8, [2] = PTX_B16, [4] = PTX_B32};
    struct parts *parts = emu_lower_detail(l, sizeof *parts);

    if (whole_bits > 64)
        return emu_lower_unsupported(l, "values of 128 bits");
    if (vector->count < 2 || vector->count > PARTS_MAX || whole_bits / vector->count < 8 || vector->count == 3)
        return emu_lower_refuse(l, "%u parts do not make %u bits", vector->count, whole_bits);
    parts->count = vector->count;
    parts->whole_bits = whole_bits;
    parts->part_bits = whole_bits / vector->count;
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct ptx_operand *element = emu_lower_element(l, vector, i);

        if (target && element->kind == PTX_OPERAND_SINK)
            parts->slot[i] = EMU_NO_SLOT;
        else if (target ? !emu_lower_target(l, element, parts->part_bits, &parts->slot[i])
                        : !emu_lower_source(l, element, types[parts->part_bits / 8], &parts->slot[i]))
            return false;
    }
    *out = parts;
    return true;
}

static bool lower_pack(struct emu_lower *l, const struct ptx_operand *d, const struct ptx_operand *vector,
                       unsigned bits)
{
    struct parts *parts;
    emu_slot target;

    if (!lower_parts(l, vector, bits, false, &parts) || !emu_lower_target(l, d, bits, &target))
        return false;

    bool pair = parts->count == 2 && parts->part_bits >= 16;
    struct emu_op *op = emu_lower_add(l, !pair ? op_pack : bits == 64 ? op_pack_words : op_pack_halves);

    op->d = target;
    op->a = parts->slot[0];
    op->b = parts->slot[1];
    op->detail = parts;
    return true;
}

static bool lower_unpack(struct emu_lower *l, const struct ptx_operand *vector, const struct ptx_operand *a,
                         enum ptx_type type)
{
    struct parts *parts;
    emu_slot source;

    if (!lower_parts(l, vector, ptx_type_bits(type), true, &parts) || !emu_lower_source(l, a, type, &source))
        return false;

    struct emu_op *op = emu_lower_add(l, op_unpack);

    op->a = source;
    op->detail = parts;
    return true;
}

static bool lower_mov_predicate(struct emu_lower *l, const struct ptx_operand *d, const struct ptx_operand *a)
{
    emu_slot target, source;
    bool negated;

    if (!emu_lower_target(l, d, 1, &target) || !emu_lower_predicate(l, a, &source, &negated))
        return false;

    struct emu_op *op = emu_lower_add(l, op_mov_predicate);

    op->d = target;
    op->a = source;
    op->immediate = negated;
    return true;
}

static bool lower_parameter_address(struct emu_lower *l, const struct ptx_operand *d, const struct ptx_operand *a)
{
    emu_slot target;

    if (!l->ptx->is_entry)
        return emu_lower_unsupported(l, "the address of a parameter of a function");
    if (!emu_lower_target(l, d, 64, &target))
        return false;

    struct emu_op *op = emu_lower_add(l, op_parameter_address);

    op->d = target;
    op->immediate = l->variable_offset[a->value] + a->bits;
    return true;
}

bool emu_lower_mov(struct emu_lower *l)
{
    const struct ptx_operand *d = emu_lower_operand(l, 0), *a = emu_lower_operand(l, 1);
    enum ptx_type type = emu_lower_type(l, 0);
    emu_slot target, source;

    if (!d || !a || type >= PTX_TYPE_COUNT)
        return emu_lower_refuse(l, "mov needs a type and two operands");
    if (type == PTX_PRED)
        return lower_mov_predicate(l, d, a);
    if (emu_lower_has(l, PTX_M_V2) || emu_lower_has(l, PTX_M_V4))
        return emu_lower_unsupported(l, "vector moves");
    if (d->kind == PTX_OPERAND_VECTOR && a->kind == PTX_OPERAND_VECTOR)
        return emu_lower_refuse(l, "a vector on both sides");
    if (a->kind == PTX_OPERAND_VECTOR)
        return lower_pack(l, d, a, ptx_type_bits(type));
    if (d->kind == PTX_OPERAND_VECTOR)
        return lower_unpack(l, d, a, type);
    if (a->kind == PTX_OPERAND_VARIABLE && l->module->variables[a->value].space == PTX_SPACE_PARAM)
        return lower_parameter_address(l, d, a);
    if (!emu_lower_source(l, a, type, &source) || !emu_lower_target(l, d, ptx_type_bits(type), &target))
        return false;

    struct emu_op *op = emu_lower_add(l, ptx_type_bits(type) > 32 ? emu_op_mov64 : emu_op_mov32);

    op->d = target;
    op->a = source;
    return true;
}
