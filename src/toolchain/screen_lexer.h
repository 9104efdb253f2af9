/*
 * C++ tokens as far as screening needs them: comments are skipped, line splices joined, string literals (raw ones too)
 * taken whole, preprocessor lines told apart. Untrusted text; pure.
 */
#ifndef PTXBENCH_TOOLCHAIN_SCREEN_LEXER_H
#define PTXBENCH_TOOLCHAIN_SCREEN_LEXER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

enum token_kind {
    TOKEN_END,
    TOKEN_IDENTIFIER,
    TOKEN_NUMBER,
    TOKEN_STRING,    /* `text` is what stands between the quotes, escapes as written */
    TOKEN_CHARACTER, /* a character literal */
    TOKEN_HEADER,    /* <name> behind #include */
    TOKEN_MARK       /* any other single character */
};

struct token {
    enum token_kind kind;
    const char *text; /* borrowed from the lexer, not terminated */
    size_t length;
    int line;
    bool starts_line; /* no other token before it on its line */
};

struct lexer;

/* Copies the text into the arena with splices joined. */
struct lexer *lexer_new(struct arena *arena, const char *text, size_t length);
struct token lexer_next(struct lexer *lexer);

/* Makes the next token one behind #include: <...> becomes TOKEN_HEADER. */
struct token lexer_next_header(struct lexer *lexer);

/* Skips the rest of the line. */
void lexer_skip_line(struct lexer *lexer);

/* Sets the number of the line behind the current one (for line markers). */
void lexer_set_next_line(struct lexer *lexer, int line);

bool token_is(const struct token *token, const char *text);

#endif
