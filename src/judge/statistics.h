/*
 * Statistics of timings: pure functions over samples in milliseconds. Nothing here reads a clock.
 */
#ifndef PTXBENCH_JUDGE_STATISTICS_H
#define PTXBENCH_JUDGE_STATISTICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/record.h"

/* Unknown for count 0. The quantile interpolates linearly between order statistics (R type 7, numpy's default);
 * `q` in [0, 1]. Samples may be in any order and are not changed. NaN samples make the result NaN. */
struct number statistics_quantile(const double *samples, size_t count, double q);
struct number statistics_median(const double *samples, size_t count);
struct number statistics_mean(const double *samples, size_t count);

/* Sample standard deviation / mean; unknown for fewer than 2 samples or mean 0. */
struct number statistics_cv(const double *samples, size_t count);

/* Samples farther than 3 interquartile ranges outside the quartiles (Tukey's far out); reported, never removed. */
size_t statistics_outliers(const double *samples, size_t count);

/* One trial: `candidate[i]` and `reference[i]` were taken next to each other. */
struct statistics_trial {
    const double *candidate_ms;
    size_t candidate_count;
    const double *reference_ms;
    size_t reference_count;
};

/* As in the paper (section 2.2): median of each trial, mean over trials, speed-up = reference / candidate. */
struct statistics_speedup {
    struct number latency_ms;
    struct number reference_latency_ms;
    struct number speedup;
    struct interval ci95;
    struct count n; /* candidate samples over all trials */
    struct number candidate_cv;
    struct number reference_cv;
    struct number drift; /* last trial's candidate median / the first's - 1; unknown for one trial */
    struct number reference_drift;
    struct count outliers; /* candidate and reference, each against its trial */
};

/* Everything above for one or more trials. The interval is a percentile bootstrap of the speed-up with `resamples`
 * draws (0: 1000) from a generator seeded with `seed`, so equal input gives equal output. Where a trial has equally
 * many candidate and reference samples, pairs are drawn together; otherwise each side on its own. Unknown when a
 * trial has no samples or fewer than 5 of a side. Scratch memory comes from the arena. */
struct statistics_speedup statistics_speedup(struct arena *arena, const struct statistics_trial *trials, size_t count,
                                             int resamples, uint64_t seed);

/* Share of pairs (a, b) with a < b plus half the ties, and the one-sided p value that a tends to be smaller than b
 * (Mann-Whitney, normal approximation with tie and continuity correction). Unknown for an empty side. */
struct statistics_rank_test {
    struct number smaller_share;
    struct number p_value;
};
struct statistics_rank_test statistics_rank_test(struct arena *arena, const double *a, size_t a_count, const double *b,
                                                 size_t b_count);

/*
 * Does the candidate do less on inputs that it has seen before? Memoised only when repeated inputs are faster by more
 * than 10 % and 2 us in the median AND the rank test rejects chance (p < 0.001). A kernel whose inputs sit in the L2
 * cache is no memo: both kinds must have been timed with the same cold cache.
 */
struct statistics_memo {
    enum tristate memoised; /* unknown with fewer than 5 samples of a kind */
    struct number fresh_median_ms;
    struct number repeated_median_ms;
    struct number p_value;
    const char *explanation; /* one sentence in the arena */
};
struct statistics_memo statistics_memo_test(struct arena *arena, const double *fresh_ms, size_t fresh_count,
                                            const double *repeated_ms, size_t repeated_count);

/*
 * Device timestamps against the worker's wall clock over the same `calls` calls, each bracketed by the worker with
 * an idle device on both ends. Without host work the wall time is the device time plus a fixed cost per call. Only wall
 * time in excess is suspect: nobody gains by claiming more device time than passed, and that happens when the fixed
 * cost was overestimated.
 */
enum audit_result {
    AUDIT_UNKNOWN,
    AUDIT_CONSISTENT,
    AUDIT_HOST_TIME, /* wall time above device time, explained by host work inside the entry point */
    AUDIT_FORGED     /* wall time above device time although the device was busy */
};

struct audit_input {
    double device_ms;      /* sum of the device time of the calls */
    double wall_ms;        /* worker's clock over the same calls, harness work (flush) excluded */
    struct number busy_ms; /* time the device was busy, measured without the candidate's process (a polling query, an
                               event of the worker); unknown: not measured */
    struct number host_ms; /* time inside the entry point, by the worker's clock; unknown: not measured */
    int64_t calls;
    double overhead_us; /* accepted per call; 0: 20 us */
};

struct audit {
    enum audit_result result;
    const char *explanation; /* one sentence in the arena */
};

/* Tolerance: max(10 % of the device time, overhead_us per call). */
struct audit statistics_audit(struct arena *arena, const struct audit_input *input);

const char *audit_result_text(enum audit_result result); /* "consistent", "host_time", "forged", "unknown" */

#endif
