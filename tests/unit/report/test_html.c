/* The page of a report: escaping, and links to what a run folder holds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "report/html.h"

static const char evil[] = "</script><script>alert(1)</script><img src=x onerror=\"alert('x')\">&\x01\xff";

static void test_texts(void **state)
{
    (void)state;
    AUTO_BUFFER out = buffer_new(1 << 12);

    html_write_text(&out, "<a href=\"x\">'&'</a>");
    assert_string_equal(out.data, "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
    buffer_reset(&out);
    html_write_text(&out, "bad \xff, bell \x07, turned \xe2\x80\xae"
                          "abc");
    assert_string_equal(out.data, "bad \xef\xbf\xbd, bell \xef\xbf\xbd, turned \xef\xbf\xbd"
                                  "abc");
    buffer_reset(&out);
    html_write_json_text(&out, "a\"b\\c\n</script>&");
    assert_string_equal(out.data, "\"a\\\"b\\\\c\\n\\u003c/script\\u003e\\u0026\"");
}

static size_t count_of_text(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)) != NULL; text += strlen(part))
        count++;
    return count;
}

static struct turn_set *make_set(const char *source, const char *name)
{
    struct turn_set *set = turn_set_new();
    struct turn_row row = {
        .model = name, .arch = name, .definition = name, .run = name, .trajectory = "t 1", .variant = -1};
    struct error error;

    turn_set_begin(set, source);
    row.outcome = OUTCOME_CORRECT_TARGET;
    row.speedup = number_of(0.5);
    assert_true(turn_set_add(set, &row, name, 1, &error));
    turn_set_warn(set, name, 2, "odd %s", name);
    assert_true(turn_set_close(set, &error));
    return set;
}

static void test_page(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    AUTO_TURN_SET *set = make_set("s", evil);
    AUTO_BUFFER out = buffer_new(1 << 24);
    struct report_options options = {.limits = {1}, .limit_count = 1, .metric = {.resamples = -1}};
    struct report *report = report_new(arena, set, NULL, &options);
    struct table *tables[2] = {NULL};
    const struct html_options page = {.title = evil};
    struct error error;

    assert_true(report_make_metrics(report, &tables[0], &error));
    html_write(&out, report, tables, set, &page);
    assert_int_equal(out.dropped, 0);
    assert_int_equal(count_of_text(out.data, "<script"), 2);
    assert_int_equal(count_of_text(out.data, "</script>"), 2);
    assert_int_equal(count_of_text(out.data, "<img"), 0);
    assert_int_equal(count_of_text(out.data, "alert(1)</script>"), 0);
    assert_non_null(strstr(out.data, "data-model=\"&lt;/script&gt;"));
    assert_null(strstr(out.data, "http://www.w3.org/1999")); /* nothing but the name of SVG looks like an address */
    assert_int_equal(count_of_text(out.data, "http"),
                     count_of_text(out.data, "http://www.w3.org/2000/svg") + count_of_text(out.data, "http-equiv"));
    assert_non_null(strstr(out.data, "default-src 'none'"));
    assert_non_null(strstr(out.data, "<details class=\"card\"><summary>1 warnings"));
}

/* A page without a report has tables and nothing to draw. */
static void test_tables_alone(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    AUTO_TURN_SET *set = make_set("s", "m");
    AUTO_BUFFER out = buffer_new(1 << 24);
    static const struct table_column columns[] = {{"model", "model", TABLE_TEXT, 0}, {"x", "x", TABLE_NUMBER, 2}};
    struct table *tables[2] = {table_new(arena, "demo", "Demo", columns, 2), NULL};
    const struct html_options page = {.title = "t"};

    table_text(tables[0], "m");
    table_number(tables[0], number_of(1.5));
    html_write(&out, NULL, tables, set, &page);
    assert_non_null(strstr(out.data, "<tr data-model=\"m\"><td class=\"t\">m</td><td data-v=\"1.5\">1.50</td></tr>"));
    assert_non_null(strstr(out.data, "\"series\":[]}</script>"));
    assert_non_null(strstr(out.data, "<section hidden>"));
}

static void put_file(struct arena *arena, const char *folder, const char *name)
{
    struct error error;

    assert_true(file_make_folder(folder, &error));
    assert_true(file_write(file_join(arena, folder, name), "x", 1, 0644, &error));
}

static void test_links(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    struct error error;
    char *root;

    assert_true(file_make_temporary_folder(arena, file_temporary_root(), "test-html", &root, &error));
    put_file(arena, arena_printf(arena, "%s/run/trajectories/t 1/turn_0", root), "kernel.cu");
    put_file(arena, arena_printf(arena, "%s/pages", root), "x");
    AUTO_TURN_SET *set = make_set(arena_printf(arena, "%s/run", root), "m");
    AUTO_TURN_SET *file_set = make_set(arena_printf(arena, "%s/run/turns.jsonl", root), "m");
    AUTO_TURN_SET *parent_set = make_set(root, "run");
    const struct trajectory *trajectory = set->trajectories;
    struct html_links *beside = html_links_new(arena, root);
    struct html_links *away = html_links_new(arena, arena_printf(arena, "%s/pages", root));
    struct html_links *nowhere = html_links_new(arena, arena_printf(arena, "%s/absent", root));

    assert_string_equal(html_link(beside, set->series, trajectory, 0, "kernel.cu"),
                        "./run/trajectories/t%201/turn_0/kernel.cu");
    assert_string_equal(html_link(away, set->series, trajectory, 0, "kernel.cu"),
                        "./../run/trajectories/t%201/turn_0/kernel.cu");
    assert_string_equal(html_link(beside, file_set->series, file_set->trajectories, 0, "kernel.cu"),
                        "./run/trajectories/t%201/turn_0/kernel.cu");
    assert_string_equal(html_link(beside, parent_set->series, parent_set->trajectories, 0, "kernel.cu"),
                        "./run/trajectories/t%201/turn_0/kernel.cu");
    assert_null(html_link(beside, set->series, trajectory, 0, "verdict.json"));
    assert_null(html_link(beside, set->series, trajectory, 1, "kernel.cu"));
    assert_null(html_link(nowhere, set->series, trajectory, 0, "kernel.cu"));
    struct trajectory climbing = *trajectory;
    climbing.name = "../trajectories/t 1";
    assert_null(html_link(beside, set->series, &climbing, 0, "kernel.cu"));
    assert_true(file_remove_tree(root));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_page),
        cmocka_unit_test(test_tables_alone),
        cmocka_unit_test(test_links),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
