#define _GNU_SOURCE
#include "toolchain/screen_lexer.h"

#include <limits.h>
#include <string.h>

struct lexer {
    const char *text; /* spliced */
    size_t length;
    size_t at;
    int line;
    bool line_started;     /* a token was seen on this line */
    const size_t *splices; /* positions where a newline was taken out, ascending */
    size_t splice_count;
    size_t next_splice;
};

static bool is_identifier_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes of a splice at `at` (backslash, blanks, newline), or 0. gcc joins lines also over trailing blanks. */
static size_t splice_length(const char *text, size_t length, size_t at)
{
    size_t end = at + 1;

    if (text[at] != '\\')
        return 0;
    while (end < length && (text[end] == ' ' || text[end] == '\t' || text[end] == '\r'))
        end++;
    return end < length && text[end] == '\n' ? end + 1 - at : 0;
}

struct lexer *lexer_new(struct arena *arena, const char *text, size_t length)
{
    struct lexer *lexer = arena_alloc(arena, sizeof *lexer);
    char *joined = arena_alloc(arena, length + 1);
    size_t count = 0, used = 0;

    for (size_t i = 0; i < length; i++)
        count += text[i] == '\\';
    size_t *splices = arena_calloc(arena, count, sizeof *splices);
    count = 0;
    for (size_t i = 0; i < length;) {
        size_t skip = splice_length(text, length, i);
        if (skip) {
            splices[count++] = used;
            i += skip;
        } else {
            joined[used++] = text[i++];
        }
    }
    *lexer = (struct lexer){.text = joined, .length = used, .line = 1, .splices = splices, .splice_count = count};
    return lexer;
}

static char peek(const struct lexer *lexer, size_t ahead)
{
    return ahead < lexer->length - lexer->at ? lexer->text[lexer->at + ahead] : 0;
}

static void advance(struct lexer *lexer, size_t count)
{
    for (; count && lexer->at < lexer->length; count--) {
        while (lexer->next_splice < lexer->splice_count && lexer->splices[lexer->next_splice] <= lexer->at) {
            lexer->next_splice++;
            lexer->line += lexer->line < INT_MAX;
        }
        if (lexer->text[lexer->at++] == '\n') {
            lexer->line += lexer->line < INT_MAX;
            lexer->line_started = false;
        }
    }
}

static void skip_blanks(struct lexer *lexer)
{
    while (lexer->at < lexer->length) {
        char c = peek(lexer, 0);
        if (c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v' || c == 0) {
            advance(lexer, 1);
        } else if (c == '/' && peek(lexer, 1) == '/') {
            while (lexer->at < lexer->length && peek(lexer, 0) != '\n')
                advance(lexer, 1);
        } else if (c == '/' && peek(lexer, 1) == '*') {
            advance(lexer, 2);
            while (lexer->at < lexer->length && !(peek(lexer, 0) == '*' && peek(lexer, 1) == '/'))
                advance(lexer, 1);
            advance(lexer, 2);
        } else {
            break;
        }
    }
}

/* A quoted literal; stops at the end of the line when the quote is missing. */
static void take_quoted(struct lexer *lexer, char quote, struct token *token)
{
    advance(lexer, 1);
    token->text = lexer->text + lexer->at;
    size_t start = lexer->at;
    while (lexer->at < lexer->length && peek(lexer, 0) != quote && peek(lexer, 0) != '\n')
        advance(lexer, peek(lexer, 0) == '\\' ? 2 : 1);
    token->length = lexer->at - start;
    if (peek(lexer, 0) == quote)
        advance(lexer, 1);
}

/* R"delimiter( ... )delimiter" */
static void take_raw(struct lexer *lexer, struct token *token)
{
    char closing[20] = ")";
    size_t delimiter = 0;

    advance(lexer, 1);
    while (delimiter < 16 && lexer->at + delimiter < lexer->length && peek(lexer, delimiter) != '(')
        delimiter++;
    memcpy(closing + 1, lexer->text + lexer->at, delimiter);
    closing[delimiter + 1] = '"';
    advance(lexer, delimiter + 1);
    token->text = lexer->text + lexer->at;
    const char *end = memmem(token->text, lexer->length - lexer->at, closing, delimiter + 2);
    token->length = end ? (size_t)(end - token->text) : lexer->length - lexer->at;
    advance(lexer, token->length + delimiter + 2);
}

static bool is_string_prefix(const struct token *token, bool *raw)
{
    static const char *const prefixes[] = {"R", "L", "u", "U", "u8", "LR", "uR", "UR", "u8R"};

    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++)
        if (token_is(token, prefixes[i])) {
            *raw = prefixes[i][strlen(prefixes[i]) - 1] == 'R';
            return true;
        }
    return false;
}

bool token_is(const struct token *token, const char *text)
{
    return token->kind != TOKEN_STRING && token->length == strlen(text) &&
           memcmp(token->text, text, token->length) == 0;
}

static void take_word(struct lexer *lexer, struct token *token)
{
    bool raw;

    token->kind = TOKEN_IDENTIFIER;
    while (is_identifier_start(peek(lexer, 0)) || is_digit(peek(lexer, 0))) {
        advance(lexer, 1);
        token->length++;
    }
    if (peek(lexer, 0) != '"' || !is_string_prefix(token, &raw))
        return;
    token->kind = TOKEN_STRING;
    if (raw)
        take_raw(lexer, token);
    else
        take_quoted(lexer, '"', token);
}

struct token lexer_next(struct lexer *lexer)
{
    struct token token = {.kind = TOKEN_END};

    skip_blanks(lexer);
    /* Splices before the token belong to earlier lines. */
    while (lexer->next_splice < lexer->splice_count && lexer->splices[lexer->next_splice] <= lexer->at) {
        lexer->next_splice++;
        lexer->line += lexer->line < INT_MAX;
    }
    token.line = lexer->line;
    token.starts_line = !lexer->line_started;
    token.text = lexer->text + lexer->at;
    if (lexer->at >= lexer->length)
        return token;
    lexer->line_started = true;
    char c = peek(lexer, 0);
    if (is_identifier_start(c)) {
        take_word(lexer, &token);
    } else if (is_digit(c) || (c == '.' && is_digit(peek(lexer, 1)))) {
        token.kind = TOKEN_NUMBER;
        while (is_identifier_start(peek(lexer, 0)) || is_digit(peek(lexer, 0)) || peek(lexer, 0) == '.' ||
               (peek(lexer, 0) == '\'' && (is_digit(peek(lexer, 1)) || is_identifier_start(peek(lexer, 1))))) {
            advance(lexer, 1);
            token.length++;
        }
    } else if (c == '"') {
        token.kind = TOKEN_STRING;
        take_quoted(lexer, '"', &token);
    } else if (c == '\'') {
        token.kind = TOKEN_CHARACTER;
        take_quoted(lexer, '\'', &token);
    } else {
        token.kind = TOKEN_MARK;
        token.length = 1;
        advance(lexer, 1);
    }
    return token;
}

struct token lexer_next_header(struct lexer *lexer)
{
    while (peek(lexer, 0) == ' ' || peek(lexer, 0) == '\t')
        advance(lexer, 1);
    if (peek(lexer, 0) != '<')
        return lexer_next(lexer);
    struct token token = {.kind = TOKEN_HEADER, .line = lexer->line, .text = lexer->text + lexer->at + 1};
    advance(lexer, 1);
    while (lexer->at < lexer->length && peek(lexer, 0) != '>' && peek(lexer, 0) != '\n') {
        advance(lexer, 1);
        token.length++;
    }
    if (peek(lexer, 0) == '>')
        advance(lexer, 1);
    return token;
}

void lexer_skip_line(struct lexer *lexer)
{
    while (lexer->at < lexer->length && peek(lexer, 0) != '\n') {
        if (peek(lexer, 0) == '/' && peek(lexer, 1) == '*') /* a comment may reach into the next line */
            skip_blanks(lexer);
        else if (peek(lexer, 0) == '/' && peek(lexer, 1) == '/')
            skip_blanks(lexer);
        else
            advance(lexer, 1);
        if (!lexer->line_started)
            return;
    }
    lexer->line_started = false;
}

void lexer_set_next_line(struct lexer *lexer, int line)
{
    lexer->line = line - 1;
}
