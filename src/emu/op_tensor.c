/*
 * cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and cp.async.bulk.prefetch.tensor in tile mode. Source: PTX ISA,
 * "Tensor copy" (9.7.9.25.5).
 */
#include <inttypes.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/bulk_lower.h"
#include "emu/lower_async.h"

enum { MAP_ALIGNMENT = 64, TILE_ALIGNMENT = 128 };

static bool find_element_type(enum tensor_map_type type, enum bulk_type *out)
{
    switch (type) {
    case TENSOR_MAP_UINT8:
        *out = BULK_U8;
        return true;
    case TENSOR_MAP_UINT16:
        *out = BULK_U16;
        return true;
    case TENSOR_MAP_UINT32:
        *out = BULK_U32;
        return true;
    case TENSOR_MAP_INT32:
        *out = BULK_S32;
        return true;
    case TENSOR_MAP_UINT64:
        *out = BULK_U64;
        return true;
    case TENSOR_MAP_INT64:
        *out = BULK_S64;
        return true;
    case TENSOR_MAP_FLOAT16:
        *out = BULK_F16;
        return true;
    case TENSOR_MAP_BFLOAT16:
        *out = BULK_BF16;
        return true;
    case TENSOR_MAP_FLOAT32:
    case TENSOR_MAP_FLOAT32_FTZ:
        *out = BULK_F32;
        return true;
    case TENSOR_MAP_FLOAT64:
        *out = BULK_F64;
        return true;
    default:
        return false;
    }
}

/* Reads the tensor map at an address: a parameter, constant or global memory. */
static bool load_map(const struct emu_actor *actor, uint64_t address, struct tensor_map *map)
{
    struct error error;

    if (address % MAP_ALIGNMENT) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_TENSOR_MAP,
                         "tensor map address 0x%" PRIx64 " is not aligned to 64 bytes", address);
        return false;
    }
    const uint8_t *bytes = emu_generic_bytes(actor->warp, actor->op, actor->lane, address, TENSOR_MAP_BYTES, 1, false);
    if (!bytes)
        return false;
    if (tensor_map_decode(bytes, map, &error))
        return true;
    (void)emu_report(actor->warp, actor->op, actor->lane, EMU_TENSOR_MAP, "%s", error.message);
    return false;
}

static bool prepare_tile(const struct emu_actor *actor, const struct bulk_detail *detail, const struct tensor_map *map,
                         uint64_t shared, struct tensor_tile *tile)
{
    int32_t coordinates[TENSOR_MAP_MAX_RANK] = {0};
    struct error error;

    if (map->rank != detail->rank) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_TENSOR_MAP,
                         "the instruction has %d coordinates, the tensor map %d dimensions", detail->rank, map->rank);
        return false;
    }
    for (int i = 0; i < detail->rank; i++)
        coordinates[i] = (int32_t)emu_lanes32(actor->warp, detail->coordinates[i])[actor->lane];
    uint32_t offset = (uint32_t)shared & ((1u << EMU_CTA_SHIFT) - 1);
    if (tensor_tile_init(tile, map, coordinates, offset, &error) &&
        (detail->from != BULK_TILE || tensor_tile_check_store(tile, &error)))
        return true;
    (void)emu_report(actor->warp, actor->op, actor->lane, offset % TILE_ALIGNMENT ? EMU_MISALIGNED : EMU_TENSOR_MAP,
                     "%s%s%s", error.message, error.hint[0] ? "; " : "", error.hint);
    return false;
}

static bool set_ends(const struct emu_actor *actor, const struct bulk_detail *detail, uint64_t shared, uint64_t barrier,
                     struct bulk_copy *copy)
{
    copy->from.kind = detail->from;
    copy->to.kind = detail->to;
    copy->bytes = copy->tile->bytes;
    copy->operation = detail->operation;
    if (detail->to == BULK_TILE)
        return bulk_set_destination(actor, detail, shared, barrier, TILE_ALIGNMENT, copy);
    if (detail->operation != BULK_COPY &&
        (!find_element_type(copy->tile->map.type, &copy->type) || !bulk_reduce_allows(detail->operation, copy->type))) {
        (void)emu_report(actor->warp, actor->op, actor->lane, EMU_TENSOR_MAP,
                         "the reduction does not exist for tensor maps of type %s",
                         tensor_map_type_text(copy->tile->map.type));
        return false;
    }
    return bulk_set_source(actor, shared, TILE_ALIGNMENT, copy);
}

static enum emu_result copy_lane(const struct emu_actor *actor, const struct bulk_detail *detail, uint64_t map_address,
                                 uint64_t shared, uint64_t barrier)
{
    struct bulk_copy *copy = bulk_copy_new(actor->warp, actor->op, actor->lane, true);
    struct tensor_map map;

    if (load_map(actor, map_address, &map) && prepare_tile(actor, detail, &map, shared, copy->tile) &&
        set_ends(actor, detail, shared, barrier, copy))
        return bulk_copy_submit(copy);
    bulk_copy_discard(copy);
    return EMU_FAULT;
}

static enum emu_result op_tensor(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct bulk_detail *detail = op->detail;
    uint64_t maps[EMU_LANES], shared[EMU_LANES], barriers[EMU_LANES];
    enum emu_result result = EMU_CONTINUE;

    emu_address_lanes(warp, &detail->map, maps);
    emu_address_lanes(warp, detail->to == BULK_TILE ? &detail->destination : &detail->source, shared);
    emu_address_lanes(warp, detail->has_barrier ? &detail->barrier : &detail->map, barriers);
    for (uint32_t rest = mask; rest && result == EMU_CONTINUE; rest &= rest - 1) {
        struct emu_actor actor = {warp, op, __builtin_ctz(rest)};
        result = copy_lane(&actor, detail, maps[actor.lane], shared[actor.lane], barriers[actor.lane]);
    }
    return result;
}

/* A prefetch of a tile moves nothing, but its operands are checked. */
static enum emu_result op_prefetch(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct bulk_detail *detail = op->detail;
    uint64_t maps[EMU_LANES];

    emu_address_lanes(warp, &detail->map, maps);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        struct emu_actor actor = {warp, op, __builtin_ctz(rest)};
        struct tensor_map map;
        struct tensor_tile tile;
        if (!load_map(&actor, maps[actor.lane], &map) || !prepare_tile(&actor, detail, &map, 0, &tile))
            return EMU_FAULT;
    }
    return EMU_CONTINUE;
}

/* [map, {c0, c1, ...}] */
static bool lower_map(struct emu_lower *l, uint32_t index, struct bulk_detail *detail)
{
    const struct ptx_operand *operand = emu_lower_operand(l, index), *vector;

    if (!emu_lower_address(l, operand, &detail->map))
        return false;
    vector = emu_lower_element(l, operand, 1);
    if (!vector)
        return emu_lower_refuse(l, "[map, {coordinates}] is expected");
    if (vector->kind != PTX_OPERAND_VECTOR) {
        detail->rank = 1;
        return emu_lower_source(l, vector, PTX_S32, &detail->coordinates[0]);
    }
    if (vector->count < 1 || vector->count > TENSOR_MAP_MAX_RANK)
        return emu_lower_refuse(l, "a tensor has 1 to 5 coordinates");
    detail->rank = (int)vector->count;
    for (uint32_t i = 0; i < vector->count; i++)
        if (!emu_lower_source(l, emu_lower_element(l, vector, i), PTX_S32, &detail->coordinates[i]))
            return false;
    return true;
}

static bool check_dimensions(struct emu_lower *l, const struct bulk_detail *detail)
{
    static const uint16_t words[] = {PTX_M_1D, PTX_M_2D, PTX_M_3D, PTX_M_4D, PTX_M_5D};

    for (int i = 0; i < (int)ARRAY_LEN(words); i++)
        if (emu_lower_has(l, words[i]) && detail->rank != i + 1)
            return emu_lower_refuse(l, "%d coordinates for .%dd", detail->rank, i + 1);
    return true;
}

bool emu_lower_tensor(struct emu_lower *l)
{
    static const uint16_t other_modes[] = {PTX_M_IM2COL,         PTX_M_IM2COL_W,     PTX_M_IM2COL_W_128,
                                           PTX_M_IM2COL_NO_OFFS, PTX_M_TILE_GATHER4, PTX_M_TILE_SCATTER4,
                                           PTX_M_CTA_GROUP_2};
    struct bulk_detail *detail = emu_lower_detail(l, sizeof *detail);
    bool prefetch = emu_lower_has(l, PTX_M_PREFETCH), store = emu_lower_space(l, 0) == PTX_M_GLOBAL;
    uint32_t at = 2;

    for (size_t i = 0; i < ARRAY_LEN(other_modes); i++)
        if (emu_lower_has(l, other_modes[i]))
            return emu_lower_unsupported(l, "tensor copies other than .tile");
    detail->mask = EMU_NO_SLOT;
    if (!lower_map(l, store || prefetch ? 0 : 1, detail) || !check_dimensions(l, detail))
        return false;
    if (prefetch) {
        emu_lower_add(l, op_prefetch)->detail = detail;
        return true;
    }
    detail->to = store ? BULK_TENSOR : BULK_TILE;
    detail->from = store ? BULK_TILE : BULK_TENSOR;
    if (!bulk_lower_reduction(l, &detail->operation) ||
        !emu_lower_async_address(l, store ? 1 : 0, store ? &detail->source : &detail->destination))
        return false;
    if (!store && !bulk_lower_barrier(l, &at, detail))
        return false;
    emu_lower_add(l, op_tensor)->detail = detail;
    return true;
}
