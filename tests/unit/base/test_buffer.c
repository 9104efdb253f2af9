#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"

#define BAD "\xef\xbf\xbd" /* U+FFFD */

static void test_empty(void **state)
{
    AUTO_BUFFER buffer = buffer_new(0);

    (void)state;
    assert_string_equal(buffer.data, "");
    assert_true(buffer_append(&buffer, "", 0));
    assert_false(buffer_append(&buffer, "x", 1));
    assert_int_equal(buffer.dropped, 1);
    assert_string_equal(buffer.data, "");
    AUTO_FREE char *text = buffer_detach(&buffer);
    assert_string_equal(text, "");
}

static void test_cap(void **state)
{
    AUTO_BUFFER buffer = buffer_new(5);

    (void)state;
    assert_true(buffer_append_text(&buffer, "abc"));
    assert_false(buffer_append_text(&buffer, "defg"));
    assert_string_equal(buffer.data, "abcde");
    assert_int_equal(buffer.length, 5);
    assert_int_equal(buffer.dropped, 2);
    assert_false(buffer_printf(&buffer, "%03d", 7));
    assert_int_equal(buffer.dropped, 5);
    buffer_reset(&buffer);
    assert_int_equal(buffer.dropped, 0);
    assert_string_equal(buffer.data, "");
    assert_true(buffer_printf(&buffer, "%s=%d", "n", 42));
    assert_string_equal(buffer.data, "n=42");
}

static void test_growth(void **state)
{
    AUTO_BUFFER buffer = buffer_new(1 << 20);

    (void)state;
    for (int i = 0; i < 100000; i++) {
        char byte = (char)('a' + i % 26);
        assert_true(buffer_append(&buffer, &byte, 1));
    }
    assert_int_equal(buffer.length, 100000);
    assert_int_equal(strlen(buffer.data), 100000);
    for (size_t i = 0; i < buffer.length; i++)
        assert_int_equal(buffer.data[i], 'a' + (int)(i % 26));
}

static void test_detach_and_free(void **state)
{
    struct buffer buffer = buffer_new(100);

    (void)state;
    (void)buffer_append_text(&buffer, "kept");
    AUTO_FREE char *text = buffer_detach(&buffer);
    assert_string_equal(text, "kept");
    assert_string_equal(buffer.data, "");
    assert_int_equal(buffer.limit, 100);
    assert_true(buffer_append_text(&buffer, "again"));
    buffer_free(&buffer);
    assert_string_equal(buffer.data, "");
    assert_true(buffer_append_text(&buffer, "after free"));
    assert_string_equal(buffer.data, "after free");
    buffer_free(&buffer);
}

struct sanitize_case {
    const char *name;
    const char *in;
    size_t length;
    const char *out;
};
#define CASE(name, in, out)                                                                                            \
    {                                                                                                                  \
        name, in, sizeof(in) - 1, out                                                                                  \
    }

static void test_sanitize(void **state)
{
    static const struct sanitize_case cases[] = {
        CASE("plain", "a\tb\n ~", "a\tb\n ~"),
        CASE("carriage returns go", "a\r\nb\r", "a\nb"),
        CASE("controls", "\x01\x1b[31m\x7f", BAD BAD "[31m" BAD),
        CASE("NUL", "a\0b", "a" BAD "b"),
        CASE("two, three and four bytes", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
             "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80"),
        CASE("first and last of each length",
             "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf",
             "\xc2\xa0\xdf\xbf\xe0\xa0\x80\xef\xbf\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"),
        CASE("around the surrogates", "\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"),
        CASE("overlong slash in two", "\xc0\xaf", BAD BAD),
        CASE("overlong in two", "\xc1\xbf", BAD BAD),
        CASE("overlong in three", "\xe0\x9f\xbf", BAD BAD BAD),
        CASE("overlong in four", "\xf0\x8f\xbf\xbf", BAD BAD BAD BAD),
        CASE("low surrogate range", "\xed\xa0\x80", BAD BAD BAD),
        CASE("high surrogate range", "\xed\xbf\xbf", BAD BAD BAD),
        CASE("beyond U+10FFFF", "\xf4\x90\x80\x80", BAD BAD BAD BAD),
        CASE("five bytes", "\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD),
        CASE("lone continuation", "\x80x\xbf", BAD "x" BAD),
        CASE("cut at the end", "x\xe2\x82", "x" BAD BAD),
        CASE("cut by a letter", "\xe2\x82z", BAD BAD "z"),
        CASE("FE and FF", "\xfe\xff", BAD BAD),
        CASE("C1 controls, which terminals obey",
             "\xc2\x9b"
             "31m\xc2\x80\xc2\x9f\xc2\xa0",
             BAD "31m" BAD BAD "\xc2\xa0"),
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUFFER buffer = buffer_new(100);
        /* Exact allocation: an overread is seen by AddressSanitizer. */
        AUTO_FREE char *exact = malloc(cases[i].length);
        memcpy(exact, cases[i].in, cases[i].length);
        assert_true(buffer_append_sanitized(&buffer, exact, cases[i].length));
        if (strcmp(buffer.data, cases[i].out) != 0)
            print_error("case: %s\n", cases[i].name);
        assert_string_equal(buffer.data, cases[i].out);
    }
}

static void test_sanitize_at_the_cap(void **state)
{
    static const struct {
        size_t limit;
        const char *out;
        size_t dropped;
    } cases[] = {
        {7,
         "ab\xe2\x82\xac"
         "cd",
         0},
        {6,
         "ab\xe2\x82\xac"
         "c",
         1},
        {5, "ab\xe2\x82\xac", 2},
        {4, "ab", 5},
        {3, "ab", 5},
        {2, "ab", 5},
        {1, "a", 6},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUFFER buffer = buffer_new(cases[i].limit);
        assert_int_equal(buffer_append_sanitized(&buffer,
                                                 "ab\xe2\x82\xac"
                                                 "cd",
                                                 7),
                         !cases[i].dropped);
        assert_string_equal(buffer.data, cases[i].out);
        assert_int_equal(buffer.dropped, cases[i].dropped);
        if (!cases[i].dropped)
            continue;
        assert_false(buffer_append_sanitized(&buffer, "x", 1)); /* no holes */
        assert_string_equal(buffer.data, cases[i].out);
    }
    AUTO_BUFFER replaced = buffer_new(4);
    assert_false(buffer_append_sanitized(&replaced, "\x01\x02", 2));
    assert_string_equal(replaced.data, BAD);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),    cmocka_unit_test(test_cap),
        cmocka_unit_test(test_growth),   cmocka_unit_test(test_detach_and_free),
        cmocka_unit_test(test_sanitize), cmocka_unit_test(test_sanitize_at_the_cap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
