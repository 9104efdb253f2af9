/*
 * FlashInfer-Trace leaderboard: authors compared over the traces of their solutions, as flashinfer-bench does it.
 *
 * Ratio of a workload: latency of the baseline author's solution / latency of the solution, each the best passing
 * trace. Score of a solution on a definition: mean ratio over the workloads on which the baseline passed and the
 * solution was run; 0 when any of its traces there failed. Score of an author: mean over the definitions for which the
 * author has a solution, best solution each. Win rate: share of the workloads of those with a ratio above 1.
 */
#ifndef PTXBENCH_REPORT_LEADERBOARD_H
#define PTXBENCH_REPORT_LEADERBOARD_H

#include "base/arena.h"
#include "base/error.h"
#include "base/record.h"
#include "trace/trace.h"

struct leaderboard;

struct leaderboard_row {
    const char *author;
    struct number score;
    struct number win_rate; /* 0..1 */
    int64_t definitions;    /* with a solution of the author and a baseline */
    int64_t workloads;      /* compared */
    int64_t failed;         /* solutions of these definitions with a failed trace */
};

struct leaderboard_rows {
    struct leaderboard_row *items;
    size_t count;
};

struct leaderboard *leaderboard_new(void);
void leaderboard_free(struct leaderboard *board);

/* Names the author of a solution; before its traces are ranked, in any order. */
void leaderboard_author(struct leaderboard *board, const char *solution, const char *author);

/* Adds a trace with an evaluation; texts are copied. `workload` is its uuid. */
void leaderboard_add(struct leaderboard *board, const struct trace *trace, const char *workload);

size_t leaderboard_trace_count(const struct leaderboard *board);

/* Rows in the arena, best score first, ties by author. Without a baseline (NULL) the ratio is the trace's own speed-up
 * over the reference. ERROR_NOT_FOUND: the baseline has no solution; ERROR_INPUT: it has two for one definition. */
MUST_CHECK bool leaderboard_rank(const struct leaderboard *board, const char *baseline, struct arena *arena,
                                 struct leaderboard_rows *out, struct error *error);

static inline void cleanup_leaderboard(struct leaderboard **board)
{
    leaderboard_free(*board);
}
#define AUTO_LEADERBOARD CLEANUP(cleanup_leaderboard) struct leaderboard

#endif
