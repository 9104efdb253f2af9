/* A suspended runner does nothing until it is asked to run, and can be got rid of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "judge/runner_client.h"

static const int64_t long_ns = 60LL * 1000000000;

/* tests/fake_runner.c is built beside this program. */
static void find_fake_runner(char *out, size_t size)
{
    char self[3800];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    assert_true(length > 0);
    self[length] = '\0';
    *strrchr(self, '/') = '\0';
    (void)snprintf(out, size, "%s/fake_runner", self);
    assert_int_equal(access(out, X_OK), 0);
}

static struct runner_client *start_loaded(void)
{
    const struct message_load request = {.entry = "ptxbench_run", .binding = RUNNER_BINDING_C};
    const struct message_ready *ready;
    struct runner_client *client;
    struct error error;
    char program[4096];

    find_fake_runner(program, sizeof program);
    assert_true(runner_client_start(program, "fake:ok", NULL, &client, &error));
    assert_true(runner_client_wait_ready(client, &ready, &error));
    assert_int_equal(runner_client_load(client, &request, (const int[]){0, 1, 2}, long_ns).result, RUNNER_OK);
    return client;
}

/* 'T' once the kernel has stopped it. */
static char process_state(const struct runner_client *client)
{
    char path[64], text[512] = "";

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)runner_client_pid(client));
    AUTO_FCLOSE FILE *stat = fopen(path, "re");
    assert_non_null(stat);
    (void)!fread(text, 1, sizeof text - 1, stat);
    const char *name_end = strrchr(text, ')');
    return name_end ? name_end[2] : '?';
}

static void test_runs_again(void **state)
{
    const struct message_run request = {.flags = RUN_TIME, .count = 3};
    struct runner_client *client = start_loaded();
    struct message_times times;

    (void)state;
    for (int i = 0; i < 3; i++) {
        runner_client_suspend(client);
        while (process_state(client) != 'T')
            continue;
        assert_int_equal(runner_client_run(client, &request, long_ns, NULL, NULL, NULL).result, RUNNER_OK);
        assert_int_equal(runner_client_take_times(client, &request, &times).result, RUNNER_OK);
        assert_int_equal(times.count, 3);
    }
    assert_false(runner_client_free(client, NULL));
}

static void test_ends_while_suspended(void **state)
{
    struct runner_client *client = start_loaded();

    (void)state;
    runner_client_suspend(client);
    runner_client_stop(client);
    assert_true(runner_client_reap(client, long_ns));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_again),
        cmocka_unit_test(test_ends_while_suspended),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
