#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/attributes.h"
#include "judge/tolerance.h"

static void test_rules(void **state)
{
    static const struct {
        double got;
        double expected;
        bool allclose;
        bool flashinfer;
    } cases[] = {
        {1, 1, true, true},
        {0, 0, true, true},
        {-0.0, 0.0, true, true},
        {1.0199, 1.0, true, false}, /* sum of both bounds against the larger of them */
        {1.0201, 1.0, false, false},
        {1.0099, 1.0, true, true},
        {0.0099, 0.0, true, true},
        {0.0101, 0.0, false, false},
        {100.9, 100, true, true},
        {101.02, 100, false, false},
        {-100.9, -100, true, true},
        {100, -100, false, false},
        {NAN, NAN, false, false},
        {NAN, 1, false, false},
        {1, NAN, false, false},
        {INFINITY, INFINITY, true, true},
        {-INFINITY, -INFINITY, true, true},
        {INFINITY, -INFINITY, false, false},
        {INFINITY, 1, false, false},
        {1, INFINITY, false, false}, /* rtol * inf must not swallow a finite result */
        {1e300, -INFINITY, false, false},
    };
    struct tolerance rule = tolerance_paper();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        rule.rule = TOLERANCE_ALLCLOSE;
        if (tolerance_agrees(&rule, cases[i].got, cases[i].expected) != cases[i].allclose)
            fail_msg("allclose, case %zu", i);
        rule.rule = TOLERANCE_FLASHINFER;
        if (tolerance_agrees(&rule, cases[i].got, cases[i].expected) != cases[i].flashinfer)
            fail_msg("flashinfer, case %zu", i);
    }
}

static void test_zero_tolerance_is_equality(void **state)
{
    struct tolerance exact = {TOLERANCE_ALLCLOSE, 0, 0, 1};

    (void)state;
    assert_true(tolerance_agrees(&exact, 0.5, 0.5));
    assert_false(tolerance_agrees(&exact, 0.5, nextafter(0.5, 1)));
    assert_true(tolerance_agrees(&exact, INFINITY, INFINITY));
}

static void test_errors(void **state)
{
    (void)state;
    assert_true(tolerance_absolute_error(INFINITY, INFINITY) == 0);
    assert_true(isinf(tolerance_absolute_error(INFINITY, -INFINITY)));
    assert_true(isinf(tolerance_absolute_error(INFINITY, 1)));
    assert_true(isnan(tolerance_absolute_error(NAN, 1)));
    assert_true(isnan(tolerance_relative_error(1, NAN)));
    assert_true(tolerance_relative_error(INFINITY, INFINITY) == 0);
    assert_true(isinf(tolerance_relative_error(1, INFINITY)));
    assert_true(fabs(tolerance_relative_error(1.5, 1) - 0.5) < 1e-7);
    assert_true(fabs(tolerance_relative_error(1, 0) / 1e8 - 1) < 1e-12);
}

static void test_ratio(void **state)
{
    static const struct {
        double ratio;
        int64_t mismatches;
        int64_t elements;
        bool accepted;
    } cases[] = {
        {1, 0, 10, true},          {1, 1, INT64_C(1) << 60, false},
        {0.995, 5, 1000, true},    {0.995, 6, 1000, false},
        {0.5, 0, 0, true},         {1, 0, 0, true},
        {0.95, 1000, 1000, false},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tolerance rule = {TOLERANCE_ALLCLOSE, 1e-2, 1e-2, cases[i].ratio};
        if (tolerance_accepts(&rule, cases[i].mismatches, cases[i].elements) != cases[i].accepted)
            fail_msg("case %zu", i);
    }
}

static void test_validity_and_names(void **state)
{
    struct tolerance rule = tolerance_paper();
    enum tolerance_rule parsed;

    (void)state;
    assert_true(tolerance_valid(&rule));
    rule.atol = NAN;
    assert_false(tolerance_valid(&rule));
    rule = tolerance_paper();
    rule.rtol = -1;
    assert_false(tolerance_valid(&rule));
    rule = tolerance_paper();
    rule.required_ratio = 0;
    assert_false(tolerance_valid(&rule));
    assert_true(tolerance_rule_parse("flashinfer", &parsed));
    assert_int_equal(parsed, TOLERANCE_FLASHINFER);
    assert_false(tolerance_rule_parse("close", &parsed));
    assert_string_equal(tolerance_rule_text(TOLERANCE_ALLCLOSE), "allclose");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules), cmocka_unit_test(test_zero_tolerance_is_equality), cmocka_unit_test(test_errors),
        cmocka_unit_test(test_ratio), cmocka_unit_test(test_validity_and_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
