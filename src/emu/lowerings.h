/* The lowering functions of all families; lower_table.c has them by opcode. */
#ifndef PTXBENCH_EMU_LOWERINGS_H
#define PTXBENCH_EMU_LOWERINGS_H

#include "emu/lower.h"

/* alu_*.c */
emu_lowering emu_lower_alu, emu_lower_float, emu_lower_float_x2, emu_lower_compare, emu_lower_select, emu_lower_carry,
    emu_lower_convert, emu_lower_lop3, emu_lower_prmt, emu_lower_logic, emu_lower_bfi, emu_lower_add_sub;
/* op_move.c, op_address.c */
emu_lowering emu_lower_mov, emu_lower_cvta, emu_lower_isspacep, emu_lower_mapa, emu_lower_getctarank;
/* op_memory.c, op_atomic.c, op_copy_async.c */
emu_lowering emu_lower_load, emu_lower_store, emu_lower_atomic, emu_lower_prefetch, emu_lower_copy,
    emu_lower_createpolicy;
/* st.async */
emu_lowering emu_lower_store_async;
/* op_control.c, op_print.c */
emu_lowering emu_lower_branch, emu_lower_branch_indexed, emu_lower_call, emu_lower_return, emu_lower_exit,
    emu_lower_trap;
/* Calls of functions without a body: vprintf, __assertfail (ptx_external_is_emulated). */
bool emu_lower_external_call(struct emu_lower *l, const struct ptx_function *target);
/* op_lanes.c */
emu_lowering emu_lower_shuffle, emu_lower_vote, emu_lower_match, emu_lower_redux, emu_lower_elect, emu_lower_activemask;
/* op_barrier.c, op_misc.c */
emu_lowering emu_lower_bar, emu_lower_fence, emu_lower_nanosleep, emu_lower_setmaxnreg, emu_lower_no_effect;
/* op_matrix.c, op_mma.c, op_wmma.c */
emu_lowering emu_lower_ldmatrix, emu_lower_stmatrix, emu_lower_movmatrix, emu_lower_mma, emu_lower_wmma;

#endif
