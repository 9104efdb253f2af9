#include "emu/ptx_census.h"

#include <stdlib.h>
#include <string.h>

#include "emu/ptx_parser_internal.h"
#include "emu/ptx_support.h"

enum { MNEMONIC_BYTES_MAX = 512, REASON_BYTES_MAX = 256 };

struct counter {
    struct arena *arena;
    const struct ptx_module *module;
    const struct ptx_function *function;
    struct ptx_scopes *opcode_index;  /* text to index; one scope a function */
    struct ptx_scopes *problem_index; /* text and reason to index */
    uint32_t *counted;                /* [variable_count]: number of the last function whose shared memory it is in */
    uint32_t number;                  /* of this function, from 1 */
    PTX_LIST(struct ptx_census_opcode) opcodes;
    PTX_LIST(struct ptx_census_problem) problems;
    struct ptx_census_function *out;
};

const char *ptx_target_text(enum ptx_target target)
{
    static const char *const texts[] = {
#define X(id, text) text,
        PTX_TARGETS(X)
#undef X
    };

    return texts[target];
}

static enum ptx_target target_of(const struct ptx_function *function, const struct ptx_instruction *instruction)
{
    static const uint16_t silent[] = {PTX_M_WAIT_LD, PTX_M_WAIT_ST, PTX_M_FENCE_BEFORE_THREAD_SYNC,
                                      PTX_M_FENCE_AFTER_THREAD_SYNC};

    switch (instruction->opcode) {
    case PTX_OP_WGMMA:
        return ptx_has_word(function, instruction, PTX_M_MMA_ASYNC) ? PTX_TARGET_WGMMA : PTX_TARGET_COUNT;
    case PTX_OP_CP:
        return ptx_has_word(function, instruction, PTX_M_TENSOR) && !ptx_has_word(function, instruction, PTX_M_PREFETCH)
                   ? PTX_TARGET_TMA
                   : PTX_TARGET_COUNT;
    case PTX_OP_TCGEN05:
        for (size_t i = 0; i < ARRAY_LEN(silent); i++)
            if (ptx_has_word(function, instruction, silent[i]))
                return PTX_TARGET_COUNT;
        return PTX_TARGET_TCGEN05;
    default:
        return PTX_TARGET_COUNT;
    }
}

static void count_opcode(struct counter *counter, const char *text)
{
    size_t length = strlen(text);
    const struct ptx_symbol *known = ptx_scope_find_here(counter->opcode_index, text, length);

    if (known) {
        counter->opcodes.items[known->value].count++;
        return;
    }
    (void)ptx_scope_define(counter->opcode_index, text, length, PTX_SYMBOL_LABEL, counter->opcodes.count);
    *PTX_PUSH(counter->arena, &counter->opcodes) =
        (struct ptx_census_opcode){.text = arena_strdup(counter->arena, text), .count = 1};
}

static void count_problem(struct counter *counter, const struct ptx_instruction *instruction, const char *text)
{
    char key[MNEMONIC_BYTES_MAX + REASON_BYTES_MAX];
    const char *reason;
    enum ptx_support support = ptx_support_of(counter->arena, counter->module, counter->function, instruction, &reason);

    if (support == PTX_SUPPORT_EMULATED)
        return;
    (void)snprintf(key, sizeof key, "%s %.*s", text, REASON_BYTES_MAX - 2, reason);
    const struct ptx_symbol *known = ptx_scope_find_here(counter->problem_index, key, strlen(key));
    if (known) {
        counter->problems.items[known->value].count++;
        return;
    }
    (void)ptx_scope_define(counter->problem_index, key, strlen(key), PTX_SYMBOL_LABEL, counter->problems.count);
    struct ptx_census_problem *problem = PTX_PUSH(counter->arena, &counter->problems);
    *problem = (struct ptx_census_problem){.text = arena_strdup(counter->arena, text),
                                           .reason = reason,
                                           .support = support,
                                           .count = 1,
                                           .line = instruction->line};
    (void)ptx_source_of(counter->module, instruction, &problem->source);
}

static void count_shared(struct counter *counter)
{
    const struct ptx_function *function = counter->function;

    for (uint32_t i = 0; i < function->operand_count; i++) {
        const struct ptx_operand *operand = &function->operands[i];
        if (operand->kind != PTX_OPERAND_VARIABLE || counter->counted[operand->value] == counter->number)
            continue;
        const struct ptx_variable *variable = &counter->module->variables[operand->value];
        counter->counted[operand->value] = counter->number;
        if (variable->space != PTX_SPACE_SHARED)
            continue;
        uint64_t align = variable->align ? variable->align : 1, *bytes = &counter->out->shared_bytes;
        if (variable->unsized)
            counter->out->dynamic_shared = true;
        else if (__builtin_add_overflow((*bytes + align - 1) / align * align, variable->bytes, bytes))
            *bytes = UINT64_MAX / 2;
    }
}

static int by_frequency(const void *left, const void *right)
{
    const struct ptx_census_opcode *a = left, *b = right;

    return a->count != b->count ? (a->count < b->count) - (a->count > b->count) : strcmp(a->text, b->text);
}

static void count_function(struct counter *counter, const struct ptx_function *function,
                           struct ptx_census_function *out)
{
    char text[MNEMONIC_BYTES_MAX];

    counter->function = function;
    counter->number++;
    counter->out = out;
    memset(&counter->opcodes, 0, sizeof counter->opcodes);
    memset(&counter->problems, 0, sizeof counter->problems);
    (void)ptx_scope_open(counter->opcode_index);
    (void)ptx_scope_open(counter->problem_index);
    out->function = function;
    for (uint32_t i = 0; i < function->instruction_count; i++) {
        const struct ptx_instruction *instruction = &function->instructions[i];
        enum ptx_target target = target_of(function, instruction);
        if (target < PTX_TARGET_COUNT)
            out->target[target]++;
        (void)ptx_instruction_text(counter->module, function, instruction, text, sizeof text);
        count_opcode(counter, text);
        count_problem(counter, instruction, text);
    }
    count_shared(counter);
    ptx_scope_close(counter->opcode_index);
    ptx_scope_close(counter->problem_index);
    if (counter->opcodes.count)
        qsort(counter->opcodes.items, counter->opcodes.count, sizeof *counter->opcodes.items, by_frequency);
    out->opcodes = counter->opcodes.items;
    out->opcode_count = counter->opcodes.count;
    out->problems = counter->problems.items;
    out->problem_count = counter->problems.count;
}

const struct ptx_census *ptx_census_new(struct arena *arena, const struct ptx_module *module)
{
    struct ptx_census *census = arena_alloc(arena, sizeof *census);
    struct ptx_census_function *functions = arena_calloc(arena, module->function_count, sizeof *functions);
    struct counter counter = {.arena = arena,
                              .module = module,
                              .opcode_index = ptx_scopes_new(arena),
                              .problem_index = ptx_scopes_new(arena),
                              .counted = arena_calloc(arena, module->variable_count, sizeof *counter.counted)};

    census->module = module;
    census->functions = functions;
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i].is_defined) {
            struct ptx_census_function *out = &functions[census->function_count++];
            count_function(&counter, &module->functions[i], out);
            census->problem_count += out->problem_count;
        }
    return census;
}
