#include "emu/lower.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct emu_op *emu_lower_add(struct emu_lower *l, emu_handler *run)
{
    if (l->op_count == l->op_capacity) {
        uint32_t capacity = l->op_capacity ? l->op_capacity * 2 : 1024;
        struct emu_op *ops = arena_calloc(l->arena, capacity, sizeof *ops);

        if (l->op_count)
            memcpy(ops, l->ops, l->op_count * sizeof *ops);
        l->ops = ops;
        l->op_capacity = capacity;
    }

    uint32_t ptx = (uint32_t)(l->instruction - l->ptx->instructions);

    if (l->instruction->opcode == PTX_OP_WGMMA || l->instruction->opcode == PTX_OP_CP || emu_lower_has(l, PTX_M_BULK))
        l->program->uses_async = true;
    struct emu_op *op = &l->ops[l->op_count];

    *op = (struct emu_op){.run = run,
                          .d = EMU_NO_SLOT,
                          .e = EMU_NO_SLOT,
                          .a = EMU_NO_SLOT,
                          .b = EMU_NO_SLOT,
                          .c = EMU_NO_SLOT,
                          .guard = EMU_NO_SLOT,
                          .opcode = l->instruction->opcode,
                          .first = l->op_count == l->first_op[ptx],
                          .ptx = ptx,
                          .function = (uint32_t)(l->function - l->program->functions)};
    if (l->instruction->guard != PTX_NONE) {
        op->guard = l->registers[l->instruction->guard];
        op->guard_negated = l->instruction->guard_negated;
    }
    l->op_count++;
    return op;
}

const struct ptx_operand *emu_lower_operand(const struct emu_lower *l, uint32_t index)
{
    return index < l->instruction->operand_count ? &l->ptx->operands[l->instruction->first_operand + index] : NULL;
}

const struct ptx_operand *emu_lower_element(const struct emu_lower *l, const struct ptx_operand *operand,
                                            uint32_t index)
{
    return index < operand->count ? &l->ptx->operands[operand->first + index] : NULL;
}

bool emu_lower_has(const struct emu_lower *l, uint16_t word)
{
    return ptx_has_word(l->ptx, l->instruction, word);
}

enum ptx_type emu_lower_type(const struct emu_lower *l, uint32_t index)
{
    return index < l->instruction->type_count ? (enum ptx_type)l->instruction->types[index] : PTX_TYPE_COUNT;
}

void *emu_lower_detail(struct emu_lower *l, size_t bytes)
{
    return arena_alloc(l->arena, bytes);
}

emu_slot emu_lower_temporary(struct emu_lower *l, unsigned bits)
{
    uint32_t lane_bytes = bits > 32 ? 8 : 4;
    uint32_t bytes = bits == 1 ? 4 : EMU_LANES * lane_bytes;
    uint32_t align = bits == 1 ? 4 : 32;
    uint32_t offset = (l->function->register_bytes + align - 1) & ~(align - 1);

    l->function->register_bytes = offset + bytes;
    return offset | EMU_BASE_FRAME;
}

static uint64_t constant_hash(unsigned bits, uint64_t value)
{
    uint64_t hash = (value + bits) * UINT64_C(0x9e3779b97f4a7c15);

    return hash ^ hash >> 32;
}

static bool constant_is(const struct emu_lower *l, uint32_t offset, unsigned bits, uint64_t value)
{
    /* The first word holds the width, so that a 64-bit constant is not taken for a 32-bit one. */
    uint64_t header, first = 0;

    memcpy(&header, l->constants + offset, sizeof header);
    memcpy(&first, l->constants + offset + 32, bits / 8);
    return header == bits && first == value;
}

static void constant_table_grow(struct emu_lower *l)
{
    uint32_t size = l->constant_table_size ? l->constant_table_size * 2 : 256;
    uint32_t *table = arena_calloc(l->arena, size, sizeof *table);

    for (uint32_t i = 0; i < l->constant_table_size; i++) {
        uint32_t entry = l->constant_table[i];
        uint64_t bits, value = 0;

        if (!entry)
            continue;
        memcpy(&bits, l->constants + entry - 1, sizeof bits);
        memcpy(&value, l->constants + entry - 1 + 32, bits / 8);

        uint32_t at = (uint32_t)constant_hash((unsigned)bits, value) & (size - 1);

        while (table[at])
            at = (at + 1) & (size - 1);
        table[at] = entry;
    }
    l->constant_table = table;
    l->constant_table_size = size;
}

static uint32_t constant_append(struct emu_lower *l, unsigned bits, uint64_t value)
{
    uint32_t bytes = 32 + EMU_LANES * bits / 8;

    if (l->constant_bytes + bytes > l->constant_capacity) {
        uint32_t capacity = (l->constant_capacity + bytes) * 2 + 4096;
        uint8_t *grown = arena_alloc(l->arena, capacity);

        if (l->constant_bytes)
            memcpy(grown, l->constants, l->constant_bytes);
        l->constants = grown;
        l->constant_capacity = capacity;
    }

    uint32_t offset = l->constant_bytes;
    uint64_t header = bits;

    memcpy(l->constants + offset, &header, sizeof header);
    for (uint32_t lane = 0; lane < EMU_LANES; lane++)
        memcpy(l->constants + offset + 32 + lane * bits / 8, &value, bits / 8);
    l->constant_bytes += bytes;
    return offset;
}

emu_slot emu_lower_constant(struct emu_lower *l, unsigned bits, uint64_t value)
{
    bits = bits > 32 ? 64 : 32;
    if (bits == 32)
        value &= UINT32_MAX;
    if (l->constant_count * 2 >= l->constant_table_size)
        constant_table_grow(l);

    uint32_t at = (uint32_t)constant_hash(bits, value) & (l->constant_table_size - 1);

    while (l->constant_table[at] && !constant_is(l, l->constant_table[at] - 1, bits, value))
        at = (at + 1) & (l->constant_table_size - 1);
    if (!l->constant_table[at]) {
        l->constant_table[at] = constant_append(l, bits, value) + 1;
        l->constant_count++;
    }
    return (l->constant_table[at] - 1 + 32) | EMU_BASE_CONSTANT;
}

bool emu_lower_callee(struct emu_lower *l, const struct ptx_function *callee, uint32_t *out)
{
    for (uint32_t i = 0; i < l->program->function_count; i++) {
        if (l->program->functions[i].ptx == callee) {
            *out = i;
            return true;
        }
    }
    if (l->program->function_count == EMU_FUNCTIONS_MAX)
        return emu_lower_refuse(l, "more than %d functions are called", EMU_FUNCTIONS_MAX);
    *out = l->program->function_count++;
    ((struct emu_function *)l->program->functions)[*out].ptx = callee;
    return true;
}

/* "kernel.cu:12: " and what the instruction is, for messages about it. */
static const char *describe(const struct emu_lower *l)
{
    char text[256];
    struct ptx_source source;

    ptx_instruction_text(l->module, l->ptx, l->instruction, text, sizeof text);
    if (ptx_source_of(l->module, l->instruction, &source) && source.file)
        return arena_printf(l->arena, "%s:%u: %s (PTX line %u)", source.file, source.line, text, l->instruction->line);
    return arena_printf(l->arena, "%s: %s (PTX line %u)", l->module->name, text, l->instruction->line);
}

bool emu_lower_unsupported(struct emu_lower *l, const char *why)
{
    if (!l->program->unsupported)
        l->program->unsupported = why ? arena_printf(l->arena, "%s: %s", describe(l), why) : describe(l);
    return false;
}

bool emu_lower_refuse(struct emu_lower *l, const char *format, ...)
{
    char why[512];
    va_list args;

    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return error_set(l->error, ERROR_INPUT, "%s: %s", describe(l), why);
}
