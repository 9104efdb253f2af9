#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/csv.h"

/* Rows separated by "|", cells by ";", so that a table of cases stays readable. */
static void check(const char *text, const char *expected)
{
    AUTO_ARENA *arena = arena_new();
    struct csv_reader reader = csv_reader_new(text, strlen(text));
    struct csv_row row;
    char got[512] = "";
    int rows = 0;

    while (csv_next(&reader, arena, &row)) {
        if (rows++)
            strcat(got, "|");
        for (size_t i = 0; i < row.count; i++) {
            if (i)
                strcat(got, ";");
            strcat(got, row.cells[i]);
        }
    }
    assert_string_equal(got, expected);
}

static void test_rows(void **state)
{
    (void)state;
    check("", "");
    check("a,b\n1,2\n", "a;b|1;2");
    check("a,b\r\n1,2", "a;b|1;2");
    check("\"a,b\",\"c\"\"d\"\n", "a,b;c\"d");
    check("\"two\nlines\",x\ny", "two\nlines;x|y");
    check("a,,\n", "a;;");
    check("\n\nx", "||x");
    check("a\"b,c", "a\"b;c");
    check("\"open,x\ny", "open,x\ny");
    check("\"a\"tail,b", "atail;b");
}

static void test_lines_and_columns(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const char *text = "\"a\nb\"\nKey, Other \n";
    struct csv_reader reader = csv_reader_new(text, strlen(text));
    struct csv_row row;

    (void)state;
    assert_true(csv_next(&reader, arena, &row));
    assert_int_equal(row.line, 1);
    assert_true(csv_next(&reader, arena, &row));
    assert_int_equal(row.line, 3);
    assert_int_equal(csv_find(&row, "other"), 1);
    assert_int_equal(csv_find(&row, "key"), 0);
    assert_int_equal(csv_find(&row, "ke"), -1);
    assert_false(csv_next(&reader, arena, &row));
}

static void test_counts(void **state)
{
    static const struct {
        const char *cell;
        bool valid;
        int64_t value;
    } cases[] = {
        {"0", true, 0},     {"1,234,567", true, 1234567},
        {" 12 ", true, 12}, {"12.000", true, 12},
        {"12.5", false, 0}, {"", false, 0},
        {"-1", false, 0},   {"-", false, 0},
        {"12x", false, 0},  {"9223372036854775807", true, INT64_MAX},
        {"1,", false, 0},   {"9223372036854775808", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int64_t value = -7;
        assert_int_equal(csv_parse_count(cases[i].cell, &value), cases[i].valid);
        if (cases[i].valid)
            assert_true(value == cases[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_lines_and_columns),
        cmocka_unit_test(test_counts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
