/* Between the lanes of a warp: shfl, vote, match, redux, elect, activemask. Source: PTX ISA, 9.7.9.6 and 9.7.13. */
#include "emu/lanes.h"
#include "emu/lowerings.h"

/* Whether all lanes that a .sync instruction needs are here; false: *result. Lanes may bring different member masks, as
 * the tiles of a partitioned warp do; those that name one another must have the same. */
static bool gather(struct emu_warp *warp, const struct emu_op *op, emu_slot slot, uint32_t mask,
                   enum emu_result *result)
{
    const uint32_t *members = emu_lanes32(warp, slot);
    uint32_t needed = 0, left_out = 0;

    EMU_FOR_LANES(l)
    {
        uint32_t here = mask & emu_lane_bit[l];

        needed |= here ? members[l] : 0;
        left_out |= here & ~members[l];
    }
    if (left_out) {
        *result = emu_report(warp, op, __builtin_ctz(left_out), EMU_DIVERGENT_ALIGNED,
                             "lane executes a .sync instruction whose member mask 0x%08x leaves it out",
                             members[__builtin_ctz(left_out)]);
        return false;
    }
    return emu_converged(warp, op, needed, result);
}

/* The lanes of `left`, which is not 0, with the member mask of the first of them. */
static uint32_t next_tile(const struct emu_warp *warp, emu_slot slot, uint32_t left)
{
    const uint32_t *members = emu_lanes32(warp, slot);
    uint32_t first = members[__builtin_ctz(left)], tile = 0;

    EMU_FOR_LANES(l)
    tile |= members[l] == first ? emu_lane_bit[l] : 0;
    return tile & left;
}

/* for (tiles of mask): lanes that have one member mask */
#define FOR_TILES(tile, warp, slot, mask)                                                                              \
    for (uint32_t tile##_left = (mask), tile; tile##_left; tile##_left &= ~tile)                                       \
        if ((tile = next_tile(warp, slot, tile##_left)))

struct shuffle {
    uint16_t mode; /* PTX_M_UP, PTX_M_DOWN, PTX_M_BFLY, PTX_M_IDX */
    emu_slot members;
};

/* Source lane of a lane, and whether it lies in the segment. c: clamp in bits 0-4, segment mask in 8-12. */
static uint32_t shuffle_source(uint16_t mode, uint32_t lane, uint32_t b, uint32_t c, bool *valid)
{
    uint32_t clamp = c & 31, segment = c >> 8 & 31;
    uint32_t top = (lane & segment) | (clamp & ~segment), bottom = lane & segment;
    uint32_t source;

    b &= 31;
    switch (mode) {
    case PTX_M_UP:
        source = lane - b;
        *valid = (int32_t)source >= (int32_t)top;
        break;
    case PTX_M_DOWN:
        source = lane + b;
        *valid = source <= top;
        break;
    case PTX_M_BFLY:
        source = lane ^ b;
        *valid = source <= top;
        break;
    default:
        source = bottom | (b & ~segment & 31);
        *valid = source <= top;
        break;
    }
    return *valid ? source : lane;
}

static enum emu_result op_shuffle(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct shuffle *shuffle = op->detail;
    const uint32_t *a = emu_lanes32(warp, op->a), *b = emu_lanes32(warp, op->b), *c = emu_lanes32(warp, op->c);
    uint32_t values[EMU_LANES] = {0}, valid_lanes = 0;
    enum emu_result result = EMU_CONTINUE;

    if (!gather(warp, op, shuffle->members, mask, &result))
        return result;
    EMU_FOR_MASK(lane, mask)
    {
        bool valid;
        uint32_t source = shuffle_source(shuffle->mode, lane, b[lane], c[lane], &valid);

        values[lane] = a[source];
        valid_lanes |= valid ? emu_lane_bit[lane] : 0;
    }
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    emu_set_predicate(warp, op->e, valid_lanes, mask);
    return EMU_CONTINUE;
}

bool emu_lower_shuffle(struct emu_lower *l)
{
    static const uint16_t modes[] = {PTX_M_UP, PTX_M_DOWN, PTX_M_BFLY, PTX_M_IDX};
    const struct ptx_operand *d = emu_lower_operand(l, 0);
    bool pair = d && d->kind == PTX_OPERAND_PAIR;
    struct shuffle *shuffle = emu_lower_detail(l, sizeof *shuffle);
    emu_slot target, valid = EMU_NO_SLOT, sources[3];

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (emu_lower_has(l, modes[i]))
            shuffle->mode = modes[i];
    }
    for (uint32_t i = 0; i < 3; i++) {
        if (!emu_lower_source(l, emu_lower_operand(l, i + 1), PTX_B32, &sources[i]))
            return false;
    }
    if (emu_lower_has(l, PTX_M_SYNC) ? !emu_lower_source(l, emu_lower_operand(l, 4), PTX_B32, &shuffle->members)
                                     : !emu_lower_unsupported(l, "shfl without .sync"))
        return false;
    if (!emu_lower_target(l, pair ? emu_lower_element(l, d, 0) : d, 32, &target) ||
        (pair && !emu_lower_target(l, emu_lower_element(l, d, 1), 1, &valid)))
        return false;

    struct emu_op *op = emu_lower_add(l, op_shuffle);

    op->d = target;
    op->e = valid;
    op->a = sources[0];
    op->b = sources[1];
    op->c = sources[2];
    op->detail = shuffle;
    return true;
}

/* vote.sync: a is the predicate, b the members; `immediate`: negated, `target`: the mode. */
static enum emu_result op_vote(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t value = emu_predicate(warp, op->a) ^ (op->immediate ? UINT32_MAX : 0), answers = 0;
    enum emu_result result = EMU_CONTINUE;

    if (!gather(warp, op, op->b, mask, &result))
        return result;
    FOR_TILES(tile, warp, op->b, mask)
    {
        uint32_t votes = value & tile;

        if (op->target == PTX_M_BALLOT) {
            uint32_t *d = emu_lanes32(warp, op->d);

            EMU_FOR_LANES(l)
            d[l] = tile & emu_lane_bit[l] ? votes : d[l];
            continue;
        }
        bool yes = op->target == PTX_M_ALL   ? votes == tile
                   : op->target == PTX_M_ANY ? votes != 0
                                             : votes == 0 || votes == tile;
        answers |= yes ? tile : 0;
    }
    if (op->target != PTX_M_BALLOT)
        emu_set_predicate(warp, op->d, answers, mask);
    return EMU_CONTINUE;
}

bool emu_lower_vote(struct emu_lower *l)
{
    static const uint16_t modes[] = {PTX_M_ALL, PTX_M_ANY, PTX_M_UNI, PTX_M_BALLOT};
    uint16_t mode = 0;
    bool negated;
    emu_slot d, a, b;

    for (size_t i = 0; i < ARRAY_LEN(modes); i++) {
        if (emu_lower_has(l, modes[i]))
            mode = modes[i];
    }
    if (!emu_lower_has(l, PTX_M_SYNC))
        return emu_lower_unsupported(l, "vote without .sync");
    if (!emu_lower_predicate(l, emu_lower_operand(l, 1), &a, &negated) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), PTX_B32, &b) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), mode == PTX_M_BALLOT ? 32 : 1, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, op_vote);

    op->d = d;
    op->a = a;
    op->b = b;
    op->immediate = negated;
    op->target = mode;
    return true;
}

/* `immediate`: 64-bit values; `target`: all. */
static enum emu_result op_match(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint64_t keys[EMU_LANES];
    uint32_t values[EMU_LANES] = {0}, equal_lanes = 0;
    enum emu_result result = EMU_CONTINUE;

    if (!gather(warp, op, op->b, mask, &result))
        return result;
    EMU_FOR_LANES(l)
    keys[l] = op->immediate ? emu_lanes64(warp, op->a)[l] : emu_lanes32(warp, op->a)[l];
    FOR_TILES(tile, warp, op->b, mask)
    {
        bool all_equal = true;

        EMU_FOR_MASK(lane, tile)
        {
            EMU_FOR_MASK(other, tile)
            values[lane] |= keys[lane] == keys[other] ? emu_lane_bit[other] : 0;
            all_equal &= values[lane] == tile;
        }
        equal_lanes |= all_equal ? tile : 0;
    }
    if (op->target) {
        EMU_FOR_LANES(l)
        values[l] = equal_lanes & emu_lane_bit[l] ? values[l] : 0;
        emu_set_predicate(warp, op->e, equal_lanes, mask);
    }
    emu_commit32(emu_lanes32(warp, op->d), values, mask);
    return EMU_CONTINUE;
}

bool emu_lower_match(struct emu_lower *l)
{
    enum ptx_type type = emu_lower_type(l, 0);
    const struct ptx_operand *d = emu_lower_operand(l, 0);
    bool pair = d && d->kind == PTX_OPERAND_PAIR;
    emu_slot target, equal = EMU_NO_SLOT, a, b;

    if (!emu_lower_source(l, emu_lower_operand(l, 1), type, &a) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), PTX_B32, &b) ||
        !emu_lower_target(l, pair ? emu_lower_element(l, d, 0) : d, 32, &target) ||
        (pair && !emu_lower_target(l, emu_lower_element(l, d, 1), 1, &equal)))
        return false;

    struct emu_op *op = emu_lower_add(l, op_match);

    op->d = target;
    op->e = equal;
    op->a = a;
    op->b = b;
    op->immediate = ptx_type_bits(type) == 64;
    op->target = emu_lower_has(l, PTX_M_ALL);
    return true;
}

struct redux {
    uint16_t operation; /* PTX_M_ADD ... */
    bool sign;
};

static uint32_t reduce(const struct redux *redux, uint32_t x, uint32_t y)
{
    bool less = redux->sign ? (int32_t)x < (int32_t)y : x < y;

    switch (redux->operation) {
    case PTX_M_ADD:
        return x + y;
    case PTX_M_MIN:
        return less ? x : y;
    case PTX_M_MAX:
        return less ? y : x;
    case PTX_M_AND:
        return x & y;
    case PTX_M_OR:
        return x | y;
    default:
        return x ^ y;
    }
}

static enum emu_result op_redux(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct redux *redux = op->detail;
    const uint32_t *a = emu_lanes32(warp, op->a);
    uint32_t totals[EMU_LANES] = {0};
    enum emu_result result = EMU_CONTINUE;

    if (!gather(warp, op, op->b, mask, &result))
        return result;
    FOR_TILES(tile, warp, op->b, mask)
    {
        uint32_t first = (uint32_t)__builtin_ctz(tile), total = a[first];

        EMU_FOR_MASK(lane, tile & ~emu_lane_bit[first])
        total = reduce(redux, total, a[lane]);
        EMU_FOR_MASK(lane, tile)
        totals[lane] = total;
    }
    emu_commit32(emu_lanes32(warp, op->d), totals, mask);
    return EMU_CONTINUE;
}

bool emu_lower_redux(struct emu_lower *l)
{
    static const uint16_t operations[] = {PTX_M_ADD, PTX_M_MIN, PTX_M_MAX, PTX_M_AND, PTX_M_OR, PTX_M_XOR};
    enum ptx_type type = emu_lower_type(l, 0);
    struct redux *redux = emu_lower_detail(l, sizeof *redux);
    emu_slot d, a, b;

    if (type == PTX_F32)
        return emu_lower_unsupported(l, NULL);
    for (size_t i = 0; i < ARRAY_LEN(operations); i++) {
        if (emu_lower_has(l, operations[i]))
            redux->operation = operations[i];
    }
    redux->sign = type == PTX_S32;
    if (!emu_lower_source(l, emu_lower_operand(l, 1), type, &a) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), PTX_B32, &b) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), 32, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, op_redux);

    op->d = d;
    op->a = a;
    op->b = b;
    op->detail = redux;
    return true;
}

/* elect.sync d|p, members: the lowest lane that is here, of each tile. */
static enum emu_result op_elect(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t leaders = 0;
    enum emu_result result = EMU_CONTINUE;

    if (!gather(warp, op, op->a, mask, &result))
        return result;
    FOR_TILES(tile, warp, op->a, mask)
    {
        uint32_t leader = (uint32_t)__builtin_ctz(tile);

        EMU_FOR_MASK(lane, tile)
        emu_lanes32(warp, op->d)[lane] = leader;
        leaders |= emu_lane_bit[leader];
    }
    emu_set_predicate(warp, op->e, leaders, mask);
    return EMU_CONTINUE;
}

bool emu_lower_elect(struct emu_lower *l)
{
    const struct ptx_operand *d = emu_lower_operand(l, 0);
    emu_slot leader, elected, a;

    if (!d || d->kind != PTX_OPERAND_PAIR)
        return emu_lower_refuse(l, "elect needs d|p");
    if (!emu_lower_source(l, emu_lower_operand(l, 1), PTX_B32, &a) ||
        !emu_lower_target(l, emu_lower_element(l, d, 0), 32, &leader) ||
        !emu_lower_target(l, emu_lower_element(l, d, 1), 1, &elected))
        return false;

    struct emu_op *op = emu_lower_add(l, op_elect);

    op->d = leader;
    op->e = elected;
    op->a = a;
    return true;
}

static enum emu_result op_activemask(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint32_t *d = emu_lanes32(warp, op->d);

    EMU_FOR_LANES(l)
    d[l] = mask & emu_lane_bit[l] ? mask : d[l];
    return EMU_CONTINUE;
}

bool emu_lower_activemask(struct emu_lower *l)
{
    emu_slot d;

    if (!emu_lower_target(l, emu_lower_operand(l, 0), 32, &d))
        return false;
    emu_lower_add(l, op_activemask)->d = d;
    return true;
}
