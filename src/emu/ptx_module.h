/*
 * A PTX module in the form that the census reads and an interpreter will run: flat arrays, names resolved.
 *
 * Registers are slots of their function, numbered in order of first use, so that unused ones of a declared range take no
 * room. Labels are instruction indices. Symbols are indices of variables or functions of the module. Everything belongs
 * to the arena that was given to ptx_parse; nothing is changed afterwards, so a module may be read from any thread.
 */
#ifndef PTXBENCH_EMU_PTX_MODULE_H
#define PTXBENCH_EMU_PTX_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/ptx_opcodes.h"
#include "emu/ptx_words.h"

#define PTX_NONE UINT32_MAX

enum { PTX_TYPES_MAX = 8 }; /* of one instruction */

enum ptx_operand_kind {
    PTX_OPERAND_REGISTER,  /* value: slot */
    PTX_OPERAND_IMMEDIATE, /* bits */
    PTX_OPERAND_VARIABLE,  /* value: index of the variable; bits: byte offset (two's complement) */
    PTX_OPERAND_FUNCTION,  /* value: index of the function */
    PTX_OPERAND_ADDRESS,   /* [a], [a+imm], [map, {c0, c1}]: elements; bits: offset added to the first */
    PTX_OPERAND_VECTOR,    /* {a, b}: elements */
    PTX_OPERAND_LIST,      /* (a, b) of a call: elements */
    PTX_OPERAND_PAIR,      /* p|q: two elements */
    PTX_OPERAND_LABEL,     /* value: index of the instruction behind the label; instruction_count for the end */
    PTX_OPERAND_TABLE,     /* value: index into the function's tables (.branchtargets, .calltargets, .callprototype) */
    PTX_OPERAND_SPECIAL,   /* value: enum ptx_special */
    PTX_OPERAND_SINK       /* _ */
};

/* How an immediate was written; `bits` has the value as the ISA defines it: 64 bits, floats as IEEE bit patterns. */
enum ptx_immediate { PTX_INTEGER, PTX_UNSIGNED, PTX_FLOAT32, PTX_FLOAT64, PTX_WARP_SIZE };

struct ptx_operand {
    uint8_t kind;      /* enum ptx_operand_kind */
    uint8_t immediate; /* enum ptx_immediate */
    bool negated;      /* !p, or -r */
    char component[3]; /* "x" of %tid.x, "b0" of a video operand; empty when none */
    uint32_t value;
    uint32_t first; /* elements: function->operands[first .. first + count) */
    uint32_t count;
    uint64_t bits;
};

struct ptx_instruction {
    uint16_t opcode; /* enum ptx_opcode */
    uint16_t modifier_count;
    uint32_t first_modifier; /* suffixes in order, types too: function->words[]; PTX_OP_UNKNOWN: its name comes first */
    uint32_t first_operand;  /* function->operands[] */
    uint16_t operand_count;
    uint8_t type_count;
    bool guard_negated;
    uint32_t guard;               /* slot of the predicate, or PTX_NONE */
    uint16_t size[3];             /* m, n, k of a shape such as m64n128k16, else 0; m8n8 has no k */
    uint8_t types[PTX_TYPES_MAX]; /* enum ptx_type, in order */
    uint32_t line;                /* of the PTX text, 1-based */
    uint32_t location;            /* module->locations[], or PTX_NONE */
};

struct ptx_register {
    const char *name;
    enum ptx_type type;
    uint8_t elements; /* 1, 2 or 4 */
};

enum ptx_space {
    PTX_SPACE_GLOBAL,
    PTX_SPACE_CONST,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_PARAM,
    PTX_SPACE_TEXTURE
};
enum ptx_linkage { PTX_LINK_INTERNAL, PTX_LINK_VISIBLE, PTX_LINK_EXTERN, PTX_LINK_WEAK, PTX_LINK_COMMON };

/* One element of an initialiser that is not zero. The value is ((address of symbol, if any) + bits) >> shift & mask. */
struct ptx_initial {
    uint64_t element;  /* index in the flat array */
    uint64_t bits;     /* value or addend; floats as bit patterns of the variable's type */
    uint32_t variable; /* index of a variable whose address it is, or PTX_NONE */
    uint32_t function; /* likewise */
    bool generic;      /* generic(symbol) */
    uint8_t shift;     /* 0xFF00(symbol): 8; a plain value: 0 */
    uint64_t mask;     /* of the shifted value; UINT64_MAX: all of it */
};

struct ptx_variable {
    const char *name;
    enum ptx_space space;
    enum ptx_linkage linkage;
    enum ptx_type type;
    uint8_t elements;             /* of a vector type, else 1 */
    uint32_t align;               /* bytes; the type's own when not declared */
    uint32_t function;            /* index of the function that it is local to, or PTX_NONE */
    bool formal;                  /* a parameter or result, of a function or of a declaration or prototype */
    bool unsized;                 /* [] */
    uint8_t rank;                 /* dimensions */
    uint64_t count;               /* of all dimensions together; 1 for a scalar, 0 when unsized */
    uint64_t bytes;               /* of the whole */
    enum ptx_space pointee_space; /* .ptr .shared; PTX_SPACE_PARAM when not declared */
    uint32_t pointee_align;       /* 0 when it is no .ptr */
    const struct ptx_initial *initial;
    size_t initial_count;
    uint32_t line;
};

enum ptx_table_kind { PTX_BRANCH_TARGETS, PTX_CALL_TARGETS, PTX_CALL_PROTOTYPE };

struct ptx_table {
    const char *name;
    enum ptx_table_kind kind;
    const uint32_t *targets; /* instruction indices or function indices */
    uint32_t count;          /* of targets; of a prototype: parameters */
    uint32_t results;        /* of a prototype */
    bool no_return;
};

/* 0 where the module does not say. */
struct ptx_launch {
    uint32_t max_threads[3];      /* .maxntid */
    uint32_t required_threads[3]; /* .reqntid */
    uint32_t cluster[3];          /* .reqnctapercluster */
    uint32_t min_ctas;            /* .minnctapersm */
    uint32_t max_ctas;            /* .maxnctapersm */
    uint32_t max_registers;       /* .maxnreg */
    uint32_t max_cluster_rank;
    bool explicit_cluster;
    bool blocks_are_clusters;
};

struct ptx_function {
    const char *name;
    bool is_entry;
    bool is_defined; /* false: a declaration alone */
    bool no_return;
    enum ptx_linkage linkage;
    struct ptx_launch launch;
    uint32_t first_parameter, parameter_count; /* module->variables[] */
    uint32_t first_result, result_count;
    const struct ptx_instruction *instructions;
    uint32_t instruction_count;
    const struct ptx_operand *operands;
    uint32_t operand_count;
    const uint16_t *words;
    const struct ptx_register *registers;
    uint32_t register_count;
    const struct ptx_table *tables;
    uint32_t table_count;
    const char *const *pragmas;
    uint32_t pragma_count;
    uint32_t line;
};

/* One .loc. */
struct ptx_location {
    uint32_t file; /* number of .file */
    uint32_t line;
    uint32_t column;
    uint32_t caller; /* the location that it is inlined at, or PTX_NONE */
};

struct ptx_file {
    uint32_t number;
    const char *name;
};

struct ptx_module {
    const char *name; /* for messages, as given to ptx_parse */
    uint32_t version_major, version_minor;
    const char *target; /* "sm_90a" */
    uint32_t address_bits;
    const struct ptx_function *functions; /* a definition takes the place of its declaration */
    uint32_t function_count;
    const struct ptx_variable *variables; /* of the module, parameters, and locals of functions */
    uint32_t variable_count;
    const struct ptx_location *locations;
    uint32_t location_count;
    const struct ptx_file *files;
    uint32_t file_count;
    const char *const *unknown_words; /* texts of words from PTX_WORD_FIRST_UNKNOWN on */
    uint32_t unknown_word_count;
};

/* Where an instruction comes from. */
struct ptx_source {
    const char *file; /* NULL when the module does not say */
    uint32_t line;
    const char *caller_file; /* where that code was inlined; NULL when it was not */
    uint32_t caller_line;
};

/* Name of a .file; NULL when there is none of that number. */
const char *ptx_file_name(const struct ptx_module *module, uint32_t number);

/* False (and all NULL and 0) when the instruction has no .loc. */
bool ptx_source_of(const struct ptx_module *module, const struct ptx_instruction *instruction, struct ptx_source *out);

/* Text of a suffix: a type, a modifier or an unknown word; "" for PTX_WORD_SHAPE. */
const char *ptx_module_word(const struct ptx_module *module, uint16_t word);

/* Whether an instruction carries a modifier (enum ptx_word) or type. */
bool ptx_has_word(const struct ptx_function *function, const struct ptx_instruction *instruction, uint16_t word);

/* "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16" into `out`, cut to fit, always terminated. Returns `out`. */
char *ptx_instruction_text(const struct ptx_module *module, const struct ptx_function *function,
                           const struct ptx_instruction *instruction, char *out, size_t size);

/* The function a call names, or NULL for an indirect call (and for anything that is no call). */
const struct ptx_function *ptx_call_target(const struct ptx_module *module, const struct ptx_function *caller,
                                           const struct ptx_instruction *instruction);

/* Whether control never continues behind it: exit, ret, trap, bra, brx without guard, and a call that does not return. */
bool ptx_ends_block(const struct ptx_module *module, const struct ptx_function *function,
                    const struct ptx_instruction *instruction);

#endif
