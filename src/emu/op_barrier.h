/* Barriers and threads that exit. */
#ifndef PTXBENCH_EMU_OP_BARRIER_H
#define PTXBENCH_EMU_OP_BARRIER_H

#include "emu/machine.h"

/* Completes the barriers that waited only for threads that have just exited; warp->live is up to date. */
void emu_barrier_lanes_exit(struct emu_warp *warp);

#endif
