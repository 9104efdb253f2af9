/* f32 and f64 arithmetic, and signs of f16 and bf16. */
#include "emu/alu_float.h"

#include <math.h>

#include "emu/alu_simd.h"
#include "emu/float_math.h"
#include "emu/lower_number.h"
#include "emu/lowerings.h"

#define ALU_FLOAT_HANDLERS alu_float_handlers
#include "emu/alu_float_handlers.h"

enum variant { VARIANT_PLAIN, VARIANT_FLUSH };

/* Rounding and modifiers of the calls are in op->immediate: modifiers << 8 | rounding. */
#define CALL(name, sources, call)                                                                                      \
    static enum emu_result name(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)                         \
    {                                                                                                                  \
        enum number_rounding rounding = (enum number_rounding)(op->immediate & 0xff);                                  \
        unsigned modifiers = (unsigned)(op->immediate >> 8);                                                           \
        const uint32_t *as = emu_lanes32(warp, op->a);                                                                 \
        const uint32_t *bs = sources > 1 ? emu_lanes32(warp, op->b) : as;                                              \
        const uint32_t *cs = sources > 2 ? emu_lanes32(warp, op->c) : as;                                              \
        uint32_t *d = emu_lanes32(warp, op->d);                                                                        \
                                                                                                                       \
        (void)rounding, (void)modifiers;                                                                               \
        EMU_FOR_MASK(lane, mask)                                                                                       \
        {                                                                                                              \
            float a = emu_f32(as[lane]), b = emu_f32(bs[lane]), c = emu_f32(cs[lane]);                                 \
                                                                                                                       \
            (void)b, (void)c;                                                                                          \
            d[lane] = emu_f32_bits(call);                                                                              \
        }                                                                                                              \
        return EMU_CONTINUE;                                                                                           \
    }

#define X(opcode, approximate, sources, call) CALL(call_##opcode##_##approximate, sources, call)
ALU_FLOAT_CALLS(X)
#undef X
CALL(call_min_nan, 2, f32_min(a, b, true, modifiers))
CALL(call_max_nan, 2, f32_max(a, b, true, modifiers))

enum shape { SHAPE_UNARY = 1, SHAPE_BINARY, SHAPE_TERNARY }; /* sources */

struct row {
    uint16_t opcode;
    uint8_t variant, type, sources;
};

static const struct row rows[] = {
#define X(opcode, variant, type, shape, out, in, expression)                                                           \
    {PTX_OP_##opcode, VARIANT_##variant, PTX_##type, SHAPE_##shape},
    ALU_FLOAT_ROWS(X)
#undef X
};

struct call_row {
    uint16_t opcode;
    bool approximate;
    uint8_t sources;
    emu_handler *run;
};

static const struct call_row call_rows[] = {
#define X(opcode, approximate, sources, call) {PTX_OP_##opcode, approximate, sources, call_##opcode##_##approximate},
    ALU_FLOAT_CALLS(X)
#undef X
};

enum number_rounding emu_lower_rounding(const struct emu_lower *l)
{
    if (emu_lower_has(l, PTX_M_RZ) || emu_lower_has(l, PTX_M_RZI))
        return NUMBER_RZ;
    if (emu_lower_has(l, PTX_M_RM) || emu_lower_has(l, PTX_M_RMI))
        return NUMBER_RM;
    if (emu_lower_has(l, PTX_M_RP) || emu_lower_has(l, PTX_M_RPI))
        return NUMBER_RP;
    return emu_lower_has(l, PTX_M_RNA) ? NUMBER_RNA : NUMBER_RN;
}

unsigned emu_lower_number_modifiers(const struct emu_lower *l)
{
    return (emu_lower_has(l, PTX_M_FTZ) ? (unsigned)NUMBER_FTZ : 0) |
           (emu_lower_has(l, PTX_M_SAT) ? (unsigned)NUMBER_SAT : 0) |
           (emu_lower_has(l, PTX_M_SATFINITE) ? (unsigned)NUMBER_SATFINITE : 0) |
           (emu_lower_has(l, PTX_M_RELU) ? (unsigned)NUMBER_RELU : 0);
}

static bool find_handler(const struct emu_lower *l, enum ptx_type type, emu_handler **run, uint8_t *sources)
{
    uint16_t opcode = l->instruction->opcode == PTX_OP_MAD ? (uint16_t)PTX_OP_FMA : l->instruction->opcode;
    unsigned modifiers = emu_lower_number_modifiers(l);
    bool approximate = emu_lower_has(l, PTX_M_APPROX) || emu_lower_has(l, PTX_M_FULL);
    bool nan = emu_lower_has(l, PTX_M_PROPAGATE_NAN);

    if (emu_lower_has(l, PTX_M_XORSIGN) || emu_lower_has(l, PTX_M_ABS))
        return false;
    if (nan && type == PTX_F32 && (opcode == PTX_OP_MIN || opcode == PTX_OP_MAX)) {
        *run = opcode == PTX_OP_MIN ? call_min_nan : call_max_nan;
        *sources = 2;
        return true;
    }
    if (!nan && emu_lower_rounding(l) == NUMBER_RN && !(modifiers & ~(unsigned)NUMBER_FTZ) &&
        !(approximate && type == PTX_F32)) {
        enum variant variant = modifiers && type == PTX_F32 ? VARIANT_FLUSH : VARIANT_PLAIN;

        for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
            if (rows[i].opcode == opcode && rows[i].variant == variant && rows[i].type == type) {
                *run = alu_pick(alu_float_handlers, alu_float_avx2)[i];
                *sources = rows[i].sources;
                return true;
            }
        }
    }
    for (size_t i = 0; type == PTX_F32 && !nan && i < ARRAY_LEN(call_rows); i++) {
        if (call_rows[i].opcode == opcode && call_rows[i].approximate == approximate) {
            *run = call_rows[i].run;
            *sources = call_rows[i].sources;
            return true;
        }
    }
    return false;
}

static bool lower_wide_float(struct emu_lower *l, enum ptx_type type)
{
    uint8_t sources = 0;
    emu_handler *run = NULL;
    emu_slot slots[4] = {EMU_NO_SLOT, EMU_NO_SLOT, EMU_NO_SLOT, EMU_NO_SLOT};

    if (!find_handler(l, type, &run, &sources))
        return emu_lower_unsupported(l, NULL);
    for (uint32_t i = 1; i <= sources; i++) {
        if (!emu_lower_source(l, emu_lower_operand(l, i), type, &slots[i]))
            return false;
    }
    if (!emu_lower_target(l, emu_lower_operand(l, 0), ptx_type_bits(type), &slots[0]))
        return false;

    struct emu_op *op = emu_lower_add(l, run);

    op->d = slots[0];
    op->a = slots[1];
    op->b = slots[2];
    op->c = slots[3];
    op->immediate = (uint64_t)emu_lower_number_modifiers(l) << 8 | (uint64_t)emu_lower_rounding(l);
    return true;
}

/* Opcodes that exist for integers, floats, and packed floats. */
bool emu_lower_float(struct emu_lower *l)
{
    enum ptx_type type = emu_lower_type(l, 0);
    bool sign_only = l->instruction->opcode == PTX_OP_ABS || l->instruction->opcode == PTX_OP_NEG;

    switch (type) {
    case PTX_F32:
    case PTX_F64:
        return lower_wide_float(l, type);
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
    case PTX_F32X2:
        return sign_only && type != PTX_F32X2 && !emu_lower_has(l, PTX_M_FTZ) ? lower_wide_float(l, type)
                                                                              : emu_lower_float_x2(l);
    default:
        return emu_lower_alu(l);
    }
}
