/* ld, st, prefetch: all spaces, vectors. Cache operators have no effect; all accesses are sequentially consistent. */
#include <inttypes.h>

#include "emu/hazard.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"
#include "emu/op_move.h"

enum access_space {
    SPACE_GENERIC,
    SPACE_GLOBAL,
    SPACE_SHARED, /* shared::cta */
    SPACE_SHARED_CLUSTER,
    SPACE_LOCAL,
    SPACE_FRAME /* parameters of calls: address is an offset in the frame's parameter memory */
};

enum { ELEMENTS_MAX = 8 };

struct access {
    struct emu_address address;
    enum access_space space;
    uint32_t bytes; /* of an element: 1, 2, 4, 8 */
    uint32_t count; /* elements */
    bool sign;      /* extend on load */
    bool lanes64;   /* registers have 64-bit lanes */
    bool strong;    /* volatile, relaxed, acquire: others may change it */
    uint32_t keep;  /* of a 32-bit lane: 0xffff for 16-bit registers */
    emu_slot slots[ELEMENTS_MAX];
};

static uint8_t *access_bytes(struct emu_warp *warp, const struct emu_op *op, const struct access *access, int lane,
                             uint64_t address, bool write)
{
    uint32_t bytes = access->bytes * access->count;

    switch (access->space) {
    case SPACE_GLOBAL:
        return emu_global_bytes(warp, op, lane, address, bytes, bytes, write);
    case SPACE_SHARED:
        return emu_shared_bytes(warp, op, lane, address, bytes, bytes, write, false, NULL);
    case SPACE_SHARED_CLUSTER:
        return emu_shared_bytes(warp, op, lane, address, bytes, bytes, write, true, NULL);
    case SPACE_LOCAL:
        return emu_local_bytes(warp, op, lane, address, bytes, bytes);
    case SPACE_FRAME: {
        const struct emu_frame *frame = warp->current->frame;
        uint32_t size = frame->function->parameter_bytes;

        if (address <= size && bytes <= size - address)
            return frame->parameters + (size_t)lane * size + address;
        (void)emu_report(warp, op, lane, EMU_BAD_INSTRUCTION, "parameter offset %" PRIu64 " is outside of %u bytes",
                         address, size);
        return NULL;
    }
    case SPACE_GENERIC:
        break;
    }
    return emu_generic_bytes(warp, op, lane, address, bytes, bytes, write);
}

static uint64_t extend(const uint8_t *bytes, uint32_t count, bool sign)
{
    uint64_t value = 0;

    memcpy(&value, bytes, count);
    if (sign && count < 8) {
        uint64_t top = UINT64_C(1) << (count * 8 - 1);

        value = (value ^ top) - top;
    }
    return value;
}

static void put_element(const struct emu_warp *warp, const struct access *access, uint32_t element, uint32_t lane,
                        uint64_t value)
{
    if (access->lanes64)
        emu_lanes64(warp, access->slots[element])[lane] = value;
    else
        emu_lanes32(warp, access->slots[element])[lane] = (uint32_t)value & access->keep;
}

/* Loads may name their own address register as a destination, hence the copy of the addresses. */
static enum emu_result op_load(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct access *access = op->detail;
    uint64_t addresses[EMU_LANES];

    emu_address_lanes(warp, &access->address, addresses);
    EMU_FOR_MASK(lane, mask)
    {
        const uint8_t *bytes = access_bytes(warp, op, access, (int)lane, addresses[lane], false);

        if (!bytes)
            return EMU_FAULT;
        for (uint32_t i = 0; i < access->count; i++) {
            if (access->slots[i] != EMU_NO_SLOT)
                put_element(warp, access, i, lane, extend(bytes + i * access->bytes, access->bytes, access->sign));
        }
    }
    if (!access->strong)
        return EMU_CONTINUE;
    hazard_memory_order(warp);
    return emu_poll(warp);
}

static enum emu_result op_store(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct access *access = op->detail;
    uint64_t addresses[EMU_LANES];

    emu_address_lanes(warp, &access->address, addresses);
    EMU_FOR_MASK(lane, mask)
    {
        uint8_t *bytes = access_bytes(warp, op, access, (int)lane, addresses[lane], true);

        if (!bytes)
            return EMU_FAULT;
        for (uint32_t i = 0; i < access->count; i++) {
            const void *value = access->lanes64 ? (const void *)&emu_lanes64(warp, access->slots[i])[lane]
                                                : (const void *)&emu_lanes32(warp, access->slots[i])[lane];

            memcpy(bytes + i * access->bytes, value, access->bytes);
        }
    }
    if (access->strong)
        hazard_memory_order(warp);
    emu_progress(warp);
    return EMU_CONTINUE;
}

/* Whether lane i accesses base + i * stride, for all lanes. */
static bool is_dense(const uint64_t *addresses, uint64_t stride)
{
    uint64_t difference = 0;

    EMU_FOR_LANES(l)
    difference |= addresses[l] ^ (addresses[0] + (uint64_t)l * stride);
    return difference == 0;
}

/* The lanes whose access of 4 bytes is in order; returns the others, which are left to the checks that explain. */
static uint32_t load_shared_words(const struct emu_warp *warp, const uint64_t *addresses, uint32_t mask, uint32_t *d)
{
    const struct emu_cta *cta = warp->cta;
    uint64_t base = (uint64_t)cta->rank << EMU_CTA_SHIFT;
    uint32_t left = 0;

    if (cta->shared_bytes < EMU_SHARED_RESERVED + 4u)
        return mask;
    EMU_FOR_MASK(lane, mask)
    {
        uint64_t offset = addresses[lane] - base;

        if (offset - EMU_SHARED_RESERVED > cta->shared_bytes - 4u - EMU_SHARED_RESERVED || offset & 3 ||
            (cta->shared_written[offset / 64] >> (offset % 64) & 15) != 15)
            left |= emu_lane_bit[lane];
        else
            memcpy(&d[lane], cta->shared + offset, sizeof *d);
    }
    return left;
}

/* 32-bit elements, one per lane: in one piece when a full warp accesses consecutive words. */
static enum emu_result op_load_word(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct access *access = op->detail;
    uint32_t *d = emu_lanes32(warp, access->slots[0]);
    uint64_t addresses[EMU_LANES];

    emu_address_lanes(warp, &access->address, addresses);
    if (mask == UINT32_MAX && access->space == SPACE_GLOBAL && warp->window_read &&
        addresses[0] - warp->window_low < warp->window_bytes &&
        EMU_LANES * 4 <= warp->window_bytes - (addresses[0] - warp->window_low) && !(addresses[0] & 3) &&
        is_dense(addresses, 4)) {
        memcpy(d, (const void *)(uintptr_t)addresses[0], EMU_LANES * sizeof *d);
        return EMU_CONTINUE;
    }
    if (access->space == SPACE_SHARED && !warp->cta->cluster->hazards)
        mask = load_shared_words(warp, addresses, mask, d);
    EMU_FOR_MASK(lane, mask)
    {
        const uint8_t *bytes = access_bytes(warp, op, access, (int)lane, addresses[lane], false);

        if (!bytes)
            return EMU_FAULT;
        memcpy(&d[lane], bytes, sizeof *d);
    }
    return EMU_CONTINUE;
}

/* Of the entry's parameters: the same for all lanes. */
static enum emu_result op_load_parameter(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct access *access = op->detail;
    const struct emu_grid *grid = emu_grid_of(warp);
    uint64_t offset = (uint64_t)access->address.offset;

    if (offset > grid->parameter_bytes || access->bytes * access->count > grid->parameter_bytes - offset)
        return emu_report(warp, op, -1, EMU_BAD_INSTRUCTION, "parameter offset %" PRIu64 " is outside of %u bytes",
                          offset, grid->parameter_bytes);
    for (uint32_t i = 0; i < access->count; i++) {
        uint64_t value = extend(grid->parameters + offset + i * access->bytes, access->bytes, access->sign);

        if (access->slots[i] == EMU_NO_SLOT)
            continue;
        EMU_FOR_MASK(lane, mask)
        put_element(warp, access, i, lane, value);
    }
    return EMU_CONTINUE;
}

static enum access_space space_of(const struct emu_lower *l)
{
    if (emu_lower_has(l, PTX_M_GLOBAL) || emu_lower_has(l, PTX_M_CONST))
        return SPACE_GLOBAL;
    if (emu_lower_has(l, PTX_M_SHARED_CLUSTER))
        return SPACE_SHARED_CLUSTER;
    if (emu_lower_has(l, PTX_M_SHARED) || emu_lower_has(l, PTX_M_SHARED_CTA))
        return SPACE_SHARED;
    if (emu_lower_has(l, PTX_M_LOCAL))
        return SPACE_LOCAL;
    return SPACE_GENERIC;
}

/* A variable as address is in its own space, whatever the instruction says. */
static void adjust_space(struct access *access, const struct emu_lower *l, const struct ptx_operand *address)
{
    if (access->space != SPACE_GENERIC)
        return;
    const struct ptx_operand *base = emu_lower_element(l, address, 0);

    if (base->kind != PTX_OPERAND_VARIABLE)
        return;
    enum ptx_space space = l->module->variables[base->value].space;

    access->space = space == PTX_SPACE_SHARED ? SPACE_SHARED : space == PTX_SPACE_LOCAL ? SPACE_LOCAL : SPACE_GLOBAL;
}

static bool lower_element_slot(struct emu_lower *l, struct access *access, const struct ptx_operand *value, bool store,
                               uint32_t index)
{
    enum ptx_type type = emu_lower_type(l, 0);
    unsigned bits = emu_lower_lane_bits(l, value, ptx_type_bits(type));

    if (bits == 1)
        return emu_lower_refuse(l, "predicates are not in memory");
    if (index == 0) {
        access->lanes64 = bits == 64;
        access->keep = emu_lower_register_bits(l, value) == 16  ? 0xffff
                       : emu_lower_register_bits(l, value) == 8 ? 0xff
                                                                : UINT32_MAX;
    }
    if ((bits == 64) != access->lanes64)
        return emu_lower_refuse(l, "registers of different sizes");
    if (!store && value->kind == PTX_OPERAND_SINK) {
        access->slots[index] = EMU_NO_SLOT;
        return true;
    }
    if (store && value->kind == PTX_OPERAND_REGISTER)
        type = bits == 64 ? PTX_B64 : PTX_B32; /* registers may be wider than what is stored */
    return store ? emu_lower_source(l, value, type, &access->slots[index])
                 : emu_lower_target(l, value, bits, &access->slots[index]);
}

static bool lower_values(struct emu_lower *l, struct access *access, const struct ptx_operand *value, bool store)
{
    enum ptx_type type = emu_lower_type(l, 0);

    if (type >= PTX_TYPE_COUNT || ptx_type_bits(type) < 8)
        return emu_lower_refuse(l, "ld and st need a type");
    if (ptx_type_bits(type) > 64)
        return emu_lower_unsupported(l, "accesses of 128-bit elements");
    access->bytes = ptx_type_bits(type) / 8;
    access->sign = type == PTX_S8 || type == PTX_S16 || type == PTX_S32;
    access->count = 1;
    if (value->kind != PTX_OPERAND_VECTOR)
        return lower_element_slot(l, access, value, store, 0);
    access->count = value->count;
    if (value->count > ELEMENTS_MAX || (value->count & (value->count - 1)) || value->count * access->bytes > 32)
        return emu_lower_refuse(l, "a vector of %u elements of %u bytes", value->count, access->bytes);
    for (uint32_t i = 0; i < value->count; i++) {
        if (!lower_element_slot(l, access, emu_lower_element(l, value, i), store, i))
            return false;
    }
    return true;
}

/* .param: of the entry, of the running function, or of a call that it is about to make. */
static bool lower_parameter_address(struct emu_lower *l, struct access *access, const struct ptx_operand *address,
                                    bool *of_entry)
{
    const struct ptx_operand *base = emu_lower_element(l, address, 0);

    *of_entry = false;
    if (base->kind != PTX_OPERAND_VARIABLE) {
        access->space = l->ptx->is_entry ? SPACE_GENERIC : SPACE_FRAME;
        return emu_lower_address(l, address, &access->address);
    }

    const struct ptx_variable *variable = &l->module->variables[base->value];
    uint32_t offset = l->variable_offset[base->value];

    if (variable->space != PTX_SPACE_PARAM || offset == PTX_NONE)
        return emu_lower_refuse(l, "%s is no parameter", variable->name);
    *of_entry = l->ptx->is_entry && base->value - l->ptx->first_parameter < l->ptx->parameter_count;
    access->space = SPACE_FRAME;
    access->address = (struct emu_address){
        .base = EMU_NO_SLOT, .wide = true, .offset = (int64_t)(offset + base->bits + address->bits)};
    return true;
}

static bool is_strong(const struct emu_lower *l)
{
    static const uint16_t words[] = {PTX_M_VOLATILE, PTX_M_RELAXED, PTX_M_ACQUIRE, PTX_M_MMIO};

    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (emu_lower_has(l, words[i]))
            return true;
    }
    return false;
}

static bool lower_access(struct emu_lower *l, bool store)
{
    const struct ptx_operand *address = emu_lower_operand(l, store ? 0 : 1);
    const struct ptx_operand *value = emu_lower_operand(l, store ? 1 : 0);
    struct access *access = emu_lower_detail(l, sizeof *access);
    bool of_entry = false;
    bool parameter =
        emu_lower_has(l, PTX_M_PARAM) || emu_lower_has(l, PTX_M_PARAM_ENTRY) || emu_lower_has(l, PTX_M_PARAM_FUNC);

    if (!address || address->kind != PTX_OPERAND_ADDRESS || !address->count || !value)
        return emu_lower_refuse(l, "an address and a value are expected");
    access->space = space_of(l);
    access->strong = is_strong(l);
    if (parameter ? !lower_parameter_address(l, access, address, &of_entry)
                  : !emu_lower_address(l, address, &access->address))
        return false;
    if (!parameter)
        adjust_space(access, l, address);
    if (!lower_values(l, access, value, store))
        return false;
    if (store && of_entry)
        return emu_lower_refuse(l, "parameters of an entry are read-only");

    bool word = access->count == 1 && access->bytes == 4 && !access->lanes64 && !access->strong &&
                access->slots[0] != EMU_NO_SLOT;
    struct emu_op *op = emu_lower_add(l, store      ? op_store
                                         : of_entry ? op_load_parameter
                                         : word     ? op_load_word
                                                    : op_load);

    op->detail = access;
    return true;
}

bool emu_lower_load(struct emu_lower *l)
{
    return lower_access(l, false);
}

bool emu_lower_store(struct emu_lower *l)
{
    if (emu_lower_has(l, PTX_M_ASYNC) || emu_lower_has(l, PTX_M_BULK))
        return emu_lower_store_async(l);
    return lower_access(l, true);
}

bool emu_lower_prefetch(struct emu_lower *l)
{
    emu_lower_add(l, emu_op_nothing);
    return true;
}

bool emu_lower_createpolicy(struct emu_lower *l)
{
    const struct ptx_operand *d = emu_lower_operand(l, 0);
    emu_slot target;

    if (!emu_lower_target(l, d, 64, &target))
        return false;

    struct emu_op *op = emu_lower_add(l, emu_op_mov64);

    op->d = target;
    op->a = emu_lower_constant(l, 64, 0);
    return true;
}
