/* Fast_p: distributions of speed-ups as step functions. */
#include <stdlib.h>
#include <string.h>

#include "report/metrics.h"

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static const struct series *series_of(const struct metric_scope *scope)
{
    return &scope->set->series[scope->series];
}

/* Speed-ups of the qualifying turns; `*total` is the denominator. */
static double *collect(struct arena *arena, const struct metric_scope *scope, int limit, bool target,
                       const struct metric_options *options, size_t *count, int64_t *total)
{
    const struct series *series = series_of(scope);
    const struct trajectory *trajectories = series_trajectories(scope->set, series);
    size_t room = 0;
    double *speedups;

    *count = 0;
    *total = 0;
    for (uint32_t i = 0; i < series->trajectory_count; i++)
        room += trajectories[i].turn_count;
    speedups = arena_calloc(arena, room, sizeof *speedups);
    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        const struct turn *turns = trajectory_turns(scope->set, &trajectories[i]);
        if (!metric_scope_holds(scope, &trajectories[i]))
            continue;
        *total += limit;
        for (uint32_t t = 0; t < trajectories[i].turn_count && turns[t].index < limit; t++) {
            if (turns[t].outcome == OUTCOME_INFRASTRUCTURE && !options->keep_infrastructure)
                --*total;
            if (turns[t].speedup[options->speedup] > 0 &&
                (turns[t].outcome == OUTCOME_CORRECT_TARGET || (!target && outcome_is_correct(turns[t].outcome))))
                speedups[(*count)++] = turns[t].speedup[options->speedup];
        }
    }
    return speedups;
}

struct fastp_curve metric_fastp(struct arena *arena, const struct metric_scope *scope, int limit, bool target,
                                const struct metric_options *options)
{
    struct fastp_curve curve = {0};
    int64_t total;
    size_t count;
    double *speedups = collect(arena, scope, limit, target, options, &count, &total);

    if (total <= 0)
        return curve;
    qsort(speedups, count, sizeof *speedups, compare_doubles);
    curve.steps = arena_calloc(arena, count + 1, sizeof *curve.steps);
    curve.steps[curve.count++] = (struct fastp_step){0, (double)count / (double)total};
    for (size_t i = 0; i < count; i++) {
        if (i + 1 < count && !(speedups[i + 1] > speedups[i]))
            continue; /* equal speed-ups are one step */
        curve.steps[curve.count++] = (struct fastp_step){speedups[i], (double)(count - i - 1) / (double)total};
    }
    curve.best = count ? speedups[count - 1] : 0;
    return curve;
}

double fastp_at(const struct fastp_curve *curve, double p)
{
    size_t low = 0;
    size_t high = curve->count; /* the last step with step.p <= p lies in [low, high) */

    if (curve->count == 0 || p < curve->steps[0].p)
        return curve->count ? curve->steps[0].share : 0;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (curve->steps[middle].p <= p)
            low = middle;
        else
            high = middle;
    }
    return curve->steps[low].share;
}

uint32_t *metric_variants(struct arena *arena, const struct metric_scope *scope, size_t *count)
{
    const struct series *series = series_of(scope);
    const struct trajectory *trajectories = series_trajectories(scope->set, series);
    uint32_t *numbers = arena_calloc(arena, series->trajectory_count, sizeof *numbers);
    size_t found = 0;
    size_t distinct = 0;

    for (uint32_t i = 0; i < series->trajectory_count; i++)
        if (metric_scope_holds(scope, &trajectories[i]) && (!found || numbers[found - 1] != trajectories[i].variant))
            numbers[found++] = trajectories[i].variant;
    qsort(numbers, found, sizeof *numbers, compare_numbers);
    for (size_t i = 0; i < found; i++)
        if (i == 0 || numbers[i] != numbers[distinct - 1])
            numbers[distinct++] = numbers[i];
    *count = distinct;
    return numbers;
}

static struct fastp_band_step band_at(const struct fastp_curve *curves, size_t count, double p)
{
    struct fastp_band_step step = {.p = p, .low = 1};

    for (size_t i = 0; i < count; i++) {
        double share = fastp_at(&curves[i], p);
        step.mean += share / (double)count;
        step.low = share < step.low ? share : step.low;
        step.high = share > step.high ? share : step.high;
    }
    return step;
}

struct fastp_band metric_fastp_band(struct arena *arena, const struct metric_scope *scope, int limit, bool target,
                                    const struct metric_options *options)
{
    struct fastp_band band = {0};
    struct metric_scope one = *scope;
    uint32_t *variants = metric_variants(arena, scope, &band.variants);
    struct fastp_curve *curves = arena_calloc(arena, band.variants, sizeof *curves);
    size_t points = 0;
    size_t used = 0;
    double *p;

    for (size_t i = 0; i < band.variants; i++) {
        one.variants = &variants[i];
        one.variant_count = 1;
        curves[i] = metric_fastp(arena, &one, limit, target, options);
        points += curves[i].count;
        band.best = curves[i].best > band.best ? curves[i].best : band.best;
    }
    p = arena_calloc(arena, points, sizeof *p);
    for (size_t i = 0; i < band.variants; i++)
        for (size_t s = 0; s < curves[i].count; s++)
            p[used++] = curves[i].steps[s].p;
    qsort(p, used, sizeof *p, compare_doubles);
    band.steps = arena_calloc(arena, used, sizeof *band.steps);
    for (size_t i = 0; i < used; i++)
        if (i == 0 || p[i] > p[i - 1])
            band.steps[band.count++] = band_at(curves, band.variants, p[i]);
    return band;
}
