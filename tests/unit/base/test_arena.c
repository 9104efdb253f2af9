#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/arena.h"

static bool all_zero(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (bytes[i])
            return false;
    return true;
}

static void test_zeroed_aligned_disjoint(void **state)
{
    enum { COUNT = 2000 };
    AUTO_ARENA *arena = arena_new();
    static struct {
        unsigned char *bytes;
        size_t size;
    } parts[COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        parts[i].size = i * 37 % 3001;
        parts[i].bytes = arena_alloc(arena, parts[i].size);
        assert_non_null(parts[i].bytes);
        assert_int_equal((uintptr_t)parts[i].bytes % 16, 0);
        assert_true(all_zero((char *)parts[i].bytes, parts[i].size));
        memset(parts[i].bytes, (int)(i % 255 + 1), parts[i].size);
    }
    for (size_t i = 0; i < COUNT; i++)
        for (size_t k = 0; k < parts[i].size; k++)
            assert_int_equal(parts[i].bytes[k], i % 255 + 1);
}

static void test_large(void **state)
{
    AUTO_ARENA *arena = arena_new();

    (void)state;
    char *large = arena_alloc(arena, 5 << 20);
    assert_true(all_zero(large, 5 << 20));
    memset(large, 1, 5 << 20);
    char *small = arena_alloc(arena, 8);
    assert_true(all_zero(small, 8));
    arena_free(NULL);
}

static void test_text(void **state)
{
    AUTO_ARENA *arena = arena_new();

    (void)state;
    assert_null(arena_strdup(arena, NULL));
    assert_string_equal(arena_strdup(arena, ""), "");
    assert_string_equal(arena_strndup(arena, "abcdef", 3), "abc");
    assert_string_equal(arena_printf(arena, "%s-%05d", "x", 42), "x-00042");
    char *long_text = arena_printf(arena, "%*d", 100000, 1);
    assert_int_equal(strlen(long_text), 100000);
    int *numbers = arena_calloc(arena, 10, sizeof *numbers);
    assert_true(all_zero((char *)numbers, 10 * sizeof *numbers));
}

/* Runs `act` in a child with standard error closed; whether the child survived. */
static bool survives(void (*act)(struct arena *))
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        (void)close(STDERR_FILENO);
        act(arena_new());
        _exit(0);
    }
    assert_true(pid > 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static volatile size_t half = SIZE_MAX / 2 + 2;

static void overflow_product(struct arena *arena)
{
    (void)arena_calloc(arena, half, 2); /* 2 bytes, if the product wrapped */
}

static void overflow_rounding(struct arena *arena)
{
    (void)arena_alloc(arena, 2 * half - 6);
}

static void modest(struct arena *arena)
{
    (void)arena_calloc(arena, half % 3 + 1, 2);
    arena_free(arena);
}

static void test_overflow_aborts(void **state)
{
    (void)state;
    assert_true(survives(modest));
    assert_false(survives(overflow_product));
    assert_false(survives(overflow_rounding));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zeroed_aligned_disjoint),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_overflow_aborts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
