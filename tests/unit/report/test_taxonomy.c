#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/taxonomy.h"

struct verdict_case {
    enum verdict_status status;
    enum blame blame;
    enum verdict_executed executed;
    int finding; /* -1: none */
    enum turn_outcome expected;
};

static const struct verdict_case cases[] = {
    {VERDICT_PASSED, BLAME_NONE, EXECUTED_YES, -1, OUTCOME_CORRECT_TARGET},
    {VERDICT_PASSED, BLAME_NONE, EXECUTED_NO, -1, OUTCOME_CORRECT_PLAIN},
    {VERDICT_PASSED, BLAME_NONE, EXECUTED_NEVER, FINDING_TARGET_ABSENT, OUTCOME_CORRECT_PLAIN},
    {VERDICT_PASSED, BLAME_NONE, EXECUTED_UNKNOWN, -1, OUTCOME_CORRECT_UNKNOWN},
    {VERDICT_PASSED, BLAME_NONE, EXECUTED_YES, FINDING_HOST_TIME, OUTCOME_CORRECT_TARGET},
    {VERDICT_COMPILE_ERROR, BLAME_CANDIDATE, EXECUTED_UNKNOWN, FINDING_COMPILE_ERROR, OUTCOME_COMPILE},
    {VERDICT_COMPILE_ERROR, BLAME_CANDIDATE, EXECUTED_UNKNOWN, FINDING_BANNED_LIBRARY, OUTCOME_BANNED_LIBRARY},
    {VERDICT_COMPILE_ERROR, BLAME_CANDIDATE, EXECUTED_UNKNOWN, FINDING_FOREIGN_CODE, OUTCOME_SCREENING},
    {VERDICT_RUNTIME_ERROR, BLAME_CANDIDATE, EXECUTED_UNKNOWN, FINDING_ILLEGAL_ADDRESS, OUTCOME_RUNTIME},
    {VERDICT_RUNTIME_ERROR, BLAME_CANDIDATE, EXECUTED_UNKNOWN, FINDING_REPORT_FORGED, OUTCOME_SCREENING},
    {VERDICT_TIMEOUT, BLAME_CANDIDATE, EXECUTED_UNKNOWN, FINDING_KERNEL_HANG, OUTCOME_HANG},
    {VERDICT_TIMEOUT, BLAME_CANDIDATE, EXECUTED_UNKNOWN, -1, OUTCOME_HANG},
    {VERDICT_INCORRECT_NUMERICAL, BLAME_CANDIDATE, EXECUTED_UNKNOWN, FINDING_NAN, OUTCOME_NUMERICAL},
    {VERDICT_INCORRECT_SHAPE, BLAME_CANDIDATE, EXECUTED_UNKNOWN, FINDING_WRONG_SHAPE, OUTCOME_SHAPE_DTYPE},
    {VERDICT_INCORRECT_DTYPE, BLAME_CANDIDATE, EXECUTED_UNKNOWN, -1, OUTCOME_SHAPE_DTYPE},
    {VERDICT_INFRA_ERROR, BLAME_INFRASTRUCTURE, EXECUTED_UNKNOWN, -1, OUTCOME_INFRASTRUCTURE},
    {VERDICT_INFRA_ERROR, BLAME_TOOL, EXECUTED_UNKNOWN, FINDING_TOOL_TROUBLE, OUTCOME_INFRASTRUCTURE},
    {VERDICT_RUNTIME_ERROR, BLAME_DEVICE, EXECUTED_UNKNOWN, FINDING_DEVICE_TROUBLE, OUTCOME_INFRASTRUCTURE},
};

static void test_verdicts(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct verdict *verdict = verdict_new(arena);
        verdict->status = cases[i].status;
        verdict->blame = cases[i].blame;
        verdict->target.executed = cases[i].executed;
        if (cases[i].finding >= 0)
            (void)finding_add(&verdict->findings, arena, (enum finding_code)cases[i].finding, "text says nothing");
        if (outcome_of_verdict(verdict) != cases[i].expected)
            fail_msg("case %zu: %s, expected %s", i, outcome_key(outcome_of_verdict(verdict)),
                     outcome_key(cases[i].expected));
    }
}

static void test_labels(void **state)
{
    (void)state;
    enum turn_outcome outcome;

    assert_true(outcome_of_label("Correct", TRISTATE_YES, &outcome));
    assert_int_equal(outcome, OUTCOME_CORRECT_TARGET);
    assert_true(outcome_of_label("Correct", TRISTATE_UNKNOWN, &outcome));
    assert_int_equal(outcome, OUTCOME_CORRECT_UNKNOWN);
    assert_true(outcome_of_label("Kernel Execution Timeout", TRISTATE_NO, &outcome));
    assert_int_equal(outcome, OUTCOME_HANG);
    assert_true(outcome_of_label("Profiling Service Timeout", TRISTATE_NO, &outcome));
    assert_int_equal(outcome, OUTCOME_INFRASTRUCTURE);
    assert_false(outcome_of_label("correct", TRISTATE_NO, &outcome)); /* exactly as published */
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        assert_true(outcome_parse(outcome_key((enum turn_outcome)i), &outcome));
        assert_int_equal(outcome, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts), cmocka_unit_test(test_labels)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
