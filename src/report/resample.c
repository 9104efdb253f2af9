#include "report/resample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "trace/random.h"

static const struct {
    const char *key;
    const char *words;
    bool speedup;
} estimates[ESTIMATES] = {
    [ESTIMATE_TURN_CORRECTNESS] = {"turn_correctness", "turn correctness", false},
    [ESTIMATE_TARGET_TURN_CORRECTNESS] = {"target_turn_correctness", "target instruction turn correctness", false},
    [ESTIMATE_BEST_SPEEDUP] = {"best_speedup", "best speed-up", true},
    [ESTIMATE_TARGET_BEST_SPEEDUP] = {"target_best_speedup", "target instruction best speed-up", true},
    [ESTIMATE_TRAJECTORY_CORRECTNESS] = {"trajectory_correctness", "trajectory correctness", false},
    [ESTIMATE_TARGET_TRAJECTORY_CORRECTNESS] = {"target_trajectory_correctness",
                                                "target instruction trajectory correctness", false},
};

const char *estimate_key(enum estimate estimate)
{
    return estimates[estimate].key;
}

const char *estimate_words(enum estimate estimate)
{
    return estimates[estimate].words;
}

bool estimate_is_speedup(enum estimate estimate)
{
    return estimates[estimate].speedup;
}

const char *comparison_text(enum comparison comparison)
{
    static const char *const texts[] = {
#define X(name, text) text,
        COMPARISONS(X)
#undef X
    };

    return (size_t)comparison < ARRAY_LEN(texts) ? texts[comparison] : "UNCLEAR";
}

/* Sums over drawn trajectories. */
struct sums {
    int64_t turns;
    int64_t correct;
    int64_t target;
    int64_t solved;
    int64_t solved_target;
    double best;
    double best_target;
};

static void add_tally(struct sums *sums, const struct tally *tally)
{
    sums->turns += tally->turns;
    sums->correct += tally->correct;
    sums->target += tally->target;
    sums->solved += tally->correct > 0;
    sums->solved_target += tally->target > 0;
    sums->best = tally->best > sums->best ? tally->best : sums->best;
    sums->best_target = tally->best_target > sums->best_target ? tally->best_target : sums->best_target;
}

static void finish(const struct sums *sums, size_t count, double out[ESTIMATES])
{
    double turns = (double)sums->turns;

    out[ESTIMATE_TURN_CORRECTNESS] = (double)sums->correct / turns;
    out[ESTIMATE_TARGET_TURN_CORRECTNESS] = (double)sums->target / turns;
    out[ESTIMATE_BEST_SPEEDUP] = sums->best;
    out[ESTIMATE_TARGET_BEST_SPEEDUP] = sums->best_target;
    out[ESTIMATE_TRAJECTORY_CORRECTNESS] = (double)sums->solved / (double)count;
    out[ESTIMATE_TARGET_TRAJECTORY_CORRECTNESS] = (double)sums->solved_target / (double)count;
}

void resample_estimate(const struct tally *tallies, size_t count, double out[ESTIMATES])
{
    struct sums sums = {0};

    for (size_t i = 0; i < count; i++)
        add_tally(&sums, &tallies[i]);
    finish(&sums, count, out);
}

struct draws {
    uint64_t key;
    uint64_t next;
};

static size_t draw_index(struct draws *draws, size_t count)
{
    return (size_t)(((unsigned __int128)random_key_bits(draws->key, draws->next++) * count) >> 64);
}

static void draw_estimate(const struct tally *tallies, size_t count, struct draws *draws, double out[ESTIMATES])
{
    struct sums sums = {0};

    for (size_t i = 0; i < count; i++)
        add_tally(&sums, &tallies[draw_index(draws, count)]);
    finish(&sums, count, out);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Sorts. Unknown when a draw had no turn to count. */
static struct interval percentile_interval(double *draws, size_t count)
{
    size_t low = (size_t)(0.025 * (double)(count - 1) + 0.5);
    size_t high = (size_t)(0.975 * (double)(count - 1) + 0.5);

    for (size_t i = 0; i < count; i++)
        if (isnan(draws[i]))
            return (struct interval){0};
    qsort(draws, count, sizeof *draws, compare_doubles);
    return (struct interval){true, draws[low], draws[high]};
}

static size_t draw_count(int resamples)
{
    return resamples > 0 ? (size_t)resamples : RESAMPLE_DEFAULT;
}

void resample_intervals(const struct tally *tallies, size_t count, int resamples, uint64_t seed,
                        struct interval out[ESTIMATES])
{
    size_t rounds = draw_count(resamples);
    struct draws draws = {random_key(seed, 0), 0};
    AUTO_FREE double *values = NULL;

    memset(out, 0, ESTIMATES * sizeof *out);
    if (resamples < 0 || count < RESAMPLE_LEAST)
        return;
    values = malloc(rounds * ESTIMATES * sizeof *values);
    for (size_t i = 0; values && i < rounds; i++) {
        double one[ESTIMATES];
        draw_estimate(tallies, count, &draws, one);
        for (size_t e = 0; e < ESTIMATES; e++)
            values[e * rounds + i] = one[e];
    }
    for (size_t e = 0; values && e < ESTIMATES; e++)
        out[e] = percentile_interval(values + e * rounds, rounds);
}

/* Means over pairs of one draw. */
struct drawn {
    double a[ESTIMATES];
    double b[ESTIMATES];
};

static void draw_pair(const struct difference_pair *pair, struct draws *draws, struct drawn *sum)
{
    struct sums a = {0};
    struct sums b = {0};
    double of_a[ESTIMATES];
    double of_b[ESTIMATES];

    for (size_t i = 0; i < pair->a_count; i++) {
        size_t pick = draw_index(draws, pair->a_count);
        add_tally(&a, &pair->a[pick]);
        if (pair->paired)
            add_tally(&b, &pair->b[pick]);
    }
    for (size_t i = 0; i < pair->b_count && !pair->paired; i++)
        add_tally(&b, &pair->b[draw_index(draws, pair->b_count)]);
    finish(&a, pair->a_count, of_a);
    finish(&b, pair->b_count, of_b);
    for (size_t e = 0; e < ESTIMATES; e++) {
        sum->a[e] += of_a[e];
        sum->b[e] += of_b[e];
    }
}

static enum comparison compare(const struct interval *ci95, double margin)
{
    if (!ci95->known)
        return COMPARISON_UNCLEAR;
    if (ci95->low >= -margin && ci95->high <= margin)
        return COMPARISON_SAME;
    if (ci95->low > 0)
        return COMPARISON_BETTER;
    return ci95->high < 0 ? COMPARISON_WORSE : COMPARISON_UNCLEAR;
}

/* A resampled maximum never exceeds the observed one, so its interval is too short on that side. A best speed-up is
 * called better only when the lower end of its own interval exceeds all that the other side reached. */
static enum comparison compare_best(const struct difference *difference, const struct interval *a,
                                    const struct interval *b, double margin)
{
    enum comparison comparison = compare(&difference->ci95, margin);

    if (comparison == COMPARISON_BETTER && !(b->known && b->low > difference->a.value))
        return COMPARISON_UNCLEAR;
    if (comparison == COMPARISON_WORSE && !(a->known && a->low > difference->b.value))
        return COMPARISON_UNCLEAR;
    return comparison;
}

/* Interval of (x * a + y * b) / pairs; `values` is scratch for `rounds` numbers. */
static struct interval interval_of(const struct drawn *drawn, size_t rounds, int estimate, double x, double y,
                                   size_t pairs, double *values)
{
    for (size_t i = 0; i < rounds; i++)
        values[i] = (x * drawn[i].a[estimate] + y * drawn[i].b[estimate]) / (double)pairs;
    return percentile_interval(values, rounds);
}

static void observe(const struct difference_pair *pairs, size_t pair_count, struct difference out[ESTIMATES])
{
    for (size_t p = 0; p < pair_count; p++) {
        double a[ESTIMATES];
        double b[ESTIMATES];
        resample_estimate(pairs[p].a, pairs[p].a_count, a);
        resample_estimate(pairs[p].b, pairs[p].b_count, b);
        for (size_t e = 0; e < ESTIMATES; e++) {
            out[e].a.value += a[e] / (double)pair_count;
            out[e].b.value += b[e] / (double)pair_count;
        }
    }
    for (size_t e = 0; e < ESTIMATES; e++) {
        out[e].a.known = !isnan(out[e].a.value);
        out[e].b.known = !isnan(out[e].b.value);
        if (out[e].a.known && out[e].b.known)
            out[e].difference = number_of(out[e].b.value - out[e].a.value);
    }
}

void resample_difference(const struct difference_pair *pairs, size_t pair_count, int resamples, uint64_t seed,
                         double margin, struct difference out[ESTIMATES])
{
    size_t rounds = draw_count(resamples);
    struct draws draws = {random_key(seed, 1), 0};
    AUTO_FREE struct drawn *drawn = NULL;
    AUTO_FREE double *values = NULL;

    memset(out, 0, ESTIMATES * sizeof *out);
    if (pair_count == 0)
        return;
    observe(pairs, pair_count, out);
    for (size_t p = 0; p < pair_count; p++)
        if (pairs[p].a_count < RESAMPLE_LEAST || pairs[p].b_count < RESAMPLE_LEAST)
            return;
    drawn = calloc(rounds, sizeof *drawn);
    values = malloc(rounds * sizeof *values);
    if (!drawn || !values)
        return;
    for (size_t i = 0; i < rounds; i++)
        for (size_t p = 0; p < pair_count; p++)
            draw_pair(&pairs[p], &draws, &drawn[i]);
    for (int e = 0; e < ESTIMATES; e++) {
        struct interval a = interval_of(drawn, rounds, e, 1, 0, pair_count, values);
        struct interval b = interval_of(drawn, rounds, e, 0, 1, pair_count, values);
        out[e].ci95 = interval_of(drawn, rounds, e, -1, 1, pair_count, values);
        out[e].comparison =
            estimates[e].speedup ? compare_best(&out[e], &a, &b, margin) : compare(&out[e].ci95, margin);
    }
}
