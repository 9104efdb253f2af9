/* Operands of PTX as slots. */
#include <inttypes.h>
#include <string.h>

#include "emu/lower.h"
#include "emu/op_move.h"

static bool needs_64(enum ptx_type type)
{
    return ptx_type_bits(type) > 32;
}

unsigned emu_lower_register_bits(const struct emu_lower *l, const struct ptx_operand *operand)
{
    return operand->kind == PTX_OPERAND_REGISTER ? ptx_type_bits(l->ptx->registers[operand->value].type) : 0;
}

unsigned emu_lower_lane_bits(const struct emu_lower *l, const struct ptx_operand *operand, unsigned bits)
{
    if (operand->kind == PTX_OPERAND_REGISTER)
        bits = emu_lower_register_bits(l, operand);
    else if (operand->kind == PTX_OPERAND_SPECIAL)
        bits = ptx_type_bits(ptx_special_type((enum ptx_special)operand->value));
    return bits == 1 ? 1 : bits > 32 ? 64 : 32;
}

static uint64_t float64_bits(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t float32_bits(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* The bits of an immediate as a value of the type. */
static uint64_t immediate_bits(const struct ptx_operand *operand, enum ptx_type type)
{
    uint64_t bits = operand->immediate == PTX_WARP_SIZE ? EMU_LANES : operand->bits;
    unsigned width = ptx_type_bits(type);

    if (operand->immediate == PTX_FLOAT64 && width == 32) {
        double value;

        memcpy(&value, &bits, sizeof value);
        bits = float32_bits((float)value);
    } else if (operand->immediate == PTX_FLOAT32 && type == PTX_F64) {
        uint32_t low = (uint32_t)bits;
        float value;

        memcpy(&value, &low, sizeof value);
        bits = float64_bits((double)value);
    }
    if (operand->negated)
        bits = 0 - bits;
    return width < 64 ? bits & ((UINT64_C(1) << width) - 1) : bits;
}

/* Special registers that never change while a warp runs, by row of emu_warp.special or emu_cta.special. */
struct special_row {
    uint8_t base; /* enum emu_base; 0: read when it is needed */
    uint8_t row;  /* of its first element */
};
static const struct special_row special_rows[PTX_SPECIAL_COUNT] = {
    [PTX_SPECIAL_TID] = {EMU_BASE_WARP, EMU_WARP_TID_X},
    [PTX_SPECIAL_LANEID] = {EMU_BASE_WARP, EMU_WARP_LANEID},
    [PTX_SPECIAL_WARPID] = {EMU_BASE_WARP, EMU_WARP_WARPID},
    [PTX_SPECIAL_LANEMASK_EQ] = {EMU_BASE_WARP, EMU_WARP_LANEMASK_EQ},
    [PTX_SPECIAL_LANEMASK_LE] = {EMU_BASE_WARP, EMU_WARP_LANEMASK_LE},
    [PTX_SPECIAL_LANEMASK_LT] = {EMU_BASE_WARP, EMU_WARP_LANEMASK_LT},
    [PTX_SPECIAL_LANEMASK_GE] = {EMU_BASE_WARP, EMU_WARP_LANEMASK_GE},
    [PTX_SPECIAL_LANEMASK_GT] = {EMU_BASE_WARP, EMU_WARP_LANEMASK_GT},
    [PTX_SPECIAL_NTID] = {EMU_BASE_CTA, EMU_CTA_NTID_X},
    [PTX_SPECIAL_CTAID] = {EMU_BASE_CTA, EMU_CTA_CTAID_X},
    [PTX_SPECIAL_NCTAID] = {EMU_BASE_CTA, EMU_CTA_NCTAID_X},
    [PTX_SPECIAL_CLUSTERID] = {EMU_BASE_CTA, EMU_CTA_CLUSTERID_X},
    [PTX_SPECIAL_NCLUSTERID] = {EMU_BASE_CTA, EMU_CTA_NCLUSTERID_X},
    [PTX_SPECIAL_CLUSTER_CTAID] = {EMU_BASE_CTA, EMU_CTA_CLUSTER_CTAID_X},
    [PTX_SPECIAL_CLUSTER_NCTAID] = {EMU_BASE_CTA, EMU_CTA_CLUSTER_NCTAID_X},
    [PTX_SPECIAL_CLUSTER_CTARANK] = {EMU_BASE_CTA, EMU_CTA_CLUSTER_CTARANK},
    [PTX_SPECIAL_CLUSTER_NCTARANK] = {EMU_BASE_CTA, EMU_CTA_CLUSTER_NCTARANK},
    [PTX_SPECIAL_NWARPID] = {EMU_BASE_CTA, EMU_CTA_NWARPID},
    [PTX_SPECIAL_SMID] = {EMU_BASE_CTA, EMU_CTA_SMID},
    [PTX_SPECIAL_NSMID] = {EMU_BASE_CTA, EMU_CTA_NSMID},
    [PTX_SPECIAL_TOTAL_SMEM_SIZE] = {EMU_BASE_CTA, EMU_CTA_TOTAL_SMEM},
    [PTX_SPECIAL_AGGR_SMEM_SIZE] = {EMU_BASE_CTA, EMU_CTA_TOTAL_SMEM},
    [PTX_SPECIAL_DYNAMIC_SMEM_SIZE] = {EMU_BASE_CTA, EMU_CTA_DYNAMIC_SMEM},
};

static bool lower_special(struct emu_lower *l, const struct ptx_operand *operand, enum ptx_type type, emu_slot *out)
{
    enum ptx_special special = (enum ptx_special)operand->value;
    const struct special_row *row = &special_rows[special];
    uint32_t element = operand->component[0] == 'y' ? 1 : operand->component[0] == 'z' ? 2 : 0;

    if (operand->component[0] == 'w') {
        *out = emu_lower_constant(l, ptx_type_bits(type), 0);
        return true;
    }
    if (row->base) {
        *out = (row->row + element) * EMU_LANES * (uint32_t)sizeof(uint32_t) | row->base;
        return true;
    }

    unsigned bits = emu_lower_lane_bits(l, operand, 32);
    struct emu_op *op;

    if (bits == 1)
        return emu_lower_unsupported(l, "a predicate special register as a number");
    *out = emu_lower_temporary(l, bits);
    op = emu_lower_add(l, bits == 64 ? emu_op_special64 : emu_op_special32);
    op->d = *out;
    op->immediate = special;
    return true;
}

bool emu_lower_place_shared(struct emu_lower *l, uint32_t index)
{
    const struct ptx_variable *variable = &l->module->variables[index];
    uint32_t align = variable->align ? variable->align : 1;
    uint32_t offset = (l->program->static_shared_end + align - 1) & ~(align - 1);

    if (variable->bytes > EMU_SHARED_WINDOW - offset)
        return false;
    l->variable_offset[index] = offset;
    l->program->static_shared_end = offset + (uint32_t)variable->bytes;
    return true;
}

bool emu_lower_variable(struct emu_lower *l, const struct ptx_operand *operand, struct emu_address *out)
{
    const struct ptx_variable *variable = &l->module->variables[operand->value];
    uint32_t *placed = &l->variable_offset[operand->value];
    struct emu_program *program = l->program;

    *out = (struct emu_address){.base = EMU_NO_SLOT, .wide = true, .offset = (int64_t)operand->bits};
    switch (variable->space) {
    case PTX_SPACE_GLOBAL:
    case PTX_SPACE_CONST:
        if (!l->globals->address[operand->value])
            return emu_lower_unsupported(l, "a variable that the module only declares");
        out->offset += (int64_t)l->globals->address[operand->value];
        return true;
    case PTX_SPACE_SHARED:
        if (variable->unsized || (variable->linkage == PTX_LINK_EXTERN && !variable->bytes)) {
            program->uses_dynamic_shared = true;
            if (variable->align > program->dynamic_align)
                program->dynamic_align = variable->align;
            out->relative = EMU_ADDRESS_DYNAMIC;
            return true;
        }
        if (*placed == PTX_NONE && !emu_lower_place_shared(l, operand->value))
            return emu_lower_refuse(l, "shared variable %s of %" PRIu64 " bytes is too large", variable->name,
                                    variable->bytes);
        out->relative = EMU_ADDRESS_STATIC;
        out->offset += *placed;
        return true;
    case PTX_SPACE_LOCAL:
        if (*placed == PTX_NONE)
            return emu_lower_unsupported(l, "a local variable outside of its function");
        out->relative = EMU_ADDRESS_LOCAL;
        out->offset += *placed;
        return true;
    default:
        return emu_lower_unsupported(l, "the address of a parameter or texture");
    }
}

static bool lower_variable_source(struct emu_lower *l, const struct ptx_operand *operand, enum ptx_type type,
                                  emu_slot *out)
{
    struct emu_address address;
    unsigned bits = needs_64(type) ? 64 : 32;

    if (!emu_lower_variable(l, operand, &address))
        return false;
    if (address.relative == EMU_ADDRESS_PLAIN) {
        *out = emu_lower_constant(l, bits, (uint64_t)address.offset);
        return true;
    }

    struct emu_address *detail = emu_lower_detail(l, sizeof *detail);
    struct emu_op *op;

    *detail = address;
    *out = emu_lower_temporary(l, bits);
    op = emu_lower_add(l, bits == 64 ? emu_op_address64 : emu_op_address32);
    op->d = *out;
    op->detail = detail;
    return true;
}

bool emu_lower_source(struct emu_lower *l, const struct ptx_operand *operand, enum ptx_type type, emu_slot *out)
{
    if (!operand)
        return emu_lower_refuse(l, "an operand is missing");
    if (type >= PTX_TYPE_COUNT)
        return emu_lower_refuse(l, "the instruction has no type");
    if (ptx_type_bits(type) > 64)
        return emu_lower_unsupported(l, "operands of more than 64 bits");
    switch (operand->kind) {
    case PTX_OPERAND_REGISTER: {
        unsigned bits = emu_lower_lane_bits(l, operand, 0);

        if (l->ptx->registers[operand->value].elements != 1)
            return emu_lower_unsupported(l, "vector registers");
        if (operand->negated)
            return emu_lower_unsupported(l, "a negated register");
        if (bits != (needs_64(type) ? 64 : 32))
            return emu_lower_refuse(l, "register %s does not fit type .%s", l->ptx->registers[operand->value].name,
                                    ptx_type_text(type));
        *out = l->registers[operand->value];
        return true;
    }
    case PTX_OPERAND_IMMEDIATE:
        *out = emu_lower_constant(l, needs_64(type) ? 64 : 32, immediate_bits(operand, type));
        return true;
    case PTX_OPERAND_SPECIAL:
        return lower_special(l, operand, type, out);
    case PTX_OPERAND_VARIABLE:
        return lower_variable_source(l, operand, type, out);
    case PTX_OPERAND_FUNCTION:
        return emu_lower_unsupported(l, "addresses of functions");
    default:
        return emu_lower_refuse(l, "an operand that is no register and no value");
    }
}

bool emu_lower_target(struct emu_lower *l, const struct ptx_operand *operand, unsigned bits, emu_slot *out)
{
    if (!operand)
        return emu_lower_refuse(l, "an operand is missing");
    if (operand->kind == PTX_OPERAND_SINK) {
        emu_slot *scratch = bits > 32 ? &l->scratch64 : &l->scratch32;

        if (bits == 1) {
            *out = EMU_NO_SLOT;
            return true;
        }
        if (*scratch == EMU_NO_SLOT)
            *scratch = emu_lower_temporary(l, bits);
        *out = *scratch;
        return true;
    }
    if (operand->kind != PTX_OPERAND_REGISTER)
        return emu_lower_refuse(l, "the destination is no register");
    if (l->ptx->registers[operand->value].elements != 1)
        return emu_lower_unsupported(l, "vector registers");
    if (emu_lower_register_bits(l, operand) > 64)
        return emu_lower_unsupported(l, "registers of 128 bits");
    if (emu_lower_lane_bits(l, operand, 0) != (bits == 1 ? 1 : bits > 32 ? 64u : 32u))
        return emu_lower_refuse(l, "register %s does not fit a result of %u bits",
                                l->ptx->registers[operand->value].name, bits);
    *out = l->registers[operand->value];
    return true;
}

bool emu_lower_predicate(struct emu_lower *l, const struct ptx_operand *operand, emu_slot *out, bool *negated)
{
    if (!operand)
        return emu_lower_refuse(l, "an operand is missing");
    *negated = operand->negated;
    if (operand->kind == PTX_OPERAND_IMMEDIATE) {
        *out = emu_lower_constant(l, 32, operand->bits ? UINT32_MAX : 0);
        *negated = false;
        return true;
    }
    if (operand->kind != PTX_OPERAND_REGISTER || emu_lower_register_bits(l, operand) != 1)
        return emu_lower_refuse(l, "a predicate is expected");
    *out = l->registers[operand->value];
    return true;
}

bool emu_lower_address(struct emu_lower *l, const struct ptx_operand *operand, struct emu_address *out)
{
    const struct ptx_operand *base =
        operand && operand->kind == PTX_OPERAND_ADDRESS ? emu_lower_element(l, operand, 0) : NULL;

    if (!base)
        return emu_lower_refuse(l, "an address in brackets is expected");
    *out = (struct emu_address){.base = EMU_NO_SLOT, .wide = true};
    switch (base->kind) {
    case PTX_OPERAND_REGISTER: {
        unsigned bits = emu_lower_lane_bits(l, base, 0);

        if (bits == 1)
            return emu_lower_refuse(l, "a predicate is no address");
        out->base = l->registers[base->value];
        out->wide = bits == 64;
        break;
    }
    case PTX_OPERAND_IMMEDIATE:
        out->offset = (int64_t)base->bits;
        break;
    case PTX_OPERAND_VARIABLE:
        if (!emu_lower_variable(l, base, out))
            return false;
        break;
    default:
        return emu_lower_refuse(l, "this cannot be an address");
    }
    out->offset += (int64_t)operand->bits;
    return true;
}
