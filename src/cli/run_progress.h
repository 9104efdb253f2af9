/* Progress of a run: a table that is drawn again and again on a terminal, a line an event otherwise. */
#ifndef PTXBENCH_CLI_RUN_PROGRESS_H
#define PTXBENCH_CLI_RUN_PROGRESS_H

#include <stdio.h>

#include "agent/run.h"

struct run_progress {
    FILE *stream;
    bool terminal;
    bool quiet;
    int drawn; /* lines of the table on the screen */
    int64_t turns;
};

/* An observer that draws to `progress->stream`. */
struct run_observer run_progress_observer(struct run_progress *progress);

/* Removes the table from the screen. */
void run_progress_clear(struct run_progress *progress);

/* What came of it, for people: to `stream`. */
void run_progress_summary(const struct run *run, const char *folder, FILE *stream);

#endif
