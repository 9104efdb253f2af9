/* ptxbench run --dry-run: what a run would do. */
#ifndef PTXBENCH_CLI_RUN_DRY_H
#define PTXBENCH_CLI_RUN_DRY_H

#include <stdio.h>

#include "agent/run_config.h"

/* Prints the plan; returns the exit status. */
int run_dry_show(const struct run_config *config, const struct run_names *default_tasks, FILE *stream);

#endif
