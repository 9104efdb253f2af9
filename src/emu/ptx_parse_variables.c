/* Variables, parameters and registers. Source: PTX ISA 9.0, chapter 5. */
#include "emu/ptx_parser_internal.h"

bool ptx_at_space(const struct ptx_parser *parser, enum ptx_space *space)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_SPACE_GLOBAL}, {"const", PTX_SPACE_CONST}, {"shared", PTX_SPACE_SHARED},
                  {"local", PTX_SPACE_LOCAL},   {"param", PTX_SPACE_PARAM}, {"tex", PTX_SPACE_TEXTURE}};

    for (size_t i = 0; i < ARRAY_LEN(spaces); i++)
        if (ptx_at_dot(parser, spaces[i].word)) {
            *space = spaces[i].space;
            return true;
        }
    return false;
}

/* What stands between the space and the name. */
struct traits {
    enum ptx_type type;
    bool has_type;
    uint8_t elements;
    uint32_t align;
    enum ptx_space pointee_space;
    bool is_pointer;
    uint32_t pointee_align;
};

static bool parse_align(struct ptx_parser *parser, uint32_t *out)
{
    struct ptx_token at = parser->token;

    if (!ptx_expect_u32(parser, out))
        return false;
    if (!*out || (*out & (*out - 1)))
        return ptx_fail(parser, &at, ERROR_INPUT, "an alignment must be a power of two");
    return true;
}

bool ptx_skip_attribute(struct ptx_parser *parser)
{
    size_t depth = 0;

    if (!ptx_at_mark(parser, "("))
        return ptx_unexpected(parser, "'('");
    do {
        if (ptx_at_mark(parser, "("))
            depth++;
        else if (ptx_at_mark(parser, ")"))
            depth--;
        else if (parser->token.kind == PTX_TOKEN_END || parser->token.kind == PTX_TOKEN_BAD)
            return ptx_unexpected(parser, "')'");
        ptx_advance(parser);
    } while (depth);
    return true;
}

static bool take_elements(struct ptx_parser *parser, uint8_t *elements)
{
    static const uint8_t widths[] = {2, 4, 8};
    static const char *const words[] = {"v2", "v4", "v8"};

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (ptx_take_dot(parser, words[i])) {
            *elements = widths[i];
            return true;
        }
    return false;
}

static bool parse_trait(struct ptx_parser *parser, struct traits *traits)
{
    const struct ptx_token *token = &parser->token;
    enum ptx_space space;

    if (take_elements(parser, &traits->elements))
        return true;
    if (ptx_take_dot(parser, "align"))
        return parse_align(parser, traits->is_pointer ? &traits->pointee_align : &traits->align);
    if (ptx_take_dot(parser, "attribute"))
        return ptx_skip_attribute(parser);
    if (ptx_take_dot(parser, "ptr")) {
        traits->is_pointer = true;
        return true;
    }
    if (traits->is_pointer && ptx_at_space(parser, &space)) {
        traits->pointee_space = space;
        ptx_advance(parser);
        return true;
    }
    if (!traits->has_type && ptx_type_find(token->text, token->length, &traits->type)) {
        traits->has_type = true;
        ptx_advance(parser);
        return true;
    }
    return ptx_unexpected(parser, "a type");
}

static bool parse_traits(struct ptx_parser *parser, struct traits *traits)
{
    *traits = (struct traits){.elements = 1, .pointee_space = PTX_SPACE_PARAM};
    while (parser->token.kind == PTX_TOKEN_DOT)
        if (!parse_trait(parser, traits))
            return false;
    if (!traits->has_type)
        return ptx_unexpected(parser, "a type");
    if (traits->is_pointer && !traits->pointee_align)
        traits->pointee_align = 4;
    return true;
}

static bool parse_dimensions(struct ptx_parser *parser, struct ptx_variable *variable, uint64_t *dimensions)
{
    variable->count = 1;
    while (ptx_at_mark(parser, "[")) {
        struct ptx_token at = parser->token;
        if (variable->rank == PTX_ARRAY_RANK_MAX)
            return ptx_fail(parser, &at, ERROR_LIMIT, "more than %d dimensions", PTX_ARRAY_RANK_MAX);
        ptx_advance(parser);
        uint64_t *dimension = &dimensions[variable->rank++];
        *dimension = 0;
        if (ptx_at_mark(parser, "]") && variable->rank == 1)
            variable->unsized = true;
        else if (!ptx_parse_size(parser, dimension))
            return false;
        if (!ptx_expect_mark(parser, "]"))
            return false;
        if (__builtin_mul_overflow(variable->count, *dimension, &variable->count))
            return ptx_fail(parser, &at, ERROR_INPUT, "an array that is larger than the address space");
    }
    return true;
}

static uint64_t element_bytes(const struct ptx_variable *variable)
{
    return (ptx_type_bits(variable->type) + 7) / 8 * variable->elements;
}

static bool set_bytes(struct ptx_parser *parser, const struct ptx_token *at, struct ptx_variable *variable)
{
    if (__builtin_mul_overflow(variable->count, element_bytes(variable), &variable->bytes) ||
        variable->bytes > INT64_MAX)
        return ptx_fail(parser, at, ERROR_INPUT, "an array that is larger than the address space");
    return true;
}

/* A declaration may be repeated, and be followed by the definition. */
static bool redeclares(const struct ptx_parser *parser, const struct ptx_symbol *known, const struct ptx_variable *now)
{
    if (!known || known->kind != PTX_SYMBOL_VARIABLE)
        return false;
    const struct ptx_variable *before = &parser->variables.items[known->value];
    return before->linkage == PTX_LINK_EXTERN && before->space == now->space && before->type == now->type;
}

static bool name_variable(struct ptx_parser *parser, const struct ptx_token *name, struct ptx_variable *variable)
{
    struct ptx_symbol *known = ptx_scope_find_here(parser->names, name->text, name->length);
    bool anonymous = ptx_token_is(name, PTX_TOKEN_NAME, "_");

    if (parser->variables.count == PTX_VARIABLES_MAX)
        return ptx_fail(parser, name, ERROR_LIMIT, "more than %u variables", PTX_VARIABLES_MAX);
    if (redeclares(parser, known, variable))
        known->value = parser->variables.count;
    else if (!anonymous &&
             !ptx_scope_define(parser->names, name->text, name->length, PTX_SYMBOL_VARIABLE, parser->variables.count))
        return ptx_fail(parser, name, ERROR_INPUT, "'%.*s' is declared twice", (int)name->length, name->text);
    variable->name = arena_strndup(parser->arena, name->text, name->length);
    *PTX_PUSH(parser->arena, &parser->variables) = *variable;
    return true;
}

/* Name, dimensions and value; adds the variable. */
static bool parse_declarator(struct ptx_parser *parser, const struct traits *traits, enum ptx_space space,
                             enum ptx_linkage linkage)
{
    uint64_t dimensions[PTX_ARRAY_RANK_MAX];
    struct ptx_token name;
    struct ptx_variable variable = {.space = space,
                                    .linkage = linkage,
                                    .type = traits->type,
                                    .elements = traits->elements,
                                    .function = ptx_scope_depth(parser->names) ? parser->body.function : PTX_NONE,
                                    .pointee_space = traits->pointee_space,
                                    .pointee_align = traits->pointee_align,
                                    .line = parser->token.line};

    variable.align = traits->align ? traits->align : (uint32_t)element_bytes(&variable);
    if (!ptx_expect_name(parser, &name) || !parse_dimensions(parser, &variable, dimensions) ||
        !set_bytes(parser, &name, &variable) || !name_variable(parser, &name, &variable))
        return false;
    struct ptx_token equals = parser->token;
    if (!ptx_take_mark(parser, "="))
        return true;
    if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST)
        return ptx_fail(parser, &equals, ERROR_INPUT, "only .global and .const variables have initial values");
    if (!ptx_parse_initial(parser, &variable, dimensions) || !set_bytes(parser, &name, &variable))
        return false;
    parser->variables.items[parser->variables.count - 1] = variable;
    return true;
}

bool ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, enum ptx_linkage linkage)
{
    struct traits traits;

    ptx_advance(parser);
    if (!parse_traits(parser, &traits))
        return false;
    do {
        if (!parse_declarator(parser, &traits, space, linkage))
            return false;
    } while (ptx_take_mark(parser, ","));
    return ptx_expect_mark(parser, ";");
}

bool ptx_parse_parameter(struct ptx_parser *parser)
{
    struct traits traits;

    if (ptx_at_dot(parser, "reg"))
        return ptx_fail(parser, &parser->token, ERROR_INPUT, "parameters in registers are not handled; use .param");
    if (!ptx_take_dot(parser, "param"))
        return ptx_unexpected(parser, "a parameter");
    if (!parse_traits(parser, &traits))
        return false;
    if (!parse_declarator(parser, &traits, PTX_SPACE_PARAM, PTX_LINK_INTERNAL))
        return false;
    parser->variables.items[parser->variables.count - 1].formal = true;
    return true;
}

static bool parse_register(struct ptx_parser *parser, const struct traits *traits)
{
    enum ptx_symbol_kind kind = PTX_SYMBOL_REGISTER;
    uint32_t count = PTX_NONE;
    struct ptx_token name;

    if (!ptx_expect_name(parser, &name))
        return false;
    if (ptx_take_mark(parser, "<")) {
        kind = PTX_SYMBOL_RANGE;
        if (!ptx_expect_u32(parser, &count) || !ptx_expect_mark(parser, ">"))
            return false;
    }
    struct ptx_symbol *symbol = ptx_scope_define(parser->names, name.text, name.length, kind, count);
    if (!symbol)
        return ptx_fail(parser, &name, ERROR_INPUT, "'%.*s' is declared twice", (int)name.length, name.text);
    symbol->type = traits->type;
    symbol->elements = traits->elements;
    return true;
}

bool ptx_parse_registers(struct ptx_parser *parser)
{
    struct traits traits;

    ptx_advance(parser);
    if (!parse_traits(parser, &traits))
        return false;
    do {
        if (!parse_register(parser, &traits))
            return false;
    } while (ptx_take_mark(parser, ","));
    return ptx_expect_mark(parser, ";");
}
