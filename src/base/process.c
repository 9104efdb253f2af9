#define _GNU_SOURCE
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/sandbox.h"

extern char **environ;

/* What the child reports through its status pipe when it cannot exec: the step and errno. */
enum start_step { STEP_DESCRIPTORS, STEP_LIMITS, STEP_FOLDER, STEP_SANDBOX, STEP_EXEC };
static const char *const step_texts[] = {"pass descriptors", "set limits", "enter the folder", "apply the sandbox",
                                         "execute"};
struct start_failure {
    int step;
    int reason;
};

struct start_pipes {
    int input;
    int output;
    int errors;
    int status;
};

static void close_if_open(int fd)
{
    if (fd >= 0)
        (void)close(fd);
}

static int set_limit(__rlimit_resource_t resource, uint64_t value)
{
    struct rlimit limit = {.rlim_cur = value, .rlim_max = value};

    return setrlimit(resource, &limit) ? errno : 0;
}

static int set_limits(const struct process_spec *spec)
{
    int reason = 0;

    if (spec->cpu_seconds)
        reason = set_limit(RLIMIT_CPU, spec->cpu_seconds);
    if (!reason && spec->memory_bytes)
        reason = set_limit(RLIMIT_AS, spec->memory_bytes);
    if (!reason && spec->file_bytes)
        reason = set_limit(RLIMIT_FSIZE, spec->file_bytes);
    if (!reason && spec->no_core)
        reason = set_limit(RLIMIT_CORE, 0);
    return reason;
}

enum { SCRATCH_BASE = 400, MAX_INHERITED = 64 };

/* Moves every descriptor out of the way first, so that no dup2 overwrites one that is still needed. */
static int place_descriptors(const struct process_spec *spec, struct start_pipes *pipes)
{
    int wanted[3 + MAX_INHERITED] = {pipes->input, pipes->output, pipes->errors};
    int count = 3 + spec->inherit_count;

    for (int i = 0; i < spec->inherit_count; i++)
        wanted[3 + i] = spec->inherit[i];
    for (int i = 0; i < count; i++) {
        wanted[i] = fcntl(wanted[i], F_DUPFD_CLOEXEC, SCRATCH_BASE);
        if (wanted[i] < 0)
            return errno;
    }
    pipes->status = fcntl(pipes->status, F_DUPFD_CLOEXEC, SCRATCH_BASE);
    if (pipes->status < 0)
        return errno;
    for (int i = 0; i < count; i++)
        if (dup2(wanted[i], i) < 0)
            return errno;
    /* Everything else closes at exec. */
    return syscall(SYS_close_range, (unsigned)count, ~0U, 4 /* CLOSE_RANGE_CLOEXEC */) ? errno : 0;
}

static _Noreturn void report_and_exit(int status_fd, enum start_step step, int reason)
{
    struct start_failure failure = {(int)step, reason};

    (void)!write(status_fd, &failure, sizeof failure);
    _exit(127);
}

/* Runs in the child between fork and exec: system calls only. */
static _Noreturn void child_main(const struct process_spec *spec, const char *program, struct start_pipes pipes,
                                 pid_t parent)
{
    sigset_t none;
    int reason;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(127);
    (void)setsid();
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);
    if ((reason = place_descriptors(spec, &pipes)))
        report_and_exit(pipes.status, STEP_DESCRIPTORS, reason);
    if (spec->folder && chdir(spec->folder))
        report_and_exit(pipes.status, STEP_FOLDER, errno);
    if ((reason = set_limits(spec)))
        report_and_exit(pipes.status, STEP_LIMITS, reason);
    if (spec->sandbox) {
        bool applied;
        if ((reason = sandbox_restrict_files(spec->sandbox, &applied)))
            report_and_exit(pipes.status, STEP_SANDBOX, reason);
    }
    (void)execve(program, (char *const *)spec->argv, spec->environment ? (char *const *)spec->environment : environ);
    report_and_exit(pipes.status, STEP_EXEC, errno);
}

/* fork would copy the page tables of a worker that maps gigabytes: milliseconds. The child makes system calls, writes to
 * stack frames of its own and never returns from here. */
static __attribute__((noinline)) pid_t spawn(const struct process_spec *spec, const char *program,
                                             const struct start_pipes *pipes)
{
    pid_t parent = getpid();
    pid_t pid = vfork();

    if (!pid)
        child_main(spec, program, *pipes, parent);
    return pid;
}

struct pipe_pair {
    int reader;
    int writer;
};

static bool make_pipe(struct pipe_pair *pair)
{
    int fds[2];

    if (pipe2(fds, O_CLOEXEC))
        return false;
    *pair = (struct pipe_pair){fds[0], fds[1]};
    return true;
}

/* The child's standard input: /dev/null, or an unlinked file with the given text. */
static int open_input(const char *text)
{
    if (!text)
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = (int)syscall(SYS_memfd_create, "input", 1U /* MFD_CLOEXEC */);
    size_t left = strlen(text);
    while (fd >= 0 && left) {
        ssize_t put = write(fd, text, left);
        if (put <= 0) {
            (void)close(fd);
            return -1;
        }
        text += put;
        left -= (size_t)put;
    }
    if (fd >= 0)
        (void)lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Reads the status pipe: empty means that exec succeeded. */
static bool check_started(int status_fd, const char *program, pid_t pid, struct error *error)
{
    struct start_failure failure;
    ssize_t got;

    do
        got = read(status_fd, &failure, sizeof failure);
    while (got < 0 && errno == EINTR);
    if (got != sizeof failure)
        return true;
    (void)waitpid(pid, NULL, 0);
    return error_system(error, failure.reason, "%s: cannot %s", program, step_texts[failure.step]);
}

bool process_start(const struct process_spec *spec, struct process *child, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const char *program = file_find_program(arena, spec->argv[0]);
    struct pipe_pair output = {-1, -1}, errors = {-1, -1}, status = {-1, -1}, input = {-1, -1};
    bool ok = false;

    *child = (struct process){.pid = -1, .output = -1, .errors = -1, .input = -1};
    if (!program)
        return error_set(error, ERROR_NOT_FOUND, "%s: no such program", spec->argv[0]);
    if (spec->inherit_count > MAX_INHERITED)
        return error_set(error, ERROR_INTERNAL, "%s: too many inherited descriptors", program);
    if (!spec->input_pipe)
        input.reader = open_input(spec->input);
    else if (!make_pipe(&input))
        input.reader = -1;
    if (input.reader < 0 || !make_pipe(&output) || !make_pipe(&errors) || !make_pipe(&status)) {
        (void)error_system(error, errno, "%s: cannot create pipes", program);
        goto out;
    }
    child->started_ns = clock_now_ns();
    pid_t pid = spawn(spec, program, &(struct start_pipes){input.reader, output.writer, errors.writer, status.writer});
    if (pid < 0) {
        (void)error_system(error, errno, "%s: cannot fork", program);
        goto out;
    }
    (void)close(status.writer);
    status.writer = -1;
    if (!check_started(status.reader, program, pid, error))
        goto out;
    child->pid = pid;
    child->output = steal_fd(&output.reader);
    child->errors = steal_fd(&errors.reader);
    child->input = steal_fd(&input.writer);
    (void)fcntl(child->output, F_SETFL, O_NONBLOCK);
    (void)fcntl(child->errors, F_SETFL, O_NONBLOCK);
    if (child->input >= 0)
        (void)fcntl(child->input, F_SETFL, O_NONBLOCK);
    ok = true;
out:
    close_if_open(input.reader);
    close_if_open(input.writer);
    close_if_open(output.reader);
    close_if_open(output.writer);
    close_if_open(errors.reader);
    close_if_open(errors.writer);
    close_if_open(status.reader);
    close_if_open(status.writer);
    return ok;
}

static void fill_end(const struct process *child, int status, const struct rusage *usage, struct process_end *end)
{
    end->exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    end->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->wall_ns = clock_now_ns() - child->started_ns;
    end->peak_memory_bytes = (uint64_t)usage->ru_maxrss * 1024;
}

static bool reap(struct process *child, int flags, struct process_end *end)
{
    struct rusage usage = {0};
    siginfo_t info = {0};
    int status = 0;
    int result;

    do
        result = waitid(P_PID, (id_t)child->pid, &info, WEXITED | WNOWAIT | flags);
    while (result < 0 && errno == EINTR);
    if (!result && !info.si_pid)
        return false;
    /* A leader that has ended leaves its group behind; nothing of it may outlive it. Before the leader is reaped, so that
     * its number cannot belong to somebody else yet. */
    (void)kill(-child->pid, SIGKILL);
    if (result < 0 || wait4(child->pid, &status, 0, &usage) < 0)
        status = 0; /* somebody else reaped it: report what we know */
    fill_end(child, status, &usage, end);
    child->pid = -1;
    return true;
}

void process_close_streams(struct process *child)
{
    close_if_open(child->output);
    close_if_open(child->errors);
    close_if_open(child->input);
    child->output = child->errors = child->input = -1;
}

bool process_wait(struct process *child, int64_t timeout_ns, struct process_end *end)
{
    *end = (struct process_end){.exit_status = -1};
    if (timeout_ns < 0)
        return reap(child, 0, end);
    if (reap(child, WNOHANG, end))
        return true;
    AUTO_CLOSE int pidfd = timeout_ns ? (int)syscall(SYS_pidfd_open, child->pid, 0) : -1;
    if (pidfd < 0)
        return false;
    struct pollfd waiting = {.fd = pidfd, .events = POLLIN};
    int64_t deadline = clock_now_ns() + timeout_ns;
    int result;
    do {
        int64_t left = deadline - clock_now_ns();
        left = left > 0 ? left : 0;
        struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        result = ppoll(&waiting, 1, &timeout, NULL);
    } while (result < 0 && errno == EINTR);
    return reap(child, WNOHANG, end);
}

void process_signal_kill(const struct process *child)
{
    if (child->pid <= 0)
        return;
    (void)kill(-child->pid, SIGKILL);
    (void)kill(child->pid, SIGKILL);
}

void process_suspend(const struct process *child)
{
    if (child->pid > 0)
        (void)kill(-child->pid, SIGSTOP);
}

void process_resume(const struct process *child)
{
    if (child->pid > 0)
        (void)kill(-child->pid, SIGCONT);
}

void process_kill(struct process *child, struct process_end *end)
{
    *end = (struct process_end){.exit_status = -1};
    if (child->pid <= 0)
        return;
    process_signal_kill(child);
    (void)reap(child, 0, end);
}

bool process_drain(int fd, struct buffer *buffer)
{
    char chunk[64 * 1024];

    /* As much as a pipe can hold (1 MiB), and no more: a writer that never pauses must not keep us from the clock. */
    for (size_t taken = 0; taken < 1 << 20;) {
        ssize_t got = read(fd, chunk, sizeof chunk);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 && errno == EAGAIN;
        (void)buffer_append(buffer, chunk, (size_t)got);
        taken += (size_t)got;
    }
    return true;
}

bool process_run(const struct process_spec *spec, struct buffer *output, struct buffer *errors, struct process_end *end,
                 struct error *error)
{
    struct process child;

    buffer_free(output);
    buffer_free(errors);
    *output = buffer_new(spec->output_limit);
    *errors = buffer_new(spec->output_limit);
    if (!process_start(spec, &child, error))
        return false;
    int64_t deadline = spec->timeout_ns ? child.started_ns + spec->timeout_ns : INT64_MAX;
    int pidfd = (int)syscall(SYS_pidfd_open, child.pid, 0);
    if (pidfd < 0) {
        int reason = errno;
        process_kill(&child, end);
        process_close_streams(&child);
        return error_system(error, reason, "%s: cannot watch the process", spec->argv[0]);
    }
    struct pollfd waiting[4] = {{.fd = child.output, .events = POLLIN},
                                {.fd = child.errors, .events = POLLIN},
                                {.fd = pidfd, .events = POLLIN},
                                {.fd = interrupt_fd(), .events = POLLIN}};
    bool timed_out = false;
    /* Ends with the leader, not with the pipes: a grandchild that keeps them open must not hold us. */
    while (!waiting[2].revents && !interrupt_requested()) {
        int64_t left = deadline - clock_now_ns();
        if (left <= 0) {
            timed_out = true;
            break;
        }
        struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        if (ppoll(waiting, ARRAY_LEN(waiting), spec->timeout_ns ? &timeout : NULL, NULL) < 0 && errno != EINTR)
            break;
        if (waiting[0].revents && !process_drain(child.output, output))
            waiting[0].fd = -1;
        if (waiting[1].revents && !process_drain(child.errors, errors))
            waiting[1].fd = -1;
    }
    process_kill(&child, end);
    (void)process_drain(child.output, output);
    (void)process_drain(child.errors, errors);
    process_close_streams(&child);
    end->timed_out = timed_out;
    (void)close(pidfd);
    return interrupt_requested() ? error_set(error, ERROR_SYSTEM, "%s: interrupted", spec->argv[0]) : true;
}

bool process_become_subreaper(struct error *error)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1))
        return error_system(error, errno, "cannot adopt orphaned processes");
    return true;
}

static bool is_kept(pid_t pid, const pid_t *keep, int keep_count)
{
    for (int i = 0; i < keep_count; i++)
        if (keep[i] == pid)
            return true;
    return false;
}

int process_kill_orphans(const pid_t *keep, int keep_count)
{
    char path[64];
    int killed = 0;

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    /* Killing one may re-parent its children to us: look again until none is left. */
    for (int round = 0; round < 64; round++) {
        AUTO_FCLOSE FILE *children = fopen(path, "re");
        bool found = false;
        int pid;
        while (children && fscanf(children, "%d", &pid) == 1) {
            if (is_kept(pid, keep, keep_count))
                continue;
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
            killed++;
            found = true;
        }
        if (!found)
            break;
    }
    return killed;
}

void process_end_text(const struct process_end *end, char *out, size_t size)
{
    if (end->timed_out)
        (void)snprintf(out, size, "killed after %.1f s", (double)end->wall_ns * 1e-9);
    else if (end->signal)
        (void)snprintf(out, size, "killed by signal %d (%s)", end->signal, strsignal(end->signal));
    else
        (void)snprintf(out, size, "exited with status %d", end->exit_status);
}

bool process_sandbox_apply(const struct process_sandbox *sandbox, bool *applied, struct error *error)
{
    int reason = sandbox_restrict_files(sandbox, applied);

    return reason ? error_system(error, reason, "cannot restrict file access") : true;
}

bool process_become(const char *const *argv, struct error *error)
{
    (void)execvp(argv[0], (char *const *)argv);
    if (errno == ENOENT || errno == EACCES || errno == ENOTDIR)
        return error_set(error, ERROR_NOT_FOUND, "%s: %s", argv[0], strerror(errno));
    return error_system(error, errno, "%s: cannot be started", argv[0]);
}

const char *process_sandbox_text(void)
{
    static const char *const texts[] = {"none (kernel without Landlock)",
                                        "landlock ABI 1",
                                        "landlock ABI 2",
                                        "landlock ABI 3",
                                        "landlock ABI 4",
                                        "landlock ABI 5",
                                        "landlock ABI 6",
                                        "landlock ABI 7"};
    int abi = sandbox_landlock_abi();

    return abi < (int)ARRAY_LEN(texts) ? texts[abi] : "landlock, newer than ABI 7";
}
