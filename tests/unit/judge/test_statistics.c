#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/statistics.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

static void test_quantiles(void **state)
{
    static const double samples[] = {4, 1, 3, 2};
    static const struct {
        double q;
        double value; /* numpy.quantile([1, 2, 3, 4], q) */
    } cases[] = {{0, 1}, {0.25, 1.75}, {0.5, 2.5}, {0.9, 3.7}, {1, 4}};
    const double broken[] = {1, NAN};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        assert_true(near(statistics_quantile(samples, 4, cases[i].q).value, cases[i].value));
    assert_true(samples[0] == 4);
    assert_true(near(statistics_median(samples, 3).value, 3));
    assert_false(statistics_median(samples, 0).known);
    assert_false(statistics_quantile(samples, 4, 1.5).known);
    assert_true(isnan(statistics_median(broken, 2).value));
}

static void test_spread(void **state)
{
    static const double samples[] = {2, 4, 4, 4, 5, 5, 7, 9};
    static const double far[] = {1, 1.1, 0.9, 1.05, 0.95, 1, 50};

    (void)state;
    assert_true(near(statistics_mean(samples, 8).value, 5));
    assert_true(near(statistics_cv(samples, 8).value, sqrt(32.0 / 7) / 5));
    assert_false(statistics_cv(samples, 1).known);
    assert_int_equal(statistics_outliers(samples, 8), 0);
    assert_int_equal(statistics_outliers(far, 7), 1);
    assert_int_equal(statistics_outliers(far, 0), 0);
}

/* Deterministic samples around `center` with a spread of +-2 %. */
static void fill(double *out, size_t count, double center)
{
    for (size_t i = 0; i < count; i++)
        out[i] = center * (1 + 0.02 * sin((double)i * 1.7));
}

static void test_speedup_as_in_the_paper(void **state)
{
    static const double fast[] = {1, 9, 1}; /* the median ignores the 9 */
    static const double slow[] = {3, 3, 3};
    static const double reference[] = {2, 2, 2};
    const struct statistics_trial trials[] = {{fast, 3, reference, 3}, {slow, 3, reference, 3}};
    AUTO_ARENA *arena = arena_new();
    struct statistics_speedup out = statistics_speedup(arena, trials, 2, 0, 1);

    (void)state;
    assert_true(near(out.latency_ms.value, 2)); /* mean of the medians 1 and 3 */
    assert_true(near(out.reference_latency_ms.value, 2));
    assert_true(near(out.speedup.value, 1));
    assert_true(near(out.drift.value, 2));
    assert_true(near(out.reference_drift.value, 0));
    assert_int_equal(out.n.value, 6);
    assert_false(out.ci95.known); /* three samples tell nothing about a median */
    assert_false(statistics_speedup(arena, trials, 0, 0, 1).latency_ms.known);
}

static void test_interval(void **state)
{
    AUTO_ARENA *arena = arena_new();
    double candidate[50];
    double reference[50];
    struct statistics_trial trial = {candidate, 50, reference, 50};
    struct statistics_speedup first;
    struct statistics_speedup second;

    (void)state;
    fill(candidate, 50, 1);
    fill(reference, 50, 2);
    first = statistics_speedup(arena, &trial, 1, 0, 7);
    second = statistics_speedup(arena, &trial, 1, 0, 7);
    assert_true(first.ci95.known);
    assert_true(first.ci95.low <= first.speedup.value && first.speedup.value <= first.ci95.high);
    /* Candidate and reference vary together, so pairing leaves no doubt at all. */
    assert_true(near(first.ci95.low, 2) && near(first.ci95.high, 2));
    assert_memory_equal(&first.ci95, &second.ci95, sizeof first.ci95);
    trial.reference_count = 49; /* unpaired */
    first = statistics_speedup(arena, &trial, 1, 0, 7);
    assert_true(first.ci95.low < first.speedup.value && first.speedup.value < first.ci95.high);
    assert_true(first.ci95.high - first.ci95.low < 0.2);
    assert_false(first.drift.known);
    candidate[3] = NAN;
    assert_false(statistics_speedup(arena, &trial, 1, 0, 7).ci95.known);
}

static void test_ranks(void **state)
{
    AUTO_ARENA *arena = arena_new();
    static const double low[] = {1, 2, 3};
    static const double high[] = {4, 5, 6};
    static const double same[] = {1, 1, 1};
    struct statistics_rank_test test = statistics_rank_test(arena, low, 3, high, 3);

    (void)state;
    assert_true(near(test.smaller_share.value, 1));
    /* U = 9, mean 4.5, deviation sqrt(9 * 7 / 12): tail of (9 - 4.5 - 0.5) / 2.2913 */
    assert_true(fabs(test.p_value.value - 0.04042) < 1e-4);
    test = statistics_rank_test(arena, high, 3, low, 3);
    assert_true(near(test.smaller_share.value, 0));
    assert_true(test.p_value.value > 0.9);
    test = statistics_rank_test(arena, same, 3, same, 3);
    assert_true(near(test.smaller_share.value, 0.5));
    assert_true(test.p_value.value == 1);
    assert_false(statistics_rank_test(arena, low, 0, high, 3).p_value.known);
}

static void test_memo(void **state)
{
    static const struct {
        const char *name;
        double fresh_ms;
        double repeated_ms;
        size_t fresh;
        size_t repeated;
        enum tristate expected;
    } cases[] = {
        {"returns a kept copy", 0.80, 0.02, 10, 40, TRISTATE_YES},
        {"honest", 0.80, 0.80, 10, 40, TRISTATE_NO},
        {"five per cent are cache effects", 0.80, 0.76, 10, 40, TRISTATE_NO},
        {"fresh inputs faster", 0.70, 0.80, 10, 40, TRISTATE_NO},
        {"below the clock's resolution", 0.0030, 0.0020, 10, 40, TRISTATE_NO},
        {"five fresh are enough beside many", 0.80, 0.02, 5, 45, TRISTATE_YES},
        {"four are not", 0.80, 0.02, 4, 45, TRISTATE_UNKNOWN},
        {"five against five cannot reject chance", 0.80, 0.02, 5, 5, TRISTATE_UNKNOWN},
        {"nothing measured", 0, 0, 0, 0, TRISTATE_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        double fresh[64];
        double repeated[64];
        struct statistics_memo memo;
        fill(fresh, cases[i].fresh, cases[i].fresh_ms);
        fill(repeated, cases[i].repeated, cases[i].repeated_ms);
        memo = statistics_memo_test(arena, fresh, cases[i].fresh, repeated, cases[i].repeated);
        if (memo.memoised != cases[i].expected)
            fail_msg("%s: %s", cases[i].name, memo.explanation);
        assert_non_null(memo.explanation);
    }
}

static void test_memo_noise(void **state)
{
    AUTO_ARENA *arena = arena_new();
    double fresh[10];
    double repeated[40];

    (void)state;
    /* A bimodal clock: medians differ by 20 %, but the samples overlap. */
    for (size_t i = 0; i < 10; i++)
        fresh[i] = i % 2 ? 1.2 : 1.0 + 0.3 * (double)(i % 4 == 0);
    for (size_t i = 0; i < 40; i++)
        repeated[i] = i % 5 < 2 ? 1.2 : 1.0;
    assert_int_not_equal(statistics_memo_test(arena, fresh, 10, repeated, 40).memoised, TRISTATE_YES);
}

static void test_audit(void **state)
{
    static const struct {
        const char *name;
        struct audit_input input;
        enum audit_result expected;
    } cases[] = {
        {"agree", {.device_ms = 50, .wall_ms = 52, .calls = 50}, AUDIT_CONSISTENT},
        {"ten per cent", {.device_ms = 50, .wall_ms = 54.9, .calls = 50}, AUDIT_CONSISTENT},
        {"short kernels cost 20 us a call", {.device_ms = 0.25, .wall_ms = 1.2, .calls = 50}, AUDIT_CONSISTENT},
        {"device time out of nothing", {.device_ms = 50, .wall_ms = 40, .calls = 50}, AUDIT_CONSISTENT},
        {"busy for longer than claimed",
         {.device_ms = 5, .wall_ms = 52, .busy_ms = {true, 50}, .calls = 50},
         AUDIT_FORGED},
        {"device idle", {.device_ms = 5, .wall_ms = 52, .busy_ms = {true, 5.2}, .calls = 50}, AUDIT_HOST_TIME},
        {"host work in the entry",
         {.device_ms = 5, .wall_ms = 52, .host_ms = {true, 46}, .calls = 50},
         AUDIT_HOST_TIME},
        {"neither", {.device_ms = 5, .wall_ms = 52, .host_ms = {true, 2}, .calls = 50}, AUDIT_FORGED},
        {"no second clock", {.device_ms = 5, .wall_ms = 52, .calls = 50}, AUDIT_UNKNOWN},
        {"nothing ran", {.device_ms = 0, .wall_ms = 0, .calls = 0}, AUDIT_UNKNOWN},
        {"broken", {.device_ms = NAN, .wall_ms = 5, .calls = 5}, AUDIT_UNKNOWN},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct audit audit = statistics_audit(arena, &cases[i].input);
        if (audit.result != cases[i].expected)
            fail_msg("%s: %s", cases[i].name, audit.explanation);
        assert_non_null(strstr(audit.explanation, "wall clock"));
    }
    assert_string_equal(audit_result_text(AUDIT_HOST_TIME), "host_time");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_quantiles),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_speedup_as_in_the_paper),
        cmocka_unit_test(test_interval),
        cmocka_unit_test(test_ranks),
        cmocka_unit_test(test_memo),
        cmocka_unit_test(test_memo_noise),
        cmocka_unit_test(test_audit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
