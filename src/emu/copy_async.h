/* Between op_copy_async.c and op_copy_arrive.c: the cp.async of a warp, which land in order of issue. */
#ifndef PTXBENCH_EMU_COPY_ASYNC_H
#define PTXBENCH_EMU_COPY_ASYNC_H

#include "emu/async_groups.h"
#include "emu/lower.h"

struct copy_state {
    struct async_order order;
    struct async_groups groups[EMU_LANES];
};

struct copy_state *emu_copy_state(struct emu_warp *warp);

emu_lowering emu_lower_copy_arrive; /* cp.async.mbarrier.arrive */

#endif
