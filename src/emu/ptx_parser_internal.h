/* Shared by the ptx_parse*.c files. Functions that return false have filled the parser's error. */
#ifndef PTXBENCH_EMU_PTX_PARSER_INTERNAL_H
#define PTXBENCH_EMU_PTX_PARSER_INTERNAL_H

#include "base/attributes.h"
#include "emu/ptx_lexer.h"
#include "emu/ptx_parser.h"
#include "emu/ptx_scope.h"

/* A growing array in the arena. */
#define PTX_LIST(type)                                                                                                 \
    struct {                                                                                                           \
        type *items;                                                                                                   \
        uint32_t count, capacity;                                                                                      \
    }

/* Room for one more of `size` bytes; the items, moved or not. */
void *ptx_list_reserve(struct arena *arena, void *items, uint32_t count, uint32_t *capacity, size_t size);

/* Pointer to a new item at the end, not initialised. */
#define PTX_PUSH(arena, list)                                                                                          \
    ((list)->items =                                                                                                   \
         ptx_list_reserve((arena), (list)->items, (list)->count, &(list)->capacity, sizeof *(list)->items),            \
     &(list)->items[(list)->count++])

/* A label that was used and is not resolved yet. */
struct ptx_label_use {
    struct ptx_token token;
    uint32_t depth;   /* of the innermost scope that may still define it */
    uint32_t operand; /* to patch; PTX_NONE when it is a target of a table */
    uint32_t *target; /* to patch when operand is PTX_NONE */
};

/* The function that is being read. */
struct ptx_body {
    PTX_LIST(struct ptx_instruction) instructions;
    PTX_LIST(struct ptx_operand) operands;
    PTX_LIST(struct ptx_operand) pending; /* operands of unfinished instructions, vectors, addresses */
    PTX_LIST(uint16_t) words;
    PTX_LIST(struct ptx_register) registers;
    PTX_LIST(struct ptx_table) tables;
    PTX_LIST(struct ptx_label_use) uses;
    PTX_LIST(const char *) pragmas;
    uint32_t function; /* index */
};

struct ptx_parser {
    struct arena *arena;
    const char *name;
    struct error *error;
    struct ptx_lexer lexer;
    struct ptx_token token; /* the next to take */
    struct ptx_token ahead; /* the one behind it */
    struct ptx_scopes *names;
    struct ptx_scopes *labels;    /* opened and closed together with `names` */
    struct ptx_scopes *locations; /* "file:line:column" to the latest location there */
    struct ptx_module module;
    PTX_LIST(struct ptx_function) functions;
    PTX_LIST(struct ptx_variable) variables;
    PTX_LIST(struct ptx_location) location_list;
    PTX_LIST(struct ptx_file) files;
    PTX_LIST(const char *) unknown_words;
    struct ptx_body body;
    uint32_t location;          /* that holds now, or PTX_NONE */
    uint32_t instruction_total; /* of finished functions */
    uint32_t operand_total;
};

/* ptx_parser.c: tokens and errors */
void ptx_advance(struct ptx_parser *parser);
bool ptx_at_mark(const struct ptx_parser *parser, const char *mark);
bool ptx_at_dot(const struct ptx_parser *parser, const char *word);
bool ptx_take_mark(struct ptx_parser *parser, const char *mark); /* takes it if it is next */
bool ptx_take_dot(struct ptx_parser *parser, const char *word);
MUST_CHECK bool ptx_expect_mark(struct ptx_parser *parser, const char *mark);
MUST_CHECK bool ptx_expect_name(struct ptx_parser *parser, struct ptx_token *out);
MUST_CHECK bool ptx_expect_u32(struct ptx_parser *parser, uint32_t *out);

/* Error at a token; always false. ptx_unexpected: "expected WANTED, found ...". */
bool ptx_fail(struct ptx_parser *parser, const struct ptx_token *at, enum error_code code, const char *format, ...)
    PRINTF_LIKE(4, 5);
bool ptx_unexpected(struct ptx_parser *parser, const char *wanted);

/* Both scopes. */
MUST_CHECK bool ptx_open_scope(struct ptx_parser *parser);
void ptx_close_scope(struct ptx_parser *parser);

/* ptx_parse_directives.c: .version .target .address_size .file .loc .section .pragma .alias */
MUST_CHECK bool ptx_parse_version(struct ptx_parser *parser);
MUST_CHECK bool ptx_parse_target(struct ptx_parser *parser);
MUST_CHECK bool ptx_parse_file(struct ptx_parser *parser);
MUST_CHECK bool ptx_parse_loc(struct ptx_parser *parser);
MUST_CHECK bool ptx_skip_section(struct ptx_parser *parser);
MUST_CHECK bool ptx_parse_pragma(struct ptx_parser *parser);
MUST_CHECK bool ptx_parse_alias(struct ptx_parser *parser);

/* ptx_parse_constants.c: a constant expression. */
struct ptx_constant {
    enum ptx_number_kind kind;
    bool warp_size; /* WARP_SZ by itself */
    uint64_t bits;
};
MUST_CHECK bool ptx_parse_constant(struct ptx_parser *parser, struct ptx_constant *out);
MUST_CHECK bool ptx_parse_size(struct ptx_parser *parser, uint64_t *out); /* a non-negative integer constant */
/* +N and -N terms behind a symbol; adds to `offset`. */
MUST_CHECK bool ptx_parse_offset(struct ptx_parser *parser, uint64_t *offset);
/* Value as the bit pattern of a type: numbers become floats of the type and integers are cut to it. */
uint64_t ptx_constant_as(const struct ptx_constant *constant, enum ptx_type type);

/* ptx_parse_variables.c */
bool ptx_at_space(const struct ptx_parser *parser, enum ptx_space *space);
MUST_CHECK bool ptx_parse_variables(struct ptx_parser *parser, enum ptx_space space, enum ptx_linkage linkage);
/* One parameter, `.param` not yet taken; "_" has no name. */
MUST_CHECK bool ptx_parse_parameter(struct ptx_parser *parser);
/* Behind .attribute: (.managed), (.unified(1, 2)). */
MUST_CHECK bool ptx_skip_attribute(struct ptx_parser *parser);
MUST_CHECK bool ptx_parse_registers(struct ptx_parser *parser);

/* ptx_parse_initial.c: the value of a variable behind "=". Sets count and bytes of an unsized one. */
MUST_CHECK bool ptx_parse_initial(struct ptx_parser *parser, struct ptx_variable *variable, const uint64_t *dimensions);

/* ptx_parse_functions.c: at .entry or .func */
MUST_CHECK bool ptx_parse_function(struct ptx_parser *parser, enum ptx_linkage linkage);
/* ( .param ..., ... ); the number of parameters. */
MUST_CHECK bool ptx_parse_parameters(struct ptx_parser *parser, uint32_t *first, uint32_t *count);

/* ptx_parse_body.c: behind the opening brace, up to and with the closing one. */
MUST_CHECK bool ptx_parse_body(struct ptx_parser *parser);

/* ptx_parse_instructions.c: one instruction with its semicolon. */
MUST_CHECK bool ptx_parse_instruction(struct ptx_parser *parser);

/* ptx_parse_operands.c: one operand, pushed to body.pending. */
MUST_CHECK bool ptx_parse_operand(struct ptx_parser *parser, bool call);
/* Slot of a register by name. */
MUST_CHECK bool ptx_parse_register(struct ptx_parser *parser, uint32_t *slot);
/* Moves body.pending[mark..] to body.operands. */
MUST_CHECK bool ptx_commit_operands(struct ptx_parser *parser, uint32_t mark, uint32_t *first, uint32_t *count);

#endif
