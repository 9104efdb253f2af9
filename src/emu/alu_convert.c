/* cvt. The common conversions are loops over all lanes; the rest goes lane by lane through number_format.h. */
#include <math.h>

#include "emu/alu_types.h"
#include "emu/lower_number.h"
#include "emu/lowerings.h"

#pragma GCC optimize("O3")

enum class { CLASS_INTEGER, CLASS_FLOAT, CLASS_F64 };

struct side {
    enum class class;
    bool sign;
    unsigned bits; /* of the type */
    bool wide;     /* 64-bit lanes */
    enum number_format format;
};

struct convert {
    struct side from, to;
    enum number_rounding rounding;
    bool to_integral; /* .rni, .rzi ... between floats */
    unsigned modifiers;
    uint32_t keep; /* of a 32-bit destination register */
};

static uint64_t read_lane(const struct emu_warp *warp, emu_slot slot, bool wide, uint32_t lane)
{
    return wide ? emu_lanes64(warp, slot)[lane] : emu_lanes32(warp, slot)[lane];
}

static int64_t extend(uint64_t value, unsigned bits, bool sign)
{
    if (bits >= 64)
        return (int64_t)value;
    value &= (UINT64_C(1) << bits) - 1;
    if (sign && value >> (bits - 1))
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

static uint64_t clamp(int64_t value, const struct side *from, const struct side *to)
{
    bool huge = !from->sign && value < 0; /* an unsigned value of 2^63 or more */
    int64_t top = to->bits == 64 && !to->sign ? -1
                  : to->sign                  ? (int64_t)((UINT64_C(1) << (to->bits - 1)) - 1)
                                              : (int64_t)((UINT64_C(1) << to->bits) - 1);
    int64_t bottom = to->sign ? -(int64_t)((UINT64_C(1) << (to->bits - 1)) - 1) - 1 : 0;

    if (top == -1)
        return value < 0 && !huge ? 0 : (uint64_t)value;
    if (huge || value > top)
        return (uint64_t)top;
    return (uint64_t)(value < bottom ? bottom : value);
}

static double float_value(const struct convert *convert, uint64_t bits)
{
    if (convert->from.class == CLASS_F64)
        return emu_f64(bits);

    float value = number_decode(convert->from.format, (uint32_t)bits);

    if (convert->from.format == NUMBER_F32 && convert->modifiers & NUMBER_FTZ && fabsf(value) < 0x1p-126f)
        value = copysignf(0, value);
    return (double)value;
}

/* A double that rounds to every narrower format as the integer itself would: its last bit is sticky. */
static double integer_value(int64_t value, bool sign)
{
    bool negative = sign && value < 0;
    uint64_t magnitude = negative ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;

    if (magnitude >> 53) {
        unsigned drop = 11 - (unsigned)__builtin_clzll(magnitude);
        uint64_t lost = magnitude & ((UINT64_C(1) << drop) - 1);

        magnitude = (magnitude >> drop | (lost ? 1 : 0)) << drop;
    }
    return negative ? -(double)magnitude : (double)magnitude;
}

static double to_integral(double value, enum number_rounding rounding)
{
    switch (rounding) {
    case NUMBER_RZ:
        return trunc(value);
    case NUMBER_RM:
        return floor(value);
    case NUMBER_RP:
        return ceil(value);
    default:
        return nearbyint(value);
    }
}

static uint64_t encode(const struct convert *convert, double value)
{
    if (convert->to_integral)
        value = to_integral(value, convert->rounding);
    if (convert->to.class == CLASS_F64) {
        if (convert->modifiers & NUMBER_SAT)
            value = value > 0 ? fmin(value, 1) : 0;
        return emu_f64_bits(value);
    }
    return number_encode(convert->to.format, value, convert->to_integral ? NUMBER_RN : convert->rounding,
                         convert->modifiers);
}

static uint64_t convert_integer(const struct convert *convert, uint64_t bits)
{
    int64_t value = extend(bits, convert->from.bits, convert->from.sign);

    if (convert->to.class == CLASS_INTEGER) {
        if (convert->modifiers & NUMBER_SAT)
            return clamp(value, &convert->from, &convert->to);
        return (uint64_t)extend((uint64_t)value, convert->to.bits, convert->to.sign);
    }
    if (convert->to.class == CLASS_F64 && convert->rounding == NUMBER_RN)
        return emu_f64_bits(convert->from.sign ? (double)value : (double)(uint64_t)value);
    return encode(convert, integer_value(value, convert->from.sign));
}

static uint64_t convert_lane(const struct convert *convert, uint64_t bits)
{
    if (convert->from.class == CLASS_INTEGER)
        return convert_integer(convert, bits);
    if (convert->to.class == CLASS_INTEGER)
        return number_to_integer(float_value(convert, bits), (int)convert->from.bits, (int)convert->to.bits,
                                 convert->to.sign, convert->rounding);
    return encode(convert, float_value(convert, bits));
}

static enum emu_result op_convert(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct convert *convert = op->detail;

    EMU_FOR_MASK(lane, mask)
    {
        uint64_t value = convert_lane(convert, read_lane(warp, op->a, convert->from.wide, lane));

        if (convert->to.wide)
            emu_lanes64(warp, op->d)[lane] = value;
        else
            emu_lanes32(warp, op->d)[lane] = (uint32_t)value & convert->keep;
    }
    return EMU_CONTINUE;
}

/* Two elements in one register: `a` into the high part, `b` into the low part. */
static enum emu_result op_convert_pair(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct convert *convert = op->detail;
    const uint32_t *high = emu_lanes32(warp, op->a), *low = emu_lanes32(warp, op->b);

    EMU_FOR_MASK(lane, mask)
    emu_lanes32(warp, op->d)[lane] =
        number_encode2(convert->to.format, float_value(convert, high[lane]), float_value(convert, low[lane]),
                       convert->rounding, convert->modifiers);
    return EMU_CONTINUE;
}

/* cvt.rn.f16x2.e4m3x2 and back from f16x2: part by part. */
static enum emu_result op_convert_parts(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct convert *convert = op->detail;
    unsigned from = (unsigned)number_bytes(convert->from.format) * 8,
             to = (unsigned)number_bytes(convert->to.format) * 8;
    const uint32_t *a = emu_lanes32(warp, op->a);

    EMU_FOR_MASK(lane, mask)
    {
        uint32_t low =
            number_encode(convert->to.format, float_value(convert, a[lane]), convert->rounding, convert->modifiers);
        uint32_t high = number_encode(convert->to.format, float_value(convert, a[lane] >> from), convert->rounding,
                                      convert->modifiers);

        emu_lanes32(warp, op->d)[lane] = low | high << to;
    }
    return EMU_CONTINUE;
}

static inline uint32_t bf16_round(uint32_t bits)
{
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fff;
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

static enum emu_result op_bf16x2(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *high = emu_lanes32(warp, op->a), *low = emu_lanes32(warp, op->b);
    uint32_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = bf16_round(low[l]) | bf16_round(high[l]) << 16;
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

/* X(to, from, types of lanes, expression): conversions that are one C expression, without modifiers. */
#define FAST_CONVERSIONS(X)                                                                                            \
    X(U64, U32, u64, u32, x)                                                                                           \
    X(S64, U32, u64, u32, x)                                                                                           \
    X(S64, S32, s64, s32, x)                                                                                           \
    X(U64, S32, s64, s32, x)                                                                                           \
    X(U32, U64, u32, u64, (uint32_t)x)                                                                                 \
    X(S32, U64, u32, u64, (uint32_t)x)                                                                                 \
    X(U32, S64, u32, u64, (uint32_t)x)                                                                                 \
    X(S32, S64, u32, u64, (uint32_t)x)                                                                                 \
    X(U32, U16, u32, u16, x)                                                                                           \
    X(S32, U16, u32, u16, x)                                                                                           \
    X(S32, S16, s32, s16, x)                                                                                           \
    X(U32, S16, s32, s16, x)                                                                                           \
    X(U16, U32, u16, u32, x)                                                                                           \
    X(S16, U32, u16, u32, x)                                                                                           \
    X(U16, S32, u16, u32, x)                                                                                           \
    X(S16, S32, u16, u32, x)                                                                                           \
    X(F32, S32, f32, s32, (float)x)                                                                                    \
    X(F32, U32, f32, u32, (float)x)                                                                                    \
    X(F64, F32, f64, f32, (double)x)                                                                                   \
    X(F64, S32, f64, s32, (double)x)                                                                                   \
    X(F64, U32, f64, u32, (double)x)                                                                                   \
    X(F32, BF16, u32, u16, x > 0x7f80 && !(x & 0x8000) || x > 0xff80 ? 0x7fffffff : (uint32_t)x << 16)                 \
    X(BF16, F32, u16, u32, bf16_round(x))

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wparentheses"
#define X(to, from, out, in, expression) ALU_UNARY(convert_##to##_##from, out, in, expression)
FAST_CONVERSIONS(X)
#undef X
#pragma GCC diagnostic pop

struct fast_row {
    uint8_t to, from;
    emu_handler *run;
};
static const struct fast_row fast_rows[] = {
#define X(to, from, out, in, expression) {PTX_##to, PTX_##from, convert_##to##_##from},
    FAST_CONVERSIONS(X)
#undef X
};

struct type_row {
    uint8_t type;
    enum class class;
    bool sign;
    enum number_format format;
    uint8_t parts; /* elements of a packed type */
};
static const struct type_row type_rows[] = {
    {PTX_U8, CLASS_INTEGER, false, 0, 1},
    {PTX_S8, CLASS_INTEGER, true, 0, 1},
    {PTX_U16, CLASS_INTEGER, false, 0, 1},
    {PTX_S16, CLASS_INTEGER, true, 0, 1},
    {PTX_U32, CLASS_INTEGER, false, 0, 1},
    {PTX_S32, CLASS_INTEGER, true, 0, 1},
    {PTX_U64, CLASS_INTEGER, false, 0, 1},
    {PTX_S64, CLASS_INTEGER, true, 0, 1},
    {PTX_F16, CLASS_FLOAT, true, NUMBER_F16, 1},
    {PTX_BF16, CLASS_FLOAT, true, NUMBER_BF16, 1},
    {PTX_F32, CLASS_FLOAT, true, NUMBER_F32, 1},
    {PTX_TF32, CLASS_FLOAT, true, NUMBER_TF32, 1},
    {PTX_F64, CLASS_F64, true, 0, 1},
    {PTX_F16X2, CLASS_FLOAT, true, NUMBER_F16, 2},
    {PTX_BF16X2, CLASS_FLOAT, true, NUMBER_BF16, 2},
    {PTX_E4M3X2, CLASS_FLOAT, true, NUMBER_E4M3, 2},
    {PTX_E5M2X2, CLASS_FLOAT, true, NUMBER_E5M2, 2},
};

static const struct type_row *find_type(enum ptx_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(type_rows); i++) {
        if (type_rows[i].type == type)
            return &type_rows[i];
    }
    return NULL;
}

static struct side side_of(const struct type_row *row, bool wide)
{
    return (struct side){.class = row->class,
                         .sign = row->sign,
                         .bits = ptx_type_bits((enum ptx_type)row->type),
                         .wide = wide,
                         .format = row->format};
}

/* Packed forms. */
static bool lower_packed(struct emu_lower *l, const struct convert *convert, const struct type_row *to,
                         const struct type_row *from)
{
    emu_slot d, a, b = EMU_NO_SLOT;
    bool pair = from->parts == 1;
    bool bf16 = pair && to->format == NUMBER_BF16 && convert->rounding == NUMBER_RN && !convert->modifiers;

    if (l->instruction->operand_count != (pair ? 3 : 2) || to->parts != 2)
        return emu_lower_unsupported(l, NULL);
    if (!emu_lower_source(l, emu_lower_operand(l, 1), (enum ptx_type)from->type, &a) ||
        (pair && !emu_lower_source(l, emu_lower_operand(l, 2), (enum ptx_type)from->type, &b)) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), 32, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, bf16 ? op_bf16x2 : pair ? op_convert_pair : op_convert_parts);

    op->d = d;
    op->a = a;
    op->b = b;
    op->detail = convert;
    return true;
}

static emu_handler *find_fast(const struct emu_lower *l, const struct convert *convert)
{
    if (convert->modifiers || convert->rounding != NUMBER_RN || convert->to_integral)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(fast_rows); i++) {
        bool widths = convert->to.wide == (convert->to.bits > 32) && convert->from.wide == (convert->from.bits > 32);

        if (widths && fast_rows[i].to == emu_lower_type(l, 0) && fast_rows[i].from == emu_lower_type(l, 1))
            return fast_rows[i].run;
    }
    return NULL;
}

/* A register that is wider than the type: cvt uses its low bits, and extends its results to it. */
static bool lower_wide_source(struct emu_lower *l, const struct ptx_operand *a, enum ptx_type type, bool wide,
                              emu_slot *out)
{
    if (a->kind == PTX_OPERAND_REGISTER)
        type = wide ? PTX_B64 : PTX_B32;
    return emu_lower_source(l, a, type, out);
}

bool emu_lower_convert(struct emu_lower *l)
{
    const struct type_row *to = find_type(emu_lower_type(l, 0)), *from = find_type(emu_lower_type(l, 1));
    const struct ptx_operand *d = emu_lower_operand(l, 0), *a = emu_lower_operand(l, 1);
    struct convert *convert = emu_lower_detail(l, sizeof *convert);
    emu_slot target, source;

    if (!to || !from || !d || !a || l->instruction->type_count != 2 || emu_lower_has(l, PTX_M_PACK) ||
        emu_lower_has(l, PTX_M_RS))
        return emu_lower_unsupported(l, NULL);

    bool from_wide = emu_lower_lane_bits(l, a, ptx_type_bits((enum ptx_type)from->type)) == 64;
    bool to_wide = emu_lower_lane_bits(l, d, ptx_type_bits((enum ptx_type)to->type)) == 64;

    *convert = (struct convert){.from = side_of(from, from_wide),
                                .to = side_of(to, to_wide),
                                .rounding = emu_lower_rounding(l),
                                .modifiers = emu_lower_number_modifiers(l),
                                .keep = emu_lower_register_bits(l, d) == 16 ? 0xffff : UINT32_MAX};
    convert->to_integral = from->class != CLASS_INTEGER && to->class != CLASS_INTEGER &&
                           (emu_lower_has(l, PTX_M_RNI) || emu_lower_has(l, PTX_M_RZI) || emu_lower_has(l, PTX_M_RMI) ||
                            emu_lower_has(l, PTX_M_RPI));
    if (to->parts == 2 || from->parts == 2)
        return lower_packed(l, convert, to, from);
    if (l->instruction->operand_count != 2)
        return emu_lower_unsupported(l, NULL);
    if (!lower_wide_source(l, a, (enum ptx_type)from->type, from_wide, &source) ||
        !emu_lower_target(l, d, to_wide ? 64 : 32, &target))
        return false;

    emu_handler *fast = find_fast(l, convert);
    struct emu_op *op = emu_lower_add(l, fast ? fast : op_convert);

    op->d = target;
    op->a = source;
    op->detail = convert;
    return true;
}
