/*
 * A module as PTX text in a canonical form: registers named by slot, labels by instruction, local variables by number;
 * arrays flat. Parsing it again gives the same instructions, registers and labels, and printing that the same text.
 * Lost: dimensions of arrays, the callers of callers in .loc, parameters of prototypes, and initial values beyond
 * PTX_PRINT_ELEMENTS_MAX elements.
 */
#ifndef PTXBENCH_EMU_PTX_PRINT_H
#define PTXBENCH_EMU_PTX_PRINT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "emu/ptx_module.h"

enum { PTX_PRINT_ELEMENTS_MAX = 1 << 16 };

/* Appends to `out`; what does not fit is counted there. Scratch data goes to the arena. */
void ptx_print_module(struct arena *arena, const struct ptx_module *module, struct buffer *out);

#endif
