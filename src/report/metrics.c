#include "report/metrics.h"

#include <stdlib.h>
#include <string.h>

#include "report/resample.h"

bool metric_scope_holds(const struct metric_scope *scope, const struct trajectory *trajectory)
{
    for (size_t i = 0; i < scope->variant_count; i++)
        if (scope->variants[i] == trajectory->variant)
            return true;
    return scope->variant_count == 0;
}

static const struct series *series_of(const struct metric_scope *scope)
{
    return &scope->set->series[scope->series];
}

size_t metric_scope_count(const struct metric_scope *scope)
{
    const struct series *series = series_of(scope);
    const struct trajectory *trajectories = series_trajectories(scope->set, series);
    size_t count = 0;

    for (uint32_t i = 0; i < series->trajectory_count; i++)
        count += metric_scope_holds(scope, &trajectories[i]);
    return count;
}

static void tally_turn(struct tally *tally, const struct turn *turn, const struct metric_options *options)
{
    double speedup = turn->speedup[options->speedup];

    if (turn->outcome == OUTCOME_INFRASTRUCTURE) {
        tally->infrastructure++;
        tally->turns -= !options->keep_infrastructure;
    }
    if (!outcome_is_correct(turn->outcome))
        return;
    tally->correct++;
    if (speedup > tally->best)
        tally->best = speedup;
    if (turn->outcome == OUTCOME_CORRECT_UNKNOWN)
        tally->unknown++;
    if (turn->outcome != OUTCOME_CORRECT_TARGET)
        return;
    tally->target++;
    if (speedup > tally->best_target)
        tally->best_target = speedup;
}

void metric_tally(const struct metric_scope *scope, int limit, const struct metric_options *options, struct tally *out)
{
    const struct series *series = series_of(scope);
    const struct trajectory *trajectories = series_trajectories(scope->set, series);

    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        const struct turn *turns = trajectory_turns(scope->set, &trajectories[i]);
        struct tally tally = {.turns = limit};
        uint32_t taken = 0;
        if (!metric_scope_holds(scope, &trajectories[i]))
            continue;
        for (; taken < trajectories[i].turn_count && turns[taken].index < limit; taken++)
            tally_turn(&tally, &turns[taken], options);
        tally.missing = limit - (int32_t)taken;
        *out++ = tally;
    }
}

static void sum_tallies(const struct tally *tallies, size_t count, struct metrics *out)
{
    out->trajectories = (int64_t)count;
    for (size_t i = 0; i < count; i++) {
        out->turns += tallies[i].turns;
        out->missing += tallies[i].missing;
        out->infrastructure += tallies[i].infrastructure;
        out->correct += tallies[i].correct;
        out->target += tallies[i].target;
        out->unknown += tallies[i].unknown;
    }
}

/* What an aggregate over the run says at this limit, else at the next higher one: it can only be larger there. */
static const struct series_sass *find_sass(const struct series *series, int limit)
{
    const struct series_sass *found = NULL;

    for (size_t i = 0; i < series->sass_count; i++)
        if (series->sass[i].limit >= limit && (!found || series->sass[i].limit < found->limit))
            found = &series->sass[i];
    return found;
}

/* Takes turns that the run counts as unconfirmed out of the numerator. */
static void take_unconfirmed(const struct series_sass *sass, struct metrics *out)
{
    int64_t unconfirmed = sass ? sass->unknown_turns - out->unknown : 0;

    if (unconfirmed <= 0)
        return;
    out->unconfirmed = unconfirmed < out->target ? unconfirmed : out->target;
    out->target -= out->unconfirmed;
    out->unknown += out->unconfirmed;
}

static struct metric_value scaled(double value, const struct interval *ci95, double factor)
{
    return (struct metric_value){number_of(value * factor), {ci95->known, ci95->low * factor, ci95->high * factor}};
}

struct metrics metrics_of(const struct metric_scope *scope, int limit, const struct metric_options *options)
{
    const struct series *series = series_of(scope);
    size_t count = metric_scope_count(scope);
    AUTO_FREE struct tally *tallies = calloc(count ? count : 1, sizeof *tallies);
    struct metrics out = {.limit = limit, .planned = limit <= series->planned_turns};
    struct interval ci95[ESTIMATES];
    double value[ESTIMATES];
    int64_t flagged;

    if (!tallies)
        abort();
    metric_tally(scope, limit, options, tallies);
    sum_tallies(tallies, count, &out);
    flagged = out.target;
    take_unconfirmed(find_sass(series, limit), &out);
    if (!out.planned || out.turns <= 0)
        return out;
    resample_estimate(tallies, count, value);
    resample_intervals(tallies, count, options->resamples, options->seed, ci95);

    const double confirmed = flagged ? (double)out.target / (double)flagged : 1;
    struct {
        struct metric_value *to;
        enum estimate estimate;
        double factor;
    } rows[] = {
        {&out.turn_correctness, ESTIMATE_TURN_CORRECTNESS, 1},
        {&out.target_turn_correctness, ESTIMATE_TARGET_TURN_CORRECTNESS, confirmed},
        {&out.best_speedup, ESTIMATE_BEST_SPEEDUP, 1},
        {&out.target_best_speedup, ESTIMATE_TARGET_BEST_SPEEDUP, 1},
        {&out.trajectory_correctness, ESTIMATE_TRAJECTORY_CORRECTNESS, 1},
        {&out.target_trajectory_correctness, ESTIMATE_TARGET_TRAJECTORY_CORRECTNESS, 1},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        *rows[i].to = scaled(value[rows[i].estimate], &ci95[rows[i].estimate], rows[i].factor);
    out.target_turn_correctness.value = number_of((double)out.target / (double)out.turns);
    return out;
}

struct number metric_pass_at_k(int64_t n, int64_t c, int64_t k)
{
    double none = 1;

    if (n < 1 || c < 0 || c > n || k < 1 || k > n)
        return (struct number){0};
    if (n - c < k)
        return number_of(1);
    for (int64_t i = n - c + 1; i <= n; i++)
        none *= 1 - (double)k / (double)i;
    return number_of(1 - none);
}
