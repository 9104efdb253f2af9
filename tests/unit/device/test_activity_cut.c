#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "device/activity.h"

enum { MOST_SPANS = 16, MOST_ITERATIONS = 4 };

struct cut_case {
    const char *name;
    struct activity_span spans[MOST_SPANS]; /* ended by a span of length 0 */
    int flushes;
    struct activity_iteration wanted[MOST_ITERATIONS]; /* start, duration, records, kernels, late */
};

#define FLUSH(start, end)                                                                                              \
    {                                                                                                                  \
        start, end, ACTIVITY_FLUSH                                                                                     \
    }
#define KERNEL(start, end)                                                                                             \
    {                                                                                                                  \
        start, end, ACTIVITY_KERNEL                                                                                    \
    }
#define MEMORY(start, end)                                                                                             \
    {                                                                                                                  \
        start, end, ACTIVITY_MEMORY                                                                                    \
    }
#define MARK(start, end)                                                                                               \
    {                                                                                                                  \
        start, end, ACTIVITY_CALL_END                                                                                  \
    }

static const struct cut_case cases[] = {
    {"nothing", {{0}}, 0, {{0}}},
    {"work without any flush", {KERNEL(10, 20)}, 0, {{0}}},
    {"a flush alone", {FLUSH(0, 10)}, 1, {{0}}},
    {"one kernel", {FLUSH(0, 10), KERNEL(20, 50)}, 1, {{20, 30, 1, 1, 0}}},
    {"work before the first flush is nobody's",
     {KERNEL(1, 5), MEMORY(6, 9), FLUSH(10, 20), KERNEL(30, 40)},
     1,
     {{30, 10, 1, 1, 0}}},
    {"gaps between kernels count",
     {FLUSH(0, 10), KERNEL(20, 30), KERNEL(100, 110), MEMORY(200, 260)},
     1,
     {{20, 240, 3, 2, 0}}},
    {"overlapping streams count once",
     {FLUSH(0, 10), KERNEL(20, 100), KERNEL(30, 60), KERNEL(25, 90)},
     1,
     {{20, 80, 3, 3, 0}}},
    {"a short kernel behind a long one does not shorten it",
     {FLUSH(0, 10), KERNEL(20, 500), KERNEL(400, 410)},
     1,
     {{20, 480, 2, 2, 0}}},
    {"iterations in a row",
     {FLUSH(0, 10), KERNEL(20, 30), FLUSH(40, 50), KERNEL(60, 75), MEMORY(75, 80), FLUSH(90, 95)},
     3,
     {{20, 10, 1, 1, 0}, {60, 20, 2, 1, 0}, {0}}},
    {"any order of records",
     {KERNEL(60, 75), FLUSH(40, 50), KERNEL(20, 30), FLUSH(0, 10)},
     2,
     {{20, 10, 1, 1, 0}, {60, 15, 1, 1, 0}}},
    {"work that runs into the next flush belongs to where it started",
     {FLUSH(0, 10), KERNEL(20, 45), FLUSH(40, 50), KERNEL(60, 70)},
     2,
     {{20, 25, 1, 1, 0}, {60, 10, 1, 1, 0}}},
    {"work beside a flush belongs to the iteration that this flush opens",
     {FLUSH(0, 10), KERNEL(20, 30), FLUSH(40, 50), KERNEL(45, 70)},
     2,
     {{20, 10, 1, 1, 0}, {45, 25, 1, 1, 0}}},
    {"work that starts with a flush is its iteration's, however the records come",
     {KERNEL(40, 60), FLUSH(40, 50), KERNEL(0, 5)},
     1,
     {{40, 20, 1, 1, 0}}},
    {"the marker is no work", {FLUSH(0, 10), KERNEL(20, 30), MARK(35, 36)}, 1, {{20, 10, 1, 1, 0}}},
    {"a marker alone", {FLUSH(0, 10), MARK(35, 36)}, 1, {{0}}},
    {"work that ended after the marker had started is late",
     {FLUSH(0, 10), KERNEL(20, 30), KERNEL(25, 80), MEMORY(50, 60), MARK(35, 36)},
     1,
     {{20, 60, 3, 2, 2}}},
    {"work that ended with the marker's start is not",
     {FLUSH(0, 10), KERNEL(20, 35), MARK(35, 36)},
     1,
     {{20, 15, 1, 1, 0}}},
    {"the first of several markers counts",
     {FLUSH(0, 10), KERNEL(20, 40), MARK(50, 51), MARK(35, 36)},
     1,
     {{20, 20, 1, 1, 1}}},
    {"late is counted per iteration",
     {FLUSH(0, 10), KERNEL(20, 30), MARK(35, 36), FLUSH(40, 50), KERNEL(60, 90), MARK(70, 71)},
     2,
     {{20, 10, 1, 1, 0}, {60, 30, 1, 1, 1}}},
    {"more flushes than asked for are counted",
     {FLUSH(0, 1), KERNEL(2, 3), FLUSH(10, 11), KERNEL(12, 14), FLUSH(20, 21), KERNEL(22, 25), FLUSH(30, 31),
      KERNEL(32, 36), FLUSH(40, 41), KERNEL(42, 99), FLUSH(50, 51)},
     6,
     {{2, 1, 1, 1, 0}, {12, 2, 1, 1, 0}, {22, 3, 1, 1, 0}, {32, 4, 1, 1, 0}}},
};

static int count_spans(const struct activity_span *spans)
{
    int count = 0;

    while (count < MOST_SPANS && spans[count].end_ns)
        count++;
    return count;
}

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct activity_span spans[MOST_SPANS];
        struct activity_iteration got[MOST_ITERATIONS];
        memcpy(spans, cases[i].spans, sizeof spans);
        memset(got, 0xee, sizeof got);
        int flushes = activity_cut(spans, count_spans(spans), got, MOST_ITERATIONS);
        if (flushes != cases[i].flushes || memcmp(got, cases[i].wanted, sizeof got) != 0)
            print_error("case: %s\n", cases[i].name);
        assert_int_equal(flushes, cases[i].flushes);
        for (int k = 0; k < MOST_ITERATIONS; k++) {
            assert_int_equal(got[k].start_ns, cases[i].wanted[k].start_ns);
            assert_int_equal(got[k].duration_ns, cases[i].wanted[k].duration_ns);
            assert_int_equal(got[k].records, cases[i].wanted[k].records);
            assert_int_equal(got[k].kernels, cases[i].wanted[k].kernels);
            assert_int_equal(got[k].late, cases[i].wanted[k].late);
        }
    }
}

/* Times near the end of the range: sorting must not subtract, sums must not overflow. */
static void test_large_times(void **state)
{
    struct activity_span spans[] = {KERNEL(INT64_MAX - 10, INT64_MAX), FLUSH(0, 1)};
    struct activity_iteration got;

    (void)state;
    assert_int_equal(activity_cut(spans, 2, &got, 1), 1);
    assert_int_equal(got.start_ns, INT64_MAX - 10);
    assert_int_equal(got.duration_ns, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases), cmocka_unit_test(test_large_times)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
