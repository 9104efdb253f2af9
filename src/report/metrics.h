/*
 * Metrics of one series (one model on one definition in one run) at a turn limit: pure functions over a closed turn
 * set. Formulas and names: docs/metrics.md; the paper's section 4.1.
 *
 * Turn-level rates are the paper's: correct turns / (trajectories x limit). A turn that is missing, because its
 * trajectory ran out of context, stays in the denominator. Trajectory-level rates count trajectories with at least one
 * such turn; their names say so. Rates are 0..1.
 */
#ifndef PTXBENCH_REPORT_METRICS_H
#define PTXBENCH_REPORT_METRICS_H

#include "report/turn.h"

struct metric_options {
    enum speedup_kind speedup;
    bool keep_infrastructure; /* count turns of infrastructure trouble as failures, as the paper does; else leave them
                                 out of the denominator */
    int resamples;            /* of the bootstrap; 0: 1000, negative: no intervals */
    uint64_t seed;
};

/* Some of a series: the trajectories of the named prompt variants; none named: all. */
struct metric_scope {
    const struct turn_set *set;
    uint32_t series;
    const uint32_t *variants; /* borrowed */
    size_t variant_count;
};

struct metric_value {
    struct number value; /* unknown: no trajectory, or fewer turns were planned than the limit */
    struct interval ci95;
};

struct metrics {
    int limit;
    bool planned; /* every trajectory was meant to reach the limit */
    int64_t trajectories;
    int64_t turns;          /* the denominator of turn-level rates */
    int64_t missing;        /* of these, turns that were never taken */
    int64_t infrastructure; /* turns of infrastructure trouble, in the denominator or not */
    int64_t correct;
    int64_t target;      /* correct and known to execute target instructions: the numerator */
    int64_t unknown;     /* correct, and not known whether they execute them */
    int64_t unconfirmed; /* part of `unknown`: an aggregate of the run says so without telling which turns. When only
                            some trajectories of the run are in scope all of them are taken to be among these. */
    struct metric_value turn_correctness;
    struct metric_value target_turn_correctness;
    struct metric_value best_speedup;
    struct metric_value target_best_speedup; /* over turns that are known to, or flagged without being named */
    struct metric_value trajectory_correctness;
    struct metric_value target_trajectory_correctness;
};

/* What one trajectory contributes at a limit. */
struct tally {
    int32_t turns;
    int32_t missing;
    int32_t infrastructure;
    int32_t correct;
    int32_t target;
    int32_t unknown;
    double best;
    double best_target;
};

bool metric_scope_holds(const struct metric_scope *scope, const struct trajectory *trajectory);

/* Trajectories in scope. */
size_t metric_scope_count(const struct metric_scope *scope);

/* Tallies of the trajectories in scope, in order, into `out` (room for metric_scope_count). */
void metric_tally(const struct metric_scope *scope, int limit, const struct metric_options *options, struct tally *out);

/* Everything at once. `limit` >= 1. */
struct metrics metrics_of(const struct metric_scope *scope, int limit, const struct metric_options *options);

/* Unbiased estimate of the chance that at least one of k trajectories succeeds, when c of n did: 1 - C(n-c,k)/C(n,k).
 * Unknown for k < 1 or k > n. */
struct number metric_pass_at_k(int64_t n, int64_t c, int64_t k);

/* Fast_p as a step function: share of all turns that are correct with a speed-up above p. */
struct fastp_step {
    double p;     /* for thresholds from here up to the next step's p (exclusive) */
    double share; /* 0..1 */
};

struct fastp_curve {
    struct fastp_step *steps; /* arena; p rising from 0 */
    size_t count;
    double best; /* speed-up of the best qualifying turn; 0 when there is none */
};

/* `target`: only turns that are known to execute target instructions (Fast_p^Inst). */
struct fastp_curve metric_fastp(struct arena *arena, const struct metric_scope *scope, int limit, bool target,
                                const struct metric_options *options);

/* Value at a threshold >= 0. */
double fastp_at(const struct fastp_curve *curve, double p);

/* Mean over the prompt variants in scope, with the least and greatest of them (the paper's figures 2, 3, 8, 10). */
struct fastp_band_step {
    double p;
    double mean;
    double low;
    double high;
};

struct fastp_band {
    struct fastp_band_step *steps; /* arena */
    size_t count;
    size_t variants;
    double best;
};

struct fastp_band metric_fastp_band(struct arena *arena, const struct metric_scope *scope, int limit, bool target,
                                    const struct metric_options *options);

/* Numbers of the prompt variants in scope, rising; in the arena. */
uint32_t *metric_variants(struct arena *arena, const struct metric_scope *scope, size_t *count);

#endif
