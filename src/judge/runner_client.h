/*
 * The worker's end of a runner: starts it, talks to it with deadlines, collects what it prints, and always gets rid of
 * it. Whatever the candidate inside does, a call returns by its deadline with a precise outcome.
 *
 * Not thread-safe; one thread owns a client.
 */
#ifndef PTXBENCH_JUDGE_RUNNER_CLIENT_H
#define PTXBENCH_JUDGE_RUNNER_CLIENT_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/process.h"
#include "device/channel.h"

struct runner_client;

enum runner_result {
    RUNNER_OK,
    RUNNER_FAILED,    /* it said so: outcome.failed */
    RUNNER_ENDED,     /* the process ended: outcome.end */
    RUNNER_HUNG,      /* deadline passed, or interrupt_requested */
    RUNNER_CLOSED,    /* its end of the channel is closed, yet the process lives */
    RUNNER_VIOLATION, /* forbidden system call: outcome.syscall */
    RUNNER_INVALID    /* it sent something that is not in the protocol */
};

struct runner_outcome {
    enum runner_result result;
    struct message_failed failed;
    struct process_end end;
    int syscall;
    int64_t wall_ns; /* from sending the request to its (first) answer, by the worker's clock */
};

/* How an emulated device works in a runner (emu/shim_options.h). */
struct runner_emulation {
    uint64_t sample;      /* most clusters of a launch that run; 0: all */
    uint64_t budget;      /* most warp instructions of a launch; 0: the emulator's limit */
    const char *schedule; /* "completion=late,reverse"; "": the default */
};

/* Starts a runner and returns at once; it warms up on its own. `emulation`: for an emulated device, else NULL. */
MUST_CHECK bool runner_client_start(const char *program, const char *device, const struct runner_emulation *emulation,
                                    struct runner_client **out, struct error *error);

/* Waits until it is warm. Failure is infrastructure or device trouble. `*ready` is borrowed. */
MUST_CHECK bool runner_client_wait_ready(struct runner_client *client, const struct message_ready **ready,
                                         struct error *error);

/* Sends LOAD with the descriptors of object, inputs and outputs; waits for the answer at most `timeout_ns`. */
struct runner_outcome runner_client_load(struct runner_client *client, const struct message_load *load,
                                         const int descriptors[CHANNEL_MAX_DESCRIPTORS], int64_t timeout_ns);

/* Sends RUN and waits for DONE, and for TIMES (into `times`; NULL: fetch them with runner_client_take_times) or COUNTS
 * (into `counts`). */
struct runner_outcome runner_client_run(struct runner_client *client, const struct message_run *request,
                                        int64_t timeout_ns, struct message_times *times, struct message_counts *counts,
                                        int *counts_fd);

/* Waits longer for the DONE of a run that has come back as RUNNER_HUNG. */
struct runner_outcome runner_client_wait_done(struct runner_client *client, int64_t timeout_ns);

/* Waits for the TIMES of the last run. Between DONE and here the caller looks at the outputs: the wall clock stops at
 * DONE, so that a candidate that says it too early must be found out before it has had more time. */
struct runner_outcome runner_client_take_times(struct runner_client *client, const struct message_run *request,
                                               struct message_times *times);

/* Stops the process until the next run. Whatever threads the candidate has then neither load the device or the
 * processors while the reference is timed, nor see new inputs before they are asked to work on them. */
void runner_client_suspend(struct runner_client *client);

/* What the process printed on both streams, printable; borrowed until the client is freed. `*truncated` tells whether
 * more was printed than is kept (64 KiB). */
const char *runner_client_output(struct runner_client *client, bool *truncated);

/* Appends what the emulated device of the runner has told (JSON lines: docs/formats/emulator.md); forgeable, as all that
 * comes from there. False when the buffer was too small. */
bool runner_client_take_events(struct runner_client *client, struct buffer *out);

pid_t runner_client_pid(const struct runner_client *client);

/* Kills it without waiting for its end (the driver needs some 50 ms to tear a context down). Only runner_client_pid,
 * runner_client_reap and runner_client_free may follow. */
void runner_client_stop(struct runner_client *client);

/* Frees a stopped client whose process is gone within `timeout_ns`. Returns whether it was. */
bool runner_client_reap(struct runner_client *client, int64_t timeout_ns);

/* Whether the process has ended by itself, as far as this end knows. */
bool runner_client_has_ended(const struct runner_client *client);

/* Kills whatever is left of it and frees; accepts NULL. Returns whether it had ended by itself; `end` (may be NULL)
 * tells how. */
bool runner_client_free(struct runner_client *client, struct process_end *end);

#endif
