/* What of a conversation is sent, by policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "agent/context.h"

static struct trajectory_turn turns[4] = {
    {.reply = "A0", .feedback = "F0"}, {.reply = "", .feedback = "F1"}, {.reply = "A2"}};

/* "system:S user:T assistant:A0 ..." */
static const char *text_of(struct arena *arena, const struct context *context)
{
    static const char *const roles[] = {"system", "user", "assistant"};
    const char *text = "";

    for (size_t i = 0; i < context->count; i++)
        text = arena_printf(arena, "%s%s%s:%s", text, i ? " " : "", roles[context->messages[i].role],
                            context->messages[i].text);
    return text;
}

static void check(int turn, enum context_policy policy, const char *wanted)
{
    AUTO_ARENA *arena = arena_new();
    struct trajectory trajectory = {.turns = turns, .turn = turn};
    struct context context;

    context_build(&trajectory, "S", "T", policy, arena, &context);
    assert_string_equal(text_of(arena, &context), wanted);
}

static void test_policies(void **state)
{
    (void)state;
    check(0, CONTEXT_FULL, "system:S user:T");
    check(0, CONTEXT_LATEST_PAIR, "system:S user:T");
    check(0, CONTEXT_SINGLE_USER, "system:S user:T");
    check(2, CONTEXT_FULL, "system:S user:T assistant:A0 user:F0 assistant:(empty answer) user:F1");
    check(2, CONTEXT_LATEST_PAIR, "system:S user:T assistant:(empty answer) user:F1");
    check(2, CONTEXT_SINGLE_USER, "system:S user:T\n\nA0\n\nF0\n\n(empty answer)\n\nF1");
}

static void test_choice(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct trajectory trajectory = {.turns = turns, .turn = 2};
    struct context context;

    (void)state;
    context_build_choice(&trajectory, "S", "T", CONTEXT_LATEST_PAIR, "Which?", arena, &context);
    assert_string_equal(text_of(arena, &context),
                        "system:S user:T assistant:(empty answer) user:F1 assistant:A2 user:Which?");
    context_build_choice(&trajectory, "S", "T", CONTEXT_SINGLE_USER, "Which?", arena, &context);
    assert_int_equal(context.count, 4);
}

static void test_names(void **state)
{
    enum context_policy policy;

    (void)state;
    assert_true(context_policy_parse("latest-pair", &policy));
    assert_int_equal(policy, CONTEXT_LATEST_PAIR);
    assert_false(context_policy_parse("latest", &policy));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_policies), cmocka_unit_test(test_choice),
                                       cmocka_unit_test(test_names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
