/*
 * How runs go from turn to turn: outcome shares per turn, transitions between outcomes (the paper's figure 9), and how
 * long models reason (figures 7 and 15). Pure functions over a closed turn set; several series are pooled by adding
 * to the same struct.
 */
#ifndef PTXBENCH_REPORT_FLOW_H
#define PTXBENCH_REPORT_FLOW_H

#include "report/metrics.h"

/* Where a trajectory is before its first turn and after its last one, beside the outcomes. FLOW_MISSING: the turn was
 * planned and never taken. */
enum { FLOW_MISSING = OUTCOME_COUNT, FLOW_STATES };

const char *flow_state_key(int state);
const char *flow_state_words(int state);

/* Counts of outcomes at each turn below a limit: counts[turn * FLOW_STATES + state]. */
struct flow_shares {
    int64_t *counts; /* arena */
    int limit;
};

struct flow_shares flow_shares_new(struct arena *arena, int limit);
void flow_shares_add(struct flow_shares *shares, const struct metric_scope *scope);

/* Trajectories in `state` at turn `turn`. */
static inline int64_t flow_shares_at(const struct flow_shares *shares, int turn, int state)
{
    return shares->counts[turn * FLOW_STATES + state];
}

/* Steps from turn t to t + 1, for all t below limit - 1: counts[from][to]. */
struct flow_transitions {
    int64_t counts[FLOW_STATES][FLOW_STATES];
};

void flow_transitions_add(struct flow_transitions *transitions, const struct metric_scope *scope, int limit);

/* The same for each turn by itself: counts[(turn * FLOW_STATES + from) * FLOW_STATES + to], turn below limit - 1. */
struct flow_steps {
    int64_t *counts; /* arena */
    int limit;
};

struct flow_steps flow_steps_new(struct arena *arena, int limit);
void flow_steps_add(struct flow_steps *steps, const struct metric_scope *scope);

static inline int64_t flow_steps_at(const struct flow_steps *steps, int turn, int from, int to)
{
    return steps->counts[(turn * FLOW_STATES + from) * FLOW_STATES + to];
}

/* Reasoning tokens of the turns with index in [first, last], unknown ones left out. */
struct flow_reasoning {
    int64_t turns; /* with a known length */
    struct number quartile[3];
    struct number percentile5;
    struct number percentile95;
    struct number mean;
};

/* Appends the known lengths to `values`, which has room for all turns in scope; returns the new count. */
size_t flow_reasoning_collect(const struct metric_scope *scope, int first, int last, double *values, size_t count);
struct flow_reasoning flow_reasoning_of(const double *values, size_t count);

#endif
