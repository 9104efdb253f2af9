/*
 * Control flow of a function: basic blocks, and where the lanes that a branch parts meet again (the immediate
 * post-dominator of the branch). Pure. Source: Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", on the
 * reversed graph.
 */
#ifndef PTXBENCH_EMU_PTX_FLOW_H
#define PTXBENCH_EMU_PTX_FLOW_H

#include "base/arena.h"
#include "emu/ptx_module.h"

struct ptx_block {
    uint32_t first, count;      /* instructions */
    const uint32_t *successors; /* blocks; the exit of the function is none of them */
    uint32_t successor_count;
    uint32_t reconvergence; /* block where its successors meet; PTX_NONE: only at the end, or never */
    bool exits;             /* ret, exit, or the end of the text: control may leave the function here */
};

struct ptx_flow {
    const struct ptx_block *blocks; /* in the order of the text */
    uint32_t block_count;
    const uint32_t *block_of; /* [instruction_count] */
};

/* Needs a defined function; one without instructions has no blocks. */
const struct ptx_flow *ptx_flow_new(struct arena *arena, const struct ptx_module *module,
                                    const struct ptx_function *function);

/* Index of the instruction at which lanes that part at `instruction` meet again, or PTX_NONE for the function's end. */
uint32_t ptx_flow_reconvergence(const struct ptx_flow *flow, uint32_t instruction);

#endif
