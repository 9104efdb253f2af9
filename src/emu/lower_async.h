/* Lowering of mbarriers, bulk copies and wgmma: what the rows of lower_table.c name. */
#ifndef PTXBENCH_EMU_LOWER_ASYNC_H
#define PTXBENCH_EMU_LOWER_ASYNC_H

#include "emu/lower.h"

emu_lowering emu_lower_mbarrier; /* op_mbarrier.c */
emu_lowering emu_lower_cp;       /* op_bulk.c: the bulk forms here, cp.async by emu_lower_copy */
emu_lowering emu_lower_wgmma;    /* op_wgmma.c */

emu_lowering emu_lower_tensor; /* op_tensor.c: part of emu_lower_cp, copies with a tensor map */

/* The address in [a] of operand `index`. */
MUST_CHECK bool emu_lower_async_address(struct emu_lower *l, uint32_t index, struct emu_address *out);

/* The modifier that is the nth (0: first) state space of the instruction: PTX_M_GLOBAL, PTX_M_SHARED_CLUSTER ...; 0
 * when it has no more. In copies the first is that of the destination. */
uint16_t emu_lower_space(const struct emu_lower *l, uint32_t nth);

#endif
