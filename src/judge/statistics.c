#include "judge/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"

enum { DEFAULT_RESAMPLES = 1000, MIN_SAMPLES = 5 };

static size_t random_index(uint64_t *state, size_t count)
{
    return (size_t)(((unsigned __int128)splitmix_next(state) * count) >> 64);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

static double sorted_quantile(const double *sorted, size_t count, double q)
{
    double position = q * (double)(count - 1);
    size_t below = (size_t)position;
    double fraction = position - (double)below;

    if (below + 1 >= count)
        return sorted[count - 1];
    return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

static bool has_nan(const double *samples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (isnan(samples[i]))
            return true;
    return false;
}

/* Sorted copy, freed by the caller; NULL when empty or out of memory. */
static double *sorted_copy(const double *samples, size_t count)
{
    double *copy = count ? malloc(count * sizeof *copy) : NULL;

    if (copy) {
        memcpy(copy, samples, count * sizeof *copy);
        qsort(copy, count, sizeof *copy, compare_doubles);
    }
    return copy;
}

struct number statistics_quantile(const double *samples, size_t count, double q)
{
    AUTO_FREE double *sorted = NULL;

    if (count && has_nan(samples, count))
        return number_of(NAN);
    sorted = sorted_copy(samples, count);
    if (!sorted || !(q >= 0 && q <= 1))
        return (struct number){0};
    return number_of(sorted_quantile(sorted, count, q));
}

struct number statistics_median(const double *samples, size_t count)
{
    return statistics_quantile(samples, count, 0.5);
}

struct number statistics_mean(const double *samples, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += samples[i];
    return count ? number_of(sum / (double)count) : (struct number){0};
}

struct number statistics_cv(const double *samples, size_t count)
{
    struct number mean = statistics_mean(samples, count);
    double squares = 0;

    if (count < 2 || !(mean.value > 0 || mean.value < 0))
        return (struct number){0};
    for (size_t i = 0; i < count; i++)
        squares += (samples[i] - mean.value) * (samples[i] - mean.value);
    return number_of(sqrt(squares / (double)(count - 1)) / fabs(mean.value));
}

size_t statistics_outliers(const double *samples, size_t count)
{
    AUTO_FREE double *sorted = has_nan(samples, count) ? NULL : sorted_copy(samples, count);
    double low;
    double high;
    double reach;
    size_t outside = 0;

    if (!sorted)
        return 0;
    low = sorted_quantile(sorted, count, 0.25);
    high = sorted_quantile(sorted, count, 0.75);
    reach = 3 * (high - low);
    for (size_t i = 0; i < count; i++)
        outside += samples[i] < low - reach || samples[i] > high + reach;
    return outside;
}

/* Speed-up. */

/* The k-th smallest sample (Hoare's selection); afterwards nothing before index k is larger. Reorders. */
static double select_sample(double *samples, size_t count, size_t k)
{
    size_t low = 0, high = count - 1;

    while (low < high) {
        double pivot = samples[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (samples[i] < pivot)
                i++;
            while (samples[j] > pivot)
                j--;
            if (i >= j)
                break;
            double swap = samples[i];
            samples[i++] = samples[j];
            samples[j--] = swap;
        }
        if (k <= j)
            high = j;
        else
            low = j + 1;
    }
    return samples[k];
}

/* Reorders; no NaN, count >= 1. A bootstrap takes thousands of medians, so this does not sort. */
static double median_in_place(double *samples, size_t count)
{
    double upper = select_sample(samples, count, count / 2);
    double lower = upper;

    if (count % 2 == 0)
        for (size_t i = 0; i < count / 2; i++)
            lower = i == 0 || samples[i] > lower ? samples[i] : lower;
    return (lower + upper) / 2;
}

/* One bootstrap draw of reference mean / candidate mean. `a` and `b` hold the largest trial. */
static double draw_speedup(const struct statistics_trial *trials, size_t count, double *a, double *b, uint64_t *state)
{
    double candidate = 0;
    double reference = 0;

    for (size_t t = 0; t < count; t++) {
        const struct statistics_trial *trial = &trials[t];
        bool paired = trial->candidate_count == trial->reference_count;
        for (size_t i = 0; i < trial->candidate_count; i++) {
            size_t pick = random_index(state, trial->candidate_count);
            a[i] = trial->candidate_ms[pick];
            if (paired)
                b[i] = trial->reference_ms[pick];
        }
        for (size_t i = 0; i < trial->reference_count && !paired; i++)
            b[i] = trial->reference_ms[random_index(state, trial->reference_count)];
        candidate += median_in_place(a, trial->candidate_count);
        reference += median_in_place(b, trial->reference_count);
    }
    return reference / candidate;
}

static struct interval bootstrap(struct arena *arena, const struct statistics_trial *trials, size_t count,
                                 int resamples, uint64_t seed)
{
    size_t draws = resamples > 0 ? (size_t)resamples : DEFAULT_RESAMPLES;
    size_t largest = 1;
    double *speedups;
    double *a;
    double *b;

    for (size_t t = 0; t < count; t++) {
        if (trials[t].candidate_count < MIN_SAMPLES || trials[t].reference_count < MIN_SAMPLES ||
            has_nan(trials[t].candidate_ms, trials[t].candidate_count) ||
            has_nan(trials[t].reference_ms, trials[t].reference_count))
            return (struct interval){0};
        if (trials[t].candidate_count > largest)
            largest = trials[t].candidate_count;
        if (trials[t].reference_count > largest)
            largest = trials[t].reference_count;
    }
    speedups = arena_calloc(arena, draws, sizeof *speedups);
    a = arena_calloc(arena, largest, sizeof *a);
    b = arena_calloc(arena, largest, sizeof *b);
    for (size_t i = 0; i < draws; i++)
        speedups[i] = draw_speedup(trials, count, a, b, &seed);
    if (has_nan(speedups, draws))
        return (struct interval){0};
    qsort(speedups, draws, sizeof *speedups, compare_doubles);
    return (struct interval){true, sorted_quantile(speedups, draws, 0.025), sorted_quantile(speedups, draws, 0.975)};
}

/* Coefficient of variation over the samples of all trials. */
static struct number joint_cv(struct arena *arena, const struct statistics_trial *trials, size_t count, bool candidate)
{
    double *all;
    size_t total = 0;

    for (size_t t = 0; t < count; t++)
        total += candidate ? trials[t].candidate_count : trials[t].reference_count;
    all = arena_calloc(arena, total, sizeof *all);
    total = 0;
    for (size_t t = 0; t < count; t++) {
        const double *from = candidate ? trials[t].candidate_ms : trials[t].reference_ms;
        size_t samples = candidate ? trials[t].candidate_count : trials[t].reference_count;
        if (samples)
            memcpy(all + total, from, samples * sizeof *all);
        total += samples;
    }
    return statistics_cv(all, total);
}

struct statistics_speedup statistics_speedup(struct arena *arena, const struct statistics_trial *trials, size_t count,
                                             int resamples, uint64_t seed)
{
    struct statistics_speedup out = {0};
    double candidate = 0;
    double reference = 0;
    double first[2] = {0};
    double last[2] = {0};
    int64_t outliers = 0;
    int64_t samples = 0;

    for (size_t t = 0; t < count; t++) {
        const struct statistics_trial *trial = &trials[t];
        struct number a = statistics_median(trial->candidate_ms, trial->candidate_count);
        struct number b = statistics_median(trial->reference_ms, trial->reference_count);
        if (!a.known || !b.known)
            return out;
        candidate += a.value;
        reference += b.value;
        last[0] = a.value;
        last[1] = b.value;
        if (t == 0)
            memcpy(first, last, sizeof first);
        samples += (int64_t)trial->candidate_count;
        outliers += (int64_t)statistics_outliers(trial->candidate_ms, trial->candidate_count);
        outliers += (int64_t)statistics_outliers(trial->reference_ms, trial->reference_count);
    }
    if (count == 0)
        return out;
    out.latency_ms = number_of(candidate / (double)count);
    out.reference_latency_ms = number_of(reference / (double)count);
    if (candidate > 0)
        out.speedup = number_of(out.reference_latency_ms.value / out.latency_ms.value);
    out.n = count_of(samples);
    out.outliers = count_of(outliers);
    out.candidate_cv = joint_cv(arena, trials, count, true);
    out.reference_cv = joint_cv(arena, trials, count, false);
    if (count > 1 && first[0] > 0 && first[1] > 0) {
        out.drift = number_of(last[0] / first[0] - 1);
        out.reference_drift = number_of(last[1] / first[1] - 1);
    }
    if (out.speedup.known)
        out.ci95 = bootstrap(arena, trials, count, resamples, seed);
    return out;
}

/* Rank test. */

struct ranked {
    double value;
    bool from_a;
};

static int compare_ranked(const void *a, const void *b)
{
    return compare_doubles(&((const struct ranked *)a)->value, &((const struct ranked *)b)->value);
}

static double normal_tail(double z)
{
    return 0.5 * erfc(z / sqrt(2));
}

struct statistics_rank_test statistics_rank_test(struct arena *arena, const double *a, size_t a_count, const double *b,
                                                 size_t b_count)
{
    struct statistics_rank_test out = {0};
    size_t count = a_count + b_count;
    double n = (double)count;
    double pairs = (double)a_count * (double)b_count;
    double rank_sum = 0; /* of a */
    double ties = 0;
    struct ranked *all;
    double smaller;
    double deviation;

    if (!a_count || !b_count || has_nan(a, a_count) || has_nan(b, b_count))
        return out;
    all = arena_calloc(arena, count, sizeof *all);
    for (size_t i = 0; i < count; i++)
        all[i] = (struct ranked){i < a_count ? a[i] : b[i - a_count], i < a_count};
    qsort(all, count, sizeof *all, compare_ranked);
    for (size_t i = 0, end; i < count; i = end) {
        double tied;
        for (end = i + 1; end < count && compare_ranked(&all[end], &all[i]) == 0;)
            end++;
        tied = (double)(end - i);
        ties += tied * tied * tied - tied;
        for (size_t j = i; j < end; j++)
            rank_sum += all[j].from_a ? ((double)i + 1 + (double)end) / 2 : 0;
    }
    /* Pairs in which a is larger: rank sum minus its least possible value. */
    smaller = pairs - (rank_sum - (double)a_count * ((double)a_count + 1) / 2);
    deviation = sqrt(pairs / 12 * (n + 1 - ties / (n * (n - 1))));
    out.smaller_share = number_of(smaller / pairs);
    out.p_value = number_of(deviation > 0 ? normal_tail((smaller - pairs / 2 - 0.5) / deviation) : 1);
    return out;
}

/* Memoised results. */

#define MEMO_P 0.001
#define MEMO_SHARE 0.10
#define MEMO_LEAST_MS 0.002

/* Could that many samples reject chance at all, were they perfectly separated? */
static bool enough_samples(size_t a_count, size_t b_count)
{
    double pairs = (double)a_count * (double)b_count;
    double deviation = sqrt(pairs / 12 * (double)(a_count + b_count + 1));

    return a_count >= MIN_SAMPLES && b_count >= MIN_SAMPLES && normal_tail((pairs / 2 - 0.5) / deviation) < MEMO_P;
}

struct statistics_memo statistics_memo_test(struct arena *arena, const double *fresh_ms, size_t fresh_count,
                                            const double *repeated_ms, size_t repeated_count)
{
    struct statistics_memo out = {0};
    struct statistics_rank_test test = statistics_rank_test(arena, repeated_ms, repeated_count, fresh_ms, fresh_count);
    double gain;

    out.fresh_median_ms = statistics_median(fresh_ms, fresh_count);
    out.repeated_median_ms = statistics_median(repeated_ms, repeated_count);
    out.p_value = test.p_value;
    if (!test.p_value.known || !enough_samples(fresh_count, repeated_count)) {
        out.explanation = arena_printf(arena, "too few samples to tell: %zu on fresh inputs, %zu on repeated ones",
                                       fresh_count, repeated_count);
        return out;
    }
    gain = out.fresh_median_ms.value - out.repeated_median_ms.value;
    out.memoised = tristate_of(gain > MEMO_SHARE * out.fresh_median_ms.value && gain > MEMO_LEAST_MS &&
                               test.p_value.value < MEMO_P);
    out.explanation = arena_printf(
        arena, "%s: median %.4g ms on fresh inputs (n = %zu), %.4g ms on repeated ones (n = %zu), p = %.2g",
        out.memoised == TRISTATE_YES ? "results are kept between calls" : "no sign of kept results",
        out.fresh_median_ms.value, fresh_count, out.repeated_median_ms.value, repeated_count, test.p_value.value);
    return out;
}

/* Wall-clock audit. */

#define AUDIT_SHARE 0.10
#define AUDIT_OVERHEAD_US 20.0

static struct audit conclude(struct arena *arena, enum audit_result result, const struct audit_input *input,
                             const char *why)
{
    return (struct audit){result, arena_printf(arena, "%s: device %.4g ms, wall clock %.4g ms over %lld calls", why,
                                               input->device_ms, input->wall_ms, (long long)input->calls)};
}

struct audit statistics_audit(struct arena *arena, const struct audit_input *input)
{
    double overhead_us = input->overhead_us > 0 ? input->overhead_us : AUDIT_OVERHEAD_US;
    double fixed_ms = overhead_us / 1000 * (double)input->calls;
    double tolerance = fmax(AUDIT_SHARE * input->device_ms, fixed_ms);

    if (input->calls <= 0 || !(input->device_ms >= 0) || !isfinite(input->wall_ms))
        return conclude(arena, AUDIT_UNKNOWN, input, "nothing to compare");
    if (input->wall_ms <= input->device_ms + tolerance)
        return conclude(arena, AUDIT_CONSISTENT, input, "the clocks agree");
    if (input->busy_ms.known && input->busy_ms.value > input->device_ms + tolerance)
        return conclude(arena, AUDIT_FORGED, input, "the device was busy for longer than its timestamps say");
    if (input->busy_ms.known)
        return conclude(arena, AUDIT_HOST_TIME, input, "the device was idle for the rest of the time");
    if (input->host_ms.known && input->wall_ms <= input->device_ms + input->host_ms.value + tolerance)
        return conclude(arena, AUDIT_HOST_TIME, input, "time inside the entry point explains the difference");
    if (input->host_ms.known)
        return conclude(arena, AUDIT_FORGED, input,
                        "neither device timestamps nor time inside the entry point explain the wall time");
    return conclude(arena, AUDIT_UNKNOWN, input, "host work or false timestamps, there is no second clock to tell");
}

const char *audit_result_text(enum audit_result result)
{
    static const char *const texts[] = {"unknown", "consistent", "host_time", "forged"};

    return (size_t)result < ARRAY_LEN(texts) ? texts[result] : "unknown";
}
