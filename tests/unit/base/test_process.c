/* Children are /bin/sh scripts; what a test waits for is an event (an end of file, an exit), never a time. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/process.h"

enum { OUTPUT_LIMIT = 1 << 16 };
static const int64_t long_ns = 60LL * 1000000000;
static const int64_t short_ns = 200000000;

struct fixture {
    struct arena *arena;
    char *root;
    struct buffer output;
    struct buffer errors;
    struct process_end end;
    struct error error;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    fixture->arena = arena_new();
    fixture->output = fixture->errors = buffer_new(OUTPUT_LIMIT);
    assert_true(
        file_make_temporary_folder(fixture->arena, file_temporary_root(), "process", &fixture->root, &fixture->error));
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    assert_true(file_remove_tree(fixture->root));
    buffer_free(&fixture->output);
    buffer_free(&fixture->errors);
    arena_free(fixture->arena);
    free(fixture);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no child of ours is left, not even a zombie */
    assert_int_equal(errno, ECHILD);
    return 0;
}

static void run_spec(struct fixture *fixture, const char *script, struct process_spec spec)
{
    const char *const argv[] = {"/bin/sh", "-c", script, NULL};

    spec.argv = argv;
    spec.output_limit = spec.output_limit ? spec.output_limit : OUTPUT_LIMIT;
    spec.timeout_ns = spec.timeout_ns ? spec.timeout_ns : long_ns;
    bool ok = process_run(&spec, &fixture->output, &fixture->errors, &fixture->end, &fixture->error);
    if (!ok)
        print_error("%s\n", fixture->error.message);
    assert_true(ok);
}

static void run(struct fixture *fixture, const char *script)
{
    run_spec(fixture, script, (struct process_spec){0});
}

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

static void test_exit_status_and_streams(void **state)
{
    struct fixture *fixture = *state;
    int before = count_descriptors();

    run(fixture, "echo out; echo err >&2; exit 7");
    assert_int_equal(fixture->end.exit_status, 7);
    assert_int_equal(fixture->end.signal, 0);
    assert_false(fixture->end.timed_out);
    assert_string_equal(fixture->output.data, "out\n");
    assert_string_equal(fixture->errors.data, "err\n");
    assert_true(fixture->end.peak_memory_bytes > 0);
    assert_int_equal(count_descriptors(), before);
}

static void test_signal(void **state)
{
    struct fixture *fixture = *state;
    char text[128];

    run(fixture, "kill -SEGV $$");
    assert_int_equal(fixture->end.signal, SIGSEGV);
    assert_int_equal(fixture->end.exit_status, -1);
    process_end_text(&fixture->end, text, sizeof text);
    assert_string_equal(text, "killed by signal 11 (Segmentation fault)");
    process_end_text(&(struct process_end){.exit_status = 3}, text, sizeof text);
    assert_string_equal(text, "exited with status 3");
    process_end_text(&(struct process_end){.timed_out = true, .signal = 9, .wall_ns = 2500000000}, text, sizeof text);
    assert_string_equal(text, "killed after 2.5 s");
}

/* Reads to the end of file, which comes when every process that holds the write end is gone. */
static void await_end_of_file(int fd)
{
    char byte;
    struct pollfd waiting = {.fd = fd, .events = POLLIN};

    do
        assert_int_equal(poll(&waiting, 1, 60000), 1);
    while (read(fd, &byte, 1) > 0);
}

static void test_timeout_kills_the_group(void **state)
{
    struct fixture *fixture = *state;
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    run_spec(fixture, "echo started; (while :; do sleep 1000; done) & (sleep 1000; true) & wait",
             (struct process_spec){.inherit = &fds[1], .inherit_count = 1, .timeout_ns = short_ns});
    assert_true(fixture->end.timed_out);
    assert_int_equal(fixture->end.signal, SIGKILL);
    (void)close(fds[1]);
    await_end_of_file(fds[0]);
    (void)close(fds[0]);
}

/* The leader's end is the end, although a grandchild holds the pipes; and the grandchild goes, too. */
static void test_leader_ends_before_its_group(void **state)
{
    struct fixture *fixture = *state;
    int fds[2];

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    run_spec(fixture, "sleep 1000 & echo bye; exit 3", (struct process_spec){.inherit = &fds[1], .inherit_count = 1});
    assert_false(fixture->end.timed_out);
    assert_int_equal(fixture->end.exit_status, 3);
    assert_string_equal(fixture->output.data, "bye\n");
    (void)close(fds[1]);
    await_end_of_file(fds[0]);
    (void)close(fds[0]);
}

static void test_output_caps(void **state)
{
    struct fixture *fixture = *state;

    run_spec(fixture, "head -c 3000000 /dev/zero | tr '\\0' x; head -c 70 /dev/zero | tr '\\0' y >&2",
             (struct process_spec){.output_limit = 100});
    assert_int_equal(fixture->end.exit_status, 0);
    assert_int_equal(fixture->output.length, 100);
    assert_int_equal(fixture->output.dropped, 3000000 - 100);
    assert_int_equal(fixture->errors.length, 70);
    assert_int_equal(fixture->errors.dropped, 0);
}

static void test_endless_writer_is_stopped(void **state)
{
    struct fixture *fixture = *state;

    run_spec(fixture, "exec cat /dev/zero", (struct process_spec){.timeout_ns = short_ns});
    assert_true(fixture->end.timed_out);
    assert_true(fixture->output.dropped > 0);

    /* A writer that is always ahead of us, as a faster one may be. */
    AUTO_CLOSE int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    assert_true(process_drain(zero, &fixture->output));
}

static void test_programs_that_do_not_start(void **state)
{
    struct fixture *fixture = *state;
    char *text_file = file_join(fixture->arena, fixture->root, "text");
    const char *missing[] = {"ptxbench-no-such-program", NULL};
    const char *missing_path[] = {"/nonexistent/program", NULL};
    const char *unreadable[] = {text_file, NULL};
    const char *shell[] = {"/bin/sh", "-c", ":", NULL};
    const struct {
        const char *const *argv;
        const char *folder;
        enum error_code code;
        const char *text;
    } cases[] = {
        {missing, NULL, ERROR_NOT_FOUND, "no such program"},
        {missing_path, NULL, ERROR_NOT_FOUND, "no such program"},
        {unreadable, NULL, ERROR_SYSTEM, "cannot execute: Exec format error"},
        {shell, "/nonexistent", ERROR_SYSTEM, "cannot enter the folder: No such file"},
    };

    assert_true(file_write(text_file, "\1\2\3", 3, 0755, &fixture->error));
    int before = count_descriptors();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct process_spec spec = {.argv = cases[i].argv, .folder = cases[i].folder, .timeout_ns = long_ns};
        assert_false(process_run(&spec, &fixture->output, &fixture->errors, &fixture->end, &fixture->error));
        assert_int_equal(fixture->error.code, cases[i].code);
        assert_non_null(strstr(fixture->error.message, cases[i].text));
        assert_non_null(strstr(fixture->error.message, cases[i].argv[0]));
    }
    assert_int_equal(count_descriptors(), before);
}

static void test_inherited_descriptors(void **state)
{
    struct fixture *fixture = *state;
    AUTO_CLOSE int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
    AUTO_CLOSE int unrelated = fcntl(zero, F_DUPFD, 100); /* not close-on-exec, on purpose */
    int inherit[3];

    /* Handed over in another order than their numbers, low numbers included. */
    for (int i = 0; i < 3; i++) {
        char *path = arena_printf(fixture->arena, "%s/%d", fixture->root, i);
        assert_true(file_write(path, &"abc"[i], 1, 0644, &fixture -> error));
        inherit[2 - i] = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(inherit[2 - i] >= 0);
    }
    assert_true(unrelated >= 0);
    run_spec(fixture, "cat <&3; cat <&4; cat <&5; cd /proc/$$/fd && echo *",
             (struct process_spec){.inherit = inherit, .inherit_count = 3});
    assert_memory_equal(fixture->output.data, "cba0 1 2 3 4 5", 14);
    /* A shell may keep one more of its own, never ours. */
    assert_null(strstr(fixture->output.data, arena_printf(fixture->arena, " %d ", unrelated)));
    for (int i = 0; i < 3; i++)
        (void)close(inherit[i]);
}

static void test_environment_folder_input(void **state)
{
    struct fixture *fixture = *state;
    static const char *const environment[] = {"ONLY=this one", "PATH=/usr/bin:/bin", NULL};

    (void)setenv("PTXBENCH_TEST_SECRET", "1", 1);
    run_spec(fixture, "echo \"$ONLY|${PTXBENCH_TEST_SECRET-unset}\"; pwd; cat",
             (struct process_spec){.environment = environment, .folder = fixture->root, .input = "fed\n"});
    char *wanted = arena_printf(fixture->arena, "this one|unset\n%s\nfed\n", fixture->root);
    assert_string_equal(fixture->output.data, wanted);
    run(fixture, "echo $PTXBENCH_TEST_SECRET; cat");
    assert_string_equal(fixture->output.data, "1\n");
    (void)unsetenv("PTXBENCH_TEST_SECRET");

    AUTO_FREE char *large = malloc(300001);
    memset(large, 'i', 300000);
    large[300000] = '\0';
    run_spec(fixture, "wc -c", (struct process_spec){.input = large});
    assert_int_equal(strtol(fixture->output.data, NULL, 10), 300000);
}

static void test_limits(void **state)
{
    struct fixture *fixture = *state;

    run_spec(fixture, "head -c 100000 /dev/zero >big; ls -l big | { read a b c d size e; echo $size; }",
             (struct process_spec){.folder = fixture->root, .file_bytes = 4096});
    assert_string_equal(fixture->output.data, "4096\n");
    run_spec(fixture, "exec cat /dev/zero >x", (struct process_spec){.folder = fixture->root, .file_bytes = 4096});
    assert_int_equal(fixture->end.signal, SIGXFSZ);
    run_spec(fixture, "while :; do :; done", (struct process_spec){.cpu_seconds = 1});
    assert_false(fixture->end.timed_out);
    assert_true(fixture->end.signal == SIGKILL || fixture->end.signal == SIGXCPU);
    run_spec(fixture, "ulimit -c; ulimit -v", (struct process_spec){.no_core = true, .memory_bytes = 1ULL << 30});
    assert_string_equal(fixture->output.data, "0\n1048576\n");
}

static void test_signals_are_reset(void **state)
{
    struct fixture *fixture = *state;
    sigset_t blocked, old;

    (void)sigemptyset(&blocked);
    (void)sigaddset(&blocked, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &blocked, &old);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    run(fixture, "kill -TERM $$; echo survived");
    assert_int_equal(fixture->end.signal, SIGTERM);
    run(fixture, "kill -PIPE $$; echo survived");
    assert_int_equal(fixture->end.signal, SIGPIPE);
    (void)signal(SIGPIPE, handler);
    (void)sigprocmask(SIG_SETMASK, &old, NULL);
}

static void test_start_wait_kill(void **state)
{
    struct fixture *fixture = *state;
    const char *const argv[] = {"/bin/sh", "-c", "echo up; read line <&3; exit 5", NULL};
    int fds[2];
    struct process child;
    struct process_spec spec = {.argv = argv, .inherit = &fds[0], .inherit_count = 1};

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    assert_true(process_start(&spec, &child, &fixture->error));
    assert_false(process_wait(&child, 0, &fixture->end));
    assert_false(process_wait(&child, 1000000, &fixture->end));
    assert_int_equal(write(fds[1], "go\n", 3), 3);
    assert_true(process_wait(&child, long_ns, &fixture->end));
    assert_int_equal(fixture->end.exit_status, 5);
    buffer_reset(&fixture->output);
    assert_false(process_drain(child.output, &fixture->output)); /* readable after the end */
    assert_string_equal(fixture->output.data, "up\n");
    process_close_streams(&child);

    assert_true(process_start(&spec, &child, &fixture->error));
    pid_t pid = child.pid;
    process_kill(&child, &fixture->end);
    assert_int_equal(fixture->end.signal, SIGKILL);
    assert_int_equal(kill(pid, 0), -1);
    process_kill(&child, &fixture->end); /* twice is harmless */
    process_close_streams(&child);
    (void)close(fds[0]);
    (void)close(fds[1]);
}

static void test_child_dies_with_its_parent(void **state)
{
    struct fixture *fixture = *state;
    const char *const argv[] = {"/bin/sleep", "1000", NULL};
    int fds[2];
    struct process_spec spec = {.argv = argv, .inherit = &fds[1], .inherit_count = 1};
    struct process child;
    char byte = 0;

    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t middle = fork();
    if (!middle) {
        (void)!process_start(&spec, &child, &fixture->error);
        (void)!write(fds[1], child.pid > 0 ? "s" : "f", 1);
        (void)raise(SIGKILL);
    }
    (void)close(fds[1]);
    assert_int_equal(read(fds[0], &byte, 1), 1);
    assert_int_equal(byte, 's');
    assert_int_equal(waitpid(middle, NULL, 0), middle);
    await_end_of_file(fds[0]);
    (void)close(fds[0]);
}

static void test_sandbox(void **state)
{
    struct fixture *fixture = *state;
    char *inside = file_join(fixture->arena, fixture->root, "inside");
    char *outside = file_join(fixture->arena, fixture->root, "outside");
    const char *readable[] = {"/bin", "/usr", "/lib", "/lib64", "/dev/null", "/nonexistent", NULL};
    const char *writable[] = {inside, "/dev/null", NULL};
    struct process_sandbox sandbox = {.readable = readable, .writable = writable};
    struct process_spec spec = {.sandbox = &sandbox};

    if (!strncmp(process_sandbox_text(), "none", 4)) {
        print_message("kernel without Landlock\n");
        skip();
    }
    assert_true(file_make_folder(inside, &fixture->error) && file_make_folder(outside, &fixture->error));
    assert_true(file_write(arena_printf(fixture->arena, "%s/secret", outside), "s", 1, 0644, &fixture->error));
    static const char *const refused[] = {
        "cat outside/secret",
        "echo x >outside/new",
        "ls outside",
        "rm outside/secret",
        "mkdir outside/folder",
        "cat /etc/passwd",
        "ln outside/secret inside/link",
        "mv outside/secret inside/",
        "echo x >>outside/secret",
        "ln -s x outside/link",
        "perl -e 'exit !truncate(\"outside/secret\", 1)'",
    };
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        char *script = arena_printf(fixture->arena, "cd %s; %s 2>/dev/null", fixture->root, refused[i]);
        run_spec(fixture, script, spec);
        if (!fixture->end.exit_status)
            print_error("not refused: %s\n", refused[i]);
        assert_int_not_equal(fixture->end.exit_status, 0);
        run(fixture, script); /* it is the sandbox that refuses */
        if (i == 7)
            run(fixture, arena_printf(fixture->arena, "cd %s; mv inside/secret outside/", fixture->root));
        if (i == 3)
            run(fixture, arena_printf(fixture->arena, "cd %s; echo s >outside/secret", fixture->root));
        assert_int_equal(fixture->end.exit_status, 0);
    }
    run_spec(fixture,
             arena_printf(fixture->arena, "cd %s/inside; echo y >a && mkdir d && mv a d/a && cat d/a && rm d/a",
                          fixture->root),
             spec);
    assert_int_equal(fixture->end.exit_status, 0);
    assert_string_equal(fixture->output.data, "y\n");

    sandbox.readable = NULL; /* everything is readable, nothing but `inside` writable */
    run_spec(fixture,
             arena_printf(fixture->arena, "cat %s/secret && ! echo x 2>/dev/null >%s/secret", outside, outside), spec);
    assert_int_equal(fixture->end.exit_status, 0);
}

/* A daemon leaves its group and its session; its parent exits. */
static void test_orphans_are_found(void **state)
{
    struct fixture *fixture = *state;
    static const char daemons[] = "setsid sh -c '(sh -c \"echo ready >&3; sleep 1000; true\" &) ; "
                                  "sh -c \"echo ready >&3; sleep 1000; true\" &' & wait; read a <&4; read b <&4";
    int fds[2];
    const char *const kept_argv[] = {"/bin/sleep", "1000", NULL};
    struct process kept;

    assert_true(process_become_subreaper(&fixture->error));
    assert_true(process_start(&(struct process_spec){.argv = kept_argv}, &kept, &fixture->error));
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    run_spec(fixture, daemons, (struct process_spec){.inherit = (int[]){fds[1], fds[0]}, .inherit_count = 2});
    assert_int_equal(fixture->end.exit_status, 0);
    (void)close(fds[1]);
    assert_true(process_kill_orphans(&kept.pid, 1) >= 2);
    await_end_of_file(fds[0]);
    assert_int_equal(process_kill_orphans(&kept.pid, 1), 0);
    assert_false(process_wait(&kept, 0, &fixture->end));
    process_kill(&kept, &fixture->end);
    process_close_streams(&kept);
    (void)prctl(PR_SET_CHILD_SUBREAPER, 0);
    (void)close(fds[0]);
}

/* A child that is talked to: it reads what is written later, and ends when the pipe is closed. */
static void test_input_pipe(void **state)
{
    struct fixture *fixture = *state;
    static const char *const argv[] = {"cat", NULL};
    AUTO_BUFFER said = buffer_new(64);
    struct process child;

    assert_true(process_start(&(struct process_spec){.argv = argv, .input_pipe = true}, &child, &fixture->error));
    assert_true(child.input >= 0);
    assert_int_equal(write(child.input, "one\n", 4), 4);
    while (said.length < 4) {
        struct pollfd waiting = {.fd = child.output, .events = POLLIN};
        assert_int_equal(poll(&waiting, 1, 20000), 1);
        assert_true(process_drain(child.output, &said));
    }
    assert_string_equal(said.data, "one\n");
    assert_false(process_wait(&child, 0, &fixture->end));
    process_close_streams(&child);
    assert_int_equal(child.input, -1);
    assert_true(process_wait(&child, INT64_C(20) * 1000000000, &fixture->end));
    assert_int_equal(fixture->end.exit_status, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_exit_status_and_streams),
        TEST(test_signal),
        TEST(test_timeout_kills_the_group),
        TEST(test_leader_ends_before_its_group),
        TEST(test_output_caps),
        TEST(test_endless_writer_is_stopped),
        TEST(test_programs_that_do_not_start),
        TEST(test_inherited_descriptors),
        TEST(test_environment_folder_input),
        TEST(test_input_pipe),
        TEST(test_limits),
        TEST(test_signals_are_reset),
        TEST(test_start_wait_kill),
        TEST(test_child_dies_with_its_parent),
        TEST(test_sandbox),
        TEST(test_orphans_are_found),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
