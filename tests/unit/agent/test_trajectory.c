/* The state machine of a trajectory, over lists of events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "agent/trajectory.h"

static struct arena *arena;
static struct trajectory trajectory;
static struct error error;

static void start_with(const struct trajectory_limits *limits, int64_t turns, double target)
{
    struct event event = {.kind = EVENT_STARTED,
                          .started = {.name = "t", .model = "m", .planned_turns = turns, .target_speedup = target}};

    trajectory_init(&trajectory, arena, limits);
    assert_int_equal(trajectory.step, STEP_START);
    assert_true(trajectory_apply(&trajectory, &event, &error));
}

static void start(int64_t turns, double target)
{
    start_with(&(struct trajectory_limits){0}, turns, target);
}

static bool apply(struct event event)
{
    event.turn = trajectory.turn;
    return trajectory_apply(&trajectory, &event, &error);
}

static void request(void)
{
    assert_true(apply((struct event){.kind = EVENT_REQUEST}));
}

static bool reply(const char *status)
{
    return apply((struct event){.kind = EVENT_REPLY,
                                .reply = {.status = status,
                                          .text = "answer",
                                          .input_tokens = count_of(100),
                                          .output_tokens = count_of(10),
                                          .cost_usd = number_of(0.5),
                                          .elapsed_ms = 1000}});
}

static void extraction(const char *code)
{
    assert_true(apply(
        (struct event){.kind = EVENT_EXTRACTION, .extraction = {.status = code ? "found" : "none", .code = code}}));
}

static void verdict(const char *status, double speedup)
{
    assert_true(apply((struct event){.kind = EVENT_VERDICT,
                                     .verdict = {.status = status,
                                                 .outcome = status ? NULL : "extraction",
                                                 .feedback = "feedback",
                                                 .speedup = speedup > 0 ? number_of(speedup) : (struct number){0}}}));
}

static void take_turn(const char *status, double speedup)
{
    assert_int_equal(trajectory.step, STEP_REQUEST);
    request();
    assert_int_equal(trajectory.step, STEP_REPLY);
    assert_true(reply("ok"));
    assert_int_equal(trajectory.step, STEP_EXTRACT);
    extraction("code");
    assert_int_equal(trajectory.step, STEP_EVALUATE);
    verdict(status, speedup);
}

static void end(void)
{
    assert_int_equal(trajectory.step, STEP_END);
    assert_true(apply((struct event){.kind = EVENT_ENDED, .ended = {.reason = trajectory.end_reason}}));
    assert_true(trajectory_is_done(&trajectory));
}

static void test_all_turns(void **state)
{
    (void)state;
    start(3, 1.2);
    take_turn("COMPILE_ERROR", 0);
    take_turn("PASSED", 0.9);
    assert_int_equal(trajectory.turn, 2);
    assert_false(trajectory_is_done(&trajectory));
    take_turn("PASSED", 1.19);
    assert_int_equal(trajectory.end_reason, END_TURNS);
    end();
    assert_true(trajectory.best_speedup.known);
    assert_true(trajectory.best_speedup.value > 1.18);
    assert_int_equal(trajectory.sums.calls, 3);
    assert_int_equal(trajectory.sums.input_tokens, 300);
    assert_int_equal(trajectory.turns[0].tokens.value, 110);
    assert_true(trajectory.sums.cost_known);
}

static void test_early_stop(void **state)
{
    (void)state;
    start(8, 1.2);
    take_turn("PASSED", 1.2);
    assert_int_equal(trajectory.end_reason, END_TARGET);
    end();
    start(2, 0); /* off */
    take_turn("PASSED", 5);
    take_turn("PASSED", 5);
    assert_int_equal(trajectory.end_reason, END_TURNS);
}

/* A pass without timing, as on the emulator, never stops early. */
static void test_untimed_pass(void **state)
{
    (void)state;
    start(2, 1.2);
    take_turn("PASSED", 0);
    assert_int_equal(trajectory.step, STEP_REQUEST);
    assert_true(trajectory.passed);
    assert_false(trajectory.best_speedup.known);
}

static void test_context_overflow(void **state)
{
    (void)state;
    start(8, 1.2);
    take_turn("COMPILE_ERROR", 0);
    request();
    assert_true(reply("context_overflow"));
    assert_int_equal(trajectory.end_reason, END_CONTEXT);
    assert_int_equal(trajectory.turn, 1); /* the turn was not taken: the metrics count it as missing */
    end();
    assert_false(trajectory_can_reopen(&trajectory, 9));
}

static void test_context_known_to_be_full(void **state)
{
    (void)state;
    start_with(&(struct trajectory_limits){.context_tokens = 110}, 8, 1.2);
    take_turn("COMPILE_ERROR", 0);
    assert_int_equal(trajectory.step, STEP_END);
    assert_int_equal(trajectory.end_reason, END_CONTEXT);
    start_with(&(struct trajectory_limits){.context_tokens = 111}, 8, 1.2);
    take_turn("COMPILE_ERROR", 0);
    assert_int_equal(trajectory.step, STEP_REQUEST);
}

/* Trouble of the provider: the same turn again, and it never counts. */
static void test_provider_retries(void **state)
{
    (void)state;
    start_with(&(struct trajectory_limits){.retry_limit = 2}, 2, 0);
    for (int i = 0; i < 2; i++) {
        request();
        assert_true(reply(i ? "protocol" : "retryable_exhausted"));
        assert_int_equal(trajectory.step, STEP_RETRY);
        assert_true(apply((struct event){.kind = EVENT_RETRY, .retry = {"provider", "503"}}));
        assert_int_equal(trajectory.step, STEP_REQUEST);
        assert_int_equal(trajectory.turn, 0);
    }
    take_turn("COMPILE_ERROR", 0);
    assert_int_equal(trajectory.turn, 1);
    assert_int_equal(trajectory.retries, 0); /* counted per turn */
    assert_int_equal(trajectory.sums.calls, 3);
}

static void test_evaluation_retries(void **state)
{
    (void)state;
    start_with(&(struct trajectory_limits){.retry_limit = 1}, 2, 0);
    request();
    assert_true(reply("ok"));
    extraction("code");
    assert_true(apply((struct event){.kind = EVENT_RETRY, .retry = {"evaluation", "no device"}}));
    assert_int_equal(trajectory.step, STEP_EVALUATE); /* the model is not asked again */
    assert_true(apply((struct event){.kind = EVENT_RETRY, .retry = {"evaluation", "no device"}}));
    assert_int_equal(trajectory.end_reason, END_INFRASTRUCTURE);
    end();
    assert_int_equal(trajectory.turn, 0);
    assert_true(trajectory_can_reopen(&trajectory, 2));
    assert_true(apply((struct event){.kind = EVENT_REOPENED, .planned_turns = 2}));
    assert_int_equal(trajectory.step, STEP_EVALUATE);
    verdict("PASSED", 1);
    assert_int_equal(trajectory.turn, 1);
}

static void test_hopeless_provider(void **state)
{
    static const char *const statuses[] = {"authentication", "quota", "bad_request"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(statuses); i++) {
        start(2, 0);
        request();
        assert_true(reply(statuses[i]));
        assert_int_equal(trajectory.end_reason, END_PROVIDER);
        end();
        assert_true(apply((struct event){.kind = EVENT_REOPENED, .planned_turns = 2}));
        assert_int_equal(trajectory.step, STEP_REQUEST);
        take_turn("PASSED", 1);
    }
}

/* The model declined: its turn, without a kernel. */
static void test_refusal_is_a_turn(void **state)
{
    (void)state;
    start(2, 0);
    request();
    assert_true(reply("refused"));
    assert_int_equal(trajectory.step, STEP_EXTRACT);
    extraction(NULL);
    assert_null(trajectory_current(&trajectory)->code);
    verdict(NULL, 0);
    assert_int_equal(trajectory.turn, 1);
    assert_string_equal(trajectory.turns[0].outcome, "extraction");
}

static void test_second_question(void **state)
{
    (void)state;
    start(2, 0);
    request();
    assert_true(reply("ok"));
    assert_true(apply((struct event){.kind = EVENT_REQUEST, .purpose = CALL_CHOOSE}));
    assert_int_equal(trajectory.step, STEP_REPLY);
    assert_true(apply((struct event){.kind = EVENT_REPLY,
                                     .purpose = CALL_CHOOSE,
                                     .reply = {.status = "retryable_exhausted", .input_tokens = count_of(5)}}));
    assert_int_equal(trajectory.step, STEP_EXTRACT); /* without an answer it goes on with the best guess */
    assert_string_equal(trajectory_current(&trajectory)->choice, "");
    extraction("code");
    verdict("PASSED", 1);
    assert_int_equal(trajectory.turn, 1);
    assert_int_equal(trajectory.turns[0].tokens.value, 115);
}

static void test_budgets(void **state)
{
    (void)state;
    start_with(&(struct trajectory_limits){.tokens = 220}, 8, 0);
    take_turn("COMPILE_ERROR", 0);
    take_turn("COMPILE_ERROR", 0);
    assert_int_equal(trajectory.end_reason, END_BUDGET);
    assert_int_equal(trajectory.step, STEP_END);
    start_with(&(struct trajectory_limits){.cost_usd = 0.6}, 8, 0);
    take_turn("COMPILE_ERROR", 0);
    assert_int_equal(trajectory.step, STEP_REQUEST);
    take_turn("COMPILE_ERROR", 0);
    assert_int_equal(trajectory.end_reason, END_BUDGET);
    start_with(&(struct trajectory_limits){.elapsed_ms = 1000}, 8, 0);
    take_turn("PASSED", 1);
    assert_int_equal(trajectory.step, STEP_END);
    end();
    assert_false(trajectory_can_reopen(&trajectory, 20));
}

static void test_more_turns(void **state)
{
    (void)state;
    start(1, 0);
    take_turn("PASSED", 1);
    end();
    assert_false(trajectory_can_reopen(&trajectory, 1));
    assert_true(trajectory_can_reopen(&trajectory, 3));
    assert_true(apply((struct event){.kind = EVENT_REOPENED, .planned_turns = 3}));
    take_turn("PASSED", 2);
    take_turn("PASSED", 1);
    end();
    assert_int_equal(trajectory.turn, 3);
    assert_string_equal(trajectory.turns[0].status, "PASSED");
    assert_true(trajectory.best_speedup.value > 1.9);
}

static void test_wrong_order(void **state)
{
    struct event wrong_turn = {.kind = EVENT_REQUEST, .turn = 1};

    (void)state;
    start(2, 0);
    assert_false(reply("ok"));
    assert_int_equal(error.code, ERROR_INPUT);
    assert_non_null(strstr(error.message, "cannot follow"));
    assert_false(apply((struct event){.kind = EVENT_VERDICT}));
    assert_false(trajectory_apply(&trajectory, &wrong_turn, &error));
    assert_false(apply((struct event){.kind = EVENT_STARTED, .started = {.planned_turns = 1}}));
    assert_false(apply((struct event){.kind = EVENT_REOPENED, .planned_turns = 3}));
    take_turn("PASSED", 1); /* none of it left a trace */
    assert_int_equal(trajectory.sums.events, 5);
}

static int set_up(void **state)
{
    (void)state;
    arena = arena_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_free(arena);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_all_turns),
        TEST(test_early_stop),
        TEST(test_untimed_pass),
        TEST(test_context_overflow),
        TEST(test_context_known_to_be_full),
        TEST(test_provider_retries),
        TEST(test_evaluation_retries),
        TEST(test_hopeless_provider),
        TEST(test_refusal_is_a_turn),
        TEST(test_second_question),
        TEST(test_budgets),
        TEST(test_more_turns),
        TEST(test_wrong_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
