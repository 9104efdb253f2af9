/* Operands: names, constants, vectors, addresses, lists. Source: PTX ISA 9.0, chapter 6. */
#include <string.h>

#include "emu/ptx_parser_internal.h"

static bool parse_nested(struct ptx_parser *parser, bool call, int depth);

static void push(struct ptx_parser *parser, struct ptx_operand operand)
{
    *PTX_PUSH(parser->arena, &parser->body.pending) = operand;
}

static uint32_t slot_of(struct ptx_parser *parser, struct ptx_symbol *symbol)
{
    if (symbol->value == PTX_NONE) {
        symbol->value = parser->body.registers.count;
        *PTX_PUSH(parser->arena, &parser->body.registers) =
            (struct ptx_register){.name = symbol->name, .type = symbol->type, .elements = symbol->elements};
    }
    return symbol->value;
}

bool ptx_parse_register(struct ptx_parser *parser, uint32_t *slot)
{
    struct ptx_token name;

    if (!ptx_expect_name(parser, &name))
        return false;
    struct ptx_symbol *symbol = ptx_scope_find(parser->names, name.text, name.length);
    if (!symbol || symbol->kind != PTX_SYMBOL_REGISTER)
        return ptx_fail(parser, &name, ERROR_INPUT, "'%.*s' is no register", (int)name.length, name.text);
    *slot = slot_of(parser, symbol);
    return true;
}

bool ptx_commit_operands(struct ptx_parser *parser, uint32_t mark, uint32_t *first, uint32_t *count)
{
    struct ptx_body *body = &parser->body;

    *first = body->operands.count;
    *count = body->pending.count - mark;
    if (parser->operand_total + body->operands.count + *count > PTX_OPERANDS_MAX)
        return ptx_fail(parser, &parser->token, ERROR_LIMIT, "more than %u operands", PTX_OPERANDS_MAX);
    for (uint32_t i = mark; i < body->pending.count; i++)
        *PTX_PUSH(parser->arena, &body->operands) = body->pending.items[i];
    body->pending.count = mark;
    return true;
}

static bool resolve_name(struct ptx_parser *parser, const struct ptx_token *name, struct ptx_operand *out)
{
    struct ptx_symbol *symbol = ptx_scope_find(parser->names, name->text, name->length);
    enum ptx_special special;

    if (symbol) {
        static const enum ptx_operand_kind kinds[] = {[PTX_SYMBOL_REGISTER] = PTX_OPERAND_REGISTER,
                                                      [PTX_SYMBOL_VARIABLE] = PTX_OPERAND_VARIABLE,
                                                      [PTX_SYMBOL_FUNCTION] = PTX_OPERAND_FUNCTION,
                                                      [PTX_SYMBOL_TABLE] = PTX_OPERAND_TABLE};
        out->kind = (uint8_t)kinds[symbol->kind];
        out->value = symbol->kind == PTX_SYMBOL_REGISTER ? slot_of(parser, symbol) : symbol->value;
        return true;
    }
    if (ptx_token_is(name, PTX_TOKEN_NAME, "_")) {
        out->kind = PTX_OPERAND_SINK;
        return true;
    }
    special = ptx_special_find(name->text, name->length);
    if (special == PTX_SPECIAL_COUNT)
        return ptx_fail(parser, name, ERROR_INPUT, "'%.*s' is not declared", (int)name->length, name->text);
    out->kind = PTX_OPERAND_SPECIAL;
    out->value = special;
    return true;
}

static bool take_component(struct ptx_parser *parser, struct ptx_operand *out)
{
    static const char *const known[] = {"x", "y", "z", "w", "r", "g", "b", "a", "b0", "b1", "b2", "b3", "h0", "h1"};

    if (parser->token.kind != PTX_TOKEN_DOT)
        return true;
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (ptx_take_dot(parser, known[i])) {
            memcpy(out->component, known[i], strlen(known[i]));
            return true;
        }
    return ptx_unexpected(parser, "a component such as .x");
}

/* A name with what may stand behind it: .x, +4, |q. */
static bool parse_name(struct ptx_parser *parser, struct ptx_operand *out)
{
    struct ptx_token name;

    *out = (struct ptx_operand){0};
    if (!ptx_expect_name(parser, &name) || !resolve_name(parser, &name, out))
        return false;
    if (out->kind == PTX_OPERAND_VARIABLE)
        return ptx_parse_offset(parser, &out->bits);
    return (out->kind != PTX_OPERAND_REGISTER && out->kind != PTX_OPERAND_SPECIAL) || take_component(parser, out);
}

static bool parse_named(struct ptx_parser *parser)
{
    struct ptx_operand first, second, pair = {.kind = PTX_OPERAND_PAIR};

    if (!parse_name(parser, &first))
        return false;
    if (!ptx_take_mark(parser, "|")) {
        push(parser, first);
        return true;
    }
    uint32_t mark = parser->body.pending.count;
    push(parser, first);
    if (!parse_name(parser, &second))
        return false;
    push(parser, second);
    if (!ptx_commit_operands(parser, mark, &pair.first, &pair.count))
        return false;
    push(parser, pair);
    return true;
}

static struct ptx_operand immediate_of(const struct ptx_constant *constant)
{
    static const enum ptx_immediate kinds[] = {[PTX_NUMBER_SIGNED] = PTX_INTEGER,
                                               [PTX_NUMBER_UNSIGNED] = PTX_UNSIGNED,
                                               [PTX_NUMBER_FLOAT32] = PTX_FLOAT32,
                                               [PTX_NUMBER_FLOAT64] = PTX_FLOAT64};

    return (struct ptx_operand){.kind = PTX_OPERAND_IMMEDIATE,
                                .immediate = (uint8_t)(constant->warp_size ? PTX_WARP_SIZE : kinds[constant->kind]),
                                .bits = constant->bits};
}

static bool parse_immediate(struct ptx_parser *parser)
{
    struct ptx_constant constant;

    if (!ptx_parse_constant(parser, &constant))
        return false;
    push(parser, immediate_of(&constant));
    return true;
}

/* Operands up to a closing mark, as elements of one operand. */
static bool parse_group(struct ptx_parser *parser, struct ptx_operand group, const char *close, int depth)
{
    uint32_t mark = parser->body.pending.count;

    ptx_advance(parser);
    if (!ptx_at_mark(parser, close))
        do {
            if (!parse_nested(parser, false, depth + 1))
                return false;
            if (group.kind != PTX_OPERAND_ADDRESS || parser->body.pending.count != mark + 1)
                continue;
            /* [register+4], [4+4]; behind a variable the offset is taken already */
            struct ptx_operand *base = &parser->body.pending.items[mark];
            if (!ptx_parse_offset(parser, &group.bits))
                return false;
            if (base->kind == PTX_OPERAND_VARIABLE) {
                group.bits = base->bits;
                base->bits = 0;
            }
        } while (ptx_take_mark(parser, ","));
    if (!ptx_expect_mark(parser, close) || !ptx_commit_operands(parser, mark, &group.first, &group.count))
        return false;
    push(parser, group);
    return true;
}

/* !p and -r; "-5" and "!1" are constants. */
static bool parse_negated(struct ptx_parser *parser)
{
    struct ptx_operand operand;

    ptx_advance(parser);
    if (!parse_name(parser, &operand))
        return false;
    operand.negated = true;
    push(parser, operand);
    return true;
}

static bool at_name(const struct ptx_token *token)
{
    return token->kind == PTX_TOKEN_NAME && !ptx_token_is(token, PTX_TOKEN_NAME, "WARP_SZ");
}

static bool parse_nested(struct ptx_parser *parser, bool call, int depth)
{
    if (depth > PTX_OPERAND_DEPTH_MAX)
        return ptx_fail(parser, &parser->token, ERROR_LIMIT, "operands nested deeper than %d", PTX_OPERAND_DEPTH_MAX);
    if (ptx_at_mark(parser, "{"))
        return parse_group(parser, (struct ptx_operand){.kind = PTX_OPERAND_VECTOR}, "}", depth);
    if (ptx_at_mark(parser, "["))
        return parse_group(parser, (struct ptx_operand){.kind = PTX_OPERAND_ADDRESS}, "]", depth);
    if (call && ptx_at_mark(parser, "("))
        return parse_group(parser, (struct ptx_operand){.kind = PTX_OPERAND_LIST}, ")", depth);
    if (at_name(&parser->token))
        return parse_named(parser);
    if ((ptx_at_mark(parser, "!") || ptx_at_mark(parser, "-")) && at_name(&parser->ahead))
        return parse_negated(parser);
    return parse_immediate(parser);
}

bool ptx_parse_operand(struct ptx_parser *parser, bool call)
{
    return parse_nested(parser, call, 0);
}
