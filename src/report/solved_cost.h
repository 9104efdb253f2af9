/* What a solved task costs. A task is a definition of a run, solved when any turn below the limit is correct; the turns
 * of unsolved tasks are paid for too. Pure functions over a closed turn set. */
#ifndef PTXBENCH_REPORT_SOLVED_COST_H
#define PTXBENCH_REPORT_SOLVED_COST_H

#include "report/metrics.h"

struct solved_cost {
    int64_t turns;
    int64_t tasks;
    int64_t solved;
    int64_t solved_target;
    int64_t reasoning_tokens;
    int64_t tokens;
    double cost_usd;
    bool reasoning_known; /* of every turn; likewise below */
    bool tokens_known;
    bool cost_known;
};

struct solved_cost solved_cost_new(void);

/* Adds one task: the turns in scope below the limit. */
void solved_cost_add(struct solved_cost *cost, const struct metric_scope *scope, int limit);

/* Per solved task. Unknown unless every turn states it and a task was solved. */
struct number solved_cost_reasoning(const struct solved_cost *cost);
struct number solved_cost_tokens(const struct solved_cost *cost);
struct number solved_cost_usd(const struct solved_cost *cost);

#endif
