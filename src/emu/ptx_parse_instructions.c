/* One instruction: guard, mnemonic with suffixes, operands. Source: PTX ISA 9.0, sections 4.3.2 and 9.3. */
#include <string.h>

#include "emu/ptx_parser_internal.h"

/* Number of a suffix that no table knows, the same for the same text. */
static bool unknown_word(struct ptx_parser *parser, const struct ptx_token *token, uint16_t *word)
{
    uint32_t count = parser->unknown_words.count;

    for (uint32_t i = 0; i < count; i++)
        if (!strncmp(parser->unknown_words.items[i], token->text, token->length) &&
            !parser->unknown_words.items[i][token->length]) {
            *word = (uint16_t)(PTX_WORD_FIRST_UNKNOWN + i);
            return true;
        }
    if (count == PTX_UNKNOWN_WORDS_MAX)
        return ptx_fail(parser, token, ERROR_LIMIT, "more than %d unknown words", PTX_UNKNOWN_WORDS_MAX);
    *PTX_PUSH(parser->arena, &parser->unknown_words) = arena_strndup(parser->arena, token->text, token->length);
    *word = (uint16_t)(PTX_WORD_FIRST_UNKNOWN + count);
    return true;
}

static bool add_word(struct ptx_parser *parser, struct ptx_instruction *instruction, uint16_t word)
{
    if (instruction->modifier_count == UINT16_MAX)
        return ptx_fail(parser, &parser->token, ERROR_LIMIT, "more than %d suffixes", UINT16_MAX);
    instruction->modifier_count++;
    *PTX_PUSH(parser->arena, &parser->body.words) = word;
    return true;
}

static bool parse_suffix(struct ptx_parser *parser, struct ptx_instruction *instruction)
{
    const struct ptx_token token = parser->token;
    uint16_t word = ptx_word_find(token.text, token.length);

    ptx_advance(parser);
    if (word < PTX_TYPE_COUNT) {
        if (instruction->type_count == PTX_TYPES_MAX)
            return ptx_fail(parser, &token, ERROR_INPUT, "more than %d types", PTX_TYPES_MAX);
        instruction->types[instruction->type_count++] = (uint8_t)word;
    } else if (word == PTX_WORD_FIRST_UNKNOWN) {
        uint16_t size[3];
        if (!instruction->size[0] && ptx_shape_parse(token.text, token.length, size)) {
            memcpy(instruction->size, size, sizeof size);
            word = PTX_WORD_SHAPE;
        } else if (!unknown_word(parser, &token, &word)) {
            return false;
        }
    }
    return add_word(parser, instruction, word);
}

/* The mnemonic and its suffixes. */
static bool parse_opcode(struct ptx_parser *parser, struct ptx_instruction *instruction)
{
    struct ptx_token name;
    uint16_t word;

    if (!ptx_expect_name(parser, &name))
        return false;
    instruction->first_modifier = parser->body.words.count;
    instruction->opcode = (uint16_t)ptx_opcode_find(name.text, name.length);
    if (instruction->opcode == PTX_OP_UNKNOWN &&
        (!unknown_word(parser, &name, &word) || !add_word(parser, instruction, word)))
        return false;
    while (parser->token.kind == PTX_TOKEN_DOT)
        if (!parse_suffix(parser, instruction))
            return false;
    return true;
}

/* Labels may be defined further down: the operand is patched when their scope closes. */
static bool parse_label_operand(struct ptx_parser *parser)
{
    struct ptx_token name;

    if (!ptx_expect_name(parser, &name))
        return false;
    *PTX_PUSH(parser->arena, &parser->body.uses) =
        (struct ptx_label_use){name, ptx_scope_depth(parser->labels), parser->body.operands.count, NULL};
    *PTX_PUSH(parser->arena, &parser->body.pending) =
        (struct ptx_operand){.kind = PTX_OPERAND_LABEL, .value = PTX_NONE};
    return true;
}

static bool parse_operands(struct ptx_parser *parser, struct ptx_instruction *instruction)
{
    uint32_t mark = parser->body.pending.count, count;

    if (instruction->opcode == PTX_OP_BRA) {
        if (!parse_label_operand(parser))
            return false;
    } else if (!ptx_at_mark(parser, ";")) {
        do {
            if (!ptx_parse_operand(parser, instruction->opcode == PTX_OP_CALL))
                return false;
        } while (ptx_take_mark(parser, ","));
    }
    struct ptx_token end = parser->token;
    if (!ptx_expect_mark(parser, ";") || !ptx_commit_operands(parser, mark, &instruction->first_operand, &count))
        return false;
    if (count > UINT16_MAX)
        return ptx_fail(parser, &end, ERROR_LIMIT, "more than %d operands of an instruction", UINT16_MAX);
    instruction->operand_count = (uint16_t)count;
    return true;
}

/* brx and call name tables and functions; what they name must fit. */
static bool check_control(struct ptx_parser *parser, const struct ptx_token *at,
                          const struct ptx_instruction *instruction)
{
    uint32_t targets = 0;

    if (instruction->opcode != PTX_OP_BRX && instruction->opcode != PTX_OP_CALL)
        return true;
    if (!instruction->operand_count)
        return ptx_fail(parser, at, ERROR_INPUT, "a jump without operands");
    const struct ptx_operand *operands = &parser->body.operands.items[instruction->first_operand];
    for (uint32_t i = 0; i < instruction->operand_count; i++)
        targets += operands[i].kind == PTX_OPERAND_FUNCTION || operands[i].kind == PTX_OPERAND_REGISTER;
    if (instruction->opcode == PTX_OP_BRX &&
        (instruction->operand_count != 2 || operands[1].kind != PTX_OPERAND_TABLE ||
         parser->body.tables.items[operands[1].value].kind != PTX_BRANCH_TARGETS))
        return ptx_fail(parser, at, ERROR_INPUT, "brx takes an index and a .branchtargets table");
    if (instruction->opcode == PTX_OP_CALL && targets != 1)
        return ptx_fail(parser, at, ERROR_INPUT, "call names no function");
    return true;
}

bool ptx_parse_instruction(struct ptx_parser *parser)
{
    struct ptx_instruction instruction = {.guard = PTX_NONE, .location = parser->location};
    struct ptx_token at = parser->token;

    if (parser->instruction_total + parser->body.instructions.count >= PTX_INSTRUCTIONS_MAX)
        return ptx_fail(parser, &at, ERROR_LIMIT, "more than %u instructions", PTX_INSTRUCTIONS_MAX);
    if (ptx_take_mark(parser, "@")) {
        instruction.guard_negated = ptx_take_mark(parser, "!");
        if (!ptx_parse_register(parser, &instruction.guard))
            return false;
    }
    instruction.line = parser->token.line;
    if (!parse_opcode(parser, &instruction) || !parse_operands(parser, &instruction) ||
        !check_control(parser, &at, &instruction))
        return false;
    *PTX_PUSH(parser->arena, &parser->body.instructions) = instruction;
    return true;
}
