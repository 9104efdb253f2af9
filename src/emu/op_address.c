/* cvta, isspacep, mapa, getctarank: addresses between spaces and CTAs. */
#include <inttypes.h>

#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/op_move.h"

enum window { WINDOW_NONE, WINDOW_SHARED, WINDOW_LOCAL };

/* `immediate`: added to the address, modulo the width of the result. */
static enum emu_result op_convert_address(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint64_t *a = emu_lanes64(warp, op->a);
    uint64_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = a[l] + op->immediate;
    emu_commit64(emu_lanes64(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

static enum window window_of(const struct emu_lower *l)
{
    if (emu_lower_has(l, PTX_M_SHARED) || emu_lower_has(l, PTX_M_SHARED_CTA) || emu_lower_has(l, PTX_M_SHARED_CLUSTER))
        return WINDOW_SHARED;
    return emu_lower_has(l, PTX_M_LOCAL) ? WINDOW_LOCAL : WINDOW_NONE;
}

/* Global, constant and parameter addresses are generic addresses as they are. */
bool emu_lower_cvta(struct emu_lower *l)
{
    enum window window = window_of(l);
    uint64_t offset = window == WINDOW_SHARED  ? emu_shared_to_generic(l->space, 0)
                      : window == WINDOW_LOCAL ? emu_local_to_generic(l->space, 0)
                                               : 0;
    emu_slot d, a;

    if (ptx_type_bits(emu_lower_type(l, 0)) != 64)
        return emu_lower_unsupported(l, "32-bit generic addresses");
    if (!emu_lower_source(l, emu_lower_operand(l, 1), PTX_U64, &a) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), 64, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, offset ? op_convert_address : emu_op_mov64);

    op->d = d;
    op->a = a;
    op->immediate = emu_lower_has(l, PTX_M_TO) ? UINT64_C(0) - offset : offset;
    return true;
}

/* `immediate`: enum window; `target`: any CTA of the cluster. */
static enum emu_result op_is_space(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct emu_space *space = emu_grid_of(warp)->space;
    const uint64_t *a = emu_lanes64(warp, op->a);
    uint32_t bits = 0;

    EMU_FOR_LANES(l)
    {
        bool shared = emu_is_shared(space, a[l]), local = emu_is_local(space, a[l]);
        bool own = shared && (a[l] - space->base) >> EMU_CTA_SHIFT == warp->cta->rank;
        bool is = op->immediate == WINDOW_SHARED  ? (op->target ? shared : own)
                  : op->immediate == WINDOW_LOCAL ? local
                                                  : !shared && !local;

        bits |= is ? emu_lane_bit[l] : 0;
    }
    emu_set_predicate(warp, op->d, bits, mask);
    return EMU_CONTINUE;
}

bool emu_lower_isspacep(struct emu_lower *l)
{
    emu_slot d, a;

    if (emu_lower_has(l, PTX_M_CONST) || emu_lower_has(l, PTX_M_PARAM))
        return emu_lower_unsupported(l, "constant and parameter memory are not told from global memory");
    if (!emu_lower_source(l, emu_lower_operand(l, 1), PTX_U64, &a) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), 1, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, op_is_space);

    op->d = d;
    op->a = a;
    op->immediate = window_of(l);
    op->target = emu_lower_has(l, PTX_M_SHARED_CLUSTER);
    return true;
}

static uint64_t get(const struct emu_warp *warp, emu_slot slot, bool wide, uint32_t lane)
{
    return wide ? emu_lanes64(warp, slot)[lane] : emu_lanes32(warp, slot)[lane];
}

static void put(const struct emu_warp *warp, emu_slot slot, bool wide, uint32_t lane, uint64_t value)
{
    if (wide)
        emu_lanes64(warp, slot)[lane] = value;
    else
        emu_lanes32(warp, slot)[lane] = (uint32_t)value;
}

/* `immediate`: 64-bit lanes; `target`: generic addresses. */
static enum emu_result op_map_address(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *rank = emu_lanes32(warp, op->b);
    uint64_t base = op->target ? emu_grid_of(warp)->space->base : 0;

    EMU_FOR_MASK(lane, mask)
    {
        uint64_t address = get(warp, op->a, op->immediate, lane) - base;

        if (address >= EMU_SHARED_WINDOW)
            return emu_report(warp, op, (int)lane, EMU_SHARED_OUT_OF_BOUNDS,
                              "mapa of address 0x%" PRIx64 ", which is not in shared memory", address + base);
        if (rank[lane] >= warp->cta->cluster->cta_count)
            return emu_report(warp, op, (int)lane, EMU_BAD_INSTRUCTION, "mapa to CTA %u of a cluster of %u", rank[lane],
                              warp->cta->cluster->cta_count);
        address &= (1u << EMU_CTA_SHIFT) - 1;
        put(warp, op->d, op->immediate, lane, base + (address | (uint64_t)rank[lane] << EMU_CTA_SHIFT));
    }
    return EMU_CONTINUE;
}

bool emu_lower_mapa(struct emu_lower *l)
{
    enum ptx_type type = emu_lower_type(l, 0);
    emu_slot d, a, b;

    if (!emu_lower_source(l, emu_lower_operand(l, 1), type, &a) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), PTX_U32, &b) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), ptx_type_bits(type), &d))
        return false;

    struct emu_op *op = emu_lower_add(l, op_map_address);

    op->d = d;
    op->a = a;
    op->b = b;
    op->immediate = ptx_type_bits(type) == 64;
    op->target = !emu_lower_has(l, PTX_M_SHARED_CLUSTER);
    return true;
}

static enum emu_result op_cta_rank(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint64_t base = op->target ? emu_grid_of(warp)->space->base : 0;

    EMU_FOR_MASK(lane, mask)
    emu_lanes32(warp, op->d)[lane] = (uint32_t)((get(warp, op->a, op->immediate, lane) - base) >> EMU_CTA_SHIFT);
    return EMU_CONTINUE;
}

bool emu_lower_getctarank(struct emu_lower *l)
{
    enum ptx_type type = emu_lower_type(l, 0);
    emu_slot d, a;

    if (!emu_lower_source(l, emu_lower_operand(l, 1), type, &a) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), 32, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, op_cta_rank);

    op->d = d;
    op->a = a;
    op->immediate = ptx_type_bits(type) == 64;
    op->target = !emu_lower_has(l, PTX_M_SHARED_CLUSTER);
    return true;
}
