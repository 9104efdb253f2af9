/* Each case is a process that locks itself down and then tries one thing. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "base/process.h"
#include "device/channel.h"
#include "runner/lockdown.h"

enum { SETUP_FAILED = 99 };

struct result {
    int status; /* of waitpid */
    bool violated;
    int syscall;
};

static pid_t parent;

/* `act` returns 0, or what became of the attempt; it ends the child's life as exit status. */
static struct result attempt(int (*act)(void))
{
    struct result result = {0};
    struct message message;
    struct error error;
    int descriptors[CHANNEL_MAX_DESCRIPTORS];
    int worker, runner, count;

    parent = getpid();
    assert_true(channel_pair(&worker, &runner, &error));
    pid_t pid = fork();
    if (!pid) {
        (void)close(worker);
        if (!lockdown_apply(runner, &error)) {
            (void)fprintf(stderr, "%s\n", error.message);
            _exit(SETUP_FAILED);
        }
        _exit(act());
    }
    (void)close(runner);
    assert_int_equal(waitpid(pid, &result.status, 0), pid);
    while (channel_receive(worker, false, &message, descriptors, &count) == CHANNEL_OK)
        if (message.type == MESSAGE_VIOLATION) {
            result.violated = true;
            result.syscall = message.body.violation.syscall;
        }
    (void)close(worker);
    assert_false(WIFEXITED(result.status) && WEXITSTATUS(result.status) == SETUP_FAILED);
    return result;
}

struct attempt_case {
    const char *name;
    int (*act)(void);
    int syscall; /* reported, for those that end the process */
};

static int child_of(pid_t pid)
{
    if (!pid)
        _exit(0);
    return 1; /* still alive: not stopped */
}

static int try_fork(void)
{
    return child_of(fork());
}
static int try_raw_fork(void)
{
    return child_of((pid_t)syscall(SYS_fork));
}
static int try_vfork(void)
{
    return child_of((pid_t)syscall(SYS_vfork));
}
static int try_clone(void)
{
    return child_of((pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL));
}
static int try_clone_vm(void)
{
    return child_of((pid_t)syscall(SYS_clone, CLONE_VFORK | SIGCHLD, NULL, NULL, NULL, NULL));
}

static int try_execve(void)
{
    char *argv[] = {(char[]){"true"}, NULL};

    return execve("/bin/true", argv, argv + 1) ? 1 : 0;
}

static int try_execveat(void)
{
    return syscall(SYS_execveat, AT_FDCWD, "/bin/true", NULL, NULL, 0) ? 1 : 0;
}
static int try_system(void)
{
    return system("true") ? 1 : 2;
}
static int try_ptrace(void)
{
    return ptrace(PTRACE_ATTACH, parent, NULL, NULL) ? 1 : 2;
}

static int try_read_parent(void)
{
    char byte;
    struct iovec local = {&byte, 1}, remote = {&parent, 1};

    return process_vm_readv(parent, &local, 1, &remote, 1, 0) < 0 ? 1 : 2;
}

static const struct attempt_case fatal_cases[] = {
    {"fork()", try_fork, SYS_clone},
    {"fork", try_raw_fork, SYS_fork},
    {"vfork", try_vfork, SYS_vfork},
    {"clone of a process", try_clone, SYS_clone},
    {"clone with CLONE_VFORK", try_clone_vm, SYS_clone},
    {"execve", try_execve, SYS_execve},
    {"execveat", try_execveat, SYS_execveat},
    {"ptrace", try_ptrace, SYS_ptrace},
    {"process_vm_readv", try_read_parent, SYS_process_vm_readv},
};

static void test_calls_that_end_the_runner(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(fatal_cases); i++) {
        struct result result = attempt(fatal_cases[i].act);
        if (!result.violated || result.syscall != fatal_cases[i].syscall)
            print_error("%s: status %#x, reported %d\n", fatal_cases[i].name, (unsigned)result.status, result.syscall);
        assert_true(result.violated);
        assert_int_equal(result.syscall, fatal_cases[i].syscall);
        assert_true(WIFEXITED(result.status));
        assert_int_equal(WEXITSTATUS(result.status), 128 + SIGSYS);
    }
}

/* posix_spawn blocks all signals first: the kernel kills, and the worker sees SIGSYS instead of a report. */
static void test_spawning(void **state)
{
    (void)state;
    struct result result = attempt(try_system);
    assert_true(result.violated || (WIFSIGNALED(result.status) && WTERMSIG(result.status) == SIGSYS));
}

/* Of a call that must fail: 0 when it failed with `wanted`, 1 when it succeeded, 2 for another errno. */
static int refused(long outcome, int wanted)
{
    return outcome >= 0 ? 1 : errno == wanted ? 0 : 2;
}

static int try_socket(void)
{
    return refused(socket(AF_INET, SOCK_STREAM, 0), EPERM);
}
static int try_unix_socket(void)
{
    return refused(socket(AF_UNIX, SOCK_STREAM, 0), EPERM);
}
static int try_kill_parent(void)
{
    return refused(kill(parent, SIGKILL), EPERM);
}
static int try_kill_group(void)
{
    return refused(kill(0, SIGKILL), EPERM);
}
static int try_kill_all(void)
{
    return refused(kill(-1, 0), EPERM);
}
static int try_tgkill_parent(void)
{
    return refused(syscall(SYS_tgkill, parent, parent, SIGKILL), EPERM);
}
static int try_tkill_parent(void)
{
    return refused(syscall(SYS_tkill, parent, SIGKILL), EPERM);
}
static int try_pidfd(void)
{
    return refused(syscall(SYS_pidfd_open, parent, 0), EPERM);
}
static int try_setsid(void)
{
    return refused(setsid(), EPERM);
}
static int try_clone3(void)
{
    return refused(syscall(SYS_clone3, NULL, 0), ENOSYS);
}
static int try_unshare(void)
{
    return refused(unshare(CLONE_NEWUSER), EPERM);
}
static int try_io_uring(void)
{
    return refused(syscall(SYS_io_uring_setup, 1, NULL), EPERM);
}
static int try_bpf(void)
{
    return refused(syscall(SYS_bpf, 0, NULL, 0), EPERM);
}

static int try_sigqueue_parent(void)
{
    return refused(sigqueue(parent, SIGKILL, (union sigval){0}), EPERM);
}

static int try_limit_parent(void)
{
    struct rlimit none = {0, 0};

    return refused(prlimit(parent, RLIMIT_CPU, &none, NULL), EPERM);
}

/* A pipe that tells its owner of new data by a signal of choice. */
static int try_signal_by_descriptor(void)
{
    int fds[2];

    if (pipe(fds))
        return 3;
    int owned = refused(fcntl(fds[0], F_SETOWN, parent), EPERM);
    return owned ? owned : refused(fcntl(fds[0], F_SETSIG, SIGKILL), EPERM);
}

static const struct attempt_case refused_cases[] = {
    {"socket", try_socket, 0},
    {"local socket", try_unix_socket, 0},
    {"kill of the worker", try_kill_parent, 0},
    {"kill of the group", try_kill_group, 0},
    {"kill of all", try_kill_all, 0},
    {"tgkill of the worker", try_tgkill_parent, 0},
    {"tkill of the worker", try_tkill_parent, 0},
    {"sigqueue to the worker", try_sigqueue_parent, 0},
    {"limits of the worker", try_limit_parent, 0},
    {"signal by descriptor", try_signal_by_descriptor, 0},
    {"pidfd of the worker", try_pidfd, 0},
    {"setsid", try_setsid, 0},
    {"clone3", try_clone3, 0},
    {"user namespace", try_unshare, 0},
    {"io_uring", try_io_uring, 0},
    {"bpf", try_bpf, 0},
};

static void *double_it(void *number)
{
    *(int *)number *= 2;
    return number;
}

static int try_thread(void)
{
    pthread_t thread;
    int number = 21;

    if (pthread_create(&thread, NULL, double_it, &number) || pthread_join(thread, NULL))
        return 1;
    return number == 42 ? 0 : 2;
}

static int try_malloc(void)
{
    volatile char *large = malloc(256u << 20);

    if (!large)
        return 1;
    large[100u << 20] = 1;
    free((void *)large);
    return 0;
}

static int try_libraries(void)
{
    AUTO_CLOSE int library = open("/proc/self/exe", O_RDONLY);
    AUTO_CLOSE int maps = open("/proc/self/maps", O_RDONLY);
    AUTO_CLOSE int null = open("/dev/null", O_RDWR);
    struct rlimit limit;

    (void)library; /* the test itself lies in a build folder, out of reach */
    return maps < 0 || null < 0 || getrlimit(RLIMIT_STACK, &limit) ? 1 : 0;
}

static int try_abort(void)
{
    abort();
}

static void check_all_zero(const struct attempt_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct result result = attempt(cases[i].act);
        if (result.status)
            print_error("%s: status %#x (0x100: succeeded, 0x200: another error)\n", cases[i].name,
                        (unsigned)result.status);
        assert_int_equal(result.status, 0);
        assert_false(result.violated);
    }
}

static void test_calls_that_are_refused(void **state)
{
    (void)state;
    check_all_zero(refused_cases, ARRAY_LEN(refused_cases));
}

static void test_what_must_still_work(void **state)
{
    static const struct attempt_case cases[] = {
        {"a thread", try_thread, 0}, {"256 MiB", try_malloc, 0}, {"files of libraries", try_libraries, 0}};

    (void)state;
    check_all_zero(cases, ARRAY_LEN(cases));
    struct result result = attempt(try_abort);
    assert_true(WIFSIGNALED(result.status)); /* told as it is, not as a violation */
    assert_int_equal(WTERMSIG(result.status), SIGABRT);
    assert_false(result.violated);
}

static int try_read_passwd(void)
{
    return refused(open("/etc/passwd", O_RDONLY), EACCES);
}
static int try_list_root(void)
{
    return refused(open("/", O_RDONLY | O_DIRECTORY), EACCES);
}
static int try_write_tmp(void)
{
    return refused(open("/tmp/ptxbench-lockdown", O_WRONLY | O_CREAT, 0600), EACCES);
}
static int try_make_folder(void)
{
    return refused(mkdir("/tmp/ptxbench-lockdown", 0700), EACCES);
}
static int try_write_usr(void)
{
    return refused(open("/usr/ptxbench-lockdown", O_WRONLY | O_CREAT, 0600), EACCES);
}
static int try_shared_memory(void)
{
    return refused(open("/dev/shm/ptxbench-lockdown", O_WRONLY | O_CREAT, 0600), EACCES);
}

static int try_parent_memory(void)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)parent);
    return refused(open(path, O_RDWR), EACCES);
}

static int try_parent_environment(void)
{
    char path[64], byte;

    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)parent);
    int fd = open(path, O_RDONLY);
    return fd < 0 || read(fd, &byte, 1) <= 0 || geteuid() == 0 ? 0 : 1; /* CAP_PERFMON reads it, Landlock or not */
}

static void test_files(void **state)
{
    static const struct attempt_case cases[] = {
        {"reading /etc/passwd", try_read_passwd, 0},   {"listing /", try_list_root, 0},
        {"writing in /tmp", try_write_tmp, 0},         {"a folder in /tmp", try_make_folder, 0},
        {"writing in /usr", try_write_usr, 0},         {"shared memory", try_shared_memory, 0},
        {"the worker's memory", try_parent_memory, 0}, {"the worker's environment", try_parent_environment, 0},
    };

    (void)state;
    if (!strncmp(process_sandbox_text(), "none", 4)) {
        print_message("kernel without Landlock\n");
        skip();
    }
    check_all_zero(cases, ARRAY_LEN(cases));
}

/* A thread that was there before the lockdown, as the driver's are, is held by it, too. */
static int pipe_ends[2];

static void *fork_when_told(void *unused)
{
    char byte;

    (void)unused;
    if (read(pipe_ends[0], &byte, 1) == 1)
        (void)child_of(fork());
    return NULL;
}

static int tell_thread(void)
{
    (void)!write(pipe_ends[1], "g", 1);
    (void)pause();
    return 1;
}

static void test_older_threads(void **state)
{
    int status, worker, runner, count;
    int descriptors[CHANNEL_MAX_DESCRIPTORS];
    struct message message;
    struct error error;

    (void)state;
    assert_true(channel_pair(&worker, &runner, &error));
    pid_t pid = fork();
    if (!pid) {
        pthread_t thread;
        if (pipe(pipe_ends) || pthread_create(&thread, NULL, fork_when_told, NULL) || !lockdown_apply(runner, &error))
            _exit(SETUP_FAILED);
        _exit(tell_thread());
    }
    (void)close(runner);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(channel_receive(worker, false, &message, descriptors, &count), CHANNEL_OK);
    assert_int_equal(message.type, MESSAGE_VIOLATION);
    (void)close(worker);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_that_end_the_runner),
        cmocka_unit_test(test_spawning),
        cmocka_unit_test(test_calls_that_are_refused),
        cmocka_unit_test(test_what_must_still_work),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_older_threads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
