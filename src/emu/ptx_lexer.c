#include "emu/ptx_lexer.h"

#include <stdlib.h>
#include <string.h>

struct ptx_lexer ptx_lexer_new(const char *text, size_t length)
{
    return (struct ptx_lexer){.at = text, .end = text + length, .line_start = text, .line = 1};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool follows_name(char c)
{
    return is_letter(c) || is_digit(c) || c == '_' || c == '$';
}

static bool starts_name(char c)
{
    return is_letter(c) || c == '_' || c == '$' || c == '%';
}

static void advance(struct ptx_lexer *lexer)
{
    if (*lexer->at++ == '\n') {
        lexer->line++;
        lexer->line_start = lexer->at;
    }
}

static void skip_line(struct ptx_lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '\n')
        lexer->at++;
}

static bool looking_at(const struct ptx_lexer *lexer, const char *pair)
{
    return lexer->end - lexer->at >= 2 && lexer->at[0] == pair[0] && lexer->at[1] == pair[1];
}

/* False, where it was, when the comment does not end. */
static bool skip_comment(struct ptx_lexer *lexer)
{
    struct ptx_lexer start = *lexer;

    lexer->at += 2;
    while (lexer->at < lexer->end) {
        if (looking_at(lexer, "*/")) {
            lexer->at += 2;
            return true;
        }
        advance(lexer);
    }
    *lexer = start;
    return false;
}

static bool skip_space(struct ptx_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        if (c == ' ' || (c >= '\t' && c <= '\r'))
            advance(lexer);
        else if (looking_at(lexer, "//") || (c == '#' && lexer->at == lexer->line_start))
            skip_line(lexer);
        else if (!looking_at(lexer, "/*"))
            return true;
        else if (!skip_comment(lexer))
            return false;
    }
    return true;
}

static void take_dot_word(struct ptx_lexer *lexer)
{
    while (lexer->at < lexer->end) {
        if (follows_name(*lexer->at))
            lexer->at++;
        else if (looking_at(lexer, "::") && lexer->end - lexer->at > 2 && follows_name(lexer->at[2]))
            lexer->at += 2;
        else
            return;
    }
}

/* Letters, digits, the point of a fraction (".b8" behind a number is a suffix), and the sign of a decimal exponent. */
static void take_number(struct ptx_lexer *lexer)
{
    const char *start = lexer->at;
    bool prefixed = lexer->end - start >= 2 && start[0] == '0' && is_letter(start[1]);

    while (lexer->at < lexer->end) {
        char c = *lexer->at;
        bool sign = !prefixed && (c == '+' || c == '-') && (lexer->at[-1] == 'e' || lexer->at[-1] == 'E');
        bool dot = !prefixed && c == '.' && (lexer->end - lexer->at < 2 || !starts_name(lexer->at[1]));
        if (!is_letter(c) && !is_digit(c) && !(sign && lexer->at > start) && !dot)
            return;
        lexer->at++;
    }
}

static bool take_string(struct ptx_lexer *lexer)
{
    while (lexer->at < lexer->end && *lexer->at != '"' && *lexer->at != '\n')
        lexer->at += *lexer->at == '\\' && lexer->end - lexer->at > 1 && lexer->at[1] != '\n' ? 2 : 1;
    return lexer->at < lexer->end && *lexer->at == '"';
}

static void take_mark(struct ptx_lexer *lexer)
{
    static const char *const pairs[] = {"==", "!=", "<=", ">=", "<<", ">>", "&&", "||"};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (looking_at(lexer, pairs[i])) {
            lexer->at += 2;
            return;
        }
    lexer->at++;
}

static struct ptx_token bad(struct ptx_token token, const char *text)
{
    token.kind = PTX_TOKEN_BAD;
    token.text = text;
    token.length = strlen(text);
    return token;
}

struct ptx_token ptx_lexer_next(struct ptx_lexer *lexer)
{
    const char *before = lexer->at;
    bool ended = skip_space(lexer);
    struct ptx_token token = {.text = lexer->at,
                              .touches = lexer->at == before,
                              .line = lexer->line,
                              .column = (uint32_t)(lexer->at - lexer->line_start) + 1};

    if (!ended) {
        lexer->at = lexer->end;
        return bad(token, "a comment that does not end");
    }
    if (lexer->at == lexer->end)
        return token;
    char c = *lexer->at;
    if (starts_name(c)) {
        token.kind = PTX_TOKEN_NAME;
        do
            lexer->at++;
        while (lexer->at < lexer->end && follows_name(*lexer->at));
    } else if (is_digit(c)) {
        token.kind = PTX_TOKEN_NUMBER;
        take_number(lexer);
    } else if (c == '.' && lexer->end - lexer->at > 1 && follows_name(lexer->at[1])) {
        token.kind = PTX_TOKEN_DOT;
        token.text = ++lexer->at;
        take_dot_word(lexer);
    } else if (c == '"') {
        token.kind = PTX_TOKEN_STRING;
        token.text = ++lexer->at;
        if (!take_string(lexer))
            return bad(token, "a string that does not end");
        token.length = (size_t)(lexer->at++ - token.text);
        return token;
    } else if ((unsigned char)c < 0x20 || (unsigned char)c >= 0x7F) {
        return bad(token, "a byte that is no PTX");
    } else {
        token.kind = PTX_TOKEN_MARK;
        take_mark(lexer);
    }
    token.length = (size_t)(lexer->at - token.text);
    return token;
}

bool ptx_token_is(const struct ptx_token *token, enum ptx_token_kind kind, const char *text)
{
    return token->kind == kind && strlen(text) == token->length && !memcmp(token->text, text, token->length);
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* All of the text as digits of a base; false on overflow, other characters or none. */
static bool parse_digits(const char *text, size_t length, unsigned base, uint64_t *out)
{
    uint64_t value = 0;

    for (size_t i = 0; i < length; i++) {
        unsigned digit = (unsigned)digit_value(text[i]);
        if (digit >= base || __builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *out = value;
    return length > 0;
}

static bool parse_decimal_float(const char *text, size_t length, uint64_t *bits)
{
    char copy[128], *end;

    if (length >= sizeof copy)
        return false;
    memcpy(copy, text, length);
    copy[length] = 0;
    /* digits alone are an integer that was too large */
    if (strspn(copy, "0123456789.eE+-") != length || !strpbrk(copy, ".eE"))
        return false;
    double value = strtod(copy, &end);
    if (end != copy + length || end == copy)
        return false;
    memcpy(bits, &value, sizeof *bits);
    return true;
}

bool ptx_number_parse(const char *text, size_t length, enum ptx_number_kind *kind, uint64_t *bits)
{
    char second = length > 1 && text[0] == '0' ? (char)(text[1] | 0x20) : 0;

    if (second == 'f' || second == 'd') {
        *kind = second == 'f' ? PTX_NUMBER_FLOAT32 : PTX_NUMBER_FLOAT64;
        return length == (second == 'f' ? 10 : 18) && parse_digits(text + 2, length - 2, 16, bits);
    }
    bool has_suffix = length > 1 && (text[length - 1] | 0x20) == 'u';
    size_t digits = length - (has_suffix ? 1 : 0);
    unsigned base = second == 'x' ? 16 : second == 'b' ? 2 : digits > 1 && text[0] == '0' ? 8 : 10;
    size_t skip = second == 'x' || second == 'b' ? 2 : 0;
    *kind = has_suffix ? PTX_NUMBER_UNSIGNED : PTX_NUMBER_SIGNED;
    if (parse_digits(text + skip, digits - skip, base, bits)) {
        if (*bits > INT64_MAX)
            *kind = PTX_NUMBER_UNSIGNED;
        return true;
    }
    *kind = PTX_NUMBER_FLOAT64;
    return !has_suffix && !skip && parse_decimal_float(text, length, bits);
}
