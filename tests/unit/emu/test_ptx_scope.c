/* Scopes and ranges. */
#include "emu/ptx_scope.h"
#include "ptx_test.h"

static struct ptx_symbol *define(struct ptx_scopes *scopes, const char *name, enum ptx_symbol_kind kind, uint32_t value)
{
    return ptx_scope_define(scopes, name, strlen(name), kind, value);
}

static struct ptx_symbol *find(struct ptx_scopes *scopes, const char *name)
{
    return ptx_scope_find(scopes, name, strlen(name));
}

static void test_nesting(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct ptx_scopes *scopes = ptx_scopes_new(arena);

    (void)state;
    assert_non_null(define(scopes, "a", PTX_SYMBOL_VARIABLE, 1));
    assert_null(define(scopes, "a", PTX_SYMBOL_VARIABLE, 2));
    assert_true(ptx_scope_open(scopes));
    assert_non_null(define(scopes, "a", PTX_SYMBOL_VARIABLE, 3));
    assert_int_equal(find(scopes, "a")->value, 3);
    assert_non_null(ptx_scope_define_outermost(scopes, "b", 1, PTX_SYMBOL_FUNCTION, 4));
    assert_null(ptx_scope_define_outermost(scopes, "a", 1, PTX_SYMBOL_FUNCTION, 5));
    assert_null(ptx_scope_find_here(scopes, "b", 1));
    ptx_scope_close(scopes);
    assert_int_equal(find(scopes, "a")->value, 1);
    assert_int_equal(find(scopes, "b")->value, 4);
    assert_null(find(scopes, "ab"));
}

static void test_ranges(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct ptx_scopes *scopes = ptx_scopes_new(arena);

    (void)state;
    (void)define(scopes, "%r", PTX_SYMBOL_RANGE, 10);
    assert_null(find(scopes, "%r10"));
    assert_null(find(scopes, "%r01"));
    assert_null(find(scopes, "%r"));
    struct ptx_symbol *outer = find(scopes, "%r7");
    assert_int_equal(outer->kind, PTX_SYMBOL_REGISTER);
    assert_ptr_equal(find(scopes, "%r7"), outer);
    assert_true(ptx_scope_open(scopes));
    (void)define(scopes, "%r", PTX_SYMBOL_RANGE, 5);
    assert_ptr_equal(find(scopes, "%r7"), outer); /* the inner range ends before */
    assert_ptr_not_equal(find(scopes, "%r3"), find(scopes, "%r7"));
    assert_int_equal(find(scopes, "%r3")->depth, 1);
    ptx_scope_close(scopes);
    assert_int_equal(find(scopes, "%r3")->depth, 0);
    assert_int_equal(find(scopes, "%r0")->depth, 0);
}

static void test_many(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct ptx_scopes *scopes = ptx_scopes_new(arena);
    char name[32];

    (void)state;
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof name, "n_%u_", i);
        assert_non_null(define(scopes, name, PTX_SYMBOL_LABEL, i));
    }
    for (uint32_t i = 0; i < 5000; i++) {
        (void)snprintf(name, sizeof name, "n_%u_", i);
        assert_int_equal(find(scopes, name)->value, i);
    }
    int depth = 0;
    while (ptx_scope_open(scopes))
        depth++;
    assert_int_equal(depth, PTX_SCOPE_DEPTH_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_many),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
