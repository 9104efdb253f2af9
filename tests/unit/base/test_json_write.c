/* base/json.h, writing; base/jsonl.h. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/jsonl.h"

static char *folder;

static int make_folder(void **state)
{
    static struct arena *arena;
    struct error error;

    arena = arena_new();
    *state = arena;
    return file_make_temporary_folder(arena, file_temporary_root(), "json", &folder, &error) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)file_remove_tree(folder);
    arena_free(*state);
    return 0;
}

static void expect_text(json_object *value, bool pretty, const char *expected)
{
    struct error error;
    char *text;

    assert_true(json_to_text(value, pretty, &text, &error));
    assert_string_equal(text, expected);
    free(text);
}

static void test_builders(void **state)
{
    AUTO_JSON_OBJECT *object = json_object_new_object();

    (void)state;
    json_put_string(object, "path", "a/b\"\n");
    json_put_string(object, "nothing", NULL);
    json_put_bool(object, "yes", true);
    json_put_i64(object, "low", INT64_MIN);
    json_put_u64(object, "high", UINT64_MAX);
    json_put_double(object, "third", 1.0 / 3);
    json_put_double(object, "one", 1);
    json_put_double(object, "tenth", 0.1);
    json_put_double(object, "big", 1e300);
    json_put_double(object, "nan", (double)NAN);
    json_put_double(object, "inf", -(double)INFINITY);
    json_put_rounded(object, "rounded", 781.23456, 4);
    json_put_rounded(object, "whole", 1234567, 3);
    expect_text(object, false,
                "{\"path\":\"a/b\\\"\\n\",\"nothing\":null,\"yes\":true,\"low\":-9223372036854775808,"
                "\"high\":18446744073709551615,\"third\":0.3333333333333333,\"one\":1.0,\"tenth\":0.1,\"big\":1e+300,"
                "\"nan\":\"NaN\",\"inf\":\"-Infinity\",\"rounded\":781.2,\"whole\":1.23e+06}");
}

static void test_doubles_read_back(void **state)
{
    static const double values[] = {
        0.0,  -0.0, 5e-324, 1.7976931348623157e308, 2.2250738585072014e-308, 0.1 + 0.2, 123456789.123456789,
        1e22, 1e23, -1.0};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        AUTO_JSON_OBJECT *number = json_new_double(values[i]);
        struct json_document *document;
        struct error error;
        char *text;
        double back;
        assert_true(json_to_text(number, false, &text, &error));
        assert_true(json_parse(text, strlen(text), "n", 1, &document, &error));
        assert_int_equal(json_kind_of(json_root(document)), JSON_REAL);
        assert_true(json_double(json_root(document), &back, &error));
        assert_memory_equal(&back, &values[i], sizeof back);
        json_document_free(document);
        free(text);
    }
}

static void test_round_trip(void **state)
{
    static const char text[] = "{\"z\":1.0,\"a\":[1e-5,18446744073709551615,\"\xe2\x82\xac\"],\"b\":{\"c\":null}}";
    static const char pretty[] = "{\n  \"z\": 1.0,\n  \"a\": [\n    1e-5,\n    18446744073709551615,\n"
                                 "    \"\xe2\x82\xac\"\n  ],\n  \"b\": {\n    \"c\": null\n  }\n}";
    struct json_document *document;
    struct error error;

    (void)state;
    assert_true(json_parse(text, strlen(text), "n", 1, &document, &error));
    expect_text(json_root(document).value, false, text);
    expect_text(json_root(document).value, true, pretty);
    json_document_free(document);
}

static void test_unreadable_is_not_written(void **state)
{
    AUTO_JSON_OBJECT *text = json_object_new_string("broken \xff");
    json_object *deep = json_object_new_array();
    struct error error;
    char *out;

    (void)state;
    assert_false(json_to_text(text, false, &out, &error));
    assert_int_equal(error.code, ERROR_INTERNAL);
    for (int i = 0; i < 64; i++) {
        json_object *outer = json_object_new_array();
        (void)json_object_array_add(outer, deep);
        deep = outer;
    }
    assert_false(json_to_text(deep, false, &out, &error));
    assert_string_equal(error.message, "refused to write JSON that could not be read back: nested deeper than 64");
    json_object_put(deep);
}

static void test_files(void **state)
{
    AUTO_JSON_OBJECT *object = json_object_new_object();
    char *path = file_join(*state, folder, "a.json");
    struct json_document *document;
    struct error error;
    uint64_t value;
    char *text;
    size_t length;

    json_put_u64(object, "n", 7);
    assert_true(json_write_file(object, path, &error));
    assert_true(file_read(path, 100, &text, &length, &error));
    assert_string_equal(text, "{\n  \"n\": 7\n}\n");
    free(text);
    assert_true(json_read_file(path, 100, &document, &error));
    assert_true(json_member_u64(json_root(document), "n", &value, &error));
    assert_int_equal(value, 7);
    json_document_free(document);
    assert_false(json_read_file(path, 5, &document, &error));
    assert_int_equal(error.code, ERROR_LIMIT);
    assert_false(json_read_file(file_join(*state, folder, "absent"), 5, &document, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_false(json_append_line(object, file_join(*state, folder, "no/such/file"), &error));
    assert_int_equal(error.code, ERROR_SYSTEM);
}

static bool count_line(struct json_document *line, void *context, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = line;

    (void)error;
    (void)document;
    ++*(int *)context;
    return true;
}

static void test_append(void **state)
{
    AUTO_JSON_OBJECT *object = json_object_new_object();
    char *path = file_join(*state, folder, "log.jsonl");
    struct error error;
    char *text;
    size_t length;
    int lines = 0;

    json_put_u64(object, "n", 1);
    assert_true(json_append_line(object, path, &error));
    assert_true(json_append_line(object, path, &error));
    assert_true(file_read(path, 100, &text, &length, &error));
    assert_string_equal(text, "{\"n\":1}\n{\"n\":1}\n");
    free(text);

    /* a crash tore the last line: the next one must not be glued to it */
    assert_true(file_write(path, "{\"n\":1}\n{\"n\":", 13, 0644, &error));
    assert_true(json_append_line(object, path, &error));
    assert_true(file_read(path, 100, &text, &length, &error));
    assert_string_equal(text, "{\"n\":1}\n{\"n\":\n{\"n\":1}\n");
    free(text);
    assert_true(jsonl_each(path, 100, JSONL_SKIP, count_line, &lines, &error));
    assert_int_equal(lines, 2);
    assert_false(jsonl_each(path, 100, JSONL_REFUSE, count_line, &lines, &error));
    assert_non_null(strstr(error.message, "log.jsonl:2: text ends before a value"));
}

static void test_jsonl_limits(void **state)
{
    char *path = file_join(*state, folder, "lines.jsonl");
    struct error error;
    int lines = 0;
    size_t length = 300000;
    char *text = malloc(length + 4);

    assert_non_null(text);
    memset(text, 'x', length);
    text[0] = '"';
    text[length - 1] = '"';
    memcpy(text + length, "\n\n1", 3);
    assert_true(file_write(path, text, length + 3, 0644, &error));
    assert_true(jsonl_each(path, length, JSONL_REFUSE, count_line, &lines, &error));
    assert_int_equal(lines, 2);
    assert_false(jsonl_each(path, length / 3, JSONL_SKIP, count_line, &lines, &error));
    assert_int_equal(error.code, ERROR_LIMIT);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_builders),     cmocka_unit_test(test_doubles_read_back),
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_unreadable_is_not_written),
        cmocka_unit_test(test_files),        cmocka_unit_test(test_append),
        cmocka_unit_test(test_jsonl_limits),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
