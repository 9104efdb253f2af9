/* setp, set, selp, slct, and logic on predicates. Source: PTX ISA, 9.7.6 and 9.7.7, Comparison and Selection. */
#include "emu/alu_types.h"
#include "emu/lowerings.h"
#include "emu/number_format.h"

#pragma GCC optimize("O3")

typedef uint32_t compare_function(const void *a, const void *b);

#define COMPARE(name, type, expression)                                                                                \
    static uint32_t name(const void *a, const void *b)                                                                 \
    {                                                                                                                  \
        const LANE_##type *left = a, *right = b;                                                                       \
        uint32_t bits = 0;                                                                                             \
                                                                                                                       \
        EMU_FOR_LANES(l)                                                                                               \
        {                                                                                                              \
            C_##type x = GET_##type(left[l]), y = GET_##type(right[l]);                                                \
                                                                                                                       \
            bits |= (expression) ? emu_lane_bit[l] : 0;                                                                \
        }                                                                                                              \
        return bits;                                                                                                   \
    }

/* X(modifier, name, expression) */
#define INTEGER_COMPARISONS(X, type)                                                                                   \
    X(EQ, eq, type, x == y)                                                                                            \
    X(NE, ne, type, x != y)                                                                                            \
    X(LT, lt, type, x < y)                                                                                             \
    X(LE, le, type, x <= y)                                                                                            \
    X(GT, gt, type, x > y)                                                                                             \
    X(GE, ge, type, x >= y)
#define UNSIGNED_ALIASES(X, type)                                                                                      \
    X(LO, lt, type, x < y)                                                                                             \
    X(LS, le, type, x <= y)                                                                                            \
    X(HI, gt, type, x > y)                                                                                             \
    X(HS, ge, type, x >= y)
/* Ordered: false when an operand is NaN; unordered ones (..u): true. */
#define FLOAT_COMPARISONS(X, type)                                                                                     \
    X(EQ, eq, type, x == y)                                                                                            \
    X(NE, ne, type, x<y || x> y)                                                                                       \
    X(LT, lt, type, x < y)                                                                                             \
    X(LE, le, type, x <= y)                                                                                            \
    X(GT, gt, type, x > y)                                                                                             \
    X(GE, ge, type, x >= y)                                                                                            \
    X(EQU, equ, type, !(x < y || x > y))                                                                               \
    X(NEU, neu, type, !(x == y))                                                                                       \
    X(LTU, ltu, type, !(x >= y))                                                                                       \
    X(LEU, leu, type, !(x > y))                                                                                        \
    X(GTU, gtu, type, !(x <= y))                                                                                       \
    X(GEU, geu, type, !(x < y))                                                                                        \
    X(NUM, num, type, x == x && y == y)                                                                                \
    X(NAN, nan, type, x != x || y != y)

#define DEFINE(modifier, name, type, expression) COMPARE(compare_##name##_##type, type, expression)
INTEGER_COMPARISONS(DEFINE, u16)
INTEGER_COMPARISONS(DEFINE, s16)
INTEGER_COMPARISONS(DEFINE, u32)
INTEGER_COMPARISONS(DEFINE, s32)
INTEGER_COMPARISONS(DEFINE, u64)
INTEGER_COMPARISONS(DEFINE, s64)
FLOAT_COMPARISONS(DEFINE, f32)
FLOAT_COMPARISONS(DEFINE, f64)
#undef DEFINE

struct row {
    uint16_t modifier;
    uint8_t type;
    compare_function *compare;
};

#define ROW_U16(modifier, name, type, expression) {PTX_M_##modifier, PTX_U16, compare_##name##_##type},
#define ROW_S16(modifier, name, type, expression) {PTX_M_##modifier, PTX_S16, compare_##name##_##type},
#define ROW_U32(modifier, name, type, expression) {PTX_M_##modifier, PTX_U32, compare_##name##_##type},
#define ROW_S32(modifier, name, type, expression) {PTX_M_##modifier, PTX_S32, compare_##name##_##type},
#define ROW_U64(modifier, name, type, expression) {PTX_M_##modifier, PTX_U64, compare_##name##_##type},
#define ROW_S64(modifier, name, type, expression) {PTX_M_##modifier, PTX_S64, compare_##name##_##type},
#define ROW_F32(modifier, name, type, expression) {PTX_M_##modifier, PTX_F32, compare_##name##_##type},
#define ROW_F64(modifier, name, type, expression) {PTX_M_##modifier, PTX_F64, compare_##name##_##type},
static const struct row rows[] = {
    INTEGER_COMPARISONS(ROW_U16, u16) UNSIGNED_ALIASES(ROW_U16, u16) INTEGER_COMPARISONS(ROW_S16, s16)
        INTEGER_COMPARISONS(ROW_U32, u32) UNSIGNED_ALIASES(ROW_U32, u32) INTEGER_COMPARISONS(ROW_S32, s32)
            INTEGER_COMPARISONS(ROW_U64, u64) UNSIGNED_ALIASES(ROW_U64, u64) INTEGER_COMPARISONS(ROW_S64, s64)
                FLOAT_COMPARISONS(ROW_F32, f32) FLOAT_COMPARISONS(ROW_F64, f64)};

/* How the operands are turned into what the compare function takes. */
enum prepare { PREPARE_NONE, PREPARE_F16, PREPARE_BF16, PREPARE_FLUSH, PREPARE_F16X2, PREPARE_BF16X2 };

enum combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

struct compare {
    compare_function *function;
    enum prepare prepare;
    enum combine combine;
    bool negate_c;
    uint32_t yes; /* result of set where the comparison holds: ones, or 1 as a float; of a packed one in each half */
};

static void prepare_lanes(uint32_t *out, const uint32_t *in, enum prepare prepare, unsigned shift)
{
    EMU_FOR_LANES(l)
    {
        uint32_t bits = in[l] >> shift;
        float x = emu_f32(bits);

        if (prepare == PREPARE_F16 || prepare == PREPARE_F16X2)
            x = number_decode(NUMBER_F16, bits & 0xffff);
        else if (prepare == PREPARE_BF16 || prepare == PREPARE_BF16X2)
            x = number_decode(NUMBER_BF16, bits & 0xffff);
        else if (x < 0x1p-126f && x > -0x1p-126f)
            x = 0;
        out[l] = emu_f32_bits(x);
    }
}

static uint32_t compare_lanes(const struct emu_warp *warp, const struct emu_op *op, unsigned shift)
{
    const struct compare *compare = op->detail;
    uint32_t left[EMU_LANES], right[EMU_LANES];

    if (compare->prepare == PREPARE_NONE)
        return compare->function(emu_lanes(warp, op->a), emu_lanes(warp, op->b));
    prepare_lanes(left, emu_lanes32(warp, op->a), compare->prepare, shift);
    prepare_lanes(right, emu_lanes32(warp, op->b), compare->prepare, shift);
    return compare->function(left, right);
}

static uint32_t combine(const struct compare *compare, uint32_t value, uint32_t c)
{
    if (compare->negate_c)
        c = ~c;
    switch (compare->combine) {
    case COMBINE_AND:
        return value & c;
    case COMBINE_OR:
        return value | c;
    case COMBINE_XOR:
        return value ^ c;
    case COMBINE_NONE:
        break;
    }
    return value;
}

static uint32_t third(const struct emu_warp *warp, const struct emu_op *op)
{
    return op->c == EMU_NO_SLOT ? 0 : emu_predicate(warp, op->c);
}

static enum emu_result op_setp(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct compare *compare = op->detail;
    uint32_t value = compare_lanes(warp, op, 0), c = third(warp, op);

    emu_set_predicate(warp, op->d, combine(compare, value, c), mask);
    emu_set_predicate(warp, op->e, combine(compare, ~value, c), mask);
    return EMU_CONTINUE;
}

/* setp.f16x2 p|q: p from the low halves, q from the high ones. */
static enum emu_result op_setp_x2(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct compare *compare = op->detail;
    uint32_t low = compare_lanes(warp, op, 0), high = compare_lanes(warp, op, 16), c = third(warp, op);

    emu_set_predicate(warp, op->d, combine(compare, low, c), mask);
    emu_set_predicate(warp, op->e, combine(compare, high, c), mask);
    return EMU_CONTINUE;
}

static enum emu_result op_set(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct compare *compare = op->detail;
    uint32_t value = combine(compare, compare_lanes(warp, op, 0), third(warp, op));
    uint32_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = value & emu_lane_bit[l] ? compare->yes : 0;
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

static enum emu_result op_set_x2(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct compare *compare = op->detail;
    uint32_t c = third(warp, op), values[EMU_LANES];
    uint32_t low = combine(compare, compare_lanes(warp, op, 0), c);
    uint32_t high = combine(compare, compare_lanes(warp, op, 16), c);

    EMU_FOR_LANES(l)
    values[l] = (low & emu_lane_bit[l] ? compare->yes : 0) | (high & emu_lane_bit[l] ? compare->yes << 16 : 0);
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

/* What set writes where the comparison holds; 0: there is no such form. */
static uint32_t set_result(enum ptx_type type, bool packed)
{
    switch (type) {
    case PTX_F32:
        return packed ? 0 : emu_f32_bits(1);
    case PTX_F16:
    case PTX_BF16:
    case PTX_F16X2:
    case PTX_BF16X2:
        if (packed != (type == PTX_F16X2 || type == PTX_BF16X2))
            return 0;
        return type == PTX_F16 || type == PTX_F16X2 ? 0x3c00 : 0x3f80;
    case PTX_U16:
    case PTX_S16:
        return packed ? 0 : UINT16_MAX;
    case PTX_U32:
    case PTX_S32:
        return packed ? UINT16_MAX : UINT32_MAX;
    default:
        return 0;
    }
}

static bool lower_function(const struct emu_lower *l, enum ptx_type type, struct compare *compare)
{
    static const enum ptx_type untyped[] = {[2] = PTX_U16, [4] = PTX_U32, [8] = PTX_U64};

    switch (type) {
    case PTX_F16:
    case PTX_F16X2:
        compare->prepare = type == PTX_F16 ? PREPARE_F16 : PREPARE_F16X2;
        type = PTX_F32;
        break;
    case PTX_BF16:
    case PTX_BF16X2:
        compare->prepare = type == PTX_BF16 ? PREPARE_BF16 : PREPARE_BF16X2;
        type = PTX_F32;
        break;
    case PTX_F32:
        compare->prepare = emu_lower_has(l, PTX_M_FTZ) ? PREPARE_FLUSH : PREPARE_NONE;
        break;
    case PTX_B16:
    case PTX_B32:
    case PTX_B64:
        type = untyped[ptx_type_bits(type) / 8];
        break;
    default:
        break;
    }
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (rows[i].type == type && emu_lower_has(l, rows[i].modifier)) {
            compare->function = rows[i].compare;
            return true;
        }
    }
    return false;
}

/* `set` has the type of its result first, `setp` only that of its operands. */
bool emu_lower_compare(struct emu_lower *l)
{
    bool is_set = l->instruction->opcode == PTX_OP_SET;
    enum ptx_type type = emu_lower_type(l, is_set ? 1 : 0);
    const struct ptx_operand *d = emu_lower_operand(l, 0), *c = emu_lower_operand(l, 3);
    struct compare *compare = emu_lower_detail(l, sizeof *compare);
    emu_slot slots[5] = {EMU_NO_SLOT, EMU_NO_SLOT, EMU_NO_SLOT, EMU_NO_SLOT, EMU_NO_SLOT};
    bool pair = d && d->kind == PTX_OPERAND_PAIR;

    if (type >= PTX_TYPE_COUNT || !lower_function(l, type, compare))
        return emu_lower_unsupported(l, NULL);
    bool packed = compare->prepare == PREPARE_F16X2 || compare->prepare == PREPARE_BF16X2;
    if (is_set && !(compare->yes = set_result(emu_lower_type(l, 0), packed)))
        return emu_lower_unsupported(l, NULL);
    if (c) {
        compare->combine = emu_lower_has(l, PTX_M_AND)  ? COMBINE_AND
                           : emu_lower_has(l, PTX_M_OR) ? COMBINE_OR
                                                        : COMBINE_XOR;
        if (!emu_lower_predicate(l, c, &slots[4], &compare->negate_c))
            return false;
    }
    if (!emu_lower_source(l, emu_lower_operand(l, 1), type, &slots[2]) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), type, &slots[3]) ||
        !emu_lower_target(l, pair ? emu_lower_element(l, d, 0) : d, is_set ? 32 : 1, &slots[0]) ||
        (pair && !emu_lower_target(l, emu_lower_element(l, d, 1), 1, &slots[1])))
        return false;

    emu_handler *set = packed ? op_set_x2 : op_set, *setp = packed ? op_setp_x2 : op_setp;
    struct emu_op *op = emu_lower_add(l, is_set ? set : setp);

    op->d = slots[0];
    op->e = slots[1];
    op->a = slots[2];
    op->b = slots[3];
    op->c = slots[4];
    op->detail = compare;
    return true;
}

static enum emu_result op_selp32(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *a = emu_lanes32(warp, op->a), *b = emu_lanes32(warp, op->b);
    uint32_t choose = emu_predicate(warp, op->c) ^ (uint32_t)op->immediate;
    uint32_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = choose & emu_lane_bit[l] ? a[l] : b[l];
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

static enum emu_result op_selp64(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint64_t *a = emu_lanes64(warp, op->a), *b = emu_lanes64(warp, op->b);
    uint32_t choose = emu_predicate(warp, op->c) ^ (uint32_t)op->immediate;
    uint64_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = choose & emu_lane_bit[l] ? a[l] : b[l];
    emu_commit64(emu_lanes64(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

/* slct d, a, b, c: a when c >= 0. `immediate`: c is a float. */
static enum emu_result op_slct(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *c = emu_lanes32(warp, op->c);
    bool wide = op->target == 64;

    EMU_FOR_MASK(lane, mask)
    {
        bool first = op->immediate ? emu_f32(c[lane]) >= 0 : (int32_t)c[lane] >= 0;

        if (wide)
            emu_lanes64(warp, op->d)[lane] = emu_lanes64(warp, first ? op->a : op->b)[lane];
        else
            emu_lanes32(warp, op->d)[lane] = emu_lanes32(warp, first ? op->a : op->b)[lane];
    }
    return EMU_CONTINUE;
}

bool emu_lower_select(struct emu_lower *l)
{
    bool is_slct = l->instruction->opcode == PTX_OP_SLCT;
    enum ptx_type type = emu_lower_type(l, 0);
    emu_slot d, a, b, c;
    bool negated = false;

    if (!emu_lower_source(l, emu_lower_operand(l, 1), type, &a) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), type, &b) ||
        !(is_slct ? emu_lower_source(l, emu_lower_operand(l, 3), PTX_B32, &c)
                  : emu_lower_predicate(l, emu_lower_operand(l, 3), &c, &negated)) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), ptx_type_bits(type), &d))
        return false;

    struct emu_op *op = emu_lower_add(l, is_slct ? op_slct : ptx_type_bits(type) > 32 ? op_selp64 : op_selp32);

    op->d = d;
    op->a = a;
    op->b = b;
    op->c = c;
    op->immediate = is_slct ? emu_lower_type(l, 1) == PTX_F32 : negated ? UINT32_MAX : 0;
    op->target = ptx_type_bits(type) > 32 ? 64 : 32;
    return true;
}

static enum emu_result op_logic(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t a = emu_predicate(warp, op->a) ^ (op->immediate & 1 ? UINT32_MAX : 0);
    uint32_t b = op->b == EMU_NO_SLOT ? 0 : emu_predicate(warp, op->b) ^ (op->immediate & 2 ? UINT32_MAX : 0);
    uint32_t value = op->opcode == PTX_OP_AND   ? (a & b)
                     : op->opcode == PTX_OP_OR  ? (a | b)
                     : op->opcode == PTX_OP_XOR ? (a ^ b)
                                                : ~a;

    emu_set_predicate(warp, op->d, value, mask);
    return EMU_CONTINUE;
}

bool emu_lower_logic(struct emu_lower *l)
{
    bool negated[2] = {false, false};
    emu_slot d, a, b = EMU_NO_SLOT;

    if (emu_lower_type(l, 0) != PTX_PRED)
        return emu_lower_alu(l);
    if (!emu_lower_predicate(l, emu_lower_operand(l, 1), &a, &negated[0]) ||
        (l->instruction->opcode != PTX_OP_NOT && !emu_lower_predicate(l, emu_lower_operand(l, 2), &b, &negated[1])) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), 1, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, op_logic);

    op->d = d;
    op->a = a;
    op->b = b;
    op->immediate = (negated[0] ? 1u : 0u) | (negated[1] ? 2u : 0u);
    return true;
}
