#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static void test_set(void **state)
{
    struct error error = {.hint = "old"};

    (void)state;
    assert_false(error_set(&error, ERROR_INPUT, "%s:%d: bad", "a.json", 7));
    assert_int_equal(error.code, ERROR_INPUT);
    assert_string_equal(error.message, "a.json:7: bad");
    assert_string_equal(error.hint, "");
    assert_false(error_hint(&error, "try %d", 5));
    assert_string_equal(error.hint, "try 5");
    error_clear(&error);
    assert_int_equal(error.code, ERROR_NONE);
    assert_string_equal(error.message, "");
    assert_string_equal(error.hint, "");
}

static void test_truncation(void **state)
{
    char exact[sizeof((struct error *)0)->message], longer[sizeof exact + 1];
    struct error error;

    (void)state;
    memset(exact, 'x', sizeof exact - 1);
    exact[sizeof exact - 1] = '\0';
    memset(longer, 'x', sizeof exact);
    longer[sizeof exact] = '\0';
    (void)error_set(&error, ERROR_INPUT, "%s", exact);
    assert_string_equal(error.message, exact);
    (void)error_set(&error, ERROR_INPUT, "%s", longer);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_string_equal(error.message + sizeof error.message - 5, "x...");
    (void)error_hint(&error, "%s", longer);
    assert_int_equal(strlen(error.hint), sizeof error.hint - 1);
    assert_string_equal(error.hint + sizeof error.hint - 5, "x...");
}

static void test_system(void **state)
{
    char path[4096];
    struct error error = {.hint = "old"};

    (void)state;
    assert_false(error_system(&error, EACCES, "%s: cannot open", "f"));
    assert_int_equal(error.code, ERROR_SYSTEM);
    assert_string_equal(error.message, "f: cannot open: Permission denied");
    assert_string_equal(error.hint, "");
    (void)error_system(&error, ENOSPC, "f: cannot write");
    assert_non_null(strstr(error.hint, "free disk space"));
    /* The reason survives a message that fills the room. */
    memset(path, 'p', sizeof path - 1);
    path[sizeof path - 1] = '\0';
    (void)error_system(&error, EACCES, "%s", path);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_non_null(strstr(error.message, "pp...: Permission denied"));
}

static void test_prefix(void **state)
{
    char longer[4096];
    struct error error;

    (void)state;
    (void)error_set(&error, ERROR_TOOL, "died");
    (void)error_hint(&error, "restart");
    assert_false(error_prefix(&error, "nvcc %d", 13));
    assert_string_equal(error.message, "nvcc 13: died");
    assert_string_equal(error.hint, "restart");
    assert_int_equal(error.code, ERROR_TOOL);

    memset(longer, 'l', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    (void)error_prefix(&error, "%s", longer);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    assert_string_equal(error.message + sizeof error.message - 4, "...");
    (void)error_set(&error, ERROR_TOOL, "%s", longer);
    (void)error_prefix(&error, "p");
    assert_memory_equal(error.message, "p: lll", 6);
    assert_string_equal(error.message + sizeof error.message - 4, "...");
}

static void test_codes(void **state)
{
    static const struct {
        enum error_code code;
        int status;
    } cases[] = {
        {ERROR_NONE, 0},        {ERROR_USAGE, 64}, {ERROR_INPUT, 64},   {ERROR_NOT_FOUND, 64},
        {ERROR_UNSUPPORTED, 2}, {ERROR_SYSTEM, 2}, {ERROR_MEMORY, 2},   {ERROR_LIMIT, 2},
        {ERROR_TOOL, 2},        {ERROR_DEVICE, 2}, {ERROR_PROTOCOL, 2}, {ERROR_INTERNAL, 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(error_exit_status(cases[i].code), cases[i].status);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(error_code_text(cases[i].code), error_code_text(cases[k].code));
    }
    assert_string_equal(error_code_text((enum error_code)999), "unknown error");
    assert_int_equal(error_exit_status((enum error_code)999), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),    cmocka_unit_test(test_truncation), cmocka_unit_test(test_system),
        cmocka_unit_test(test_prefix), cmocka_unit_test(test_codes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
