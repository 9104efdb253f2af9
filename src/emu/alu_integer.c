/* Integer arithmetic, logic and shifts. */
#include "emu/alu_integer.h"

#include "emu/alu_simd.h"
#include "emu/lowerings.h"

#define ALU_INTEGER_HANDLERS alu_integer_handlers
#include "emu/alu_integer_handlers.h"

enum variant {
    VARIANT_LO, /* also of what has no variants */
    VARIANT_HI,
    VARIANT_WIDE,
    VARIANT_SAT,
    VARIANT_RELU,
    VARIANT_LEFT_WRAP,
    VARIANT_LEFT_CLAMP,
    VARIANT_RIGHT_WRAP,
    VARIANT_RIGHT_CLAMP,
    VARIANT_SHIFTAMT,
    VARIANT_CLAMP,
    VARIANT_WRAP,
    VARIANT_UU,
    VARIANT_US,
    VARIANT_SU,
    VARIANT_SS
};

enum shape { SHAPE_UNARY, SHAPE_BINARY, SHAPE_SHIFT, SHAPE_TERNARY, SHAPE_FIELD, SHAPE_FUNNEL, SHAPE_WIDEN };

struct row {
    uint16_t opcode;
    uint8_t variant, type, shape;
    uint8_t out_bits;
};

static const struct row rows[] = {
#define X(opcode, variant, type, shape, out, in, expression)                                                           \
    {PTX_OP_##opcode, VARIANT_##variant, PTX_##type, SHAPE_##shape, sizeof(C_##out) * 8},
    ALU_INTEGER_ROWS(X)
#undef X
};

static enum ptx_type unsigned_type(enum ptx_type type)
{
    switch (ptx_type_bits(type)) {
    case 16:
        return PTX_U16;
    case 32:
        return type == PTX_S16X2 ? PTX_U16X2 : PTX_U32;
    case 64:
        return PTX_U64;
    default:
        return type;
    }
}

static const struct row *find_row(uint16_t opcode, enum variant variant, enum ptx_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].opcode == opcode && rows[i].variant == variant && rows[i].type == type)
            return &rows[i];
    }
    return NULL;
}

static enum variant find_variant(const struct emu_lower *l)
{
    uint16_t opcode = l->instruction->opcode;

    if (opcode == PTX_OP_DP4A) {
        bool first = emu_lower_type(l, 0) == PTX_S32, second = emu_lower_type(l, 1) == PTX_S32;

        return first ? (second ? VARIANT_SS : VARIANT_SU) : (second ? VARIANT_US : VARIANT_UU);
    }
    if (opcode == PTX_OP_SHF) {
        bool wrap = emu_lower_has(l, PTX_M_WRAP);

        return emu_lower_has(l, PTX_M_L) ? (wrap ? VARIANT_LEFT_WRAP : VARIANT_LEFT_CLAMP)
                                         : (wrap ? VARIANT_RIGHT_WRAP : VARIANT_RIGHT_CLAMP);
    }
    if (emu_lower_has(l, PTX_M_SAT))
        return VARIANT_SAT;
    if (emu_lower_has(l, PTX_M_RELU))
        return VARIANT_RELU;
    if (emu_lower_has(l, PTX_M_WIDE))
        return VARIANT_WIDE;
    if (emu_lower_has(l, PTX_M_HI))
        return VARIANT_HI;
    if (emu_lower_has(l, PTX_M_SHIFTAMT))
        return VARIANT_SHIFTAMT;
    if (emu_lower_has(l, PTX_M_WRAP))
        return VARIANT_WRAP;
    return emu_lower_has(l, PTX_M_CLAMP) ? VARIANT_CLAMP : VARIANT_LO;
}

static enum ptx_type wider(enum ptx_type type)
{
    return ptx_type_bits(type) == 16 ? PTX_U32 : PTX_U64;
}

/* Types of the sources b and c. */
static enum ptx_type second_type(enum shape shape, enum ptx_type type)
{
    return shape == SHAPE_SHIFT || shape == SHAPE_FIELD ? PTX_U32 : type;
}

static enum ptx_type third_type(enum shape shape, enum ptx_type type)
{
    if (shape == SHAPE_WIDEN)
        return wider(type);
    return shape == SHAPE_FIELD || shape == SHAPE_FUNNEL ? PTX_U32 : type;
}

bool emu_lower_alu(struct emu_lower *l)
{
    enum ptx_type type = emu_lower_type(l, 0);
    enum variant variant = find_variant(l);
    const struct row *row = NULL;
    emu_slot d, a, b = EMU_NO_SLOT, c = EMU_NO_SLOT;

    if (type < PTX_TYPE_COUNT && !emu_lower_has(l, PTX_M_CC)) {
        row = find_row(l->instruction->opcode, variant, type);
        if (!row)
            row = find_row(l->instruction->opcode, variant, unsigned_type(type));
    }
    if (!row)
        return emu_lower_unsupported(l, NULL);
    if (!emu_lower_source(l, emu_lower_operand(l, 1), type, &a))
        return false;
    if (row->shape >= SHAPE_BINARY && !emu_lower_source(l, emu_lower_operand(l, 2), second_type(row->shape, type), &b))
        return false;
    if (row->shape >= SHAPE_TERNARY && !emu_lower_source(l, emu_lower_operand(l, 3), third_type(row->shape, type), &c))
        return false;
    if (!emu_lower_target(l, emu_lower_operand(l, 0), row->out_bits, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, alu_pick(alu_integer_handlers, alu_integer_avx2)[row - rows]);

    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    return true;
}
