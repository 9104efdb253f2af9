/*
 * Intervals and comparisons by cluster bootstrap: whole trajectories are drawn with replacement, because the turns of
 * one conversation are not independent. Seeded: equal input, equal output, on every machine.
 */
#ifndef PTXBENCH_REPORT_RESAMPLE_H
#define PTXBENCH_REPORT_RESAMPLE_H

#include "report/metrics.h"

/* What is estimated from a set of tallies. */
enum estimate {
    ESTIMATE_TURN_CORRECTNESS,
    ESTIMATE_TARGET_TURN_CORRECTNESS,
    ESTIMATE_BEST_SPEEDUP,
    ESTIMATE_TARGET_BEST_SPEEDUP,
    ESTIMATE_TRAJECTORY_CORRECTNESS,
    ESTIMATE_TARGET_TRAJECTORY_CORRECTNESS,
    ESTIMATES
};

const char *estimate_key(enum estimate estimate);   /* "turn_correctness" */
const char *estimate_words(enum estimate estimate); /* "turn correctness" */
bool estimate_is_speedup(enum estimate estimate);

enum { RESAMPLE_LEAST = 5, RESAMPLE_DEFAULT = 1000 };

/* Values of all estimates over tallies; NaN where there is no turn. */
void resample_estimate(const struct tally *tallies, size_t count, double out[ESTIMATES]);

/* 95 % percentile intervals of all estimates. Unknown for fewer than RESAMPLE_LEAST trajectories. A best speed-up is a
 * maximum: its interval ends at the observed value and only its lower end says something. */
void resample_intervals(const struct tally *tallies, size_t count, int resamples, uint64_t seed,
                        struct interval out[ESTIMATES]);

/* How B stands against A. SAME needs the whole interval inside the margin; UNCLEAR is an honest answer. */
#define COMPARISONS(X)                                                                                                 \
    X(COMPARISON_UNCLEAR, "UNCLEAR")                                                                                   \
    X(COMPARISON_SAME, "SAME")                                                                                         \
    X(COMPARISON_BETTER, "BETTER")                                                                                     \
    X(COMPARISON_WORSE, "WORSE")

enum comparison {
#define X(name, text) name,
    COMPARISONS(X)
#undef X
};

const char *comparison_text(enum comparison comparison);

/* One pair of series that are compared: same definition and architecture. */
struct difference_pair {
    const struct tally *a;
    const struct tally *b;
    size_t a_count;
    size_t b_count;
    bool paired; /* a[i] and b[i] are the same position of the same plan: drawn together */
};

struct difference {
    struct number a;
    struct number b;
    struct number difference; /* b - a */
    struct interval ci95;
    enum comparison comparison;
};

/* Differences of all estimates, each the mean over the pairs of (B - A): every definition weighs the same. `margin` is
 * what counts as the same: of rates in 0..1, of speed-ups in times. A best speed-up, a maximum, is BETTER or WORSE only
 * when the lower end of the one side's interval exceeds what the other side reached. */
void resample_difference(const struct difference_pair *pairs, size_t pair_count, int resamples, uint64_t seed,
                         double margin, struct difference out[ESTIMATES]);

#endif
