#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "report/table.h"

static struct table *make_table(struct arena *arena)
{
    static const struct table_column columns[] = {
        {"name", "name", TABLE_TEXT, 0},    {"n", "N", TABLE_COUNT, 0},  {"rate", "rate", TABLE_RANGE, 1},
        {"cell", "cell", TABLE_TRIPLET, 1}, {"x", "x", TABLE_NUMBER, 2},
    };
    static const int limits[] = {1, 4};
    struct table *table = table_new(arena, "demo", "A & B", columns, ARRAY_LEN(columns));
    struct table_triplet triplet = {{number_of(0), number_of(22.92)}, {number_of(8.3), number_of(25)}};
    struct table_triplet zero = {{number_of(0), number_of(0)}, {number_of(0), number_of(0)}};
    struct table_triplet partly = {{number_of(1)}, {number_of(2)}};

    table_set_limits(table, limits, 2);
    table_text(table, "a,\"b\"|_");
    table_count(table, 7);
    table_range(table, number_of(12.34), (struct interval){true, 1, 20.04});
    table_put_triplet(table, &triplet);
    table_number(table, (struct number){0});
    table_text(table, "=1+1");
    table_count(table, 0);
    table_range(table, number_of(0.1), (struct interval){0});
    table_put_triplet(table, &zero);
    table_number(table, number_of(2.5));
    table_text(table, NULL);
    table_count(table, 1);
    table_range(table, (struct number){0}, (struct interval){0});
    table_put_triplet(table, &partly);
    table_number(table, number_of(1));
    table_note(table, "%d rows", 3);
    return table;
}

static void expect(void (*write)(struct buffer *, const struct table *), const char *expected)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER out = buffer_new(1 << 16);

    write(&out, make_table(arena));
    assert_string_equal(out.data, expected);
}

static void test_text(void **state)
{
    (void)state;
    expect(table_write_text, "A & B\n\n"
                             "name     N              rate          cell     x\n"
                             "a,\"b\"|_  7  12.3 [1.0, 20.0]      – / 22.9     –\n"
                             "                              (8.3 / 25.0)\n"
                             "=1+1     0               0.1             –  2.50\n"
                             "         1                 –       1.0 / ?  1.00\n"
                             "                                 (2.0 / ?)\n"
                             "\n3 rows\n\n");
}

static void test_markdown(void **state)
{
    (void)state;
    expect(table_write_markdown, "## A & B\n\n| name | N | rate | cell | x |\n"
                                 "| --- | ---: | ---: | ---: | ---: |\n"
                                 "| a,\"b\"\\|\\_ | 7 | 12.3 \\[1.0, 20.0] | – / 22.9<br>(8.3 / 25.0) | – |\n"
                                 "| =1+1 | 0 | 0.1 | – | 2.50 |\n"
                                 "|  | 1 | – | 1.0 / ?<br>(2.0 / ?) | 1.00 |\n\n- 3 rows\n\n");
}

static void test_csv(void **state)
{
    (void)state;
    expect(table_write_csv, "name,n,rate,rate_low,rate_high,cell_target_1,cell_target_4,cell_1,cell_4,x\n"
                            "\"a,\"\"b\"\"|_\",7,12.34,1,20.04,0,22.92,8.3,25,\n"
                            " =1+1,0,0.1,,,0,0,0,0,2.5\n"
                            ",1,,,,1,,2,,1\n");
}

static void test_latex(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER out = buffer_new(1 << 16);

    table_write_latex(&out, make_table(arena));
    assert_non_null(strstr(out.data, "\\caption{A \\& B}"));
    assert_non_null(strstr(out.data, "\\begin{tabular}{lrrrr}"));
    assert_non_null(
        strstr(out.data, "a,\"b\"|\\_ & 7 & 12.3 [1.0, 20.0] & – / 22.9 & – \\\\\n &  &  & (8.3 / 25.0) &  \\\\"));
}

static void test_json(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_OBJECT *object = table_to_json(make_table(arena));
    AUTO_FREE char *text = NULL;
    struct error error;

    assert_true(json_to_text(object, false, &text, &error));
    assert_non_null(strstr(text, "\"rate\":{\"value\":12.34,\"low\":1"));
    assert_non_null(strstr(text, "\"cell\":{\"target\":[0"));
    assert_non_null(strstr(text, "\"x\":null"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),  cmocka_unit_test(test_markdown), cmocka_unit_test(test_csv),
        cmocka_unit_test(test_latex), cmocka_unit_test(test_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
