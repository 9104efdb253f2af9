/* Each case is a process of its own, since what it tests is process-wide. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/interrupt.h"
#include "base/process.h"

static int in_child(void (*act)(void))
{
    int status;
    pid_t pid = fork();

    if (!pid) {
        act();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return status;
}

static void require(bool condition, int code)
{
    if (!condition)
        _exit(code);
}

static void note_and_finish(void)
{
    struct pollfd waiting = {.events = POLLIN};

    require(interrupt_fd() == -1 && !interrupt_requested(), 1);
    interrupt_finish(); /* nothing came: returns */
    interrupt_catch();
    waiting.fd = interrupt_fd();
    require(waiting.fd >= 0 && poll(&waiting, 1, 0) == 0, 2);
    (void)raise(SIGTERM);
    require(interrupt_requested() && poll(&waiting, 1, 0) == 1, 3);
    interrupt_finish();
}

static void test_noted_then_ended(void **state)
{
    (void)state;
    int status = in_child(note_and_finish);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGTERM);
}

static void interrupt_twice(void)
{
    interrupt_catch();
    (void)raise(SIGINT);
    (void)raise(SIGINT);
}

static void test_the_second_ends_at_once(void **state)
{
    (void)state;
    int status = in_child(interrupt_twice);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGINT);
}

static void ignore_hangup(void)
{
    (void)signal(SIGHUP, SIG_IGN);
    interrupt_catch();
    (void)raise(SIGHUP);
    require(!interrupt_requested(), 1);
}

static void test_ignored_stays_ignored(void **state)
{
    (void)state;
    assert_int_equal(in_child(ignore_hangup), 0);
}

/* The child interrupts us, and would sleep on. */
static void interrupted_run(void)
{
    const char *const argv[] = {"/bin/sh", "-c", "kill -TERM $PPID; sleep 1000", NULL};
    struct process_spec spec = {.argv = argv, .output_limit = 100, .timeout_ns = 60LL * 1000000000};
    struct buffer output = buffer_new(0), errors = buffer_new(0);
    struct process_end end;
    struct error error;

    interrupt_catch();
    require(!process_run(&spec, &output, &errors, &end, &error), 1);
    require(strstr(error.message, "interrupted") != NULL, 2);
    require(end.signal == SIGKILL && !end.timed_out, 3);
}

static void test_run_ends(void **state)
{
    (void)state;
    assert_int_equal(in_child(interrupted_run), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noted_then_ended),
        cmocka_unit_test(test_the_second_ends_at_once),
        cmocka_unit_test(test_ignored_stays_ignored),
        cmocka_unit_test(test_run_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
