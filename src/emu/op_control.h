/* Handlers of control flow that the lowering must know by name, and frames of calls. */
#ifndef PTXBENCH_EMU_OP_CONTROL_H
#define PTXBENCH_EMU_OP_CONTROL_H

#include "emu/machine.h"

/* brx.idx: `detail`; instruction indices until the function is lowered, then op indices. */
struct emu_targets {
    uint32_t count;
    uint32_t ops[];
};

emu_handler emu_op_branch, emu_op_branch_indexed, emu_op_call, emu_op_return;

/* Gives a call the offsets of its callee's parameters, when all functions have been lowered. */
void emu_call_resolve(const struct emu_op *op, const uint32_t *variable_offset);

/* A frame for an activation of `function` by the lanes; its memory is reused from calls that have returned. NULL: out of
 * memory. */
struct emu_frame *emu_frame_new(struct emu_warp *warp, const struct emu_function *function, uint32_t lanes,
                                struct emu_frame *parent, uint32_t return_pc);
void emu_frame_free(struct emu_frame *frame);

/* Takes lanes out of the warp for good. */
void emu_lanes_exit(struct emu_warp *warp, uint32_t mask);

#endif
