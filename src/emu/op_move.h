/* Handlers that other lowerings add for their operands. */
#ifndef PTXBENCH_EMU_OP_MOVE_H
#define PTXBENCH_EMU_OP_MOVE_H

#include "emu/machine.h"

emu_handler emu_op_mov32, emu_op_mov64;         /* d = a */
emu_handler emu_op_special32, emu_op_special64; /* d = special register `immediate`, read now */
emu_handler emu_op_address32, emu_op_address64; /* d = struct emu_address in `detail` */
emu_handler emu_op_nothing;

#endif
