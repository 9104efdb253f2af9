#include "emu/ptx_module.h"

#include <stdio.h>
#include <string.h>

const char *ptx_file_name(const struct ptx_module *module, uint32_t number)
{
    for (uint32_t i = 0; i < module->file_count; i++)
        if (module->files[i].number == number)
            return module->files[i].name;
    return NULL;
}

bool ptx_source_of(const struct ptx_module *module, const struct ptx_instruction *instruction, struct ptx_source *out)
{
    *out = (struct ptx_source){0};
    if (instruction->location >= module->location_count)
        return false;
    const struct ptx_location *at = &module->locations[instruction->location];
    out->file = ptx_file_name(module, at->file);
    out->line = at->line;
    if (at->caller < module->location_count) {
        out->caller_file = ptx_file_name(module, module->locations[at->caller].file);
        out->caller_line = module->locations[at->caller].line;
    }
    return true;
}

const char *ptx_module_word(const struct ptx_module *module, uint16_t word)
{
    if (word == PTX_WORD_SHAPE)
        return "";
    if (word < PTX_WORD_FIRST_UNKNOWN)
        return ptx_word_text(word);
    uint32_t index = word - PTX_WORD_FIRST_UNKNOWN;
    return index < module->unknown_word_count ? module->unknown_words[index] : "?";
}

bool ptx_has_word(const struct ptx_function *function, const struct ptx_instruction *instruction, uint16_t word)
{
    for (uint32_t i = 0; i < instruction->modifier_count; i++)
        if (function->words[instruction->first_modifier + i] == word)
            return true;
    return false;
}

char *ptx_instruction_text(const struct ptx_module *module, const struct ptx_function *function,
                           const struct ptx_instruction *instruction, char *out, size_t size)
{
    const uint16_t *words = function->words + instruction->first_modifier;
    bool unknown = instruction->opcode == PTX_OP_UNKNOWN;
    int used =
        snprintf(out, size, "%s", unknown ? ptx_module_word(module, words[0]) : ptx_opcode_text(instruction->opcode));

    for (uint32_t i = unknown ? 1 : 0; i < instruction->modifier_count && used >= 0 && (size_t)used < size; i++) {
        size_t left = size - (size_t)used;
        const uint16_t *shape = instruction->size;
        if (words[i] == PTX_WORD_SHAPE && shape[2])
            used += snprintf(out + used, left, ".m%un%uk%u", shape[0], shape[1], shape[2]);
        else if (words[i] == PTX_WORD_SHAPE)
            used += snprintf(out + used, left, ".m%un%u", shape[0], shape[1]);
        else
            used += snprintf(out + used, left, ".%s", ptx_module_word(module, words[i]));
    }
    return out;
}

const struct ptx_function *ptx_call_target(const struct ptx_module *module, const struct ptx_function *caller,
                                           const struct ptx_instruction *instruction)
{
    if (instruction->opcode != PTX_OP_CALL)
        return NULL;
    for (uint32_t i = 0; i < instruction->operand_count; i++) {
        const struct ptx_operand *operand = &caller->operands[instruction->first_operand + i];
        if (operand->kind == PTX_OPERAND_FUNCTION)
            return &module->functions[operand->value];
    }
    return NULL;
}

bool ptx_ends_block(const struct ptx_module *module, const struct ptx_function *function,
                    const struct ptx_instruction *instruction)
{
    if (instruction->guard != PTX_NONE)
        return false;
    switch (instruction->opcode) {
    case PTX_OP_BRA:
    case PTX_OP_BRX:
    case PTX_OP_RET:
    case PTX_OP_EXIT:
    case PTX_OP_TRAP:
        return true;
    case PTX_OP_CALL: {
        const struct ptx_function *target = ptx_call_target(module, function, instruction);
        return target && target->no_return;
    }
    default:
        return false;
    }
}
