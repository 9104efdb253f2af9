/*
 * PTX text to a module. Accepts what nvcc 13 emits for sm_90a and sm_100a, and hand-written PTX. Source: PTX ISA 9.0.
 *
 * Any bytes are accepted without harm. An unknown mnemonic or modifier is no error: it stays in the module under its name,
 * for the census. What PTX's grammar does not know, and names that are not declared, are errors: "NAME:LINE:COLUMN: text".
 * Not handled, and an error: parameters in registers (.func (.reg ...)), ABI-less register declarations at module level.
 */
#ifndef PTXBENCH_EMU_PTX_PARSER_H
#define PTXBENCH_EMU_PTX_PARSER_H

#include "base/arena.h"
#include "base/error.h"
#include "emu/ptx_module.h"

#define PTX_TEXT_BYTES_MAX ((size_t)64 << 20)
#define PTX_INSTRUCTIONS_MAX (4u << 20) /* of a module */
#define PTX_OPERANDS_MAX (32u << 20)    /* of a module, elements of vectors and addresses too */
#define PTX_FUNCTIONS_MAX (1u << 16)
#define PTX_VARIABLES_MAX (1u << 20) /* parameters and local ones too */
enum { PTX_ARRAY_RANK_MAX = 8, PTX_UNKNOWN_WORDS_MAX = 256, PTX_OPERAND_DEPTH_MAX = 8, PTX_CONSTANT_DEPTH_MAX = 64 };

/*
 * Parses `length` bytes (borrowed during the call) that `name` (copied) stands for in messages. The module belongs to the
 * arena. ERROR_INPUT: malformed; ERROR_LIMIT: beyond one of the limits above or PTX_SCOPE_DEPTH_MAX.
 */
MUST_CHECK bool ptx_parse(struct arena *arena, const char *name, const char *text, size_t length,
                          const struct ptx_module **out, struct error *error);

#endif
