#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/shim_options.h"

struct variable {
    const char *name, *value;
};

static const struct variable *variables; /* what the environment of the test under way holds; ends with NULL */

static const char *environment(const char *name)
{
    for (const struct variable *at = variables; at && at->name; at++)
        if (!strcmp(at->name, name))
            return at->value;
    return NULL;
}

static bool read_options(const struct variable *wanted, struct shim_options *out, struct error *error)
{
    variables = wanted;
    return shim_options_read(environment, 16ull << 30, out, error);
}

static void test_defaults(void **state)
{
    struct shim_options options;
    struct error error;

    (void)state;
    assert_true(read_options(NULL, &options, &error));
    assert_string_equal(options.arch, "sm_90a");
    assert_null(options.findings_path);
    assert_null(options.stats_path);
    assert_int_equal(options.findings_fd, -1);
    assert_int_equal(options.sample, 0);
    assert_false(options.guard);
    assert_false(options.launches);
    assert_false(options.quiet);
    assert_true(options.memory_bytes == 12ull << 30); /* three quarters of the machine */
    assert_true(shim_options_read(environment, 1ull << 40, &options, &error));
    assert_true(options.memory_bytes == 80ull << 30); /* and never more than an H100 has */
}

static void test_values(void **state)
{
    static const struct variable wanted[] = {{SHIM_ENV_ARCH, "sm_100a"},
                                             {SHIM_ENV_FINDINGS, "f.jsonl"},
                                             {SHIM_ENV_STATS, "-"},
                                             {SHIM_ENV_QUIET, "1"},
                                             {SHIM_ENV_BUDGET, "1000"},
                                             {SHIM_ENV_MEMORY, "3M"},
                                             {SHIM_ENV_SCHEDULE, "reverse,completion=late,shift=32,unchecked"},
                                             {NULL, NULL}};
    struct shim_options options;
    struct error error;

    (void)state;
    assert_true(read_options(wanted, &options, &error));
    assert_string_equal(options.arch, "sm_100a");
    assert_string_equal(options.findings_path, "f.jsonl");
    assert_true(options.quiet);
    assert_int_equal(options.budget, 1000);
    assert_int_equal(options.memory_bytes, 3 << 20);
    assert_true(options.schedule.reverse_warps);
    assert_true(options.schedule.unchecked);
    assert_int_equal(options.schedule.completion, 1);
    assert_int_equal(options.schedule.shared_shift, 32);
}

static void test_runner_values(void **state)
{
    static const struct variable wanted[] = {{SHIM_ENV_FINDINGS, "fd:4"}, {SHIM_ENV_LAUNCHES, "1"},
                                             {SHIM_ENV_SAMPLE, "4"},      {SHIM_ENV_GUARD, "1"},
                                             {SHIM_ENV_QUIET, "0"},       {NULL, NULL}};
    struct shim_options options;
    struct error error;

    (void)state;
    assert_true(read_options(wanted, &options, &error));
    assert_int_equal(options.findings_fd, 4);
    assert_null(options.findings_path);
    assert_true(options.launches);
    assert_true(options.guard);
    assert_false(options.quiet);
    assert_int_equal(options.sample, 4);
}

static void test_refused(void **state)
{
    static const struct variable bad[][2] = {
        {{SHIM_ENV_FINDINGS, "fd:x"}},    {{SHIM_ENV_SAMPLE, "-1"}},
        {{SHIM_ENV_ARCH, "sm_80"}},       {{SHIM_ENV_MEMORY, "8T"}},
        {{SHIM_ENV_MEMORY, "0"}},         {{SHIM_ENV_MEMORY, "-1"}},
        {{SHIM_ENV_MEMORY, "8GB"}},       {{SHIM_ENV_MEMORY, "99999999999G"}},
        {{SHIM_ENV_BUDGET, "many"}},      {{SHIM_ENV_SCHEDULE, "fast"}},
        {{SHIM_ENV_SCHEDULE, "shift=8"}}, {{SHIM_ENV_SCHEDULE, "quantum=-1"}},
    };
    struct shim_options options;
    struct error error;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (read_options(bad[i], &options, &error))
            fail_msg("%s=%s was accepted", bad[i][0].name, bad[i][0].value);
        assert_int_equal(error.code, ERROR_USAGE);
        assert_non_null(strstr(error.message, bad[i][0].value)); /* names what is wrong */
    }
}

static void test_schedule(void **state)
{
    struct emulator_schedule schedule;
    struct error error;

    (void)state;
    assert_true(shim_schedule_parse("", &schedule, &error));
    assert_int_equal(schedule.quantum, 32);
    assert_true(shim_schedule_parse("completion=random", &schedule, &error));
    assert_int_equal(schedule.quantum, 0);
    assert_true(shim_schedule_parse("quantum=0,completion=late", &schedule, &error));
    assert_int_equal(schedule.quantum, 0);
    assert_true(shim_schedule_parse("", &schedule, &error));
    assert_false(schedule.reverse_warps);
    assert_false(schedule.unchecked);
    assert_true(shim_schedule_parse("quantum=16,completion=random,seed=18446744073709551615", &schedule, &error));
    assert_int_equal(schedule.quantum, 16);
    assert_int_equal(schedule.completion, 2);
    assert_true(schedule.seed == UINT64_MAX);
    assert_false(shim_schedule_parse("seed=1,,reverse", &schedule, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),   cmocka_unit_test(test_runner_values),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_schedule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
