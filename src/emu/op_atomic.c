/*
 * atom and red: every operation is one step of the lane, in order of the lanes. Packed and vector forms are atomic per
 * element. Source: PTX ISA, 9.7.13.6 and 9.7.13.7.
 */
#include <math.h>

#include "emu/float_math.h"
#include "emu/hazard.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"

enum { ELEMENTS_MAX = 8 };

enum kind { KIND_ADD, KIND_MIN, KIND_MAX, KIND_INC, KIND_DEC, KIND_AND, KIND_OR, KIND_XOR, KIND_EXCHANGE, KIND_CAS };

struct atomic {
    struct emu_address address;
    enum ptx_space space; /* GLOBAL, SHARED, or PARAM for generic */
    bool any_cta;
    enum kind kind;
    enum ptx_type type;
    uint32_t bytes;
    uint32_t count;
    bool wide;
    bool returns; /* atom */
    emu_slot d[ELEMENTS_MAX], b[ELEMENTS_MAX], c;
};

static uint64_t add_small(enum number_format format, uint64_t x, uint64_t y, unsigned parts)
{
    uint16_t one = (uint16_t)number_encode(format, 1, NUMBER_RN, 0);
    uint64_t value = small_fma(format, (uint16_t)x, one, (uint16_t)y, 0);

    if (parts == 2)
        value |= (uint64_t)small_fma(format, (uint16_t)(x >> 16), one, (uint16_t)(y >> 16), 0) << 16;
    return value;
}

static uint64_t pick_small(enum number_format format, bool least, uint64_t x, uint64_t y, unsigned parts)
{
    uint64_t value = 0;

    for (unsigned part = 0; part < parts; part++) {
        uint32_t p = (uint32_t)(x >> (16 * part)) & 0xffff, q = (uint32_t)(y >> (16 * part)) & 0xffff;
        float a = number_decode(format, p), b = number_decode(format, q);
        float result = least ? f32_min(a, b, false, 0) : f32_max(a, b, false, 0);

        value |= (uint64_t)number_encode(format, (double)result, NUMBER_RN, 0) << (16 * part);
    }
    return value;
}

/* f32 addition in memory flushes subnormals for .shared and .global alike on the hardware's .ftz path only; plain here. */
static uint64_t add(enum ptx_type type, uint64_t x, uint64_t y)
{
    switch (type) {
    case PTX_F32:
        return emu_f32_bits(f32_add(emu_f32((uint32_t)x), emu_f32((uint32_t)y), NUMBER_RN, 0));
    case PTX_F64:
        return emu_f64_bits(emu_f64(x) + emu_f64(y));
    case PTX_F16:
        return add_small(NUMBER_F16, x, y, 1);
    case PTX_F16X2:
        return add_small(NUMBER_F16, x, y, 2);
    case PTX_BF16:
        return add_small(NUMBER_BF16, x, y, 1);
    case PTX_BF16X2:
        return add_small(NUMBER_BF16, x, y, 2);
    default:
        return x + y;
    }
}

static uint64_t pick(enum ptx_type type, bool least, uint64_t x, uint64_t y)
{
    bool less;

    switch (type) {
    case PTX_F16:
        return pick_small(NUMBER_F16, least, x, y, 1);
    case PTX_F16X2:
        return pick_small(NUMBER_F16, least, x, y, 2);
    case PTX_BF16:
        return pick_small(NUMBER_BF16, least, x, y, 1);
    case PTX_BF16X2:
        return pick_small(NUMBER_BF16, least, x, y, 2);
    case PTX_S32:
        less = (int32_t)x < (int32_t)y;
        break;
    case PTX_S64:
        less = (int64_t)x < (int64_t)y;
        break;
    default:
        less = x < y;
        break;
    }
    return less == least ? x : y;
}

static uint64_t apply(const struct atomic *atomic, uint64_t old, uint64_t b, uint64_t c)
{
    switch (atomic->kind) {
    case KIND_ADD:
        return add(atomic->type, old, b);
    case KIND_MIN:
        return pick(atomic->type, true, old, b);
    case KIND_MAX:
        return pick(atomic->type, false, old, b);
    case KIND_INC:
        return old >= b ? 0 : old + 1;
    case KIND_DEC:
        return old == 0 || old > b ? b : old - 1;
    case KIND_AND:
        return old & b;
    case KIND_OR:
        return old | b;
    case KIND_XOR:
        return old ^ b;
    case KIND_CAS:
        return old == b ? c : old;
    case KIND_EXCHANGE:
        break;
    }
    return b;
}

static uint8_t *resolve(struct emu_warp *warp, const struct emu_op *op, const struct atomic *atomic, int lane,
                        uint64_t address)
{
    uint32_t bytes = atomic->bytes * atomic->count;

    if (atomic->space == PTX_SPACE_GLOBAL)
        return emu_global_bytes(warp, op, lane, address, bytes, bytes, true);
    if (atomic->space == PTX_SPACE_SHARED)
        return emu_shared_bytes(warp, op, lane, address, bytes, bytes, true, atomic->any_cta, NULL);
    return emu_generic_bytes(warp, op, lane, address, bytes, bytes, true);
}

static uint64_t get(const struct emu_warp *warp, const struct atomic *atomic, emu_slot slot, uint32_t lane)
{
    uint64_t value = atomic->wide ? emu_lanes64(warp, slot)[lane] : emu_lanes32(warp, slot)[lane];

    return atomic->bytes < 8 ? value & ((UINT64_C(1) << (8 * atomic->bytes)) - 1) : value;
}

/* One lane. Returns false on a fault; *changed is set when memory is no longer what it was. */
static bool apply_lane(struct emu_warp *warp, const struct emu_op *op, uint32_t lane, uint64_t address, bool *changed)
{
    const struct atomic *atomic = op->detail;
    uint8_t *bytes = resolve(warp, op, atomic, (int)lane, address);
    uint64_t c = atomic->kind == KIND_CAS ? get(warp, atomic, atomic->c, lane) : 0;

    if (!bytes)
        return false;
    for (uint32_t i = 0; i < atomic->count; i++) {
        uint64_t old = 0, value;

        memcpy(&old, bytes + i * atomic->bytes, atomic->bytes);
        value = apply(atomic, old, get(warp, atomic, atomic->b[i], lane), c);
        *changed |= memcmp(&value, bytes + i * atomic->bytes, atomic->bytes) != 0;
        memcpy(bytes + i * atomic->bytes, &value, atomic->bytes);
        if (!atomic->returns)
            continue;
        if (atomic->wide)
            emu_lanes64(warp, atomic->d[i])[lane] = old;
        else
            emu_lanes32(warp, atomic->d[i])[lane] = (uint32_t)old;
    }
    return true;
}

static enum emu_result op_atomic(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct atomic *atomic = op->detail;
    uint64_t addresses[EMU_LANES];
    bool changed = false;

    emu_address_lanes(warp, &atomic->address, addresses);
    EMU_FOR_MASK(lane, mask)
    {
        if (!apply_lane(warp, op, lane, addresses[lane], &changed))
            return EMU_FAULT;
    }
    if (!changed)
        return emu_poll(warp);
    emu_progress(warp);
    hazard_memory_order(warp);
    return EMU_CONTINUE;
}

static bool find_kind(const struct emu_lower *l, enum kind *out)
{
    static const struct {
        uint16_t word;
        enum kind kind;
    } words[] = {{PTX_M_ADD, KIND_ADD}, {PTX_M_MIN, KIND_MIN},      {PTX_M_MAX, KIND_MAX}, {PTX_M_INC, KIND_INC},
                 {PTX_M_DEC, KIND_DEC}, {PTX_M_AND, KIND_AND},      {PTX_M_OR, KIND_OR},   {PTX_M_XOR, KIND_XOR},
                 {PTX_M_CAS, KIND_CAS}, {PTX_M_EXCH, KIND_EXCHANGE}};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (emu_lower_has(l, words[i].word)) {
            *out = words[i].kind;
            return true;
        }
    }
    return false;
}

static bool lower_elements(struct emu_lower *l, struct atomic *atomic, const struct ptx_operand *d,
                           const struct ptx_operand *b)
{
    bool vector = b->kind == PTX_OPERAND_VECTOR;

    atomic->count = vector ? b->count : 1;
    if (atomic->count > ELEMENTS_MAX || (d && vector && d->count != b->count))
        return emu_lower_refuse(l, "a vector of %u elements", atomic->count);
    for (uint32_t i = 0; i < atomic->count; i++) {
        const struct ptx_operand *source = vector ? emu_lower_element(l, b, i) : b;
        const struct ptx_operand *target = d && vector ? emu_lower_element(l, d, i) : d;

        if (!emu_lower_source(l, source, atomic->type, &atomic->b[i]) ||
            (target && !emu_lower_target(l, target, atomic->bytes * 8, &atomic->d[i])))
            return false;
    }
    return true;
}

bool emu_lower_atomic(struct emu_lower *l)
{
    struct atomic *atomic = emu_lower_detail(l, sizeof *atomic);
    uint32_t at = l->instruction->opcode == PTX_OP_ATOM ? 1 : 0;
    const struct ptx_operand *d = at ? emu_lower_operand(l, 0) : NULL, *b = emu_lower_operand(l, at + 1);

    if (emu_lower_has(l, PTX_M_ASYNC) || !find_kind(l, &atomic->kind))
        return emu_lower_unsupported(l, NULL);
    atomic->type = emu_lower_type(l, 0);
    if (atomic->type >= PTX_TYPE_COUNT || !b)
        return emu_lower_refuse(l, "a type and a value are expected");
    if (ptx_type_bits(atomic->type) > 64)
        return emu_lower_unsupported(l, "atomics of 128 bits");
    atomic->bytes = ptx_type_bits(atomic->type) / 8;
    atomic->wide = atomic->bytes == 8;
    atomic->returns = at && d->kind != PTX_OPERAND_SINK;
    atomic->any_cta = emu_lower_has(l, PTX_M_SHARED_CLUSTER);
    atomic->space = emu_lower_has(l, PTX_M_GLOBAL) ? PTX_SPACE_GLOBAL
                    : atomic->any_cta || emu_lower_has(l, PTX_M_SHARED) || emu_lower_has(l, PTX_M_SHARED_CTA)
                        ? PTX_SPACE_SHARED
                        : PTX_SPACE_PARAM;
    if (!emu_lower_address(l, emu_lower_operand(l, at), &atomic->address) ||
        !lower_elements(l, atomic, atomic->returns ? d : NULL, b))
        return false;
    if (atomic->kind == KIND_CAS && !emu_lower_source(l, emu_lower_operand(l, at + 2), atomic->type, &atomic->c))
        return false;
    emu_lower_add(l, op_atomic)->detail = atomic;
    return true;
}
