/* ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements. Source: PTX ISA, 9.7.14.5.15 to 17. */
#include "emu/fragment.h"
#include "emu/lanes.h"
#include "emu/lowerings.h"

enum { MATRICES_MAX = 4, ROW_BYTES = 16, ROW_ELEMENTS = 8 };

struct matrices {
    struct emu_address address;
    struct fragment fragment;
    uint32_t count;
    bool store;
    bool generic;
    emu_slot registers[MATRICES_MAX];
};

/* Lane r supplies the address of row r. */
static bool find_rows(struct emu_warp *warp, const struct emu_op *op, const struct matrices *matrices, uint8_t **rows)
{
    uint64_t addresses[EMU_LANES];

    emu_address_lanes(warp, &matrices->address, addresses);
    for (uint32_t row = 0; row < 8 * matrices->count; row++) {
        rows[row] = matrices->generic
                        ? emu_generic_bytes(warp, op, (int)row, addresses[row], ROW_BYTES, ROW_BYTES, matrices->store)
                        : emu_shared_bytes(warp, op, (int)row, addresses[row], ROW_BYTES, ROW_BYTES, matrices->store,
                                           false, NULL);
        if (!rows[row])
            return false;
    }
    return true;
}

static enum emu_result op_matrices(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct matrices *matrices = op->detail;
    uint8_t *rows[8 * MATRICES_MAX];
    enum emu_result result = EMU_CONTINUE;

    (void)mask;
    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    if (!find_rows(warp, op, matrices, rows))
        return EMU_FAULT;
    for (uint32_t r = 0; r < matrices->count; r++) {
        uint32_t *lanes = emu_lanes32(warp, matrices->registers[r]);
        uint32_t values[EMU_LANES] = {0};

        for (int lane = 0; lane < EMU_LANES; lane++) {
            for (int part = 0; part < 2; part++) {
                struct fragment_element at = fragment_at(&matrices->fragment, lane, (int)r, part);
                uint8_t *bytes = rows[at.row] + 2 * at.column;
                uint16_t value;

                if (matrices->store) {
                    value = (uint16_t)(lanes[lane] >> (16 * part));
                    memcpy(bytes, &value, sizeof value);
                } else {
                    memcpy(&value, bytes, sizeof value);
                    values[lane] |= (uint32_t)value << (16 * part);
                }
            }
        }
        if (!matrices->store)
            emu_commit32(lanes, values, warp->live);
    }
    if (matrices->store)
        emu_progress(warp);
    return EMU_CONTINUE;
}

static bool lower_matrices(struct emu_lower *l, bool store)
{
    const struct ptx_operand *list = emu_lower_operand(l, store ? 1 : 0);
    struct matrices *matrices = emu_lower_detail(l, sizeof *matrices);
    bool transposed = emu_lower_has(l, PTX_M_TRANS);

    if (emu_lower_type(l, 0) != PTX_B16 || l->instruction->size[0] != 8 || l->instruction->size[1] != 8)
        return emu_lower_unsupported(l, "other shapes than m8n8 of .b16");
    if (!list)
        return emu_lower_refuse(l, "registers are missing");
    matrices->store = store;
    matrices->generic = !emu_lower_has(l, PTX_M_SHARED) && !emu_lower_has(l, PTX_M_SHARED_CTA);
    matrices->count = emu_lower_has(l, PTX_M_X4) ? 4 : emu_lower_has(l, PTX_M_X2) ? 2 : 1;
    matrices->fragment = fragment_ldmatrix((int)matrices->count, transposed);
    if ((list->kind == PTX_OPERAND_VECTOR ? list->count : 1) != matrices->count)
        return emu_lower_refuse(l, "the number of registers is not that of the matrices");
    for (uint32_t i = 0; i < matrices->count; i++) {
        const struct ptx_operand *element = list->kind == PTX_OPERAND_VECTOR ? emu_lower_element(l, list, i) : list;

        if (store ? !emu_lower_source(l, element, PTX_B32, &matrices->registers[i])
                  : !emu_lower_target(l, element, 32, &matrices->registers[i]))
            return false;
    }
    if (!emu_lower_address(l, emu_lower_operand(l, store ? 0 : 1), &matrices->address))
        return false;
    emu_lower_add(l, op_matrices)->detail = matrices;
    return true;
}

bool emu_lower_ldmatrix(struct emu_lower *l)
{
    return lower_matrices(l, false);
}

bool emu_lower_stmatrix(struct emu_lower *l)
{
    return lower_matrices(l, true);
}

/* Each lane holds two neighbours of a row; afterwards of a column. */
static enum emu_result op_movmatrix(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const uint32_t *a = emu_lanes32(warp, op->a);
    uint32_t values[EMU_LANES];
    enum emu_result result = EMU_CONTINUE;

    (void)mask;
    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    for (uint32_t lane = 0; lane < EMU_LANES; lane++) {
        uint32_t row = lane / 4, column = lane % 4 * 2;
        uint32_t low = a[4 * column + row / 2] >> (row % 2 * 16) & 0xffff;
        uint32_t high = a[4 * (column + 1) + row / 2] >> (row % 2 * 16) & 0xffff;

        values[lane] = low | high << 16;
    }
    emu_commit32(emu_lanes32(warp, op->d), values, warp->live);
    return EMU_CONTINUE;
}

bool emu_lower_movmatrix(struct emu_lower *l)
{
    emu_slot d, a;

    if (!emu_lower_source(l, emu_lower_operand(l, 1), PTX_B32, &a) ||
        !emu_lower_target(l, emu_lower_operand(l, 0), 32, &d))
        return false;

    struct emu_op *op = emu_lower_add(l, op_movmatrix);

    op->d = d;
    op->a = a;
    return true;
}
