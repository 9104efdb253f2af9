/* Arithmetic on f16, bf16, their packed pairs, and f32x2: lane by lane, part by part. */
#include <math.h>

#include "emu/float_math.h"
#include "emu/lanes.h"
#include "emu/lower_number.h"
#include "emu/lowerings.h"

struct small {
    enum number_format format; /* F32 for f32x2 */
    uint32_t parts;
    bool wide; /* 64-bit lanes */
    bool nan;  /* .NaN of min and max */
    unsigned modifiers;
    enum number_rounding rounding;
};

/* .ftz of f16: subnormals (below 2^-14) become zeros. bf16 has no .ftz but in ex2 and tanh. */
static uint32_t flush_part(const struct small *small, uint32_t bits)
{
    if (small->format == NUMBER_F16 && small->modifiers & NUMBER_FTZ && !(bits & 0x7c00))
        return bits & 0x8000;
    return bits;
}

static uint32_t round_small(const struct small *small, double value)
{
    return flush_part(small, number_encode(small->format, value, NUMBER_RN, small->modifiers & ~(unsigned)NUMBER_FTZ));
}

static uint32_t compute_f32(const struct small *small, uint16_t opcode, uint32_t a, uint32_t b, uint32_t c)
{
    float x = emu_f32(a), y = emu_f32(b), z = emu_f32(c);

    switch (opcode) {
    case PTX_OP_ADD:
        return emu_f32_bits(f32_add(x, y, small->rounding, small->modifiers));
    case PTX_OP_SUB:
        return emu_f32_bits(f32_sub(x, y, small->rounding, small->modifiers));
    case PTX_OP_MUL:
        return emu_f32_bits(f32_mul(x, y, small->rounding, small->modifiers));
    default:
        return emu_f32_bits(f32_fma(x, y, z, small->rounding, small->modifiers));
    }
}

static uint32_t compute(const struct small *small, uint16_t opcode, uint32_t a, uint32_t b, uint32_t c)
{
    uint16_t one = (uint16_t)number_encode(small->format, 1, NUMBER_RN, 0);
    unsigned modifiers = small->modifiers & ~(unsigned)NUMBER_FTZ;

    if (small->format == NUMBER_F32)
        return compute_f32(small, opcode, a, b, c);
    a = flush_part(small, a);
    b = flush_part(small, b);
    c = flush_part(small, c);
    switch (opcode) {
    case PTX_OP_ADD:
        return flush_part(small, small_fma(small->format, (uint16_t)a, one, (uint16_t)b, modifiers));
    case PTX_OP_SUB:
        return flush_part(small, small_fma(small->format, (uint16_t)a, one, (uint16_t)(b ^ 0x8000), modifiers));
    case PTX_OP_MUL:
        return flush_part(small, small_fma(small->format, (uint16_t)a, (uint16_t)b, 0x8000, modifiers));
    case PTX_OP_FMA:
        return flush_part(small, small_fma(small->format, (uint16_t)a, (uint16_t)b, (uint16_t)c, modifiers));
    default:
        break;
    }

    float x = number_decode(small->format, a), y = number_decode(small->format, b);

    switch (opcode) {
    case PTX_OP_MIN:
        return round_small(small, (double)f32_min(x, y, small->nan, 0));
    case PTX_OP_MAX:
        return round_small(small, (double)f32_max(x, y, small->nan, 0));
    case PTX_OP_EX2:
        return round_small(small, exp2((double)x));
    case PTX_OP_TANH:
        return round_small(small, tanh((double)x));
    case PTX_OP_ABS:
        return a & 0x7fff;
    default: /* NEG */
        return a ^ 0x8000;
    }
}

static enum emu_result op_small(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct small *small = op->detail;
    const uint32_t *a = emu_lanes32(warp, op->a), *b = emu_lanes32(warp, op->b), *c = emu_lanes32(warp, op->c);
    uint32_t *d = emu_lanes32(warp, op->d);

    EMU_FOR_MASK(lane, mask)
    {
        uint32_t low = compute(small, op->opcode, a[lane] & 0xffff, b[lane] & 0xffff, c[lane] & 0xffff);

        if (small->parts == 2)
            low |= compute(small, op->opcode, a[lane] >> 16, b[lane] >> 16, c[lane] >> 16) << 16;
        d[lane] = low;
    }
    return EMU_CONTINUE;
}

static enum emu_result op_f32x2(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct small *small = op->detail;
    const uint64_t *a = emu_lanes64(warp, op->a), *b = emu_lanes64(warp, op->b), *c = emu_lanes64(warp, op->c);
    uint64_t *d = emu_lanes64(warp, op->d);

    EMU_FOR_MASK(lane, mask)
    {
        uint64_t low = compute(small, op->opcode, (uint32_t)a[lane], (uint32_t)b[lane], (uint32_t)c[lane]);
        uint64_t high =
            compute(small, op->opcode, (uint32_t)(a[lane] >> 32), (uint32_t)(b[lane] >> 32), (uint32_t)(c[lane] >> 32));

        d[lane] = low | high << 32;
    }
    return EMU_CONTINUE;
}

static uint32_t count_sources(uint16_t opcode, bool wide)
{
    switch (opcode) {
    case PTX_OP_ADD:
    case PTX_OP_SUB:
    case PTX_OP_MUL:
        return 2;
    case PTX_OP_FMA:
        return 3;
    case PTX_OP_MIN:
    case PTX_OP_MAX:
        return wide ? 0 : 2;
    case PTX_OP_EX2:
    case PTX_OP_TANH:
    case PTX_OP_ABS:
    case PTX_OP_NEG:
        return wide ? 0 : 1;
    default:
        return 0;
    }
}

bool emu_lower_float_x2(struct emu_lower *l)
{
    enum ptx_type type = emu_lower_type(l, 0);
    bool wide = type == PTX_F32X2;
    uint32_t sources = count_sources(l->instruction->opcode, wide);
    emu_slot d, slots[3];
    struct small *small = emu_lower_detail(l, sizeof *small);

    if (!sources || l->instruction->type_count > 1 || emu_lower_has(l, PTX_M_XORSIGN) || emu_lower_has(l, PTX_M_OOB))
        return emu_lower_unsupported(l, NULL);
    *small = (struct small){.format = wide                                   ? NUMBER_F32
                                      : type == PTX_F16 || type == PTX_F16X2 ? NUMBER_F16
                                                                             : NUMBER_BF16,
                            .parts = type == PTX_F16 || type == PTX_BF16 ? 1 : 2,
                            .wide = wide,
                            .nan = emu_lower_has(l, PTX_M_PROPAGATE_NAN),
                            .modifiers = emu_lower_number_modifiers(l),
                            .rounding = emu_lower_rounding(l)};
    for (uint32_t i = 0; i < sources; i++) {
        if (!emu_lower_source(l, emu_lower_operand(l, i + 1), type, &slots[i]))
            return false;
    }
    if (!emu_lower_target(l, emu_lower_operand(l, 0), ptx_type_bits(type), &d))
        return false;

    struct emu_op *op = emu_lower_add(l, wide ? op_f32x2 : op_small);

    op->d = d;
    op->a = slots[0];
    op->b = sources > 1 ? slots[1] : slots[0];
    op->c = sources > 2 ? slots[2] : slots[0];
    op->detail = small;
    return true;
}
