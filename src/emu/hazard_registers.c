#include "emu/hazard_registers.h"

#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"

enum { REGISTERS_MAX = 16384 }; /* watched, of a program */

struct hazard_registers {
    uint32_t fences;
    uint32_t waited;   /* products known to be complete */
    uint32_t *in_d;    /* by register: last product, from 1, that accumulates into it */
    uint32_t *in_a;    /* that reads it */
    uint32_t *written; /* fences before the last write by something else, plus 1; 0: none */
    uint8_t *is_defined;
};

/* Lowering. */

struct numbering {
    struct emu_lower *l;
    uint16_t *number; /* by PTX register of the function; 0: not watched, else number + 1 */
};

static const struct ptx_operand *operand_at(const struct emu_lower *l, const struct ptx_instruction *ptx, uint32_t i)
{
    return i < ptx->operand_count ? &l->ptx->operands[ptx->first_operand + i] : NULL;
}

static bool is_product(const struct emu_lower *l, const struct ptx_instruction *ptx)
{
    return ptx->opcode == PTX_OP_WGMMA && ptx_has_word(l->ptx, ptx, PTX_M_MMA_ASYNC);
}

static void number_vector(struct numbering *n, const struct ptx_operand *vector)
{
    for (uint32_t i = 0; vector && vector->kind == PTX_OPERAND_VECTOR && i < vector->count; i++) {
        const struct ptx_operand *element = &n->l->ptx->operands[vector->first + i];

        if (element->kind != PTX_OPERAND_REGISTER || n->number[element->value] ||
            n->l->program->watched_registers == REGISTERS_MAX)
            continue;
        n->number[element->value] = (uint16_t)++n->l->program->watched_registers;
    }
}

/* Appends the watched registers of an operand and its elements. */
static void collect(const struct numbering *n, const struct ptx_operand *operand, uint16_t *out, uint16_t *count)
{
    if (!operand)
        return;
    if (operand->kind == PTX_OPERAND_REGISTER) {
        if (n->number[operand->value] && *count < UINT16_MAX)
            out[(*count)++] = (uint16_t)(n->number[operand->value] - 1);
        return;
    }
    for (uint32_t i = 0; i < operand->count; i++)
        collect(n, &n->l->ptx->operands[operand->first + i], out, count);
}

static bool is_written(const struct ptx_operand *operand)
{
    return operand && (operand->kind == PTX_OPERAND_REGISTER || operand->kind == PTX_OPERAND_VECTOR ||
                       operand->kind == PTX_OPERAND_PAIR);
}

static enum emu_result op_watched(struct emu_warp *warp, const struct emu_op *op, uint32_t mask);

static struct emu_watch *watch_of(const struct numbering *n, const struct ptx_instruction *ptx)
{
    uint16_t registers[1024], writes = 0, all;
    struct emu_watch *watch;
    bool product = is_product(n->l, ptx);

    if (ptx->operand_count > 64 || ptx_opcode_category((enum ptx_opcode)ptx->opcode) == PTX_CONTROL)
        return NULL;
    if (product || is_written(operand_at(n->l, ptx, 0)))
        collect(n, operand_at(n->l, ptx, 0), registers, &writes);
    all = writes;
    for (uint32_t i = product || is_written(operand_at(n->l, ptx, 0)) ? 1 : 0; i < ptx->operand_count; i++)
        collect(n, operand_at(n->l, ptx, i), registers, &all);
    if (!all)
        return NULL;
    uint16_t *list = emu_lower_detail(n->l, all * sizeof *list);

    memcpy(list, registers, all * sizeof *list);
    watch = emu_lower_detail(n->l, sizeof *watch);
    *watch = (struct emu_watch){.write_count = writes, .read_count = (uint16_t)(all - writes), .registers = list};
    watch->in_order = product && writes && writes == all;
    for (uint16_t i = 1; i < all; i++)
        watch->in_order = watch->in_order && list[i] == list[0] + i;
    return watch;
}

static void set_watch(struct emu_lower *l, uint32_t op, struct emu_watch *watch)
{
    if (op >= l->watch_capacity) {
        uint32_t capacity = l->op_capacity;
        struct emu_watch **grown = arena_calloc(l->arena, capacity, sizeof *grown);

        if (l->watch_capacity)
            memcpy(grown, l->program->watches, l->watch_capacity * sizeof *grown);
        l->program->watches = grown;
        l->watch_capacity = capacity;
    }
    l->program->watches[op] = watch;
}

void hazard_registers_watch(struct emu_lower *l)
{
    struct numbering n = {.l = l};

    n.number = arena_calloc(l->arena, l->ptx->register_count + 1, sizeof *n.number);
    for (uint32_t i = 0; i < l->ptx->instruction_count; i++) {
        const struct ptx_instruction *ptx = &l->ptx->instructions[i];

        if (!is_product(l, ptx))
            continue;
        number_vector(&n, operand_at(l, ptx, 0));
        number_vector(&n, operand_at(l, ptx, 1));
    }
    for (uint32_t i = l->function->first_op; i < l->op_count && l->program->watched_registers; i++) {
        struct emu_op *op = &l->ops[i];
        const struct ptx_instruction *ptx = &l->ptx->instructions[op->ptx];
        bool product = is_product(l, ptx);
        struct emu_watch *watch = product || op->first ? watch_of(&n, ptx) : NULL;

        if (!watch)
            continue;
        set_watch(l, i, watch);
        if (product)
            continue;
        watch->run = op->run;
        op->run = op_watched;
    }
}

/* Running. */

static struct hazard_registers *registers_of(struct emu_warp *warp)
{
    uint32_t count = emu_grid_of(warp)->program->watched_registers;
    struct hazard_registers *state = warp->registers;

    if (state)
        return state;
    state = emu_async_allocate(sizeof *state + count * (3 * sizeof(uint32_t) + 1));
    state->in_d = (uint32_t *)(void *)(state + 1);
    state->in_a = state->in_d + count;
    state->written = state->in_a + count;
    state->is_defined = (uint8_t *)(state->written + count);
    warp->registers = state;
    return state;
}

void hazard_registers_free(struct emu_warp *warp)
{
    free(warp->registers);
}

static void report_touch(struct emu_warp *warp, const struct emu_op *op, bool write, bool accumulator)
{
    (void)emu_report(warp, op, -1, EMU_REGISTER_IN_FLIGHT,
                     "%s a register that a wgmma in flight %s: no wgmma.wait_group has covered it yet",
                     write ? "this overwrites" : "this reads",
                     accumulator ? "accumulates into" : "reads matrix A from");
}

static enum emu_result op_watched(struct emu_warp *warp, const struct emu_op *op, uint32_t mask)
{
    const struct emu_program *program = emu_grid_of(warp)->program;
    const struct emu_watch *watch = program->watches[op - program->ops];
    struct hazard_registers *state;
    bool read = false, write = false, read_by_product = false;

    if (!warp->cta->cluster->hazards)
        return watch->run(warp, op, mask);
    state = registers_of(warp);
    for (uint32_t i = 0; i < watch->write_count; i++) {
        uint16_t r = watch->registers[i];

        write |= state->in_d[r] > state->waited;
        read_by_product |= state->in_a[r] > state->waited;
        state->written[r] = state->fences + 1;
        state->is_defined[r] = 1;
    }
    for (uint32_t i = 0; i < watch->read_count; i++)
        read |= state->in_d[watch->registers[watch->write_count + i]] > state->waited;
    if (read || write || read_by_product)
        report_touch(warp, op, !read, read || write);
    return watch->run(warp, op, mask);
}

static void check_product(struct emu_warp *warp, const struct emu_op *op, const struct emu_watch *watch, bool zero_d)
{
    const struct hazard_registers *state = warp->registers;
    bool undefined = false, unfenced = state->fences == 0;

    for (uint32_t i = 0; i < watch->write_count; i++)
        undefined |= !state->is_defined[watch->registers[i]];
    for (uint32_t i = 0; i < watch->write_count + watch->read_count; i++)
        unfenced |= state->written[watch->registers[i]] == state->fences + 1;
    if (undefined && !zero_d)
        (void)emu_report(warp, op, -1, EMU_UNINITIALISED_ACCUMULATOR,
                         "scale-d is 1, but nobody has written the accumulators of this wgmma");
    if (unfenced)
        (void)emu_report(warp, op, -1, EMU_WGMMA_FENCE,
                         state->fences ? "registers of this wgmma were written since the last wgmma.fence"
                                       : "no wgmma.fence stands before the first wgmma");
}

/* As check_product and what follows it, for accumulators that are numbered one behind the other and no A registers. */
static void product_in_order(struct emu_warp *warp, const struct emu_op *op, const struct emu_watch *watch,
                             uint32_t number, bool zero_d)
{
    struct hazard_registers *state = warp->registers;
    uint32_t first = watch->registers[0], count = watch->write_count, unfenced = state->fences == 0;
    uint32_t *in_d = state->in_d + first, *written = state->written + first;
    uint8_t *is_defined = state->is_defined + first, undefined = 0;

    for (uint32_t i = 0; i < count; i++) {
        unfenced |= written[i] == state->fences + 1;
        undefined |= !is_defined[i];
    }
    if (unfenced || (undefined && !zero_d))
        check_product(warp, op, watch, zero_d);
    for (uint32_t i = 0; i < count; i++) {
        in_d[i] = number;
        written[i] = 0;
        is_defined[i] = 1;
    }
}

void hazard_registers_product(struct emu_warp *warp, const struct emu_op *op, uint64_t index, bool zero_d)
{
    const struct emu_program *program = emu_grid_of(warp)->program;
    const struct emu_watch *watch = program->watches ? program->watches[op - program->ops] : NULL;
    struct hazard_registers *state;

    if (!watch || !warp->cta->cluster->hazards)
        return;
    state = registers_of(warp);
    if (watch->in_order) {
        product_in_order(warp, op, watch, (uint32_t)index + 1, zero_d);
        return;
    }
    check_product(warp, op, watch, zero_d);
    for (uint32_t i = 0; i < watch->write_count; i++) {
        state->in_d[watch->registers[i]] = (uint32_t)index + 1;
        state->is_defined[watch->registers[i]] = 1;
        state->written[watch->registers[i]] = 0;
    }
    for (uint32_t i = watch->write_count; i < (uint32_t)watch->write_count + watch->read_count; i++)
        state->in_a[watch->registers[i]] = (uint32_t)index + 1;
}

void hazard_registers_fence(struct emu_warp *warp)
{
    if (warp->cta->cluster->hazards)
        registers_of(warp)->fences++;
}

void hazard_registers_wait(struct emu_warp *warp, uint64_t count)
{
    struct hazard_registers *state = warp->registers;

    if (state && state->waited < count)
        state->waited = (uint32_t)count;
}
