/*
 * Child processes: the only place of the project that forks, waits or kills.
 *
 * A child gets its own session, dies with its parent (PR_SET_PDEATHSIG), inherits descriptors 0-2 and the ones listed
 * and nothing else. A limit that is 0 is not set.
 */
#ifndef PTXBENCH_BASE_PROCESS_H
#define PTXBENCH_BASE_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/* What a child may touch, enforced by Landlock where the kernel has it (process_sandbox_text tells). */
struct process_sandbox {
    const char *const *readable; /* NULL-terminated list of files or folders, or NULL: everything is readable */
    const char *const *writable; /* NULL-terminated list, or NULL: nothing is writable except devices already open */
};

struct process_spec {
    const char *const *argv;        /* argv[0] is looked up on PATH unless it contains a slash; NULL-terminated */
    const char *const *environment; /* "NAME=value" list, NULL-terminated; NULL: the parent's */
    const char *folder;             /* working directory; NULL: the parent's */
    const int *inherit;             /* parent descriptors that become 3, 4, ... in the child */
    int inherit_count;
    uint64_t cpu_seconds;                  /* RLIMIT_CPU */
    uint64_t memory_bytes;                 /* RLIMIT_AS */
    uint64_t file_bytes;                   /* RLIMIT_FSIZE */
    bool no_core;                          /* RLIMIT_CORE = 0 */
    const struct process_sandbox *sandbox; /* NULL: none */
    int64_t timeout_ns;                    /* process_run only: wall time until the whole group is killed */
    size_t output_limit;                   /* process_run only: most bytes kept of each stream */
    const char *input;                     /* text for standard input; NULL: /dev/null */
    bool input_pipe;                       /* process_start only: standard input is a pipe, see process.input */
};

/* How a child ended. */
struct process_end {
    bool timed_out;  /* killed by us after timeout_ns */
    int exit_status; /* 0..255, or -1 when a signal ended it */
    int signal;      /* signal number, or 0 */
    int64_t wall_ns;
    uint64_t peak_memory_bytes;
};

struct process {
    pid_t pid;  /* also the id of its session and process group */
    int output; /* read end of the child's standard output, or -1 */
    int errors; /* read end of the child's standard error, or -1 */
    int input;  /* non-blocking write end of the child's standard input with spec.input_pipe, else -1 */
    int64_t started_ns;
};

/*
 * Runs a child to its end: collects both streams (raw bytes, capped; more is read and counted as dropped), kills the
 * group on timeout. Returns false only when the child could not be started (program missing: ERROR_NOT_FOUND) or the
 * system failed; a child that fails is reported in `end`.
 */
MUST_CHECK bool process_run(const struct process_spec *spec, struct buffer *output, struct buffer *errors,
                            struct process_end *end, struct error *error);

/* Starts a child with pipes on its standard output and error (non-blocking read ends). */
MUST_CHECK bool process_start(const struct process_spec *spec, struct process *child, struct error *error);

/* Reaps the child if it has ended within `timeout_ns` (0: just look, -1: wait forever). Returns whether it ended. */
bool process_wait(struct process *child, int64_t timeout_ns, struct process_end *end);

/* Becomes the program argv[0] (looked up on PATH) with this process's environment and descriptors. Returns, with false,
 * only when it cannot be started (missing: ERROR_NOT_FOUND). */
bool process_become(const char *const *argv, struct error *error);

/* SIGKILL to the whole group, then reaps. */
void process_kill(struct process *child, struct process_end *end);

/* SIGKILL to the whole group without waiting; reap it later with process_wait. */
void process_signal_kill(const struct process *child);

/* Stops the whole group where it is (SIGSTOP), and lets it go on. Nothing to do when it has ended. */
void process_suspend(const struct process *child);
void process_resume(const struct process *child);

/* Closes the ends that process_start made. They stay open, and readable, after the child's end until then. */
void process_close_streams(struct process *child);

/* Appends what can be read from a non-blocking stream, at most 1 MiB a call, so that an endless writer cannot hold the
 * caller. Returns false at end of file. */
bool process_drain(int fd, struct buffer *buffer);

/* Makes the calling process adopt orphaned descendants, so that process_kill_orphans finds daemonised ones. */
MUST_CHECK bool process_become_subreaper(struct error *error);

/* Kills and reaps descendants that were re-parented to this process and are not in `keep`. Returns how many. */
int process_kill_orphans(const pid_t *keep, int keep_count);

/* "exited with status 1", "killed by signal 11 (Segmentation fault)", "killed after 3.0 s": into `out`. */
void process_end_text(const struct process_end *end, char *out, size_t size);

/* Applies a sandbox to the calling process, irrevocably (Landlock + no_new_privs). `*applied` is false when the kernel
 * has no Landlock. */
MUST_CHECK bool process_sandbox_apply(const struct process_sandbox *sandbox, bool *applied, struct error *error);

/* "landlock ABI 4" or "none (kernel without Landlock)". */
const char *process_sandbox_text(void);

#endif
