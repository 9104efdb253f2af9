/*
 * Turns: what metrics are made of. A set holds the turns of any number of runs, sorted: series by series (one model on
 * one definition in one run), within it trajectory by trajectory, within it by turn index.
 *
 * Filled by the readers (read.h) in any order, then closed once; constant from then on. A million turns take about
 * 150 MB while they are read and 60 MB afterwards. Not thread-safe while it is filled.
 */
#ifndef PTXBENCH_REPORT_TURN_H
#define PTXBENCH_REPORT_TURN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/record.h"
#include "report/taxonomy.h"

/* A turn that was judged on several workloads has several speed-ups. */
enum speedup_kind { SPEEDUP_MIN, SPEEDUP_MAX, SPEEDUP_GEOMEAN, SPEEDUP_KINDS };

struct turn {
    double speedup[SPEEDUP_KINDS]; /* reference / candidate; 0 unless correct and timed */
    double cost_usd;               /* NaN: unknown */
    int64_t tokens;                /* prompt and answer; -1: unknown */
    int32_t reasoning_tokens;      /* -1: unknown */
    uint32_t workloads;            /* judged, >= 1 */
    uint16_t index;                /* 0-based in its trajectory */
    uint8_t outcome;               /* enum turn_outcome */
};

struct trajectory {
    const char *name;
    uint32_t series;
    uint32_t variant; /* prompt variant; without a statement of the run: position / 4, as in the published plan */
    uint32_t turn_begin;
    uint32_t turn_count; /* present ones: a trajectory that ran out of context has fewer than were planned */
};

/* What a published aggregate says about the whole of a series up to a turn limit. */
struct series_sass {
    int limit;
    size_t line; /* of the file */
    int64_t trajectories;
    int64_t trajectories_with_target; /* executed target instructions, dynamically confirmed */
    int64_t correct_turns;
    int64_t unknown_turns; /* correct turns whose target instructions were never confirmed */
};

enum { SERIES_SASS_MAX = 16 };

struct series {
    const char *model;
    const char *arch; /* "hopper", "blackwell", "sm_90a"; "" unknown */
    const char *definition;
    const char *run;
    const char *workload; /* uuid; NULL when there are several */
    const char *date;     /* "2026-01-31"; NULL unknown */
    const char *source;   /* file or folder that was named for reading */
    uint32_t trajectory_begin;
    uint32_t trajectory_count;
    int planned_turns; /* of a trajectory: the most that any trajectory from the same source has, at least as stated */
    size_t sass_count;
    struct series_sass sass[SERIES_SASS_MAX];
};

struct turn_set {
    struct series *series;
    struct trajectory *trajectories;
    struct turn *turns;
    size_t series_count;
    size_t trajectory_count;
    size_t turn_count;
    const char **warnings; /* "FILE:LINE: text"; at most TURN_WARNINGS_MAX are kept */
    size_t warning_count;  /* all of them */
    struct turn_builder *builder;
};

enum { TURN_WARNINGS_MAX = 200, TURN_INDEX_MAX = 9999, TURN_ROWS_MAX = 50000000 };

/* Of one turn; so the sum over TURN_ROWS_MAX fits an int64_t. */
#define TURN_TOKENS_MAX INT64_C(100000000000)

/* One turn on one workload. Texts are copied; NULL is "". */
struct turn_row {
    const char *model;
    const char *arch;
    const char *definition;
    const char *workload;
    const char *run;
    const char *trajectory;
    int64_t index;   /* 0-based */
    int64_t variant; /* -1: unknown */
    enum turn_outcome outcome;
    struct number speedup;
    struct count reasoning_tokens;
    struct count tokens;
    struct number cost_usd;
    bool repeatable; /* a second judgement of the same workload is no mistake: the better one counts */
};

/* Returns a new empty set; never NULL. */
struct turn_set *turn_set_new(void);
void turn_set_free(struct turn_set *set);

/* Rows added from here on belong to `source`, a file or folder that was named for reading. Runs of equal name in two
 * sources are two runs. */
void turn_set_begin(struct turn_set *set, const char *source);

/* Adds a row that was read from line `line` of `file`. ERROR_INPUT names file and line: index out of range, a speed-up
 * that is NaN, infinite or negative, one of a turn that is not correct, tokens or cost out of range. */
MUST_CHECK bool turn_set_add(struct turn_set *set, const struct turn_row *row, const char *file, size_t line,
                             struct error *error);

/* Turns that each trajectory of the current source was meant to have, where the run says so. */
void turn_set_plan(struct turn_set *set, int turns);

/* An aggregate over a whole series; given to it on closing, a warning when there is none. NULL date: unknown. */
void turn_set_add_sass(struct turn_set *set, const struct turn_row *series, const struct series_sass *sass,
                       const char *date, const char *file);

/* A run that a list of runs names: a warning on closing when it has no turns. */
void turn_set_expect(struct turn_set *set, const struct turn_row *series, const char *file, size_t line);

void turn_set_warn(struct turn_set *set, const char *file, size_t line, const char *format, ...) PRINTF_LIKE(4, 5);

/* Sorts and joins. Rows with equal trajectory, index and workload: equal content is a warning and counts once,
 * different content is ERROR_INPUT with both lines. Rows that differ in the workload become one turn, which is correct
 * when every workload is; else the outcome farthest from correct (order of TURN_OUTCOMES) stands, infrastructure trouble
 * only when nothing was the candidate's fault. */
MUST_CHECK bool turn_set_close(struct turn_set *set, struct error *error);

/* The series of a run; NULL `model` and `definition` match any. ERROR_NOT_FOUND; ERROR_INPUT when several match. */
MUST_CHECK bool turn_set_find(const struct turn_set *set, const char *run, const char *model, const char *definition,
                              uint32_t *series, struct error *error);

static inline const struct trajectory *series_trajectories(const struct turn_set *set, const struct series *series)
{
    return set->trajectories + series->trajectory_begin;
}

static inline const struct turn *trajectory_turns(const struct turn_set *set, const struct trajectory *trajectory)
{
    return set->turns + trajectory->turn_begin;
}

const char *speedup_kind_text(enum speedup_kind kind); /* "min", "max", "geomean" */

static inline void cleanup_turn_set(struct turn_set **set)
{
    turn_set_free(*set);
}
#define AUTO_TURN_SET CLEANUP(cleanup_turn_set) struct turn_set

#endif
