/* Statements of a function: scopes, declarations, labels, tables of targets. */
#include <string.h>

#include "emu/ptx_parser_internal.h"

/* Labels that the innermost scope defines are resolved; the others may be defined by the scope around it. */
static void resolve_labels(struct ptx_parser *parser)
{
    struct ptx_body *body = &parser->body;
    uint32_t depth = ptx_scope_depth(parser->labels), start = body->uses.count;

    while (start && body->uses.items[start - 1].depth >= depth)
        start--;
    uint32_t kept = start;
    for (uint32_t i = start; i < body->uses.count; i++) {
        struct ptx_label_use *use = &body->uses.items[i];
        const struct ptx_symbol *label = ptx_scope_find_here(parser->labels, use->token.text, use->token.length);
        if (!label) {
            use->depth = depth - 1;
            body->uses.items[kept++] = *use;
        } else if (use->operand != PTX_NONE) {
            body->operands.items[use->operand].value = label->value;
        } else {
            *use->target = label->value;
        }
    }
    body->uses.count = kept;
}

static bool define_label(struct ptx_parser *parser)
{
    struct ptx_token name = parser->token;

    ptx_advance(parser);
    ptx_advance(parser);
    if (ptx_scope_define(parser->labels, name.text, name.length, PTX_SYMBOL_LABEL, parser->body.instructions.count))
        return true;
    return ptx_fail(parser, &name, ERROR_INPUT, "label '%.*s' is defined twice", (int)name.length, name.text);
}

/* L0, L1, ...; label or function names. */
static bool parse_targets(struct ptx_parser *parser, struct ptx_table *table)
{
    PTX_LIST(struct ptx_token) names = {0};

    do {
        if (!ptx_expect_name(parser, PTX_PUSH(parser->arena, &names)))
            return false;
    } while (ptx_take_mark(parser, ","));
    uint32_t *targets = arena_calloc(parser->arena, names.count, sizeof *targets);
    for (uint32_t i = 0; i < names.count; i++) {
        const struct ptx_token *name = &names.items[i];
        if (table->kind == PTX_BRANCH_TARGETS) {
            *PTX_PUSH(parser->arena, &parser->body.uses) =
                (struct ptx_label_use){*name, ptx_scope_depth(parser->labels), PTX_NONE, &targets[i]};
            continue;
        }
        const struct ptx_symbol *symbol = ptx_scope_find(parser->names, name->text, name->length);
        if (!symbol || symbol->kind != PTX_SYMBOL_FUNCTION)
            return ptx_fail(parser, name, ERROR_INPUT, "'%.*s' is no function", (int)name->length, name->text);
        targets[i] = symbol->value;
    }
    table->targets = targets;
    table->count = names.count;
    return true;
}

/* (results) _ (parameters) */
static bool parse_prototype(struct ptx_parser *parser, struct ptx_table *table)
{
    struct ptx_token name;
    uint32_t first;
    bool ok = ptx_open_scope(parser) &&
              (!ptx_at_mark(parser, "(") || ptx_parse_parameters(parser, &first, &table->results)) &&
              ptx_expect_name(parser, &name) &&
              (!ptx_at_mark(parser, "(") || ptx_parse_parameters(parser, &first, &table->count));

    if (!ok)
        return false;
    ptx_close_scope(parser);
    while (parser->token.kind == PTX_TOKEN_DOT) {
        uint32_t ignored;
        if (ptx_take_dot(parser, "noreturn"))
            table->no_return = true;
        else if (!ptx_take_dot(parser, "abi_preserve") && !ptx_take_dot(parser, "abi_preserve_control"))
            return ptx_unexpected(parser, "';'");
        else if (!ptx_expect_u32(parser, &ignored))
            return false;
    }
    return true;
}

/* NAME: .branchtargets ...; the name is a table's, not a label's. */
static bool parse_table(struct ptx_parser *parser, enum ptx_table_kind kind)
{
    struct ptx_token name = parser->token;
    struct ptx_table table = {.kind = kind, .name = arena_strndup(parser->arena, name.text, name.length)};

    for (int i = 0; i < 3; i++)
        ptx_advance(parser);
    if (!ptx_scope_define(parser->names, name.text, name.length, PTX_SYMBOL_TABLE, parser->body.tables.count))
        return ptx_fail(parser, &name, ERROR_INPUT, "'%.*s' is declared twice", (int)name.length, name.text);
    if (kind == PTX_CALL_PROTOTYPE ? !parse_prototype(parser, &table) : !parse_targets(parser, &table))
        return false;
    *PTX_PUSH(parser->arena, &parser->body.tables) = table;
    return ptx_expect_mark(parser, ";");
}

/* At NAME ':'. */
static bool parse_label(struct ptx_parser *parser)
{
    static const char *const words[] = {[PTX_BRANCH_TARGETS] = "branchtargets",
                                        [PTX_CALL_TARGETS] = "calltargets",
                                        [PTX_CALL_PROTOTYPE] = "callprototype"};
    struct ptx_lexer behind = parser->lexer;
    struct ptx_token third = ptx_lexer_next(&behind);

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (ptx_token_is(&third, PTX_TOKEN_DOT, words[i]))
            return parse_table(parser, (enum ptx_table_kind)i);
    return define_label(parser);
}

static bool parse_directive(struct ptx_parser *parser)
{
    enum ptx_space space;

    if (ptx_at_dot(parser, "reg"))
        return ptx_parse_registers(parser);
    if (ptx_at_dot(parser, "loc"))
        return ptx_parse_loc(parser);
    if (ptx_at_dot(parser, "pragma"))
        return ptx_parse_pragma(parser);
    if (ptx_at_dot(parser, "file"))
        return ptx_parse_file(parser);
    if (ptx_at_space(parser, &space))
        return ptx_parse_variables(parser, space, PTX_LINK_INTERNAL);
    if (ptx_take_dot(parser, "extern")) {
        if (ptx_at_space(parser, &space))
            return ptx_parse_variables(parser, space, PTX_LINK_EXTERN);
        return ptx_unexpected(parser, "a variable");
    }
    return ptx_unexpected(parser, "a declaration, a label or an instruction");
}

static bool parse_statement(struct ptx_parser *parser)
{
    if (parser->token.kind == PTX_TOKEN_DOT)
        return parse_directive(parser);
    if (ptx_take_mark(parser, ";"))
        return true;
    if (ptx_at_mark(parser, "{")) {
        if (!ptx_open_scope(parser))
            return false;
        ptx_advance(parser);
        return true;
    }
    if (parser->token.kind == PTX_TOKEN_NAME && ptx_token_is(&parser->ahead, PTX_TOKEN_MARK, ":"))
        return parse_label(parser);
    if (parser->token.kind == PTX_TOKEN_NAME || ptx_at_mark(parser, "@"))
        return ptx_parse_instruction(parser);
    return ptx_unexpected(parser, "a statement or '}'");
}

bool ptx_parse_body(struct ptx_parser *parser)
{
    uint32_t outside = ptx_scope_depth(parser->names);

    if (!ptx_open_scope(parser))
        return false;
    while (ptx_scope_depth(parser->names) > outside) {
        if (!ptx_at_mark(parser, "}")) {
            if (!parse_statement(parser))
                return false;
            continue;
        }
        resolve_labels(parser);
        ptx_close_scope(parser);
        ptx_advance(parser);
    }
    if (parser->body.uses.count) {
        const struct ptx_token *name = &parser->body.uses.items[0].token;
        return ptx_fail(parser, name, ERROR_INPUT, "no label '%.*s'", (int)name->length, name->text);
    }
    return true;
}
