/* The worker's end against tests/fake_runner.c, which misbehaves in every way that a candidate could make a runner. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "judge/runner_client.h"

static const int64_t long_ns = 60LL * 1000000000;
static const int64_t short_ns = 200000000;
static const char *const result_names[] = {"OK", "FAILED", "ENDED", "HUNG", "CLOSED", "VIOLATION", "INVALID"};

struct fixture {
    int descriptors_before;
    struct runner_client *client;
    struct error error;
};

static int count_descriptors(void)
{
    char name[64];
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
        count += !access(name, F_OK);
    }
    return count;
}

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    fixture->descriptors_before = count_descriptors();
    *state = fixture;
    return 0;
}

static void assert_nothing_left(const struct fixture *fixture)
{
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(count_descriptors(), fixture->descriptors_before);
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    (void)runner_client_free(fixture->client, NULL);
    assert_nothing_left(fixture);
    free(fixture);
    return 0;
}

static void start(struct fixture *fixture, const char *device)
{
    const struct message_ready *ready;

    assert_true(runner_client_start(FAKE_RUNNER, device, NULL, &fixture->client, &fixture->error));
    bool ok = runner_client_wait_ready(fixture->client, &ready, &fixture->error);
    if (!ok)
        print_error("%s: %s\n", device, fixture->error.message);
    assert_true(ok);
    assert_int_equal(ready->cupti_version, 13);
}

static struct runner_outcome load(struct fixture *fixture, int64_t timeout_ns)
{
    const struct message_load request = {.entry = "ptxbench_run", .binding = RUNNER_BINDING_C};

    return runner_client_load(fixture->client, &request, (const int[]){0, 1, 2}, timeout_ns);
}

struct reports {
    struct message_times times;
    struct message_counts counts;
    int counts_fd;
};

static struct runner_outcome run(struct fixture *fixture, int flags, int64_t timeout_ns, struct reports *reports)
{
    const struct message_run request = {.flags = flags, .count = 3};

    *reports = (struct reports){.counts_fd = -1};
    return runner_client_run(fixture->client, &request, timeout_ns, &reports->times, &reports->counts,
                             &reports->counts_fd);
}

static void test_well_behaved(void **state)
{
    struct fixture *fixture = *state;
    struct count_record record;
    struct reports reports;
    bool truncated;

    start(fixture, "fake:ok");
    assert_true(runner_client_pid(fixture->client) > 0);
    assert_int_equal(load(fixture, long_ns).result, RUNNER_OK);
    struct runner_outcome outcome = run(fixture, 0, long_ns, &reports);
    assert_int_equal(outcome.result, RUNNER_OK);
    assert_true(outcome.wall_ns > 0);
    assert_int_equal(run(fixture, RUN_TIME | RUN_FLUSH, long_ns, &reports).result, RUNNER_OK);
    assert_int_equal(reports.times.count, 3);
    assert_int_equal(reports.times.iterations[2].duration_ns, 1002);
    assert_int_equal(reports.counts_fd, -1);
    assert_int_equal(run(fixture, RUN_COUNT, long_ns, &reports).result, RUNNER_OK);
    assert_int_equal(reports.counts.count, 1);
    assert_int_equal(pread(reports.counts_fd, &record, sizeof record, 0), sizeof record);
    assert_string_equal(record.function, "kernel");
    (void)close(reports.counts_fd);
    assert_string_equal(runner_client_output(fixture->client, &truncated), "hello from ok\n");
    assert_false(truncated);
}

struct outcome_case {
    const char *device;
    int flags;
    enum runner_result result;
    int exit_status; /* for ENDED */
    int signal;
    bool ended; /* what runner_client_free says */
};

static void check_outcome(struct fixture *fixture, const struct outcome_case *at, const struct runner_outcome *outcome)
{
    struct process_end end;

    if (outcome->result != at->result)
        print_error("%s: %s, wanted %s\n", at->device, result_names[outcome->result], result_names[at->result]);
    assert_int_equal(outcome->result, at->result);
    if (at->result == RUNNER_ENDED) {
        assert_int_equal(outcome->end.exit_status, at->exit_status);
        assert_int_equal(outcome->end.signal, at->signal);
    }
    if (at->result == RUNNER_FAILED && !strstr(at->device, "descriptors")) {
        assert_int_equal(outcome->failed.stage, FAILURE_DEVICE);
        assert_int_equal(outcome->failed.code, 700);
        assert_int_equal(outcome->failed.iteration, 4);
        assert_string_equal(outcome->failed.text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    }
    if (at->result == RUNNER_VIOLATION)
        assert_int_equal(outcome->syscall, 57);
    bool ended = runner_client_free(fixture->client, &end);
    fixture->client = NULL;
    assert_int_equal(ended, at->ended);
    if (!ended && at->result != RUNNER_VIOLATION) /* it may be gone by itself before we kill it */
        assert_int_equal(end.signal, SIGKILL);
    assert_nothing_left(fixture);
}

static void test_outcomes_of_load(void **state)
{
    static const struct outcome_case cases[] = {
        {"fake:exit3@load", 0, RUNNER_ENDED, 3, 0, true},
        {"fake:abort@load", 0, RUNNER_ENDED, -1, SIGABRT, true},
        {"fake:hang@load", 0, RUNNER_HUNG, 0, 0, false},
        {"fake:close@load", 0, RUNNER_CLOSED, 0, 0, false},
        {"fake:garbage@load", 0, RUNNER_INVALID, 0, 0, false},
        {"fake:empty@load", 0, RUNNER_CLOSED, 0, 0, false},
        {"fake:other@load", 0, RUNNER_INVALID, 0, 0, false},
        {"fake:failed@load", 0, RUNNER_FAILED, 0, 0, false},
        {"fake:descriptors@load", 0, RUNNER_FAILED, 0, 0, false},
        {"fake:violation@load", 0, RUNNER_VIOLATION, 0, 0, false},
    };
    struct fixture *fixture = *state;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        start(fixture, cases[i].device);
        bool waits = cases[i].result == RUNNER_HUNG;
        struct runner_outcome outcome = load(fixture, waits ? short_ns : long_ns);
        check_outcome(fixture, &cases[i], &outcome);
    }
}

static void test_outcomes_of_run(void **state)
{
    static const struct outcome_case cases[] = {
        {"fake:exit3@run", 0, RUNNER_ENDED, 3, 0, true},
        {"fake:abort@run", 0, RUNNER_ENDED, -1, SIGABRT, true},
        {"fake:hang@run", 0, RUNNER_HUNG, 0, 0, false},
        {"fake:close@run", 0, RUNNER_CLOSED, 0, 0, false},
        {"fake:garbage@run", 0, RUNNER_INVALID, 0, 0, false},
        {"fake:other@run", 0, RUNNER_INVALID, 0, 0, false},
        {"fake:failed@run", 0, RUNNER_FAILED, 0, 0, false},
        {"fake:violation@run", 0, RUNNER_VIOLATION, 0, 0, false},
        {"fake:exit3@report", RUN_TIME, RUNNER_ENDED, 3, 0, true},
        {"fake:close@report", RUN_TIME, RUNNER_CLOSED, 0, 0, false},
        {"fake:garbage@report", RUN_TIME, RUNNER_INVALID, 0, 0, false},
        {"fake:other@report", RUN_TIME, RUNNER_INVALID, 0, 0, false},
        {"fake:forged-times@report", RUN_TIME, RUNNER_INVALID, 0, 0, false},
        {"fake:failed@report", RUN_TIME, RUNNER_FAILED, 0, 0, false},
        {"fake:failed@report", RUN_COUNT, RUNNER_FAILED, 0, 0, false},
        {"fake:descriptors@report", RUN_COUNT, RUNNER_FAILED, 0, 0, false},
        {"fake:descriptors@report", RUN_TIME, RUNNER_FAILED, 0, 0, false},
        {"fake:exit3@report", RUN_COUNT, RUNNER_ENDED, 3, 0, true},
    };
    struct fixture *fixture = *state;
    struct reports reports;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        start(fixture, cases[i].device);
        assert_int_equal(load(fixture, long_ns).result, RUNNER_OK);
        bool waits = cases[i].result == RUNNER_HUNG;
        struct runner_outcome outcome = run(fixture, cases[i].flags, waits ? short_ns : long_ns, &reports);
        assert_int_equal(reports.counts_fd, -1); /* set only when all went well */
        check_outcome(fixture, &cases[i], &outcome);
    }
}

/* "Done" before it was asked to run. */
static void test_speaks_unasked(void **state)
{
    static const struct outcome_case wanted = {"fake:early", 0, RUNNER_INVALID, 0, 0, false};
    struct fixture *fixture = *state;
    struct reports reports;
    bool truncated;

    start(fixture, wanted.device);
    assert_int_equal(load(fixture, long_ns).result, RUNNER_OK);
    while (!strstr(runner_client_output(fixture->client, &truncated), "spoken\n")) /* it has sent it by then */
        (void)sched_yield();
    struct runner_outcome outcome = run(fixture, 0, long_ns, &reports);
    check_outcome(fixture, &wanted, &outcome);
}

static void test_not_ready(void **state)
{
    static const struct {
        const char *device;
        const char *text;
    } cases[] = {
        {"fake:exit3@ready", "runner: exited with status 3 during its warm-up; it printed: hello from exit3"},
        {"fake:abort@ready", "runner: killed by signal 6 (Aborted) during its warm-up"},
        {"fake:failed@ready", "runner: CUDA_ERROR_ILLEGAL_ADDRESS"},
        {"fake:garbage@ready", "runner: sent an unexpected message during its warm-up"},
        {"fake:close@ready", "runner: closed its channel during its warm-up"},
        {"unknown", "runner: exited with status 64 during its warm-up; it printed: usage"},
    };
    struct fixture *fixture = *state;
    const struct message_ready *ready;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(runner_client_start(FAKE_RUNNER, cases[i].device, NULL, &fixture->client, &fixture->error));
        assert_false(runner_client_wait_ready(fixture->client, &ready, &fixture->error));
        assert_int_equal(fixture->error.code, ERROR_DEVICE);
        if (!strstr(fixture->error.message, cases[i].text))
            print_error("%s: %s\n", cases[i].device, fixture->error.message);
        assert_non_null(strstr(fixture->error.message, cases[i].text));
        (void)runner_client_free(fixture->client, NULL);
        fixture->client = NULL;
        assert_nothing_left(fixture);
    }
    assert_false(runner_client_start("/nonexistent/runner", "fake:ok", NULL, &fixture->client, &fixture->error));
    assert_int_equal(fixture->error.code, ERROR_NOT_FOUND);
    assert_nothing_left(fixture);
}

static bool is_printable_utf8(const char *text)
{
    AUTO_BUFFER again = buffer_new(1 << 20);

    return buffer_append_sanitized(&again, text, strlen(text)) && !strcmp(again.data, text);
}

static void test_megabytes_of_junk(void **state)
{
    struct fixture *fixture = *state;
    struct reports reports;
    bool truncated;

    start(fixture, "fake:megabytes@run");
    assert_int_equal(load(fixture, long_ns).result, RUNNER_OK);
    assert_int_equal(run(fixture, 0, long_ns, &reports).result, RUNNER_OK);
    const char *output = runner_client_output(fixture->client, &truncated);
    assert_true(truncated);
    assert_memory_equal(output, "hello from megabytes\n", 21);
    assert_true(is_printable_utf8(output));
    assert_in_range(strlen(output), 64 * 1024, 3 * 64 * 1024);
}

/* A descendant that never stops printing delays neither the deadline nor the reading of the output. */
static void test_endless_output(void **state)
{
    struct fixture *fixture = *state;
    struct reports reports;
    bool truncated;

    start(fixture, "fake:spam@load");
    assert_int_equal(load(fixture, long_ns).result, RUNNER_OK);
    assert_int_equal(run(fixture, 0, long_ns, &reports).result, RUNNER_OK);
    (void)runner_client_output(fixture->client, &truncated);
    (void)runner_client_free(fixture->client, NULL);
    fixture->client = NULL;
}

static void test_daemon(void **state)
{
    struct fixture *fixture = *state;
    struct reports reports;

    assert_true(process_become_subreaper(&fixture->error));
    start(fixture, "fake:daemon@run");
    assert_int_equal(load(fixture, long_ns).result, RUNNER_OK);
    assert_int_equal(run(fixture, 0, long_ns, &reports).result, RUNNER_OK);
    (void)runner_client_free(fixture->client, NULL);
    fixture->client = NULL;
    assert_int_equal(process_kill_orphans(NULL, 0), 1);
    assert_nothing_left(fixture);
}

static void test_environment(void **state)
{
    struct fixture *fixture = *state;
    bool truncated;

    (void)setenv("TEST_API_KEY", "secret", 1);
    (void)setenv("PTXBENCH_TEST_HARMLESS", "1", 1);
    start(fixture, "fake:ok");
    (void)unsetenv("TEST_API_KEY");
    (void)unsetenv("PTXBENCH_TEST_HARMLESS");
    assert_string_equal(runner_client_output(fixture->client, &truncated), "hello from ok\nthe environment is clean\n");
}

static void test_freed_while_warming_up(void **state)
{
    struct fixture *fixture = *state;

    assert_true(runner_client_start(FAKE_RUNNER, "fake:hang@ready", NULL, &fixture->client, &fixture->error));
    assert_false(runner_client_free(fixture->client, NULL));
    fixture->client = NULL;
    assert_true(runner_client_free(NULL, NULL));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_well_behaved),           TEST(test_outcomes_of_load), TEST(test_outcomes_of_run),
        TEST(test_speaks_unasked),         TEST(test_not_ready),        TEST(test_megabytes_of_junk),
        TEST(test_endless_output),         TEST(test_daemon),           TEST(test_environment),
        TEST(test_freed_while_warming_up),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
