/* Constant expressions: C's operators over 64-bit integers and binary64. Source: PTX ISA 9.0, section 4.5. */
#include <string.h>

#include "emu/ptx_parser_internal.h"

static bool parse_conditional(struct ptx_parser *parser, int depth, struct ptx_constant *out);

static double as_double(const struct ptx_constant *constant)
{
    double wide;
    float narrow;
    uint32_t low = (uint32_t)constant->bits;

    switch (constant->kind) {
    case PTX_NUMBER_FLOAT64:
        memcpy(&wide, &constant->bits, sizeof wide);
        return wide;
    case PTX_NUMBER_FLOAT32:
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    case PTX_NUMBER_UNSIGNED:
        return (double)constant->bits;
    default:
        return (double)(int64_t)constant->bits;
    }
}

static bool is_float(const struct ptx_constant *constant)
{
    return constant->kind >= PTX_NUMBER_FLOAT32;
}

static struct ptx_constant from_double(double value)
{
    struct ptx_constant constant = {.kind = PTX_NUMBER_FLOAT64};

    memcpy(&constant.bits, &value, sizeof value);
    return constant;
}

static struct ptx_constant from_integer(uint64_t bits, bool is_unsigned)
{
    return (struct ptx_constant){.kind = is_unsigned ? PTX_NUMBER_UNSIGNED : PTX_NUMBER_SIGNED, .bits = bits};
}

static bool parse_primary(struct ptx_parser *parser, int depth, struct ptx_constant *out)
{
    const struct ptx_token *token = &parser->token;

    *out = (struct ptx_constant){0};
    if (ptx_token_is(token, PTX_TOKEN_NAME, "WARP_SZ")) {
        *out = (struct ptx_constant){.warp_size = true, .bits = 32};
    } else if (token->kind == PTX_TOKEN_NUMBER || token->kind == PTX_TOKEN_DOT) {
        /* ".5" comes as a word behind a dot */
        size_t dot = token->kind == PTX_TOKEN_DOT ? 1 : 0;
        if (!ptx_number_parse(token->text - dot, token->length + dot, &out->kind, &out->bits))
            return ptx_unexpected(parser, "a number of at most 64 bits");
    } else if (ptx_take_mark(parser, "(")) {
        return parse_conditional(parser, depth + 1, out) && ptx_expect_mark(parser, ")");
    } else {
        return ptx_unexpected(parser, "a constant");
    }
    ptx_advance(parser);
    return true;
}

/* (.s64) and (.u64) */
static bool take_cast(struct ptx_parser *parser, enum ptx_number_kind *kind)
{
    if (!ptx_at_mark(parser, "("))
        return false;
    if (ptx_token_is(&parser->ahead, PTX_TOKEN_DOT, "s64"))
        *kind = PTX_NUMBER_SIGNED;
    else if (ptx_token_is(&parser->ahead, PTX_TOKEN_DOT, "u64"))
        *kind = PTX_NUMBER_UNSIGNED;
    else
        return false;
    ptx_advance(parser);
    ptx_advance(parser);
    return true;
}

static bool apply_unary(struct ptx_parser *parser, char mark, struct ptx_constant *value)
{
    value->warp_size = false;
    if (is_float(value) && mark != '+' && mark != '-')
        return ptx_fail(parser, &parser->token, ERROR_INPUT, "'%c' of a floating-point constant", mark);
    if (is_float(value) && mark == '-') {
        value->bits ^= value->kind == PTX_NUMBER_FLOAT32 ? (uint64_t)1 << 31 : (uint64_t)1 << 63;
        return true;
    }
    if (mark == '-')
        value->bits = 0 - value->bits;
    else if (mark == '~')
        value->bits = ~value->bits;
    else if (mark == '!')
        *value = from_integer(!value->bits, false);
    return true;
}

static bool parse_unary(struct ptx_parser *parser, int depth, struct ptx_constant *out)
{
    enum ptx_number_kind cast;

    if (depth > PTX_CONSTANT_DEPTH_MAX)
        return ptx_fail(parser, &parser->token, ERROR_LIMIT, "a constant expression nested deeper than %d",
                        PTX_CONSTANT_DEPTH_MAX);
    if (take_cast(parser, &cast)) {
        if (!ptx_expect_mark(parser, ")") || !parse_unary(parser, depth + 1, out))
            return false;
        if (is_float(out))
            return ptx_fail(parser, &parser->token, ERROR_INPUT, "a cast of a floating-point constant");
        *out = from_integer(out->bits, cast == PTX_NUMBER_UNSIGNED);
        return true;
    }
    if (parser->token.kind == PTX_TOKEN_MARK && parser->token.length == 1 && strchr("-+~!", parser->token.text[0])) {
        char mark = parser->token.text[0];
        ptx_advance(parser);
        return parse_unary(parser, depth + 1, out) && apply_unary(parser, mark, out);
    }
    return parse_primary(parser, depth, out);
}

static const struct binary {
    const char *mark;
    int level; /* higher binds tighter */
} binaries[] = {
    {"*", 10}, {"/", 10}, {"%", 10}, {"+", 9},  {"-", 9}, {"<<", 8}, {">>", 8}, {"<", 7},  {">", 7},
    {"<=", 7}, {">=", 7}, {"==", 6}, {"!=", 6}, {"&", 5}, {"^", 4},  {"|", 3},  {"&&", 2}, {"||", 1},
};

/* '%' starts a name, so that the operator comes as a name of its own. */
static const struct binary *binary_at(const struct ptx_parser *parser)
{
    for (size_t i = 0; i < ARRAY_LEN(binaries); i++)
        if (ptx_at_mark(parser, binaries[i].mark))
            return &binaries[i];
    if (ptx_token_is(&parser->token, PTX_TOKEN_NAME, "%"))
        return &binaries[2];
    return NULL;
}

static bool apply_float(struct ptx_parser *parser, const char *mark, struct ptx_constant *left, double right)
{
    double value = as_double(left);

    switch (mark[0]) {
    case '*':
        *left = from_double(value * right);
        return true;
    case '/':
        *left = from_double(value / right);
        return true;
    case '+':
        *left = from_double(value + right);
        return true;
    case '-':
        *left = from_double(value - right);
        return true;
    case '<':
    case '>':
    case '=':
    case '!': {
        bool less = mark[0] == '<', equal = mark[1] == '=';
        if (mark[0] == '=' || mark[0] == '!')
            *left = from_integer((value == right) == (mark[0] == '='), false);
        else if (mark[1] && !equal)
            break;
        else
            *left = from_integer((less ? value < right : value > right) || (equal && value == right), false);
        return true;
    }
    default:
        break;
    }
    return ptx_fail(parser, &parser->token, ERROR_INPUT, "'%s' of floating-point constants", mark);
}

static uint64_t compare(const char *mark, uint64_t left, uint64_t right, bool is_unsigned)
{
    bool less = is_unsigned ? left < right : (int64_t)left < (int64_t)right;
    bool equal = left == right;

    switch (mark[0]) {
    case '=':
        return equal;
    case '!':
        return !equal;
    case '<':
        return less || (mark[1] && equal);
    default:
        return mark[1] ? !less : !less && !equal;
    }
}

static uint64_t shift(const char *mark, uint64_t left, uint64_t count, bool is_unsigned)
{
    if (mark[0] == '<')
        return count < 64 ? left << count : 0;
    if (is_unsigned)
        return count < 64 ? left >> count : 0;
    return (uint64_t)((int64_t)left >> (count < 64 ? count : 63));
}

static uint64_t divide(bool remainder, uint64_t left, uint64_t right, bool is_unsigned)
{
    if (is_unsigned)
        return remainder ? left % right : left / right;
    if (right == UINT64_MAX) /* -1: INT64_MIN / -1 wraps */
        return remainder ? 0 : 0 - left;
    return (uint64_t)(remainder ? (int64_t)left % (int64_t)right : (int64_t)left / (int64_t)right);
}

static bool apply_integer(struct ptx_parser *parser, const struct binary *binary, struct ptx_constant *left,
                          const struct ptx_constant *right)
{
    const char *mark = binary->mark;
    bool is_unsigned = left->kind == PTX_NUMBER_UNSIGNED || right->kind == PTX_NUMBER_UNSIGNED;
    uint64_t a = left->bits, b = right->bits, value;

    if (binary->level == 10 && mark[0] != '*' && !b)
        return ptx_fail(parser, &parser->token, ERROR_INPUT, "division by zero in a constant expression");
    switch (binary->level) {
    case 10:
        value = mark[0] == '*' ? a * b : divide(mark[0] == '%', a, b, is_unsigned);
        break;
    case 9:
        value = mark[0] == '+' ? a + b : a - b;
        break;
    case 8:
        is_unsigned = left->kind == PTX_NUMBER_UNSIGNED;
        value = shift(mark, a, b, is_unsigned);
        break;
    case 7:
    case 6:
        value = compare(mark, a, b, is_unsigned);
        is_unsigned = false;
        break;
    case 5:
    case 4:
    case 3:
        value = mark[0] == '&' ? a & b : mark[0] == '^' ? a ^ b : a | b;
        break;
    default:
        value = mark[0] == '&' ? a && b : a || b;
        is_unsigned = false;
        break;
    }
    *left = from_integer(value, is_unsigned);
    return true;
}

static bool parse_binary(struct ptx_parser *parser, int depth, int level, struct ptx_constant *out)
{
    if (!parse_unary(parser, depth, out))
        return false;
    for (const struct binary *binary; (binary = binary_at(parser)) && binary->level >= level;) {
        struct ptx_constant right;
        ptx_advance(parser);
        if (!parse_binary(parser, depth + 1, binary->level + 1, &right))
            return false;
        if (is_float(out) || is_float(&right) ? !apply_float(parser, binary->mark, out, as_double(&right))
                                              : !apply_integer(parser, binary, out, &right))
            return false;
    }
    return true;
}

static bool parse_conditional(struct ptx_parser *parser, int depth, struct ptx_constant *out)
{
    struct ptx_constant yes, no;

    if (!parse_binary(parser, depth, 1, out))
        return false;
    if (!ptx_take_mark(parser, "?"))
        return true;
    if (!parse_conditional(parser, depth + 1, &yes) || !ptx_expect_mark(parser, ":") ||
        !parse_conditional(parser, depth + 1, &no))
        return false;
    *out = as_double(out) != 0 ? yes : no;
    return true;
}

bool ptx_parse_constant(struct ptx_parser *parser, struct ptx_constant *out)
{
    return parse_conditional(parser, 0, out);
}

bool ptx_parse_size(struct ptx_parser *parser, uint64_t *out)
{
    struct ptx_token at = parser->token;
    struct ptx_constant constant;

    if (!ptx_parse_constant(parser, &constant))
        return false;
    if (is_float(&constant) || (constant.kind == PTX_NUMBER_SIGNED && (int64_t)constant.bits < 0))
        return ptx_fail(parser, &at, ERROR_INPUT, "expected an integer that is not negative");
    *out = constant.bits;
    return true;
}

bool ptx_parse_offset(struct ptx_parser *parser, uint64_t *offset)
{
    while (ptx_at_mark(parser, "+") || ptx_at_mark(parser, "-")) {
        bool minus = ptx_at_mark(parser, "-");
        struct ptx_token at = parser->token;
        struct ptx_constant constant;
        ptx_advance(parser);
        /* products and shifts bind tighter than the sign in front of them: sym+4*2 */
        if (!parse_binary(parser, 0, 10, &constant))
            return false;
        if (is_float(&constant))
            return ptx_fail(parser, &at, ERROR_INPUT, "an offset that is no integer");
        *offset += minus ? 0 - constant.bits : constant.bits;
    }
    return true;
}

uint64_t ptx_constant_as(const struct ptx_constant *constant, enum ptx_type type)
{
    uint64_t bits = constant->bits;
    unsigned width = ptx_type_bits(type);

    if (type == PTX_F64 && constant->kind != PTX_NUMBER_FLOAT64)
        bits = from_double(as_double(constant)).bits;
    if (type == PTX_F32 && constant->kind != PTX_NUMBER_FLOAT32) {
        float narrow = (float)as_double(constant);
        uint32_t low;
        memcpy(&low, &narrow, sizeof low);
        bits = low;
    }
    return width < 64 ? bits & (((uint64_t)1 << width) - 1) : bits;
}
