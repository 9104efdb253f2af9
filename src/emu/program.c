#include "emu/program.h"

#include <inttypes.h>
#include <string.h>

#include "emu/hazard_registers.h"
#include "emu/lower.h"
#include "emu/op_control.h"

enum { REGISTER_BYTES_MAX = 64 << 20, PARAMETER_BYTES_MAX = 1 << 16, LOCAL_BYTES_MAX = 1 << 20 };

static void place_registers(struct emu_lower *l)
{
    l->registers = arena_calloc(l->arena, l->ptx->register_count + 1, sizeof *l->registers);
    for (unsigned pass = 0; pass < 2; pass++) { /* predicates together, then the rest in order of first use */
        for (uint32_t i = 0; i < l->ptx->register_count; i++) {
            unsigned bits = ptx_type_bits(l->ptx->registers[i].type);

            if ((bits == 1) == (pass == 0))
                l->registers[i] = emu_lower_temporary(l, bits);
        }
    }
}

static bool place(struct emu_lower *l, uint32_t index, uint32_t *end, uint32_t limit)
{
    const struct ptx_variable *variable = &l->module->variables[index];
    uint64_t align = variable->align ? variable->align : 1;
    uint64_t offset = (*end + align - 1) & ~(align - 1);

    if (offset > limit || variable->bytes > limit - offset)
        return error_set(l->error, ERROR_LIMIT, "%s: %s: more than %u bytes of variables", l->module->name,
                         l->ptx->name, limit);
    l->variable_offset[index] = (uint32_t)offset;
    *end = (uint32_t)(offset + variable->bytes);
    return true;
}

static bool in_range(uint32_t index, uint32_t first, uint32_t count)
{
    return index - first < count;
}

/* Offsets of parameters, results, and the function's own .param and .local variables. */
static bool place_variables(struct emu_lower *l, uint32_t function_index)
{
    const struct ptx_function *ptx = l->ptx;
    uint32_t kernel_end = 0;
    uint32_t *end = ptx->is_entry ? &kernel_end : &l->function->parameter_bytes;

    for (uint32_t i = 0; i < ptx->parameter_count; i++) {
        if (!place(l, ptx->first_parameter + i, end, PARAMETER_BYTES_MAX))
            return false;
    }
    for (uint32_t i = 0; i < ptx->result_count; i++) {
        if (!place(l, ptx->first_result + i, end, PARAMETER_BYTES_MAX))
            return false;
    }
    for (uint32_t i = 0; i < l->module->variable_count; i++) {
        const struct ptx_variable *variable = &l->module->variables[i];

        if (variable->function != function_index || in_range(i, ptx->first_parameter, ptx->parameter_count) ||
            in_range(i, ptx->first_result, ptx->result_count))
            continue;
        if (variable->space == PTX_SPACE_PARAM && !place(l, i, &l->function->parameter_bytes, PARAMETER_BYTES_MAX))
            return false;
        if (variable->space == PTX_SPACE_LOCAL && !place(l, i, &l->function->local_bytes, LOCAL_BYTES_MAX))
            return false;
    }
    l->function->local_bytes = (l->function->local_bytes + 15) & ~15u;
    l->function->parameter_bytes = (l->function->parameter_bytes + 15) & ~15u;
    return true;
}

static bool lower_instructions(struct emu_lower *l)
{
    const struct ptx_function *ptx = l->ptx;

    for (uint32_t i = 0; i < ptx->instruction_count; i++) {
        const struct ptx_instruction *instruction = &ptx->instructions[i];
        emu_lowering *lowering = emu_lowering_of((enum ptx_opcode)instruction->opcode);

        l->instruction = instruction;
        l->first_op[i] = l->op_count;
        if (!lowering)
            return emu_lower_unsupported(l, NULL);
        if (!lowering(l))
            return false;
    }
    /* Falling off the end returns. */
    l->first_op[ptx->instruction_count] = l->op_count;
    if (ptx->instruction_count == 0)
        return error_set(l->error, ERROR_INPUT, "%s: %s has no instructions", l->module->name, ptx->name);

    struct emu_op *end = emu_lower_add(l, emu_op_return);

    end->opcode = PTX_OP_RET;
    end->guard = EMU_NO_SLOT;
    end->first = false;
    return true;
}

/* Branches were lowered with instruction indices as targets. */
static void resolve_branches(struct emu_lower *l)
{
    for (uint32_t i = l->function->first_op; i < l->op_count; i++) {
        struct emu_op *op = &l->ops[i];

        if (op->run == emu_op_branch)
            op->target = l->first_op[op->target];
        if (op->run == emu_op_branch_indexed) {
            struct emu_targets *targets = (struct emu_targets *)(uintptr_t)op->detail;

            for (uint32_t t = 0; t < targets->count; t++)
                targets->ops[t] = l->first_op[targets->ops[t]];
        }
    }
}

static bool lower_function(struct emu_lower *l, struct emu_function *function)
{
    l->function = function;
    l->ptx = function->ptx;
    l->scratch32 = l->scratch64 = EMU_NO_SLOT;
    l->first_op = arena_calloc(l->arena, l->ptx->instruction_count + 1, sizeof *l->first_op);
    function->first_op = l->op_count;
    function->variable_offsets = l->variable_offset;
    place_registers(l);
    if (!place_variables(l, (uint32_t)(l->ptx - l->module->functions)) || !lower_instructions(l))
        return false;
    resolve_branches(l);
    hazard_registers_watch(l);
    function->op_count = l->op_count - function->first_op;
    function->register_bytes = (function->register_bytes + 63) & ~63u;
    if (function->register_bytes > REGISTER_BYTES_MAX)
        return error_set(l->error, ERROR_LIMIT, "%s: %s uses too many registers", l->module->name, l->ptx->name);
    return true;
}

/* Marks the sized shared variables that the function names; counts those of which it is the `number`-th user. */
static void mark_shared(const struct ptx_module *module, const struct ptx_function *function, uint32_t number,
                        uint32_t *last_user, uint32_t *users)
{
    for (uint32_t i = 0; i < function->operand_count; i++) {
        uint32_t index = function->operands[i].value;

        if (function->operands[i].kind != PTX_OPERAND_VARIABLE || last_user[index] == number)
            continue;
        last_user[index] = number;
        if (module->variables[index].space == PTX_SPACE_SHARED && module->variables[index].bytes)
            users[index]++;
    }
}

/* Where ptxas (CUDA 13.0) puts the shared variables of an entry: first those that no other function names, then the
 * others, both in the order of their declarations. Those of called functions alone follow as they are met. What does not
 * fit is refused at the instruction that names it. */
static void place_shared_variables(struct emu_lower *l)
{
    const struct ptx_module *module = l->module;
    const struct ptx_function *entry = l->program->functions[0].ptx;
    uint32_t *last_user = arena_calloc(l->arena, module->variable_count + 1, sizeof *last_user);
    uint32_t *users = arena_calloc(l->arena, module->variable_count + 1, sizeof *users);
    uint32_t number = 0;

    for (uint32_t i = 0; i < module->function_count; i++) {
        if (&module->functions[i] != entry)
            mark_shared(module, &module->functions[i], ++number, last_user, users);
    }
    mark_shared(module, entry, ++number, last_user, users);
    for (unsigned pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < module->variable_count; i++) {
            if (users[i] && last_user[i] == number && (users[i] > 1) == (pass == 1))
                (void)emu_lower_place_shared(l, i);
        }
    }
}

static bool lower_all(struct emu_lower *l, struct emu_function *functions)
{
    for (uint32_t i = 0; i < l->program->function_count; i++) {
        if (!lower_function(l, &functions[i]))
            return false;
    }
    for (uint32_t i = 0; i < l->op_count; i++) {
        if (l->ops[i].run == emu_op_call)
            emu_call_resolve(&l->ops[i], l->variable_offset);
    }
    return true;
}

bool emu_program_new(const struct ptx_module *module, uint32_t entry, const struct emu_globals *globals,
                     const struct emu_space *space, struct emu_program **out, struct error *error)
{
    struct arena *arena = arena_new();
    struct emu_program *program = arena_alloc(arena, sizeof *program);
    struct emu_lower *l = arena_alloc(arena, sizeof *l);
    struct emu_function *functions = arena_calloc(arena, EMU_FUNCTIONS_MAX, sizeof *functions);

    program->module = module;
    program->arena = arena;
    program->functions = functions;
    program->function_count = 1;
    program->static_shared_end = EMU_SHARED_RESERVED;
    program->dynamic_align = 16;
    functions[0].ptx = &module->functions[entry];
    *l = (struct emu_lower){
        .module = module, .globals = globals, .space = space, .program = program, .arena = arena, .error = error};
    l->variable_offset = arena_calloc(arena, module->variable_count + 1, sizeof *l->variable_offset);
    for (uint32_t i = 0; i < module->variable_count; i++)
        l->variable_offset[i] = PTX_NONE;

    place_shared_variables(l);
    if (!lower_all(l, functions) && !program->unsupported) {
        arena_free(arena);
        return false;
    }
    program->ops = l->ops;
    program->op_count = l->op_count;
    program->constants = l->constants;
    *out = program;
    return true;
}

void emu_program_free(struct emu_program *program)
{
    if (program)
        arena_free(program->arena);
}
