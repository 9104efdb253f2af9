/* Metrics on a set small enough to count by hand. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/flow.h"
#include "report/resample.h"

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

/* One letter a turn: T correct with target instructions, P plain, U unknown, x runtime error, i infrastructure, "." never
 * taken. Speed-ups are 0.1, 0.2, ... in the order of the correct turns. */
static struct turn_set *make_set(const char *const *trajectories, size_t count)
{
    static const char letters[] = "TPUxi";
    static const enum turn_outcome outcomes[] = {OUTCOME_CORRECT_TARGET, OUTCOME_CORRECT_PLAIN, OUTCOME_CORRECT_UNKNOWN,
                                                 OUTCOME_RUNTIME, OUTCOME_INFRASTRUCTURE};
    struct turn_set *set = turn_set_new();
    AUTO_ARENA *arena = arena_new();
    struct error error;
    double next = 0.1;

    for (size_t i = 0; i < count; i++) {
        for (size_t t = 0; trajectories[i][t]; t++) {
            const char *letter = strchr(letters, trajectories[i][t]);
            struct turn_row row = {.model = "m",
                                   .definition = "d",
                                   .run = "r",
                                   .variant = -1,
                                   .index = (int64_t)t,
                                   .trajectory = arena_printf(arena, "t%zu", i)};
            if (!letter)
                continue;
            row.outcome = outcomes[letter - letters];
            if (outcome_is_correct(row.outcome)) {
                row.speedup = number_of(next);
                next += 0.1;
            }
            assert_true(turn_set_add(set, &row, "f", i + 1, &error));
        }
    }
    assert_true(turn_set_close(set, &error));
    return set;
}

static const char *const five[] = {"xTP", "xxx", "U..", "PxT", "xiT"};
static const struct metric_options plain = {.resamples = -1};

static void test_rates(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = make_set(five, ARRAY_LEN(five));
    struct metric_scope scope = {.set = set};
    struct metric_options keep = plain;
    struct metrics one = metrics_of(&scope, 1, &plain);
    struct metrics three = metrics_of(&scope, 3, &plain);

    keep.keep_infrastructure = true;
    assert_int_equal(one.turns, 5);
    assert_int_equal(one.correct, 2);
    assert_int_equal(one.target, 0);
    assert_int_equal(one.unknown, 1);
    assert_near(one.turn_correctness.value.value, 0.4, 1e-12);
    assert_int_equal(three.turns, 14); /* 5 x 3, less one of infrastructure; two missing ones stay */
    assert_int_equal(three.missing, 2);
    assert_int_equal(three.infrastructure, 1);
    assert_int_equal(three.correct, 6);
    assert_int_equal(three.target, 3);
    assert_int_equal(metrics_of(&scope, 3, &keep).turns, 15);
    assert_near(three.target_turn_correctness.value.value, 3.0 / 14, 1e-12);
    assert_near(three.best_speedup.value.value, 0.6, 1e-12);
    assert_near(three.target_best_speedup.value.value, 0.6, 1e-12);
    assert_near(one.best_speedup.value.value, 0.4, 1e-12);
    assert_near(three.trajectory_correctness.value.value, 0.8, 1e-12);
    assert_near(three.target_trajectory_correctness.value.value, 0.6, 1e-12);
    assert_false(metrics_of(&scope, 4, &plain).planned);
    assert_false(metrics_of(&scope, 4, &plain).turn_correctness.value.known);
}

/* Five trajectories are variants 0 (four of them) and 1. */
static void test_variants(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = make_set(five, ARRAY_LEN(five));
    AUTO_ARENA *arena = arena_new();
    const uint32_t second[] = {1};
    struct metric_scope scope = {set, 0, second, 1};
    struct metric_scope all = {.set = set};
    size_t count;

    assert_int_equal(metric_scope_count(&scope), 1);
    assert_int_equal(metrics_of(&scope, 3, &plain).correct, 1);
    uint32_t *variants = metric_variants(arena, &all, &count);
    assert_int_equal(count, 2);
    assert_int_equal(variants[0], 0);
    assert_int_equal(variants[1], 1);
}

static void test_unconfirmed(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = make_set(five, ARRAY_LEN(five));
    struct metric_scope scope = {.set = set};

    set->series[0].sass[0] = (struct series_sass){.limit = 3, .unknown_turns = 2};
    set->series[0].sass_count = 1;
    struct metrics metrics = metrics_of(&scope, 3, &plain);
    assert_int_equal(metrics.unconfirmed, 1); /* one of the two is the turn that is marked unknown */
    assert_int_equal(metrics.target, 2);
    assert_int_equal(metrics.unknown, 2);
    assert_int_equal(metrics_of(&scope, 1, &plain).target, 0); /* the next higher limit is an upper bound */
}

static void test_pass_at_k(void **state)
{
    (void)state;
    assert_near(metric_pass_at_k(10, 3, 1).value, 0.3, 1e-12);
    assert_near(metric_pass_at_k(10, 3, 2).value, 1 - 7.0 * 6 / (10 * 9), 1e-12);
    assert_near(metric_pass_at_k(10, 0, 5).value, 0, 1e-12);
    assert_near(metric_pass_at_k(10, 6, 5).value, 1, 1e-12);
    assert_false(metric_pass_at_k(10, 3, 11).known);
    assert_false(metric_pass_at_k(10, 11, 1).known);
    assert_false(metric_pass_at_k(0, 0, 1).known);
}

static void test_fastp(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = make_set(five, ARRAY_LEN(five));
    AUTO_ARENA *arena = arena_new();
    struct metric_scope scope = {.set = set};
    struct fastp_curve all = metric_fastp(arena, &scope, 3, false, &plain);
    struct fastp_curve target = metric_fastp(arena, &scope, 3, true, &plain);
    struct fastp_band band = metric_fastp_band(arena, &scope, 3, false, &plain);

    assert_near(fastp_at(&all, 0), 6.0 / 14, 1e-12);
    assert_near(fastp_at(&all, 0.05), 6.0 / 14, 1e-12);
    assert_near(fastp_at(&all, 0.1), 5.0 / 14, 1e-12); /* above p, not at p */
    assert_near(fastp_at(&all, 0.35), 3.0 / 14, 1e-12);
    assert_near(fastp_at(&all, 9), 0, 1e-12);
    assert_near(fastp_at(&target, 0), 3.0 / 14, 1e-12);
    assert_near(all.best, 0.6, 1e-12);
    assert_int_equal(band.variants, 2);
    assert_int_equal(band.count, 7); /* 0 and six distinct speed-ups */
    assert_near(band.steps[6].p, 0.6, 1e-12);
    assert_near(band.steps[6].high, 0, 1e-12);
    assert_near(band.best, 0.6, 1e-12);
    assert_near(band.steps[0].low, 5.0 / 12, 1e-12);
    assert_near(band.steps[0].high, 1.0 / 2, 1e-12);
    assert_near(band.steps[0].mean, (5.0 / 12 + 1.0 / 2) / 2, 1e-12);
}

static void test_flow(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = make_set(five, ARRAY_LEN(five));
    AUTO_ARENA *arena = arena_new();
    struct metric_scope scope = {.set = set};
    struct flow_shares shares = flow_shares_new(arena, 8);
    static struct flow_transitions flow;

    flow_shares_add(&shares, &scope);
    flow_transitions_add(&flow, &scope, 8);
    assert_int_equal(flow_shares_at(&shares, 0, OUTCOME_RUNTIME), 3);
    assert_int_equal(flow_shares_at(&shares, 2, FLOW_MISSING), 1);
    assert_int_equal(flow_shares_at(&shares, 3, FLOW_MISSING), 0); /* only three turns were planned */
    assert_int_equal(flow.counts[OUTCOME_RUNTIME][OUTCOME_CORRECT_TARGET], 2);
    assert_int_equal(flow.counts[OUTCOME_CORRECT_UNKNOWN][FLOW_MISSING], 1);
    assert_int_equal(flow.counts[FLOW_MISSING][FLOW_MISSING], 1);
}

static void test_intervals(void **state)
{
    (void)state;
    AUTO_TURN_SET *set = make_set(five, ARRAY_LEN(five));
    AUTO_TURN_SET *few = make_set(five, 4);
    struct metric_scope scope = {.set = set};
    struct metric_scope of_few = {.set = few};
    struct metric_options options = {.seed = 3};
    struct metrics once = metrics_of(&scope, 3, &options);
    struct metrics again = metrics_of(&scope, 3, &options);
    struct interval interval = once.turn_correctness.ci95;

    assert_true(interval.known);
    assert_true(interval.low < 6.0 / 14 && interval.high > 6.0 / 14 && interval.low >= 0 && interval.high <= 1);
    assert_memory_equal(&interval, &again.turn_correctness.ci95, sizeof interval);
    assert_false(metrics_of(&of_few, 3, &options).turn_correctness.ci95.known); /* too few trajectories */
}

/* Half of all trajectories solve one of two turns: the interval of a mean of n Bernoulli clusters is known. */
static void test_interval_width(void **state)
{
    (void)state;
    struct tally tallies[400];
    struct interval ci95[ESTIMATES];

    for (size_t i = 0; i < ARRAY_LEN(tallies); i++)
        tallies[i] = (struct tally){.turns = 2, .correct = i % 2 ? 2 : 0};
    resample_intervals(tallies, ARRAY_LEN(tallies), 2000, 1, ci95);
    /* 0.5 +- 1.96 * 0.5 / sqrt(400); turns alone (n = 800) would give 0.035 */
    assert_near(ci95[ESTIMATE_TURN_CORRECTNESS].low, 0.451, 0.008);
    assert_near(ci95[ESTIMATE_TURN_CORRECTNESS].high, 0.549, 0.008);
}

static void compare(int correct_a, int correct_b, enum comparison expected)
{
    struct tally a[40];
    struct tally b[40];
    struct difference out[ESTIMATES];

    for (int i = 0; i < 40; i++) {
        a[i] = (struct tally){.turns = 8, .correct = i < correct_a ? 8 : 0, .best = 0.5};
        b[i] = (struct tally){.turns = 8, .correct = i < correct_b ? 8 : 0, .best = i ? 0.5 : 0.6};
    }
    struct difference_pair pair = {a, b, 40, 40, false};
    resample_difference(&pair, 1, 1000, 1, 0.05, out);
    assert_int_equal(out[ESTIMATE_TURN_CORRECTNESS].comparison, expected);
    assert_near(out[ESTIMATE_TURN_CORRECTNESS].difference.value, (correct_b - correct_a) / 40.0, 1e-12);
    /* one lucky trajectory in forty does not make a best speed-up better */
    assert_int_equal(out[ESTIMATE_BEST_SPEEDUP].comparison, COMPARISON_UNCLEAR);
}

static void test_comparisons(void **state)
{
    (void)state;
    struct tally none[4] = {{.turns = 8}};
    struct difference_pair few = {none, none, 4, 4, true};
    struct difference out[ESTIMATES];

    compare(10, 30, COMPARISON_BETTER);
    compare(30, 10, COMPARISON_WORSE);
    compare(20, 22, COMPARISON_UNCLEAR);
    compare(40, 40, COMPARISON_SAME);
    resample_difference(&few, 1, 1000, 1, 0.05, out);
    assert_int_equal(out[0].comparison, COMPARISON_UNCLEAR);
    assert_false(out[0].ci95.known);
}

/* Equal trajectories drawn together never differ; drawn apart they do. */
static void test_pairing(void **state)
{
    (void)state;
    struct tally tallies[20];
    struct difference out[ESTIMATES];

    for (int i = 0; i < 20; i++)
        tallies[i] = (struct tally){.turns = 8, .correct = i % 2 ? 8 : 0};
    struct difference_pair pair = {tallies, tallies, 20, 20, true};
    resample_difference(&pair, 1, 1000, 1, 0.05, out);
    assert_int_equal(out[0].comparison, COMPARISON_SAME);
    pair.paired = false;
    resample_difference(&pair, 1, 1000, 1, 0.05, out);
    assert_int_equal(out[0].comparison, COMPARISON_UNCLEAR);
}

/* Fills 20 trajectories: the first reached `first`, all others `rest`. */
static void reach(struct tally tallies[20], double first, double rest)
{
    for (int i = 0; i < 20; i++)
        tallies[i] = (struct tally){.turns = 8, .correct = 1, .best = i ? rest : first};
}

static enum comparison best_of(const struct tally *a, const struct tally *b)
{
    struct difference_pair pair = {a, b, 20, 20, true};
    struct difference out[ESTIMATES];

    resample_difference(&pair, 1, 1000, 1, 0.05, out);
    return out[ESTIMATE_BEST_SPEEDUP].comparison;
}

/* A best speed-up that hangs on one trajectory does not beat another, although the interval of the paired difference,
 * 0.1 to 0.25, excludes 0. */
static void test_best_speedups(void **state)
{
    (void)state;
    struct tally a[20];
    struct tally b[20];

    reach(a, 0.65, 0.5);
    reach(b, 0.9, 0.6);
    assert_int_equal(best_of(a, b), COMPARISON_UNCLEAR);
    assert_int_equal(best_of(b, a), COMPARISON_UNCLEAR);
    reach(b, 0.9, 0.8);
    assert_int_equal(best_of(a, b), COMPARISON_BETTER);
    assert_int_equal(best_of(b, a), COMPARISON_WORSE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rates),     cmocka_unit_test(test_variants),       cmocka_unit_test(test_unconfirmed),
        cmocka_unit_test(test_pass_at_k), cmocka_unit_test(test_fastp),          cmocka_unit_test(test_flow),
        cmocka_unit_test(test_intervals), cmocka_unit_test(test_interval_width), cmocka_unit_test(test_comparisons),
        cmocka_unit_test(test_pairing),   cmocka_unit_test(test_best_speedups),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
