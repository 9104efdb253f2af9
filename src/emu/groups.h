/* Groups of lanes of a warp: splitting, joining, and which runs next (interpret.c). */
#ifndef PTXBENCH_EMU_GROUPS_H
#define PTXBENCH_EMU_GROUPS_H

#include "emu/machine.h"

/* Adds a group. The pointer warp->current stays valid. */
void emu_group_add(struct emu_warp *warp, uint32_t pc, uint32_t mask, struct emu_frame *frame);

/* Takes lanes out of a group; an empty group stays until the interpreter drops it. */
void emu_group_remove_lanes(struct emu_group *group, uint32_t mask);

enum emu_run {
    EMU_RUN_QUANTUM, /* could go on */
    EMU_RUN_BLOCKED, /* every group waits */
    EMU_RUN_EXITED,  /* no lane is left */
    EMU_RUN_FAULT
};

/* Runs a warp for at most `quantum` instructions. */
enum emu_run emu_warp_run(struct emu_warp *warp, uint64_t quantum);

/* Whether some group of the warp can run now. Ends waits that are over. */
bool emu_warp_is_runnable(struct emu_warp *warp);

/* Ends one wait that may time out, for a retry; false when the warp has none. */
bool emu_warp_time_out(struct emu_warp *warp);

/* Whether the warp has done little else than polling memory for a while. */
bool emu_warp_is_polling(const struct emu_warp *warp);

#endif
