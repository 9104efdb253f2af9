/* wgmma.*: lowering and handlers. Source: PTX ISA, "Asynchronous warpgroup level matrix instructions" (9.7.15). */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/hazard.h"
#include "emu/hazard_registers.h"
#include "emu/lower_async.h"
#include "emu/wgmma_queue.h"

enum { CHAIN_LOOKAHEAD = 64 };

static enum emu_result op_mma(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    enum emu_result result;

    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    struct async_warpgroup *group = async_warpgroup_of(warp, op);
    return group ? wgmma_issue(group, warp, op, mask) : EMU_FAULT;
}

static enum emu_result op_fence(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    enum emu_result result;

    (void)mask;
    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    hazard_registers_fence(warp);
    return EMU_CONTINUE;
}

static enum emu_result op_commit(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    enum emu_result result;
    struct async_warp *state = emu_async_warp(warp);

    (void)mask;
    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    async_groups_commit(&state->wgmma_groups, state->wgmma_issued);
    return EMU_CONTINUE;
}

static bool products_have_landed(const struct emu_warp *warp, const struct emu_group *group)
{
    (void)warp;
    return ((const struct async_warpgroup *)group->wait.object)->landed >= group->wait.value[0];
}

static void describe_products(const struct emu_warp *warp, const struct emu_group *group, struct buffer *out)
{
    const struct async_warpgroup *warpgroup = group->wait.object;
    uint32_t missing = wgmma_missing_warps(warpgroup);

    (void)buffer_printf(out, "wgmma groups of warpgroup %u: %" PRIu64 " of %" PRIu64 " products are complete",
                        warpgroup->index, warpgroup->landed, group->wait.value[0]);
    for (; missing; missing &= missing - 1) {
        uint32_t index = warpgroup->index * WGMMA_WARPS + (uint32_t)__builtin_ctz(missing);
        (void)buffer_printf(out, ", warp %u %s", index,
                            warp->cta->warps[index].live ? "has not issued its part" : "has exited without its part");
    }
}

static const struct emu_wait_class wait_products = {
    .name = "wgmma groups", .ready = products_have_landed, .describe = describe_products};

/* A wait for everything, or one without any commit before it, is meant to cover what was issued. */
static enum emu_result check_committed(struct emu_warp *warp, const struct emu_op *op)
{
    const struct async_warp *state = emu_async_warp(warp);
    const struct async_groups *groups = &state->wgmma_groups;
    uint64_t committed = groups->count ? groups->boundary[(groups->count - 1) % ASYNC_GROUPS_MAX] : 0;

    if (!warp->cta->cluster->hazards || state->wgmma_issued == committed || (op->immediate && groups->count))
        return EMU_CONTINUE;
    return emu_report(warp, op, -1, EMU_NOT_COMMITTED,
                      "this wait does not cover the last %" PRIu64
                      " wgmma of the warp: no commit_group stands behind them",
                      state->wgmma_issued - committed);
}

static enum emu_result op_wait(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    uint64_t count = async_groups_target(&emu_async_warp(warp)->wgmma_groups, op->immediate);
    enum emu_result result;

    (void)mask;
    if (!emu_converged(warp, op, UINT32_MAX, &result))
        return result;
    struct async_warpgroup *group = async_warpgroup_of(warp, op);
    if (!group)
        return EMU_FAULT;
    if (check_committed(warp, op) == EMU_FAULT)
        return EMU_FAULT;
    hazard_products_known(warp, count);
    hazard_registers_wait(warp, count);
    return group->landed >= count ? EMU_CONTINUE : emu_wait(warp, &wait_products, group, count, 0);
}

struct type_row {
    enum ptx_type type;
    enum number_format format;
    bool transposes;
};
static const struct type_row type_rows[] = {
    {PTX_BF16, NUMBER_BF16, true},  {PTX_F16, NUMBER_F16, true},    {PTX_TF32, NUMBER_TF32, false},
    {PTX_E4M3, NUMBER_E4M3, false}, {PTX_E5M2, NUMBER_E5M2, false}, {PTX_S8, NUMBER_S8, false},
    {PTX_U8, NUMBER_U8, false},
};

static const struct type_row *find_type(enum ptx_type type)
{
    for (size_t i = 0; i < ARRAY_LEN(type_rows); i++)
        if (type_rows[i].type == type)
            return &type_rows[i];
    return NULL;
}

static bool lower_types(struct emu_lower *l, struct wgmma_detail *detail, const struct type_row **row)
{
    const struct type_row *b = find_type(emu_lower_type(l, 2));
    const uint16_t *size = l->instruction->size;

    *row = find_type(emu_lower_type(l, 1));
    if (!*row || !b)
        return emu_lower_unsupported(l, "operands of this type");
    detail->result = emu_lower_type(l, 0) == PTX_F32   ? WGMMA_F32
                     : emu_lower_type(l, 0) == PTX_F16 ? WGMMA_F16
                                                       : WGMMA_S32;
    detail->a_format = (*row)->format;
    detail->b_format = b->format;
    detail->saturate = emu_lower_has(l, PTX_M_SATFINITE);
    detail->n = size[1];
    detail->k = size[2];
    if (size[0] != WGMMA_M || size[1] < 8 || size[1] > WGMMA_N_MAX || size[1] % 8 ||
        size[2] * number_bytes(detail->a_format) != 32 ||
        number_bytes(detail->a_format) != number_bytes(detail->b_format) ||
        (detail->result == WGMMA_S32) != number_is_integer(detail->a_format) ||
        number_is_integer(detail->a_format) != number_is_integer(detail->b_format))
        return emu_lower_refuse(l, "wgmma has no such shape for these types");
    return true;
}

static int by_slot(const void *left, const void *right)
{
    const emu_slot *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static bool lower_accumulators(struct emu_lower *l, struct wgmma_detail *detail)
{
    const struct ptx_operand *vector = emu_lower_operand(l, 0);
    uint32_t count = (uint32_t)detail->n / (detail->result == WGMMA_F16 ? 4 : 2);
    emu_slot *slots = emu_lower_detail(l, count * sizeof *slots), *sorted = emu_lower_detail(l, count * sizeof *sorted);

    if (!vector || vector->kind != PTX_OPERAND_VECTOR || vector->count != count)
        return emu_lower_refuse(l, "wgmma needs %u accumulator registers", count);
    for (uint32_t i = 0; i < count; i++)
        if (!emu_lower_target(l, emu_lower_element(l, vector, i), 32, &slots[i]))
            return false;
    memcpy(sorted, slots, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, by_slot);
    detail->d = slots;
    detail->sorted_d = sorted;
    detail->d_count = count;
    return true;
}

static bool lower_a(struct emu_lower *l, struct wgmma_detail *detail)
{
    const struct ptx_operand *a = emu_lower_operand(l, 1);

    detail->a_in_registers = a && a->kind == PTX_OPERAND_VECTOR;
    if (!detail->a_in_registers)
        return emu_lower_source(l, a, PTX_B64, &detail->a[0]);
    if (a->count != 4)
        return emu_lower_refuse(l, "wgmma needs four registers of matrix A");
    for (uint32_t i = 0; i < 4; i++)
        if (!emu_lower_source(l, emu_lower_element(l, a, i), PTX_B32, &detail->a[i]))
            return false;
    return true;
}

static bool lower_constant(struct emu_lower *l, uint32_t index, int64_t *out)
{
    const struct ptx_operand *operand = emu_lower_operand(l, index);

    if (!operand || operand->kind != PTX_OPERAND_IMMEDIATE)
        return emu_lower_refuse(l, "operand %u of wgmma must be a constant", index + 1);
    *out = operand->negated ? -(int64_t)operand->bits : (int64_t)operand->bits;
    return true;
}

/* imm-scale-a, imm-scale-b, then imm-trans-a unless A is in registers, imm-trans-b: integers have none of them. */
static bool lower_scales(struct emu_lower *l, struct wgmma_detail *detail, bool transposes)
{
    int64_t scale_a, scale_b, trans_a = 0, trans_b = 0;
    uint32_t at = 6;

    if (detail->result == WGMMA_S32)
        return true;
    if (!lower_constant(l, 4, &scale_a) || !lower_constant(l, 5, &scale_b))
        return false;
    if (transposes && !detail->a_in_registers && !lower_constant(l, at++, &trans_a))
        return false;
    if (transposes && !lower_constant(l, at, &trans_b))
        return false;
    if ((scale_a != 1 && scale_a != -1) || (scale_b != 1 && scale_b != -1) || (trans_a & ~1) || (trans_b & ~1))
        return emu_lower_refuse(l, "wgmma scales are 1 or -1, transpositions 0 or 1");
    detail->negate_a = scale_a < 0;
    detail->negate_b = scale_b < 0;
    detail->a_mn_major = trans_a;
    detail->b_mn_major = trans_b;
    return true;
}

/* Whether an operand is, or contains, one of the accumulators. */
static bool names_accumulator(const struct emu_lower *l, const struct ptx_operand *operand,
                              const struct ptx_operand *vector)
{
    if (operand->kind == PTX_OPERAND_REGISTER) {
        for (uint32_t i = 0; i < vector->count; i++)
            if (l->ptx->operands[vector->first + i].value == operand->value)
                return true;
        return false;
    }
    for (uint32_t i = 0; i < operand->count; i++)
        if (names_accumulator(l, &l->ptx->operands[operand->first + i], vector))
            return true;
    return false;
}

static bool same_vector(const struct emu_lower *l, const struct ptx_operand *a, const struct ptx_operand *b)
{
    if (b->kind != PTX_OPERAND_VECTOR || a->count != b->count)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (l->ptx->operands[a->first + i].value != l->ptx->operands[b->first + i].value)
            return false;
    return true;
}

/* See struct wgmma_detail. Looks at the straight line behind the instruction. */
static bool is_chained(const struct emu_lower *l)
{
    const struct ptx_function *function = l->ptx;
    const struct ptx_operand *vector = emu_lower_operand(l, 0);
    uint32_t first = (uint32_t)(l->instruction - function->instructions) + 1;

    for (uint32_t i = first; i < function->instruction_count && i < first + CHAIN_LOOKAHEAD; i++) {
        const struct ptx_instruction *next = &function->instructions[i];

        if (next->opcode == PTX_OP_WGMMA && ptx_has_word(function, next, PTX_M_MMA_ASYNC))
            return next->guard == PTX_NONE && !memcmp(next->size, l->instruction->size, sizeof next->size) &&
                   next->types[0] == l->instruction->types[0] &&
                   same_vector(l, vector, &function->operands[next->first_operand]);
        if (ptx_opcode_category((enum ptx_opcode)next->opcode) == PTX_CONTROL)
            return false;
        for (uint32_t k = 0; k < next->operand_count; k++)
            if (names_accumulator(l, &function->operands[next->first_operand + k], vector))
                return false;
    }
    return false;
}

static bool lower_mma(struct emu_lower *l)
{
    struct wgmma_detail *detail = emu_lower_detail(l, sizeof *detail);
    const struct type_row *row;

    if (emu_lower_has(l, PTX_M_SP))
        return emu_lower_unsupported(l, "sparse wgmma");
    if (!lower_types(l, detail, &row) || !lower_accumulators(l, detail) || !lower_a(l, detail) ||
        !emu_lower_source(l, emu_lower_operand(l, 2), PTX_B64, &detail->b) ||
        !emu_lower_predicate(l, emu_lower_operand(l, 3), &detail->scale_d, &detail->scale_negated) ||
        !lower_scales(l, detail, row->transposes))
        return false;
    detail->chained = is_chained(l);
    emu_lower_add(l, op_mma)->detail = detail;
    return true;
}

bool emu_lower_wgmma(struct emu_lower *l)
{
    int64_t pending;

    if (emu_lower_has(l, PTX_M_MMA_ASYNC))
        return lower_mma(l);
    if (emu_lower_has(l, PTX_M_FENCE)) {
        (void)emu_lower_add(l, op_fence);
        return true;
    }
    if (emu_lower_has(l, PTX_M_COMMIT_GROUP)) {
        (void)emu_lower_add(l, op_commit);
        return true;
    }
    if (!emu_lower_has(l, PTX_M_WAIT_GROUP))
        return emu_lower_unsupported(l, NULL);
    if (!lower_constant(l, 0, &pending))
        return false;
    emu_lower_add(l, op_wait)->immediate = (uint64_t)pending;
    return true;
}
