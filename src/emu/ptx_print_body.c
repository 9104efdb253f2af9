/* The body of a function as text. */
#include <inttypes.h>
#include <string.h>

#include "base/attributes.h"
#include "emu/ptx_print_internal.h"

static void print_operand(const struct ptx_printer *printer, const struct ptx_function *function,
                          const struct ptx_operand *operand);

static void print_elements(const struct ptx_printer *printer, const struct ptx_function *function,
                           const struct ptx_operand *operand, const char *separator)
{
    struct buffer *out = printer->out;

    for (uint32_t i = 0; i < operand->count; i++) {
        (void)buffer_append_text(out, i ? separator : "");
        print_operand(printer, function, &function->operands[operand->first + i]);
        if (operand->kind == PTX_OPERAND_ADDRESS && !i && operand->bits)
            (void)buffer_printf(out, "+%" PRIi64, (int64_t)operand->bits);
    }
}

static void print_immediate(struct buffer *out, const struct ptx_operand *operand)
{
    switch ((enum ptx_immediate)operand->immediate) {
    case PTX_INTEGER:
        if ((int64_t)operand->bits == INT64_MIN) /* its digits alone would be unsigned */
            (void)buffer_append_text(out, "-9223372036854775807-1");
        else
            (void)buffer_printf(out, "%" PRIi64, (int64_t)operand->bits);
        return;
    case PTX_UNSIGNED:
        (void)buffer_printf(out, "%" PRIu64 "U", operand->bits);
        return;
    case PTX_FLOAT32:
        (void)buffer_printf(out, "0f%08" PRIX64, operand->bits);
        return;
    case PTX_FLOAT64:
        (void)buffer_printf(out, "0d%016" PRIX64, operand->bits);
        return;
    case PTX_WARP_SIZE:
        (void)buffer_append_text(out, "WARP_SZ");
        return;
    }
}

static void print_group(const struct ptx_printer *printer, const struct ptx_function *function,
                        const struct ptx_operand *operand)
{
    static const char marks[][2] = {
        [PTX_OPERAND_ADDRESS] = {'[', ']'}, [PTX_OPERAND_VECTOR] = {'{', '}'}, [PTX_OPERAND_LIST] = {'(', ')'}};

    (void)buffer_append(printer->out, &marks[operand->kind][0], 1);
    print_elements(printer, function, operand, ", ");
    (void)buffer_append(printer->out, &marks[operand->kind][1], 1);
}

static void print_operand(const struct ptx_printer *printer, const struct ptx_function *function,
                          const struct ptx_operand *operand)
{
    struct buffer *out = printer->out;
    const char *prefix = printer->prefix;

    if (operand->negated)
        (void)buffer_append_text(
            out,
            operand->kind == PTX_OPERAND_REGISTER && function->registers[operand->value].type != PTX_PRED ? "-" : "!");
    switch ((enum ptx_operand_kind)operand->kind) {
    case PTX_OPERAND_REGISTER:
        (void)buffer_printf(out, "%%%s%u", prefix, operand->value);
        break;
    case PTX_OPERAND_IMMEDIATE:
        print_immediate(out, operand);
        break;
    case PTX_OPERAND_VARIABLE:
        (void)buffer_append_text(out, printer->variable_names[operand->value]);
        if (operand->bits)
            (void)buffer_printf(out, "+%" PRIi64, (int64_t)operand->bits);
        break;
    case PTX_OPERAND_FUNCTION:
        (void)buffer_append_text(out, printer->module->functions[operand->value].name);
        break;
    case PTX_OPERAND_ADDRESS:
    case PTX_OPERAND_VECTOR:
    case PTX_OPERAND_LIST:
        print_group(printer, function, operand);
        break;
    case PTX_OPERAND_PAIR:
        print_elements(printer, function, operand, "|");
        break;
    case PTX_OPERAND_LABEL:
        (void)buffer_printf(out, "$%sL%u", prefix, operand->value);
        break;
    case PTX_OPERAND_TABLE:
        (void)buffer_printf(out, "$%sT%u", prefix, operand->value);
        break;
    case PTX_OPERAND_SPECIAL:
        (void)buffer_append_text(out, ptx_special_text((enum ptx_special)operand->value));
        break;
    case PTX_OPERAND_SINK:
        (void)buffer_append_text(out, "_");
        break;
    }
    if (operand->component[0])
        (void)buffer_printf(out, ".%.*s", (int)sizeof operand->component, operand->component);
}

/* (.param .b32 _, ...) as often as needed; none at all is "()". */
static void print_blank_parameters(struct buffer *out, uint32_t count)
{
    (void)buffer_append_text(out, "(");
    for (uint32_t i = 0; i < count; i++)
        (void)buffer_append_text(out, i ? ", .param .b32 _" : ".param .b32 _");
    (void)buffer_append_text(out, ")");
}

static void print_table(const struct ptx_printer *printer, const struct ptx_table *table, uint32_t index)
{
    struct buffer *out = printer->out;

    (void)buffer_printf(out, "$%sT%u: ", printer->prefix, index);
    if (table->kind == PTX_CALL_PROTOTYPE) {
        (void)buffer_append_text(out, ".callprototype ");
        print_blank_parameters(out, table->results);
        (void)buffer_append_text(out, " _ ");
        print_blank_parameters(out, table->count);
        (void)buffer_append_text(out, table->no_return ? " .noreturn;\n" : ";\n");
        return;
    }
    (void)buffer_append_text(out, table->kind == PTX_BRANCH_TARGETS ? ".branchtargets" : ".calltargets");
    for (uint32_t i = 0; i < table->count; i++) {
        (void)buffer_append_text(out, i ? ", " : " ");
        if (table->kind == PTX_BRANCH_TARGETS)
            (void)buffer_printf(out, "$%sL%u", printer->prefix, table->targets[i]);
        else
            (void)buffer_append_text(out, printer->module->functions[table->targets[i]].name);
    }
    (void)buffer_append_text(out, ";\n");
}

static void print_declarations(const struct ptx_printer *printer, const struct ptx_function *function)
{
    const struct ptx_module *module = printer->module;
    struct buffer *out = printer->out;
    uint32_t index = (uint32_t)(function - module->functions);

    for (uint32_t i = 0; i < function->register_count; i++) {
        const struct ptx_register *slot = &function->registers[i];
        (void)buffer_append_text(out, ".reg ");
        if (slot->elements > 1)
            (void)buffer_printf(out, ".v%u ", slot->elements);
        (void)buffer_printf(out, ".%s %%%s%u;\n", ptx_type_text(slot->type), printer->prefix, i);
    }
    for (uint32_t i = 0; i < module->variable_count; i++)
        if (module->variables[i].function == index && !module->variables[i].formal) {
            ptx_print_declaration(printer, i);
            (void)buffer_append_text(out, ";\n");
        }
    for (uint32_t i = 0; i < function->table_count; i++)
        print_table(printer, &function->tables[i], i);
}

/* [instruction_count + 1]: whether something jumps there. */
static bool *find_labels(const struct ptx_printer *printer, const struct ptx_function *function)
{
    bool *labels = arena_calloc(printer->arena, (size_t)function->instruction_count + 1, sizeof *labels);

    for (uint32_t i = 0; i < function->operand_count; i++)
        if (function->operands[i].kind == PTX_OPERAND_LABEL)
            labels[function->operands[i].value] = true;
    for (uint32_t i = 0; i < function->table_count; i++)
        for (uint32_t j = 0; function->tables[i].kind == PTX_BRANCH_TARGETS && j < function->tables[i].count; j++)
            labels[function->tables[i].targets[j]] = true;
    return labels;
}

static void print_location(const struct ptx_printer *printer, uint32_t index)
{
    const struct ptx_location *at = &printer->module->locations[index];

    (void)buffer_printf(printer->out, "    .loc %u %u %u", at->file, at->line, at->column);
    if (at->caller != PTX_NONE) {
        const struct ptx_location *caller = &printer->module->locations[at->caller];
        (void)buffer_printf(printer->out, ", inlined_at %u %u %u", caller->file, caller->line, caller->column);
    }
    (void)buffer_append_text(printer->out, "\n");
}

static void print_instruction(const struct ptx_printer *printer, const struct ptx_function *function,
                              const struct ptx_instruction *instruction)
{
    struct buffer *out = printer->out;
    size_t size = 64;

    for (uint32_t i = 0; i < instruction->modifier_count; i++)
        size += strlen(ptx_module_word(printer->module, function->words[instruction->first_modifier + i])) + 24;
    char *mnemonic = arena_alloc(printer->arena, size);
    (void)buffer_append_text(out, "    ");
    if (instruction->guard != PTX_NONE)
        (void)buffer_printf(out, "@%s%%%s%u ", instruction->guard_negated ? "!" : "", printer->prefix,
                            instruction->guard);
    (void)buffer_append_text(out, ptx_instruction_text(printer->module, function, instruction, mnemonic, size));
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        (void)buffer_append_text(out, i ? ", " : " ");
        print_operand(printer, function, &function->operands[instruction->first_operand + i]);
    }
    (void)buffer_append_text(out, ";\n");
}

void ptx_print_body(const struct ptx_printer *printer, const struct ptx_function *function)
{
    bool *labels = find_labels(printer, function);
    uint32_t location = PTX_NONE;

    (void)buffer_append_text(printer->out, "\n{\n");
    print_declarations(printer, function);
    for (uint32_t i = 0; i <= function->instruction_count; i++) {
        if (labels[i])
            (void)buffer_printf(printer->out, "$%sL%u:\n", printer->prefix, i);
        if (i == function->instruction_count)
            break;
        const struct ptx_instruction *instruction = &function->instructions[i];
        if (instruction->location != location)
            print_location(printer, instruction->location);
        location = instruction->location;
        print_instruction(printer, function, instruction);
    }
    (void)buffer_append_text(printer->out, "}\n");
}
