/* Bit operations that do not fit the tables: lop3, prmt, bfi, and arithmetic with the carry flag. */
#include "emu/alu_types.h"
#include "emu/lowerings.h"

#pragma GCC optimize("O3")

/* One bit of the table for each combination of a, b and c: 0xf0, 0xcc, 0xaa are the operands themselves. */
static void look_up(uint32_t *values, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint64_t table)
{
    memset(values, 0, EMU_LANES * sizeof *values);
    for (unsigned row = 0; row < 8; row++) {
        uint32_t flip_a = row & 4 ? 0 : UINT32_MAX, flip_b = row & 2 ? 0 : UINT32_MAX,
                 flip_c = row & 1 ? 0 : UINT32_MAX;

        if (!(table >> row & 1))
            continue;
        EMU_FOR_LANES(l)
        values[l] |= (a[l] ^ flip_a) & (b[l] ^ flip_b) & (c[l] ^ flip_c);
    }
}

static enum emu_result op_lop3(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t values[EMU_LANES];

    look_up(values, emu_lanes32(warp, op->a), emu_lanes32(warp, op->b), emu_lanes32(warp, op->c), op->immediate);
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

/* lop3.BoolOp d|p, a, b, c, table, q: p = (result != 0) BoolOp q. */
struct lop3_predicate {
    emu_slot p, q;
    bool negate_q;
    uint16_t combine; /* PTX_M_AND, PTX_M_OR, PTX_M_XOR */
};

static enum emu_result op_lop3_predicate(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct lop3_predicate *extra = op->detail;
    const uint32_t *d = emu_lanes32(warp, op->d);
    uint32_t q = emu_predicate(warp, extra->q) ^ (extra->negate_q ? UINT32_MAX : 0);
    uint32_t set = 0;

    (void)op_lop3(warp, op, mask);
    EMU_FOR_LANES(l)
    set |= d[l] ? emu_lane_bit[l] : 0;
    set = extra->combine == PTX_M_AND ? (set & q) : extra->combine == PTX_M_OR ? (set | q) : (set ^ q);
    emu_set_predicate(warp, extra->p, set, mask);
    return EMU_CONTINUE;
}

bool emu_lower_lop3(struct emu_lower *l)
{
    const struct ptx_operand *d = emu_lower_operand(l, 0), *table = emu_lower_operand(l, 4);
    bool pair = d && d->kind == PTX_OPERAND_PAIR;
    struct lop3_predicate *extra = emu_lower_detail(l, sizeof *extra);
    emu_slot target, sources[3];

    if (!table || table->kind != PTX_OPERAND_IMMEDIATE || table->bits > 255)
        return emu_lower_refuse(l, "the table must be a constant from 0 to 255");
    for (uint32_t i = 0; i < 3; i++) {
        if (!emu_lower_source(l, emu_lower_operand(l, i + 1), PTX_B32, &sources[i]))
            return false;
    }
    if (!emu_lower_target(l, pair ? emu_lower_element(l, d, 0) : d, 32, &target))
        return false;
    if (pair && (!emu_lower_target(l, emu_lower_element(l, d, 1), 1, &extra->p) ||
                 !emu_lower_predicate(l, emu_lower_operand(l, 5), &extra->q, &extra->negate_q)))
        return false;
    extra->combine = emu_lower_has(l, PTX_M_AND) ? PTX_M_AND : emu_lower_has(l, PTX_M_OR) ? PTX_M_OR : PTX_M_XOR;

    struct emu_op *op = emu_lower_add(l, pair ? op_lop3_predicate : op_lop3);

    op->d = target;
    op->a = sources[0];
    op->b = sources[1];
    op->c = sources[2];
    op->immediate = table->bits;
    op->detail = extra;
    return true;
}

static uint32_t permute(uint32_t a, uint32_t b, uint32_t selector)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t value = 0;

    for (unsigned i = 0; i < 4; i++) {
        uint32_t choice = selector >> (4 * i) & 15;
        uint32_t byte = (uint32_t)(bytes >> (8 * (choice & 7))) & 0xff;

        if (choice & 8)
            byte = byte & 0x80 ? 0xff : 0;
        value |= byte << (8 * i);
    }
    return value;
}

/* The selectors of the modes, by the two low bits of c. */
static const uint32_t selectors[][4] = {
    {0x3210, 0x4321, 0x5432, 0x6543}, /* f4e: forward four bytes */
    {0x5670, 0x6701, 0x7012, 0x0123}, /* b4e: backward */
    {0x0000, 0x1111, 0x2222, 0x3333}, /* rc8 */
    {0x3210, 0x3211, 0x3222, 0x3333}, /* ecl */
    {0x0000, 0x1110, 0x2210, 0x3210}, /* ecr */
    {0x1010, 0x3232, 0x1010, 0x3232}, /* rc16 */
};

/* `immediate`: 0 for the plain form, else 1 + the row of the mode */
static enum emu_result op_prmt(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *a = emu_lanes32(warp, op->a), *b = emu_lanes32(warp, op->b), *c = emu_lanes32(warp, op->c);
    uint32_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = permute(a[l], b[l], op->immediate ? selectors[op->immediate - 1][c[l] & 3] : c[l]);
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

bool emu_lower_prmt(struct emu_lower *l)
{
    static const uint16_t modes[] = {PTX_M_F4E, PTX_M_B4E, PTX_M_RC8, PTX_M_ECL, PTX_M_ECR, PTX_M_RC16};
    emu_slot slots[4];
    uint64_t mode = 0;

    for (uint32_t i = 1; i <= 3; i++) {
        if (!emu_lower_source(l, emu_lower_operand(l, i), PTX_B32, &slots[i]))
            return false;
    }
    if (!emu_lower_target(l, emu_lower_operand(l, 0), 32, &slots[0]))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (emu_lower_has(l, modes[i]))
            mode = i + 1;
    }

    struct emu_op *op = emu_lower_add(l, op_prmt);

    op->d = slots[0];
    op->a = slots[1];
    op->b = slots[2];
    op->c = slots[3];
    op->immediate = mode;
    return true;
}

static uint64_t insert(uint64_t field, uint64_t base, uint32_t start, uint32_t length, uint32_t width)
{
    uint64_t ones;

    start &= 0xff;
    length &= 0xff;
    if (start >= width)
        return base;
    ones = (length >= 64 ? UINT64_MAX : (UINT64_C(1) << length) - 1) << start;
    return (base & ~ones) | (field << start & ones);
}

/* bfi f, a, b, c, d: a into b at c, d bits long; d is in op->e. */
static enum emu_result op_bfi32(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *a = emu_lanes32(warp, op->a), *b = emu_lanes32(warp, op->b);
    const uint32_t *start = emu_lanes32(warp, op->c), *length = emu_lanes32(warp, op->e);
    uint32_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = (uint32_t)insert(a[l], b[l], start[l], length[l], 32);
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

static enum emu_result op_bfi64(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint64_t *a = emu_lanes64(warp, op->a), *b = emu_lanes64(warp, op->b);
    const uint32_t *start = emu_lanes32(warp, op->c), *length = emu_lanes32(warp, op->e);
    uint64_t values[EMU_LANES];

    EMU_FOR_LANES(l)
    values[l] = insert(a[l], b[l], start[l], length[l], 64);
    emu_commit64(emu_lanes64(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

bool emu_lower_bfi(struct emu_lower *l)
{
    enum ptx_type type = emu_lower_type(l, 0);
    emu_slot slots[5];

    for (uint32_t i = 1; i <= 4; i++) {
        if (!emu_lower_source(l, emu_lower_operand(l, i), i > 2 ? PTX_B32 : type, &slots[i]))
            return false;
    }
    if (!emu_lower_target(l, emu_lower_operand(l, 0), ptx_type_bits(type), &slots[0]))
        return false;

    struct emu_op *op = emu_lower_add(l, ptx_type_bits(type) == 64 ? op_bfi64 : op_bfi32);

    op->d = slots[0];
    op->a = slots[1];
    op->b = slots[2];
    op->c = slots[3];
    op->e = slots[4];
    return true;
}

enum carry_kind { CARRY_ADD, CARRY_SUB, CARRY_MAD };

struct carry {
    enum carry_kind kind;
    bool in;   /* addc, subc, madc */
    bool out;  /* .cc */
    bool high; /* .hi of mad */
    bool sign; /* of the product */
    bool wide; /* 64 bits */
};

struct carried {
    uint64_t value;
    bool carry;
};

static uint64_t product(const struct carry *carry, uint64_t a, uint64_t b)
{
    if (!carry->wide) {
        uint64_t whole = carry->sign ? (uint64_t)((int64_t)(int32_t)a * (int32_t)b) : a * b;

        return carry->high ? whole >> 32 & UINT32_MAX : whole & UINT32_MAX;
    }
    if (!carry->high)
        return a * b;
    if (carry->sign)
        return (uint64_t)((__int128)(int64_t)a * (int64_t)b >> 64);
    return (uint64_t)((unsigned __int128)a * b >> 64);
}

/* Subtraction adds the complement; its CC.CF is the borrow. */
static struct carried compute(const struct carry *carry, uint64_t a, uint64_t b, uint64_t c, bool flag)
{
    uint64_t top = carry->wide ? UINT64_MAX : UINT32_MAX;
    unsigned __int128 sum;

    if (carry->kind == CARRY_SUB) {
        unsigned __int128 taken = (unsigned __int128)b + (carry->in && flag);

        return (struct carried){(uint64_t)(a - (uint64_t)taken) & top, taken > a};
    }
    if (carry->kind == CARRY_MAD) {
        a = product(carry, a, b);
        b = c;
    }
    sum = (unsigned __int128)a + b + (carry->in && flag);
    return (struct carried){(uint64_t)sum & top, sum > top};
}

static uint64_t get(const struct emu_warp *warp, emu_slot slot, bool wide, uint32_t lane)
{
    return wide ? emu_lanes64(warp, slot)[lane] : emu_lanes32(warp, slot)[lane];
}

static enum emu_result op_carry(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct carry *carry = op->detail;

    EMU_FOR_MASK(lane, mask)
    {
        uint64_t c = carry->kind == CARRY_MAD ? get(warp, op->c, carry->wide, lane) : 0;
        struct carried result = compute(carry, get(warp, op->a, carry->wide, lane), get(warp, op->b, carry->wide, lane),
                                        c, warp->carry & emu_lane_bit[lane]);

        if (carry->wide)
            emu_lanes64(warp, op->d)[lane] = result.value;
        else
            emu_lanes32(warp, op->d)[lane] = (uint32_t)result.value;
        if (carry->out)
            warp->carry = (warp->carry & ~emu_lane_bit[lane]) | (result.carry ? emu_lane_bit[lane] : 0);
    }
    return EMU_CONTINUE;
}

bool emu_lower_carry(struct emu_lower *l)
{
    uint16_t opcode = l->instruction->opcode;
    enum ptx_type type = emu_lower_type(l, 0);
    struct carry *carry = emu_lower_detail(l, sizeof *carry);
    emu_slot slots[4] = {EMU_NO_SLOT, EMU_NO_SLOT, EMU_NO_SLOT, EMU_NO_SLOT};

    if (type >= PTX_TYPE_COUNT || ptx_type_bits(type) < 32)
        return emu_lower_refuse(l, "carries need a type of 32 or 64 bits");
    carry->kind = opcode == PTX_OP_ADD || opcode == PTX_OP_ADDC   ? CARRY_ADD
                  : opcode == PTX_OP_SUB || opcode == PTX_OP_SUBC ? CARRY_SUB
                                                                  : CARRY_MAD;
    carry->in = opcode == PTX_OP_ADDC || opcode == PTX_OP_SUBC || opcode == PTX_OP_MADC;
    carry->out = emu_lower_has(l, PTX_M_CC);
    carry->high = emu_lower_has(l, PTX_M_HI);
    carry->sign = type == PTX_S32 || type == PTX_S64;
    carry->wide = ptx_type_bits(type) == 64;
    for (uint32_t i = 1; i <= (carry->kind == CARRY_MAD ? 3u : 2u); i++) {
        if (!emu_lower_source(l, emu_lower_operand(l, i), type, &slots[i]))
            return false;
    }
    if (!emu_lower_target(l, emu_lower_operand(l, 0), ptx_type_bits(type), &slots[0]))
        return false;

    struct emu_op *op = emu_lower_add(l, op_carry);

    op->d = slots[0];
    op->a = slots[1];
    op->b = slots[2];
    op->c = slots[3];
    op->detail = carry;
    return true;
}

bool emu_lower_add_sub(struct emu_lower *l)
{
    return emu_lower_has(l, PTX_M_CC) ? emu_lower_carry(l) : emu_lower_float(l);
}
