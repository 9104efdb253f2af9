/* The pool of workers, with a stand-in for the worker (tests/agent/fake_worker.py). */
#define _GNU_SOURCE
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "agent/evaluator.h"
#include "base/clock.h"
#include "base/file.h"

static const char *const program[] = {"python3", SOURCE_ROOT "/tests/agent/fake_worker.py", NULL};
static struct evaluator *evaluator;
static struct arena *arena;
static char *folder;

static void open_pool(size_t devices, int64_t timeout_ns)
{
    static const char *const names[] = {"emu:0", "emu:1", "emu:2", "emu:3"};
    struct evaluator_options options = {
        .program = program, .devices = names, .device_count = devices, .timeout_ns = timeout_ns};
    struct error error;

    assert_true(evaluator_new(&options, &evaluator, &error));
}

static void submit(const char *source, const char *id, void *context)
{
    AUTO_JSON_OBJECT *request = json_object_new_object();
    struct error error;

    json_put_string(request, "id", id);
    json_put_string(request, "source", source);
    json_put_string(request, "path", file_join(arena, folder, "crashed"));
    assert_true(evaluator_submit(evaluator, request, context, &error));
}

/* Waits as a run does: only poll, never a sleep. */
static const struct judgement *next(void)
{
    for (;;) {
        const struct judgement *done = evaluator_next(evaluator);
        if (done)
            return done;
        struct pollfd waiting = {.fd = evaluator_fd(evaluator), .events = POLLIN};
        int64_t left = evaluator_deadline_ns(evaluator);
        int timeout = 20000;
        if (left != INT64_MAX)
            timeout = (int)((left - clock_now_ns()) / 1000000) + 1;
        assert_true(poll(&waiting, 1, timeout < 0 ? 0 : timeout) >= 0);
    }
}

static void test_all_answered_once(void **state)
{
    bool seen[40] = {false};

    (void)state;
    open_pool(3, 0);
    for (size_t i = 0; i < ARRAY_LEN(seen); i++)
        submit("ok", arena_printf(arena, "job %zu", i), &seen[i]);
    assert_int_equal(evaluator_load(evaluator).waiting, ARRAY_LEN(seen)); /* nothing starts by itself */
    for (size_t i = 0; i < ARRAY_LEN(seen); i++) {
        const struct judgement *done = next();
        assert_non_null(done->verdict);
        assert_int_equal(done->verdict->status, VERDICT_COMPILE_ERROR);
        bool *mine = done->context;
        assert_false(*mine);
        *mine = true;
        const char *wanted = arena_printf(arena, "job %zd by ", mine - seen);
        assert_int_equal(strncmp(done->verdict->summary, wanted, strlen(wanted)), 0);
        assert_non_null(strstr(done->verdict->summary, done->device));
    }
    assert_int_equal(evaluator_load(evaluator).running, 0);
    assert_null(evaluator_next(evaluator));
}

/* A crash costs nothing when it does not repeat: another child judges the same candidate. */
static void test_crash_once(void **state)
{
    int mine;

    (void)state;
    open_pool(1, 0);
    submit("crash-once", "a", &mine);
    const struct judgement *done = next();
    assert_non_null(done->verdict);
    assert_ptr_equal(done->context, &mine);
}

static void test_crash_each_time(void **state)
{
    int first, second;

    (void)state;
    open_pool(1, 0);
    submit("crash", "a", &first);
    submit("ok", "b", &second);
    const struct judgement *done = next();
    assert_null(done->verdict);
    assert_ptr_equal(done->context, &first);
    assert_non_null(strstr(done->trouble.message, "exited with status 3"));
    assert_non_null(strstr(done->trouble.message, "the last words"));
    done = next(); /* the pool goes on */
    assert_non_null(done->verdict);
    assert_ptr_equal(done->context, &second);
}

static void test_no_worker_stays(void **state)
{
    int mine[4];

    (void)state;
    open_pool(1, 0);
    for (int i = 0; i < 4; i++)
        submit("crash", "a", &mine[i]);
    for (int i = 0; i < 4; i++) {
        const struct judgement *done = next();
        assert_null(done->verdict);
        assert_ptr_equal(done->context, &mine[i]);
        if (i == 3)
            assert_non_null(strstr(done->trouble.message, "no worker can be kept running"));
    }
    assert_int_equal(evaluator_load(evaluator).slots, 0);
}

static void test_timeout(void **state)
{
    int first, second;

    (void)state;
    open_pool(1, INT64_C(300) * 1000000);
    submit("hang", "a", &first);
    submit("ok", "b", &second);
    const struct judgement *done = next();
    assert_ptr_equal(done->context, &first);
    assert_null(done->verdict);
    assert_non_null(strstr(done->trouble.message, "no verdict within"));
    evaluator_free(evaluator);
    open_pool(1, 0);
    submit("ok", "c", &second);
    assert_non_null(next()->verdict);
}

static void test_no_verdict(void **state)
{
    int first, second;

    (void)state;
    open_pool(1, 0);
    submit("noise", "a", &first);
    assert_null(next()->verdict);
    submit("refuse", "b", &second);
    const struct judgement *done = next();
    assert_null(done->verdict);
    assert_string_equal(done->trouble.message, "no such task");
    assert_string_equal(done->trouble.hint, "look");
}

static void test_program_missing(void **state)
{
    static const char *const missing[] = {"/no/such/program", NULL};
    static const char *const devices[] = {"cuda:0"};
    struct evaluator_options options = {.program = missing, .devices = devices, .device_count = 1};
    struct error error;
    int mine;

    (void)state;
    assert_true(evaluator_new(&options, &evaluator, &error));
    submit("ok", "a", &mine);
    assert_null(next()->verdict);
}

/* A request larger than a pipe's buffer, to a child that reads when it likes. */
static void test_large_request(void **state)
{
    AUTO_FREE char *large = malloc((4 << 20) + 1);
    AUTO_JSON_OBJECT *request = json_object_new_object();
    struct error error;
    int mine;

    (void)state;
    assert_non_null(large);
    memset(large, 'x', 4 << 20);
    large[4 << 20] = '\0';
    open_pool(1, 0);
    json_put_string(request, "id", "large");
    json_put_string(request, "source", "ok");
    json_put_string(request, "padding", large);
    assert_true(evaluator_submit(evaluator, request, &mine, &error));
    assert_non_null(next()->verdict);
}

static int set_up(void **state)
{
    struct error error;
    struct verdict *verdict;

    (void)state;
    arena = arena_new();
    if (!file_make_temporary_folder(arena, file_temporary_root(), "evaluator", &folder, &error))
        return -1;
    const char *path = file_join(arena, folder, "verdict.json");
    verdict = verdict_new(arena);
    verdict_set_status(verdict, arena, VERDICT_COMPILE_ERROR, "no");
    AUTO_JSON_OBJECT *json = verdict_to_json(verdict);
    return json_write_file(json, path, &error) && !setenv("VERDICT", path, 1) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    evaluator_free(evaluator);
    evaluator = NULL;
    (void)file_remove_tree(folder);
    arena_free(arena);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_all_answered_once), TEST(test_crash_once), TEST(test_crash_each_time), TEST(test_no_worker_stays),
        TEST(test_timeout),           TEST(test_no_verdict), TEST(test_program_missing), TEST(test_large_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
