/*
 * The paper's figures 2, 5, 6, 7, 9, 10, 13, 14 and 15 from its published turns. Its figures 3 and 8 compare with runs
 * in Triton, which are not published.
 */
#ifndef PTXBENCH_REPORT_PAPER_FIGURES_H
#define PTXBENCH_REPORT_PAPER_FIGURES_H

#include "report/figure.h"
#include "report/paper_tables.h"

/* ERROR_NOT_FOUND names a run that the turns lack. */
MUST_CHECK bool paper_figures(const struct paper_tables *paper, const struct metric_options *options,
                              struct arena *arena, struct figures *out, struct error *error);

#endif
