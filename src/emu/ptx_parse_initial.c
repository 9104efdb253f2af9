/* Initial values of variables: nested braces, strings, addresses. Source: PTX ISA 9.0, section 5.4.4. */
#include <string.h>

#include "emu/ptx_parser_internal.h"

struct initial {
    struct ptx_variable *variable;
    uint64_t strides[PTX_ARRAY_RANK_MAX + 1]; /* elements that one step of a brace level spans; the last is 1 */
    unsigned levels;                          /* array dimensions, and one for a vector type */
    uint64_t limit;                           /* elements; UINT64_MAX for an unsized array */
    uint64_t used;                            /* one more than the highest element given */
    PTX_LIST(struct ptx_initial) values;
};

static bool put(struct ptx_parser *parser, struct initial *initial, uint64_t element, struct ptx_initial value)
{
    if (element >= initial->limit)
        return ptx_fail(parser, &parser->token, ERROR_INPUT, "more initial values than '%s' has room for",
                        initial->variable->name);
    if (element + 1 > initial->used)
        initial->used = element + 1;
    value.element = element;
    if (value.bits || value.variable != PTX_NONE || value.function != PTX_NONE)
        *PTX_PUSH(parser->arena, &initial->values) = value;
    return true;
}

static bool parse_symbol(struct ptx_parser *parser, struct ptx_initial *value)
{
    struct ptx_token name;

    if (!ptx_expect_name(parser, &name))
        return false;
    const struct ptx_symbol *symbol = ptx_scope_find(parser->names, name.text, name.length);
    if (symbol && symbol->kind == PTX_SYMBOL_VARIABLE)
        value->variable = symbol->value;
    else if (symbol && symbol->kind == PTX_SYMBOL_FUNCTION)
        value->function = symbol->value;
    else
        return ptx_fail(parser, &name, ERROR_INPUT, "'%.*s' is no variable or function", (int)name.length, name.text);
    return ptx_parse_offset(parser, &value->bits);
}

/* 0xFF00(symbol): a byte of an address. */
static bool apply_mask(struct ptx_parser *parser, const struct ptx_token *at, uint64_t mask, struct ptx_initial *value)
{
    if (!mask)
        return ptx_fail(parser, at, ERROR_INPUT, "a mask without bits");
    value->shift = (uint8_t)__builtin_ctzll(mask);
    value->mask = mask >> value->shift;
    return true;
}

static bool parse_scalar(struct ptx_parser *parser, struct initial *initial, uint64_t element)
{
    struct ptx_initial value = {.variable = PTX_NONE, .function = PTX_NONE, .mask = UINT64_MAX};
    struct ptx_token at = parser->token;
    struct ptx_constant constant;

    if (at.kind == PTX_TOKEN_NAME && !ptx_token_is(&at, PTX_TOKEN_NAME, "WARP_SZ")) {
        value.generic =
            ptx_token_is(&at, PTX_TOKEN_NAME, "generic") && ptx_token_is(&parser->ahead, PTX_TOKEN_MARK, "(");
        if (value.generic) {
            ptx_advance(parser);
            ptx_advance(parser);
        }
        if (!parse_symbol(parser, &value) || (value.generic && !ptx_expect_mark(parser, ")")))
            return false;
        return ptx_parse_offset(parser, &value.bits) && put(parser, initial, element, value);
    }
    if (!ptx_parse_constant(parser, &constant))
        return false;
    if (ptx_take_mark(parser, "("))
        return parse_symbol(parser, &value) && ptx_expect_mark(parser, ")") &&
               apply_mask(parser, &at, constant.bits, &value) && put(parser, initial, element, value);
    value.bits = ptx_constant_as(&constant, initial->variable->type);
    return put(parser, initial, element, value);
}

static unsigned char unescape(const char **at, const char *end)
{
    static const char letters[] = "abfnrtv0\\\"'?", values[] = "\a\b\f\n\r\t\v\0\\\"'?";
    unsigned char c = (unsigned char)*(*at)++;

    if (c != '\\' || *at == end)
        return c;
    c = (unsigned char)*(*at)++;
    const char *letter = memchr(letters, c, sizeof letters - 1);
    return letter ? (unsigned char)values[letter - letters] : c;
}

/* The bytes and a zero. */
static bool parse_string(struct ptx_parser *parser, struct initial *initial, uint64_t *element)
{
    struct ptx_initial value = {.variable = PTX_NONE, .function = PTX_NONE, .mask = UINT64_MAX};
    const char *at = parser->token.text, *end = at + parser->token.length;

    if (ptx_type_bits(initial->variable->type) != 8)
        return ptx_fail(parser, &parser->token, ERROR_INPUT, "a string in '%s', whose elements are no bytes",
                        initial->variable->name);
    while (at < end) {
        value.bits = unescape(&at, end);
        if (!put(parser, initial, (*element)++, value))
            return false;
    }
    value.bits = 0;
    if (*element < initial->limit && !put(parser, initial, (*element)++, value))
        return false;
    ptx_advance(parser);
    return true;
}

/* Behind '{'. Level 0 is the outermost brace; an inner brace starts a row of its own. */
static bool parse_brace(struct ptx_parser *parser, struct initial *initial, unsigned level, uint64_t first)
{
    uint64_t at = first, row = initial->strides[level];

    while (!ptx_at_mark(parser, "}")) {
        if (parser->token.kind == PTX_TOKEN_STRING) {
            if (!parse_string(parser, initial, &at))
                return false;
        } else if (ptx_at_mark(parser, "{")) {
            if (level + 1 >= initial->levels)
                return ptx_fail(parser, &parser->token, ERROR_INPUT, "more braces than '%s' has dimensions",
                                initial->variable->name);
            uint64_t rest = row && at > first ? (at - first) % row : 0;
            at += rest ? row - rest : 0;
            ptx_advance(parser);
            if (!parse_brace(parser, initial, level + 1, at))
                return false;
            if (__builtin_add_overflow(at, row, &at))
                at = UINT64_MAX;
        } else if (!parse_scalar(parser, initial, at++)) {
            return false;
        }
        if (!ptx_take_mark(parser, ","))
            break;
    }
    return ptx_expect_mark(parser, "}");
}

static void set_strides(struct initial *initial, const uint64_t *dimensions)
{
    const struct ptx_variable *variable = initial->variable;
    uint64_t stride = 1;

    initial->levels = variable->rank;
    if (variable->elements > 1) {
        initial->strides[initial->levels++] = 1;
        stride = variable->elements;
    }
    for (unsigned i = variable->rank; i-- > 0;) {
        initial->strides[i] = stride;
        if (__builtin_mul_overflow(stride, dimensions[i], &stride))
            stride = UINT64_MAX;
    }
}

bool ptx_parse_initial(struct ptx_parser *parser, struct ptx_variable *variable, const uint64_t *dimensions)
{
    struct initial initial = {.variable = variable};
    uint64_t element = 0;

    set_strides(&initial, dimensions);
    initial.limit = variable->unsized ? UINT64_MAX : variable->count * variable->elements;
    if (parser->token.kind == PTX_TOKEN_STRING) {
        if (!parse_string(parser, &initial, &element))
            return false;
    } else if (!ptx_take_mark(parser, "{")) {
        if (!parse_scalar(parser, &initial, 0))
            return false;
    } else if (!initial.levels) {
        /* a scalar in braces */
        if (!parse_scalar(parser, &initial, 0) || !ptx_expect_mark(parser, "}"))
            return false;
    } else if (!parse_brace(parser, &initial, 0, 0)) {
        return false;
    }
    variable->initial = initial.values.items;
    variable->initial_count = initial.values.count;
    if (variable->unsized) {
        uint64_t row = initial.strides[0] ? initial.strides[0] : 1;
        uint64_t rows = initial.used / row + (initial.used % row ? 1 : 0);
        if (__builtin_mul_overflow(rows, row / variable->elements, &variable->count))
            return ptx_fail(parser, &parser->token, ERROR_INPUT, "an array that is larger than the address space");
        variable->unsized = false;
    }
    return true;
}
