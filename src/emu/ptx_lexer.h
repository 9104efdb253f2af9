/*
 * Tokens of PTX text. Untrusted bytes; pure. White space, comments and lines that begin with '#' are skipped.
 * A token borrows its text. Source: PTX ISA 9.0, chapter 4.
 */
#ifndef PTXBENCH_EMU_PTX_LEXER_H
#define PTXBENCH_EMU_PTX_LEXER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ptx_token_kind {
    PTX_TOKEN_END,
    PTX_TOKEN_NAME,   /* identifier: add, %r1, $L__BB0_1, _ */
    PTX_TOKEN_DOT,    /* .word, with "::" inside; text without the first dot */
    PTX_TOKEN_NUMBER, /* as written: 12, 0x1F, 0b1, 017U, 1.5e3, 0f3F800000 */
    PTX_TOKEN_STRING, /* without the quotes, escapes as written */
    PTX_TOKEN_MARK,   /* any other character, and the pairs == != <= >= << >> && || */
    PTX_TOKEN_BAD     /* an unterminated comment or string, or a byte that PTX does not know; `text` says which */
};

struct ptx_token {
    enum ptx_token_kind kind;
    bool touches; /* no space or comment before it */
    const char *text;
    size_t length;
    uint32_t line;
    uint32_t column; /* 1-based byte */
};

struct ptx_lexer {
    const char *at, *end;
    const char *line_start;
    uint32_t line;
};

/* Borrows the text. */
struct ptx_lexer ptx_lexer_new(const char *text, size_t length);
struct ptx_token ptx_lexer_next(struct ptx_lexer *lexer);

/* Whether a token is that mark or that name (MARK, NAME or DOT kinds). */
bool ptx_token_is(const struct ptx_token *token, enum ptx_token_kind kind, const char *text);

enum ptx_number_kind { PTX_NUMBER_SIGNED, PTX_NUMBER_UNSIGNED, PTX_NUMBER_FLOAT32, PTX_NUMBER_FLOAT64 };

/* Value of a number token: integers as 64 bits (beyond 64 bits: false), 0f/0d and decimal floats as bit patterns
 * (decimal ones are binary64). False when the text is no number. */
bool ptx_number_parse(const char *text, size_t length, enum ptx_number_kind *kind, uint64_t *bits);

#endif
