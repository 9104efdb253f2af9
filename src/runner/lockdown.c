#define _GNU_SOURCE
#include "runner/lockdown.h"

#include <asm/sockios.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <linux/sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/arena.h"
#include "base/process.h"
#include "device/channel.h"

/* System calls that end the runner: a candidate that makes one has left its role. */
static const int fatal_calls[] = {
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
};

/* System calls that fail with EPERM: libraries probe some of them, so they must not be fatal. A datagram socket of
 * socketpair can send to any named socket; affinity can be that of the worker. */
static const int refused_calls[] = {
    SCMP_SYS(socket),
    SCMP_SYS(socketpair),
    SCMP_SYS(connect),
    SCMP_SYS(bind),
    SCMP_SYS(listen),
    SCMP_SYS(accept),
    SCMP_SYS(accept4),
    SCMP_SYS(setsid),
    SCMP_SYS(setpgid),
    SCMP_SYS(mount),
    SCMP_SYS(umount2),
    SCMP_SYS(open_tree),
    SCMP_SYS(move_mount),
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(keyctl),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(reboot),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(settimeofday),
    SCMP_SYS(clock_settime),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(adjtimex),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(syslog),
    SCMP_SYS(acct),
    SCMP_SYS(quotactl),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(pidfd_send_signal),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(msgget),
    SCMP_SYS(semget),
    SCMP_SYS(shmget),
    SCMP_SYS(shmat),
    SCMP_SYS(mq_open),
    SCMP_SYS(personality),
    SCMP_SYS(sched_setscheduler),
    SCMP_SYS(sched_setattr),
    SCMP_SYS(sched_setaffinity),
    SCMP_SYS(setpriority),
    SCMP_SYS(sched_setparam),
    SCMP_SYS(rt_sigqueueinfo),
    SCMP_SYS(rt_tgsigqueueinfo),
    SCMP_SYS(ioprio_set),
    SCMP_SYS(process_madvise),
    SCMP_SYS(process_mrelease),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(kcmp),
};

/* Newer than the kernel headers that we build with. */
enum { CALL_FCHMODAT2 = 452 };

/* What Landlock has no right for: modes, owners and attributes of files, and before its ABI 3 their length. EPERM. */
static const int refused_file_calls[] = {
    SCMP_SYS(chmod),       SCMP_SYS(fchmod),       SCMP_SYS(fchmodat),     SCMP_SYS(chown),     SCMP_SYS(fchown),
    SCMP_SYS(lchown),      SCMP_SYS(fchownat),     SCMP_SYS(setxattr),     SCMP_SYS(lsetxattr), SCMP_SYS(fsetxattr),
    SCMP_SYS(removexattr), SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), SCMP_SYS(utime),     SCMP_SYS(utimes),
    SCMP_SYS(futimesat),   SCMP_SYS(utimensat),    SCMP_SYS(truncate),     CALL_FCHMODAT2,
};

static int violation_channel = -1;

static void report_violation(int signal_number, siginfo_t *info, void *context)
{
    static struct message message; /* static: the stack may be small */

    (void)signal_number;
    (void)context;
    message.body.violation.syscall = info->si_syscall;
    (void)channel_send(violation_channel, &message, MESSAGE_VIOLATION, NULL, 0);
    _exit(128 + SIGSYS);
}

static int refuse_unless(scmp_filter_ctx filter, int call, unsigned argument, scmp_datum_t allowed)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 1, SCMP_CMP(argument, SCMP_CMP_NE, allowed));
}

/* Signals and limits only for oneself. Descriptors can be told to signal somebody, too. */
static int add_signal_rules(scmp_filter_ctx filter)
{
    static const scmp_datum_t owner_commands[] = {F_SETOWN, F_SETOWN_EX, F_SETSIG};
    static const scmp_datum_t owner_requests[] = {FIOSETOWN, SIOCSPGRP};
    scmp_datum_t pid = (scmp_datum_t)getpid();
    int result = refuse_unless(filter, SCMP_SYS(kill), 0, pid);

    if (!result)
        result = refuse_unless(filter, SCMP_SYS(tgkill), 0, pid);
    if (!result)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(tkill), 0);
    if (!result)
        result = refuse_unless(filter, SCMP_SYS(prlimit64), 0, 0);
    if (!result) /* it dies with the worker */
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(prctl), 1,
                                  SCMP_A0(SCMP_CMP_MASKED_EQ, UINT32_MAX, PR_SET_PDEATHSIG));
    for (size_t i = 0; !result && i < ARRAY_LEN(owner_commands); i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(fcntl), 1,
                                  SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, owner_commands[i]));
    for (size_t i = 0; !result && i < ARRAY_LEN(owner_requests); i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
                                  SCMP_A1(SCMP_CMP_MASKED_EQ, UINT32_MAX, owner_requests[i]));
    return result;
}

static int add_rules(scmp_filter_ctx filter)
{
    int result = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);

    for (size_t i = 0; !result && i < ARRAY_LEN(fatal_calls); i++)
        result = seccomp_rule_add(filter, SCMP_ACT_TRAP, fatal_calls[i], 0);
    for (size_t i = 0; !result && i < ARRAY_LEN(refused_calls); i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused_calls[i], 0);
    for (size_t i = 0; !result && i < ARRAY_LEN(refused_file_calls); i++)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), refused_file_calls[i], 0);
    /* Threads are fine, processes are not. clone3 hides its flags from the filter: libc falls back to clone. */
    if (!result)
        result =
            seccomp_rule_add(filter, SCMP_ACT_TRAP, SCMP_SYS(clone), 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, 0));
    if (!result)
        result = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    if (!result)
        result = add_signal_rules(filter);
    return result ? result : seccomp_load(filter);
}

static bool restrict_system_calls(struct error *error)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

    if (!filter)
        return error_set(error, ERROR_MEMORY, "seccomp: out of memory");
    int result = add_rules(filter);
    seccomp_release(filter);
    return result ? error_system(error, -result, "seccomp: cannot install the filter") : true;
}

static bool restrict_files(struct error *error)
{
    static const char *const readable[] = {"/usr",  "/lib", "/lib64", "/opt", "/etc/ld.so.cache",
                                           "/proc", "/sys", "/dev",   NULL};
    const char *writable[64] = {"/proc/self", "/dev/null", "/dev/zero"};
    size_t count = 3;
    glob_t devices;
    bool applied;

    bool found = !glob("/dev/nvidia*", 0, NULL, &devices);
    for (size_t i = 0; found && i < devices.gl_pathc && count + 1 < ARRAY_LEN(writable); i++)
        writable[count++] = devices.gl_pathv[i];
    struct process_sandbox sandbox = {.readable = readable, .writable = writable};
    bool ok = process_sandbox_apply(&sandbox, &applied, error);
    if (found)
        globfree(&devices);
    return ok;
}

bool lockdown_apply(int channel, struct error *error)
{
    struct rlimit no_core = {0, 0};
    struct rlimit file_size = {.rlim_cur = 64 << 20, .rlim_max = 64 << 20};
    struct sigaction action = {.sa_sigaction = report_violation, .sa_flags = SA_SIGINFO};

    violation_channel = channel;
    if (sigaction(SIGSYS, &action, NULL) || setrlimit(RLIMIT_CORE, &no_core) || setrlimit(RLIMIT_FSIZE, &file_size))
        return error_system(error, errno, "cannot set the runner's limits");
    return restrict_files(error) && restrict_system_calls(error);
}
