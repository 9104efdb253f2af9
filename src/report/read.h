/*
 * Readers: files and folders become rows of a turn set (docs/formats/turns.md). Every error and warning names file and
 * line. Nothing is guessed: a line that cannot be read is an error, except for the last one of a file that does not end
 * with a newline, which a crash or a copy may have cut: it is dropped with a warning.
 */
#ifndef PTXBENCH_REPORT_READ_H
#define PTXBENCH_REPORT_READ_H

#include "report/leaderboard.h"
#include "report/turn.h"

enum { READ_FILE_MAX = 2000000000, READ_LINE_MAX = 64 << 20 };

/* CSV by its header: turns in the published layout, counts of confirmed target instructions by run, or a list of
 * runs. `text` is borrowed and came from `file`. */
MUST_CHECK bool read_csv_text(struct turn_set *set, const char *text, size_t length, const char *file,
                              struct error *error);

/* JSON or JSON lines: verdicts (ptxbench.verdict.v1), turns (ptxbench.turn.v1) and FlashInfer-Trace traces. Traces
 * also go to `board` (may be NULL); solutions without a known author are their own author. */
MUST_CHECK bool read_json_text(struct turn_set *set, struct leaderboard *board, const char *text, size_t length,
                               const char *file, struct error *error);

/* A file of any of these kinds, or a folder: a FlashInfer-Trace trace set when it has definitions/, a run when it has
 * run.json (its turns.jsonl), else every .csv and .jsonl below it except for trajectories' logs, paper_tables.json and
 * other files left alone. Starts a new source. */
MUST_CHECK bool read_path(struct turn_set *set, struct leaderboard *board, const char *path, struct error *error);

#endif
