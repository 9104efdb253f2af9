/* What Landlock has no right for, and what seccomp must therefore refuse: each case is tried in a locked-down process. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <utime.h>

#include <cmocka.h>

#include "base/error.h"
#include "device/channel.h"
#include "runner/lockdown.h"

static char victim[] = "/tmp/ptxbench_lockdown_XXXXXX";
static pid_t parent;

static int try_chmod(void)
{
    return chmod(victim, 0777);
}
static int try_fchmodat(void)
{
    return fchmodat(AT_FDCWD, victim, 0777, 0);
}
static int try_fchmodat2(void)
{
    return (int)syscall(452, AT_FDCWD, victim, 0777, 0);
}
static int try_chown(void)
{
    return chown(victim, getuid(), getgid());
}
static int try_setxattr(void)
{
    return setxattr(victim, "user.ptxbench", "x", 1, 0);
}
static int try_utime(void)
{
    return utime(victim, NULL);
}
static int try_truncate(void)
{
    return truncate(victim, 0);
}
static int try_socketpair(void)
{
    int pair[2];

    return socketpair(AF_UNIX, SOCK_DGRAM, 0, pair);
}
static int try_affinity_of_the_worker(void)
{
    cpu_set_t all;

    return sched_getaffinity(0, sizeof all, &all) ? 0 : sched_setaffinity(parent, sizeof all, &all);
}
static int try_outliving_the_worker(void)
{
    return prctl(PR_SET_PDEATHSIG, 0);
}

static const struct {
    const char *name;
    int (*act)(void);
} cases[] = {
    {"chmod", try_chmod},
    {"fchmodat", try_fchmodat},
    {"fchmodat2", try_fchmodat2},
    {"chown", try_chown},
    {"setxattr", try_setxattr},
    {"utime", try_utime},
    {"truncate", try_truncate},
    {"socketpair", try_socketpair},
    {"sched_setaffinity", try_affinity_of_the_worker},
    {"prctl(PR_SET_PDEATHSIG)", try_outliving_the_worker},
};

/* Exit status of the child: 0 refused with EPERM, 1 something else. */
static int attempt(int (*act)(void))
{
    struct error error;
    int worker, runner, status;

    assert_true(channel_pair(&worker, &runner, &error));
    pid_t pid = fork();
    if (!pid) {
        if (!lockdown_apply(runner, &error))
            _exit(99);
        _exit(act() < 0 && errno == EPERM ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    (void)close(worker);
    (void)close(runner);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static void test_refused(void **state)
{
    (void)state;
    int fd = mkstemp(victim);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "content", 7), 7);
    parent = getpid();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int status = attempt(cases[i].act);
        if (status)
            print_error("%s: status %d\n", cases[i].name, status);
        assert_int_equal(status, 0);
    }
    struct stat info;
    assert_int_equal(fstat(fd, &info), 0);
    assert_int_equal(info.st_size, 7);
    assert_int_equal(info.st_mode & 0777, 0600);
    (void)close(fd);
    (void)unlink(victim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_refused)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
