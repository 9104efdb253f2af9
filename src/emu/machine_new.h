/* Building and taking down the clusters of a grid, and running it: private to the launch. */
#ifndef PTXBENCH_EMU_MACHINE_NEW_H
#define PTXBENCH_EMU_MACHINE_NEW_H

#include "emu/machine.h"

/* A cluster with its CTAs at the start of the kernel; NULL: out of memory. */
struct emu_cluster *emu_cluster_new(struct emu_grid *grid, uint64_t index);
void emu_cluster_free(struct emu_cluster *cluster); /* accepts NULL */

/* Runs the clusters that the launch names. Findings say what went wrong. Returns false when out of memory. */
MUST_CHECK bool emu_grid_run(struct emu_grid *grid, struct emulator_report *report);

/* Adds a finding about an operation of the grid as a whole. */
void emu_report_grid(struct emu_grid *grid, uint32_t op_index, enum emu_code code, const char *format, ...)
    PRINTF_LIKE(4, 5);

/* Adds the finding "deadlock" with what every waiting group waits for. */
void emu_report_deadlock(struct emu_grid *grid, bool spinning);

/* Adds the finding "endless_loop" at the loop that ran most often. */
void emu_report_budget(struct emu_grid *grid);

#endif
