/*
 * Names and where they hold: nested scopes in which the innermost definition wins, and register ranges ("%r<10>"), whose
 * members become symbols of their own when they are first looked up. Pure; everything lives in the arena.
 */
#ifndef PTXBENCH_EMU_PTX_SCOPE_H
#define PTXBENCH_EMU_PTX_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "emu/ptx_words.h"

enum ptx_symbol_kind {
    PTX_SYMBOL_REGISTER,
    PTX_SYMBOL_RANGE,
    PTX_SYMBOL_VARIABLE,
    PTX_SYMBOL_FUNCTION,
    PTX_SYMBOL_TABLE,
    PTX_SYMBOL_LABEL
};

struct ptx_symbol {
    const char *name; /* in the arena, NUL-terminated */
    enum ptx_symbol_kind kind;
    uint32_t value; /* index or slot; of a register PTX_NONE until it has a slot; of a range: how many */
    enum ptx_type type;
    uint8_t elements;
    uint32_t depth; /* of the scope that it belongs to */
    struct ptx_symbol *next_in_bucket;
    struct ptx_symbol *next_in_scope;
};

enum { PTX_SCOPE_DEPTH_MAX = 256 };

struct ptx_scopes;

/* Holds one open scope, of depth 0. */
struct ptx_scopes *ptx_scopes_new(struct arena *arena);

/* False when PTX_SCOPE_DEPTH_MAX are open. */
bool ptx_scope_open(struct ptx_scopes *scopes);

/* Forgets the names of the innermost scope; the outermost stays open. */
void ptx_scope_close(struct ptx_scopes *scopes);

uint32_t ptx_scope_depth(const struct ptx_scopes *scopes);

/* Adds a name (copied) to the innermost scope, with kind and value set and the rest zero. Returns NULL when that scope
 * has the name already. */
struct ptx_symbol *ptx_scope_define(struct ptx_scopes *scopes, const char *name, size_t length,
                                    enum ptx_symbol_kind kind, uint32_t value);

/* The same in the outermost scope. */
struct ptx_symbol *ptx_scope_define_outermost(struct ptx_scopes *scopes, const char *name, size_t length,
                                              enum ptx_symbol_kind kind, uint32_t value);

/* The innermost symbol of that name, or NULL. Never a range: a member of one becomes a register. */
struct ptx_symbol *ptx_scope_find(struct ptx_scopes *scopes, const char *name, size_t length);

/* The symbol of that name in the innermost scope alone, or NULL; ranges are not looked into. */
struct ptx_symbol *ptx_scope_find_here(struct ptx_scopes *scopes, const char *name, size_t length);

#endif
