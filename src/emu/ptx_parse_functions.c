/* .entry and .func: heads, parameters, launch bounds. Source: PTX ISA 9.0, sections 5.1, 7 and 11.4. */
#include <string.h>

#include "emu/ptx_parser_internal.h"

bool ptx_parse_parameters(struct ptx_parser *parser, uint32_t *first, uint32_t *count)
{
    *first = parser->variables.count;
    if (!ptx_expect_mark(parser, "("))
        return false;
    if (!ptx_at_mark(parser, ")"))
        do {
            if (!ptx_parse_parameter(parser))
                return false;
        } while (ptx_take_mark(parser, ","));
    *count = parser->variables.count - *first;
    return ptx_expect_mark(parser, ")");
}

/* One to three numbers; those not given are 1. */
static bool parse_extent(struct ptx_parser *parser, uint32_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    for (size_t i = 0; i < 3; i++) {
        if (!ptx_expect_u32(parser, &out[i]))
            return false;
        if (i == 2 || !ptx_take_mark(parser, ","))
            break;
    }
    return true;
}

static bool take_flag(struct ptx_parser *parser, const char *word, bool *flag)
{
    if (!ptx_take_dot(parser, word))
        return false;
    *flag = true;
    return true;
}

/* One directive between the head and the body. */
static bool parse_property(struct ptx_parser *parser, struct ptx_function *function)
{
    struct ptx_launch *launch = &function->launch;
    uint32_t ignored;
    const struct {
        const char *word;
        uint32_t *value;
    } numbers[] = {{"minnctapersm", &launch->min_ctas},       {"maxnctapersm", &launch->max_ctas},
                   {"maxnreg", &launch->max_registers},       {"maxclusterrank", &launch->max_cluster_rank},
                   {"local_maxnreg", &launch->max_registers}, {"abi_preserve", &ignored},
                   {"abi_preserve_control", &ignored}},
      extents[] = {{"maxntid", launch->max_threads},
                   {"reqntid", launch->required_threads},
                   {"reqnctapercluster", launch->cluster}};

    if (ptx_at_dot(parser, "pragma"))
        return ptx_parse_pragma(parser);
    if (take_flag(parser, "explicitcluster", &launch->explicit_cluster) ||
        take_flag(parser, "blocksareclusters", &launch->blocks_are_clusters) ||
        take_flag(parser, "noreturn", &function->no_return))
        return true;
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
        if (ptx_take_dot(parser, numbers[i].word))
            return ptx_expect_u32(parser, numbers[i].value);
    for (size_t i = 0; i < ARRAY_LEN(extents); i++)
        if (ptx_take_dot(parser, extents[i].word))
            return parse_extent(parser, extents[i].value);
    return ptx_unexpected(parser, "a directive of the function, '{' or ';'");
}

/* Index of the function of that name: a new one, or the one that was declared. */
static bool name_function(struct ptx_parser *parser, const struct ptx_token *name, uint32_t *index)
{
    const struct ptx_symbol *known = ptx_scope_find(parser->names, name->text, name->length);

    if (known && known->kind != PTX_SYMBOL_FUNCTION)
        return ptx_fail(parser, name, ERROR_INPUT, "'%.*s' is declared twice", (int)name->length, name->text);
    if (known) {
        *index = known->value;
        return true;
    }
    if (parser->functions.count == PTX_FUNCTIONS_MAX)
        return ptx_fail(parser, name, ERROR_LIMIT, "more than %u functions", PTX_FUNCTIONS_MAX);
    *index = parser->functions.count;
    (void)ptx_scope_define_outermost(parser->names, name->text, name->length, PTX_SYMBOL_FUNCTION, *index);
    *PTX_PUSH(parser->arena, &parser->functions) =
        (struct ptx_function){.name = arena_strndup(parser->arena, name->text, name->length)};
    return true;
}

/* Readers of the module need not ask whether an array is there. */
static void *never_null(struct ptx_parser *parser, void *items)
{
    return items ? items : arena_alloc(parser->arena, 0);
}

static void keep_body(struct ptx_parser *parser, struct ptx_function *function)
{
    const struct ptx_body *body = &parser->body;

    function->is_defined = true;
    function->instructions = never_null(parser, body->instructions.items);
    function->instruction_count = body->instructions.count;
    function->operands = never_null(parser, body->operands.items);
    function->operand_count = body->operands.count;
    function->words = never_null(parser, body->words.items);
    function->registers = never_null(parser, body->registers.items);
    function->register_count = body->registers.count;
    function->tables = never_null(parser, body->tables.items);
    function->table_count = body->tables.count;
    parser->instruction_total += body->instructions.count;
    parser->operand_total += body->operands.count;
}

/* Results, name and parameters, into `function`; opens the scope that they live in. */
static bool parse_head(struct ptx_parser *parser, struct ptx_function *function, uint32_t *index)
{
    struct ptx_token name;

    if (!ptx_open_scope(parser))
        return false;
    /* results stand before the name, so their function is not known yet */
    parser->body = (struct ptx_body){.function = PTX_NONE};
    if (ptx_at_mark(parser, "(") && !ptx_parse_parameters(parser, &function->first_result, &function->result_count))
        return false;
    if (!ptx_expect_name(parser, &name) || !name_function(parser, &name, index))
        return false;
    parser->body.function = *index;
    for (uint32_t i = 0; i < function->result_count; i++)
        parser->variables.items[function->first_result + i].function = *index;
    return !ptx_at_mark(parser, "(") ||
           ptx_parse_parameters(parser, &function->first_parameter, &function->parameter_count);
}

bool ptx_parse_function(struct ptx_parser *parser, enum ptx_linkage linkage)
{
    struct ptx_function function = {
        .linkage = linkage, .is_entry = ptx_at_dot(parser, "entry"), .line = parser->token.line};
    struct ptx_token at = parser->token;
    uint32_t index;

    ptx_advance(parser);
    parser->location = PTX_NONE;
    while (ptx_take_dot(parser, "attribute"))
        if (!ptx_skip_attribute(parser))
            return false;
    if (!parse_head(parser, &function, &index))
        return false;
    const struct ptx_function before = parser->functions.items[index];
    while (parser->token.kind == PTX_TOKEN_DOT)
        if (!parse_property(parser, &function))
            return false;
    function.name = before.name;
    function.no_return |= before.no_return;
    if (ptx_at_mark(parser, "{")) {
        if (before.is_defined)
            return ptx_fail(parser, &at, ERROR_INPUT, "a second body of '%s'", function.name);
        ptx_advance(parser);
        if (!ptx_parse_body(parser))
            return false;
        keep_body(parser, &function);
    } else if (!ptx_expect_mark(parser, ";")) {
        return false;
    }
    function.pragmas = parser->body.pragmas.items;
    function.pragma_count = parser->body.pragmas.count;
    if (function.is_defined || !before.is_defined)
        parser->functions.items[index] = function;
    ptx_close_scope(parser);
    return true;
}
