/* base/json.h, reading: what is refused and where, cursors, number text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"

static struct json_document *parse_ok(const char *text)
{
    struct json_document *document = NULL;
    struct error error;

    if (!json_parse(text, strlen(text), "t.json", 1, &document, &error))
        fail_msg("%s: %s", text, error.message);
    return document;
}

static void test_refused(void **state)
{
    static const struct {
        const char *text;
        const char *message;
    } cases[] = {
        {"", "t.json:1: text ends before a value (end of text)"},
        {"  \n\n ", "t.json:3: text ends before a value (end of text)"},
        {"{", "t.json:1: expected a key in double quotes (end of text)"},
        {"{\"a\":1,}", "t.json:1: expected a key in double quotes"},
        {"{\"a\" 1}", "t.json:1: expected ':' after a key"},
        {"{'a': 1}", "t.json:1: expected a key in double quotes"},
        {"[1,\n2,\n]", "t.json:3: expected a JSON value (NaN and infinities are written as strings)"},
        {"[1 2]", "t.json:1: expected ',' or ']' in an array"},
        {"{\"a\":1 \"b\":2}", "t.json:1: expected ',' or '}' in an object"},
        {"{\"a\":1,\n\"b\":{\"c\":1,\n\"c\":2}}", "t.json:3: duplicate key"},
        {"{\"a\":1,\"\\u0061\":2}", "t.json:1: duplicate key"},
        {"{\"a\\u0000b\":1}", "t.json:1: key contains a NUL character"},
        {"1 2", "t.json:1: trailing text after the value"},
        {"nul", "t.json:1: expected a JSON value"},
        {"True", "t.json:1: expected a JSON value (NaN and infinities are written as strings)"},
        {"NaN", "t.json:1: expected a JSON value (NaN and infinities are written as strings)"},
        {"[-Infinity]", "t.json:1: expected a JSON value (NaN and infinities are written as strings)"},
        {"01", "t.json:1: number with a leading zero"},
        {"-01", "t.json:1: number with a leading zero"},
        {"1.", "t.json:1: number without digits after the point"},
        {"1e+", "t.json:1: number without digits in the exponent"},
        {"+1", "t.json:1: expected a JSON value (NaN and infinities are written as strings)"},
        {"18446744073709551616", "t.json:1: integer does not fit 64 bits"},
        {"-9223372036854775809", "t.json:1: integer does not fit 64 bits"},
        {"\"a", "t.json:1: string without closing quote (end of text)"},
        {"\"a\nb\"", "t.json:1: control character in a string (a raw newline must be written \\n)"},
        {"\"\\x\"", "t.json:1: unknown escape in a string"},
        {"\"\\u12g4\"", "t.json:1: expected four hex digits after \\u"},
        {"\"\\ud800\"", "t.json:1: unpaired surrogate in a string"},
        {"\"\\ud800\\u0041\"", "t.json:1: unpaired surrogate in a string"},
        {"\"\\udc00\"", "t.json:1: unpaired surrogate in a string"},
        {"\"\xff\"", "t.json:1: invalid UTF-8 in a string"},
        {"\"\xc0\x80\"", "t.json:1: invalid UTF-8 in a string"},
        {"\"\xed\xa0\x80\"", "t.json:1: invalid UTF-8 in a string"},
        {"\"\xf4\x90\x80\x80\"", "t.json:1: invalid UTF-8 in a string"},
        {"\"\xe2\x82\"", "t.json:1: invalid UTF-8 in a string"},
        {"\xef\xbb\xbf{}", "t.json:1: expected a JSON value (NaN and infinities are written as strings)"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct json_document *document = NULL;
        struct error error = {0};
        /* exact size on the heap, so that AddressSanitizer sees every overread */
        size_t length = strlen(cases[i].text);
        char *text = malloc(length ? length : 1);
        assert_non_null(text);
        memcpy(text, cases[i].text, length);
        if (json_parse(text, length, "t.json", 1, &document, &error))
            fail_msg("accepted: %s", cases[i].text);
        free(text);
        assert_string_equal(error.message, cases[i].message);
        assert_int_equal(error.code, ERROR_INPUT);
    }
}

static void test_depth(void **state)
{
    char text[2 * 65 + 1];
    struct json_document *document;
    struct error error;

    (void)state;
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    text[130] = '\0';
    assert_false(json_parse(text, 130, "deep", 1, &document, &error));
    assert_string_equal(error.message, "deep:1: nested deeper than 64");
    assert_true(json_parse(text + 1, 128, "deep", 1, &document, &error));
    json_document_free(document);
}

static void test_nul_byte_is_not_the_end(void **state)
{
    struct json_document *document;
    struct error error;

    (void)state;
    assert_false(json_parse("1\0 2", 4, "nul", 1, &document, &error));
}

static void test_numbers(void **state)
{
    static const char *const kept[] = {"0",
                                       "-0",
                                       "1.0",
                                       "1e-5",
                                       "1E+2",
                                       "-1.50",
                                       "0.1000",
                                       "18446744073709551615",
                                       "-9223372036854775808",
                                       "9223372036854775808",
                                       "123456789012345.678901234567",
                                       "1e400"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        struct json_document *document = parse_ok(kept[i]);
        char *text;
        struct error error;
        assert_string_equal(json_number_text(json_root(document)), kept[i]);
        assert_true(json_to_text(json_root(document).value, false, &text, &error));
        assert_string_equal(text, kept[i]);
        free(text);
        json_document_free(document);
    }
}

static void test_integers(void **state)
{
    struct json_document *document = parse_ok("[18446744073709551615, -1, 9223372036854775807, 1.0, \"7\", -0]");
    struct json root = json_root(document);
    struct error error;
    uint64_t u = 0;
    int64_t i = 0;
    double d = 0;

    (void)state;
    assert_true(json_u64(json_at(root, 0), &u, &error));
    assert_true(u == UINT64_MAX);
    assert_false(json_i64(json_at(root, 0), &i, &error));
    assert_string_equal(error.message, "t.json:1: $[0]: integer 18446744073709551615 is too large");
    assert_false(json_u64(json_at(root, 1), &u, &error));
    assert_string_equal(error.message, "t.json:1: $[1]: expected a non-negative integer, found -1");
    assert_true(json_i64(json_at(root, 2), &i, &error));
    assert_true(i == INT64_MAX);
    assert_false(json_u64(json_at(root, 3), &u, &error));
    assert_false(json_u64(json_at(root, 4), &u, &error));
    assert_true(json_double(json_at(root, 1), &d, &error));
    assert_true(d == -1);
    assert_true(json_u64(json_at(root, 5), &u, &error));
    assert_true(u == 0);
    json_document_free(document);

    document = parse_ok("1e400");
    assert_false(json_double(json_root(document), &d, &error));
    json_document_free(document);
}

static void test_cursor_errors(void **state)
{
    struct json_document *document =
        parse_ok("{\n \"axes\": {\"M\": {\n   \"value\": -4},\n \"odd \\\"key\\\"\": [1,\n {}]}}");
    struct error error;
    struct json axes;
    struct json at;
    uint64_t value;
    const char *text;

    (void)state;
    assert_true(json_member(json_root(document), "axes", &axes, &error));
    assert_true(json_member(axes, "M", &at, &error));
    assert_false(json_member_u64(at, "value", &value, &error));
    assert_string_equal(error.message, "t.json:3: $.axes.M.value: expected a non-negative integer, found -4");
    assert_false(json_member(at, "type", &at, &error));
    assert_string_equal(error.message, "t.json:2: $.axes.M: missing member \"type\"");
    assert_true(json_member(axes, "odd \"key\"", &at, &error));
    assert_false(json_string(json_at(at, 1), &text, &error));
    assert_string_equal(error.message, "t.json:5: $.axes[\"odd \\\"key\\\"\"][1]: expected a string, found an object");
    json_document_free(document);
}

static void test_first_line(void **state)
{
    static const char text[] = "{\"a\": 1}";
    struct json_document *document;
    struct error error;
    struct json at;
    const char *value;

    (void)state;
    assert_true(json_parse(text, strlen(text), "set.jsonl", 17, &document, &error));
    assert_true(json_member(json_root(document), "a", &at, &error));
    assert_false(json_string(at, &value, &error));
    assert_string_equal(error.message, "set.jsonl:17: $.a: expected a string, found an integer");
    json_document_free(document);
}

static void test_strings(void **state)
{
    struct json_document *document = parse_ok("[\"\\\"\\\\\\/\\b\\f\\n\\r\\t\", "
                                              "\"\\u00e9\\u20ac\\ud83d\\ude00\", \"a\\u0000b\", \"\xe2\x82\xac\"]");
    struct json root = json_root(document);
    struct error error;
    const char *text;

    (void)state;
    assert_true(json_string(json_at(root, 0), &text, &error));
    assert_string_equal(text, "\"\\/\b\f\n\r\t");
    assert_true(json_string(json_at(root, 1), &text, &error));
    assert_string_equal(text, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    assert_false(json_string(json_at(root, 2), &text, &error));
    assert_string_equal(error.message, "t.json:1: $[2]: string contains a NUL character");
    assert_true(json_string(json_at(root, 3), &text, &error));
    assert_string_equal(text, "\xe2\x82\xac");
    json_document_free(document);
}

static void test_traversal(void **state)
{
    struct json_document *document = parse_ok("{\"z\": 1, \"a\": null, \"m\": {\"x\": true}}");
    struct json root = json_root(document);
    struct json at;
    const char *key;

    (void)state;
    assert_int_equal(json_length(root), 3);
    (void)json_entry(root, 0, &key);
    assert_string_equal(key, "z");
    at = json_entry(root, 2, &key);
    assert_string_equal(key, "m");
    assert_string_equal(at.path, "$.m");
    (void)json_entry(root, 1, &key);
    assert_string_equal(key, "a");
    (void)json_entry(at, 0, &key);
    assert_string_equal(key, "x");
    (void)json_entry(root, 1, &key);
    assert_string_equal(key, "a");
    assert_true(json_has(root, "a"));
    assert_false(json_optional(root, "a", &at));
    assert_false(json_has(root, "b"));
    assert_true(json_optional(root, "z", &at));
    assert_int_equal(json_kind_of(at), JSON_INTEGER);
    json_document_free(document);
}

static void test_big_object(void **state)
{
    AUTO_JSON_OBJECT *object = json_object_new_object();
    struct json_document *document;
    struct error error;
    char key[32];
    char *text;
    const char *found;

    (void)state;
    for (int i = 0; i < 20000; i++) {
        (void)snprintf(key, sizeof key, "k%d", i);
        json_put_i64(object, key, i);
    }
    assert_true(json_to_text(object, false, &text, &error));
    document = parse_ok(text);
    free(text);
    for (size_t i = 0; i < json_length(json_root(document)); i++)
        (void)json_entry(json_root(document), i, &found);
    assert_string_equal(found, "k19999");
    json_document_free(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_nul_byte_is_not_the_end),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_integers),
        cmocka_unit_test(test_cursor_errors),
        cmocka_unit_test(test_first_line),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_traversal),
        cmocka_unit_test(test_big_object),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
