/*
 * Which elements of a tensor the tensor copies of a grid touch: wrong coordinates leave some out. Notes, since a kernel
 * may leave out what it likes. Only for grids that run as a whole.
 */
#ifndef PTXBENCH_EMU_HAZARD_COVERAGE_H
#define PTXBENCH_EMU_HAZARD_COVERAGE_H

#include "emu/bulk_copy.h"

void hazard_coverage_copy(const struct bulk_copy *copy);

/* The grid has completed: tells what was left out. */
void hazard_coverage_end(struct emu_grid *grid);
void hazard_coverage_free(struct emu_grid *grid);

#endif
