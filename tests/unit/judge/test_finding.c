#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/finding.h"

static void test_table_is_complete(void **state)
{
    (void)state;
    for (int i = 0; i < FINDING_CODE_COUNT; i++) {
        const char *text = finding_code_text((enum finding_code)i);
        const char *hint = finding_code_hint((enum finding_code)i);
        assert_non_null(text);
        assert_true(strlen(hint) > 10);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, finding_code_text((enum finding_code)j));
    }
    assert_string_equal(finding_code_text(FINDING_CODE_COUNT), "unknown");
    assert_string_equal(blame_text(BLAME_INFRASTRUCTURE), "infrastructure");
    assert_string_equal(finding_stage_text(STAGE_TIMING), "timing");
}

static void test_add_takes_the_table_and_cleans_the_message(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct finding_list list = {0};
    struct finding *finding = finding_add(&list, arena, FINDING_ILLEGAL_ADDRESS, "evil\nPASSED \033[31m%s", "\xff");

    (void)state;
    assert_int_equal(finding->class, FINDING_CLASS_ERROR);
    assert_int_equal(finding->blame, BLAME_CANDIDATE);
    assert_int_equal(finding->stage, STAGE_RUN);
    assert_int_equal(finding->count, 1);
    assert_null(strchr(finding->message, '\n'));
    assert_null(strchr(finding->message, '\033'));
    assert_ptr_equal(finding_find(&list, FINDING_ILLEGAL_ADDRESS), &list.items[0]);
    assert_null(finding_find(&list, FINDING_NAN));
}

static void test_merge(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct finding_list list = {0};
    struct finding finding = {.code = "C7510", .message = "m", .file = "k.cu", .line = 3, .count = 2};

    (void)state;
    finding_merge(&list, arena, &finding);
    finding_merge(&list, arena, &finding);
    finding.line = 4;
    finding_merge(&list, arena, &finding);
    finding.kernel = "k";
    finding.count = 0;
    finding_merge(&list, arena, &finding);
    assert_int_equal(list.count, 3);
    assert_int_equal(list.items[0].count, 4);
    assert_int_equal(list.items[2].count, 1);
    assert_ptr_not_equal(list.items[0].file, finding.file);
}

static void test_sort_and_blame(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct finding_list list = {0};
    static const enum finding_code order[] = {FINDING_INFRASTRUCTURE, FINDING_RACECHECK,
                                              FINDING_MEMCHECK,       FINDING_NAN,
                                              FINDING_THROTTLED,      FINDING_REGISTER_SPILL};
    static const enum finding_code sorted[] = {FINDING_MEMCHECK,       FINDING_NAN,
                                               FINDING_INFRASTRUCTURE, FINDING_RACECHECK,
                                               FINDING_REGISTER_SPILL, FINDING_THROTTLED};

    (void)state;
    (void)finding_add(&list, arena, FINDING_TOOL_TROUBLE, "x");
    (void)finding_add(&list, arena, FINDING_INFRASTRUCTURE, "x");
    (void)finding_add(&list, arena, FINDING_RACECHECK, "a hazard is no error");
    assert_false(finding_blames_candidate(&list));
    list = (struct finding_list){0};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        (void)finding_add(&list, arena, order[i], "x");
    assert_true(finding_blames_candidate(&list));
    finding_sort(&list);
    for (size_t i = 0; i < ARRAY_LEN(sorted); i++)
        assert_string_equal(list.items[i].code, finding_code_text(sorted[i]));
}

static void test_list_is_bounded(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct finding_list list = {0};

    (void)state;
    for (int i = 0; i < FINDING_LIST_MAX + 10; i++)
        (void)finding_add(&list, arena, FINDING_NAN, "%d", i);
    assert_int_equal(list.count, FINDING_LIST_MAX);
    assert_string_equal(list.items[0].message, "0");
    assert_string_equal(list.items[FINDING_LIST_MAX - 1].message, "509");
}

static void test_text(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER out = buffer_new(1000);
    struct finding_list list = {0};
    struct finding *finding = finding_add(&list, arena, FINDING_MEMCHECK, "Invalid write");

    (void)state;
    finding->file = "k.cu";
    finding->line = 12;
    finding->count = 3;
    finding->hint = "fix it";
    finding_append_text(&out, finding);
    assert_string_equal(out.data, "error memcheck k.cu:12: Invalid write (3 times)\n  hint: fix it\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_complete),
        cmocka_unit_test(test_add_takes_the_table_and_cleans_the_message),
        cmocka_unit_test(test_merge),
        cmocka_unit_test(test_sort_and_blame),
        cmocka_unit_test(test_list_is_bounded),
        cmocka_unit_test(test_text),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
