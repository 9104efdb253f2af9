#define _GNU_SOURCE
#include "judge/runner_client.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "judge/runner_environment.h"

enum { OUTPUT_LIMIT = 64 * 1024 };
static const int64_t ready_timeout_ns = 60LL * 1000000000;
static const int64_t report_timeout_ns = 10LL * 1000000000;
static const int64_t end_grace_ns = 500000000; /* a closed channel is usually the process ending */

struct runner_client {
    struct process process;
    int channel;
    int events;           /* memory file that an emulated device appends to; -1 */
    struct buffer raw;    /* what it printed, as it came */
    struct buffer output; /* the same, printable */
    bool is_ready;
    bool ended;
    struct process_end end;
    struct message_ready ready;
    struct message message; /* last received */
};

static void close_descriptors(const struct runner_client *client)
{
    if (client->channel >= 0)
        (void)close(client->channel);
    if (client->events >= 0)
        (void)close(client->events);
}

/* The descriptors of the runner: 3 is the channel, 4 where an emulated device tells what happens. */
static bool open_descriptors(struct runner_client *client, bool emulated, int *theirs, struct error *error)
{
    if (!channel_pair(&client->channel, theirs, error))
        return false;
    if (!emulated)
        return true;
    client->events = memfd_create("events", MFD_CLOEXEC);
    if (client->events < 0)
        return error_system(error, errno, "runner: no memory file for the emulator's events");
    (void)fcntl(client->events, F_SETFL, O_APPEND);
    return true;
}

bool runner_client_start(const char *program, const char *device, const struct runner_emulation *emulation,
                         struct runner_client **out, struct error *error)
{
    struct runner_client *client = calloc(1, sizeof *client);
    const char *const argv[] = {program, "--channel", "--device", device, NULL};
    AUTO_ARENA *arena = arena_new();
    AUTO_CLOSE int theirs = -1;

    if (!client)
        return error_set(error, ERROR_MEMORY, "runner: out of memory");
    client->raw = buffer_new(OUTPUT_LIMIT);
    client->output = buffer_new(3 * OUTPUT_LIMIT);
    client->channel = client->events = -1;
    bool ok = open_descriptors(client, emulation != NULL, &theirs, error);
    int inherit[] = {theirs, client->events};
    struct process_spec spec = {.argv = argv, .inherit = inherit, .inherit_count = emulation ? 2 : 1, .no_core = true};
    if (ok)
        spec.environment =
            emulation ? runner_environment_emulated(arena, device, emulation) : runner_environment(arena);
    if (!ok || !process_start(&spec, &client->process, error)) {
        close_descriptors(client);
        free(client);
        return false;
    }
    *out = client;
    return true;
}

bool runner_client_take_events(struct runner_client *client, struct buffer *out)
{
    char bytes[4096];
    off_t at = 0;
    ssize_t got;

    while ((got = pread(client->events, bytes, sizeof bytes, at)) > 0) {
        at += got;
        if (!buffer_append(out, bytes, (size_t)got))
            return false;
    }
    return true;
}

static void drain_all(struct runner_client *client)
{
    (void)process_drain(client->process.output, &client->raw);
    (void)process_drain(client->process.errors, &client->raw);
}

/* The channel is closed: has the process ended, or has the candidate closed its descriptors? */
static enum runner_result find_end(struct runner_client *client)
{
    if (!process_wait(&client->process, end_grace_ns, &client->end))
        return RUNNER_CLOSED;
    client->ended = true;
    return client->end.exit_status == CHANNEL_LOST_STATUS ? RUNNER_CLOSED : RUNNER_ENDED;
}

/* Waits for one message until `deadline_ns`. Output is read meanwhile, so that no full pipe stops the runner. */
static enum runner_result receive(struct runner_client *client, int64_t deadline_ns,
                                  int descriptors[CHANNEL_MAX_DESCRIPTORS], int *descriptor_count)
{
    struct pollfd waiting[4] = {{.fd = client->channel, .events = POLLIN},
                                {.fd = client->process.output, .events = POLLIN},
                                {.fd = client->process.errors, .events = POLLIN},
                                {.fd = interrupt_fd(), .events = POLLIN}};

    *descriptor_count = 0;
    for (;;) {
        switch (channel_receive(client->channel, false, &client->message, descriptors, descriptor_count)) {
        case CHANNEL_OK:
            return RUNNER_OK;
        case CHANNEL_CLOSED:
            return find_end(client);
        case CHANNEL_INVALID:
            return RUNNER_INVALID;
        case CHANNEL_EMPTY:
            break;
        }
        int64_t left = deadline_ns - clock_now_ns();
        if (left <= 0 || interrupt_requested())
            return RUNNER_HUNG;
        struct timespec timeout = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
        if (ppoll(waiting, ARRAY_LEN(waiting), &timeout, NULL) < 0 && errno != EINTR)
            return RUNNER_INVALID;
        for (int i = 1; i < 3; i++)
            if (waiting[i].revents && !process_drain(waiting[i].fd, &client->raw))
                waiting[i].fd = -1;
    }
}

/* A runner speaks when it is asked. What lies in the channel before a request is no answer to it: a candidate that says
 * "done" ahead of time would have its outputs compared, and timed, while it still works on them. */
static bool spoke_unasked(struct runner_client *client, struct runner_outcome *outcome)
{
    int descriptors[CHANNEL_MAX_DESCRIPTORS];
    int count;
    struct message early;

    enum channel_result result = channel_receive(client->channel, false, &early, descriptors, &count);
    while (count)
        (void)close(descriptors[--count]);
    if (result != CHANNEL_OK && result != CHANNEL_INVALID)
        return false; /* nothing; or closed, which the answer will show */
    *outcome = (struct runner_outcome){.result = RUNNER_INVALID};
    if (result == CHANNEL_OK && early.type == MESSAGE_VIOLATION) {
        outcome->result = RUNNER_VIOLATION;
        outcome->syscall = early.body.violation.syscall;
    }
    return true;
}

/* Receives the answer of the wanted type; everything else becomes its outcome. */
static struct runner_outcome expect(struct runner_client *client, enum message_type wanted, int64_t started_ns,
                                    int64_t timeout_ns, int *descriptor)
{
    struct runner_outcome outcome = {0};
    int descriptors[CHANNEL_MAX_DESCRIPTORS];
    int count;

    outcome.result = receive(client, started_ns + timeout_ns, descriptors, &count);
    outcome.wall_ns = clock_now_ns() - started_ns;
    outcome.end = client->end;
    while (count > (descriptor ? 1 : 0))
        (void)close(descriptors[--count]);
    if (outcome.result == RUNNER_OK && client->message.type == (uint32_t)wanted) {
        if (descriptor)
            *descriptor = count ? descriptors[0] : -1;
        return outcome;
    }
    if (count)
        (void)close(descriptors[0]);
    if (outcome.result != RUNNER_OK)
        return outcome;
    if (client->message.type == MESSAGE_FAILED) {
        outcome.result = RUNNER_FAILED;
        outcome.failed = client->message.body.failed;
    } else if (client->message.type == MESSAGE_VIOLATION) {
        outcome.result = RUNNER_VIOLATION;
        outcome.syscall = client->message.body.violation.syscall;
    } else {
        outcome.result = RUNNER_INVALID;
    }
    return outcome;
}

bool runner_client_wait_ready(struct runner_client *client, const struct message_ready **ready, struct error *error)
{
    char text[128];

    if (!client->is_ready) {
        struct runner_outcome outcome = expect(client, MESSAGE_READY, clock_now_ns(), ready_timeout_ns, NULL);
        if (outcome.result == RUNNER_FAILED)
            return error_set(error, ERROR_DEVICE, "runner: %s", outcome.failed.text);
        if (outcome.result == RUNNER_ENDED) {
            bool truncated;
            process_end_text(&outcome.end, text, sizeof text);
            return error_set(error, ERROR_DEVICE, "runner: %s during its warm-up; it printed: %.300s", text,
                             runner_client_output(client, &truncated));
        }
        if (outcome.result == RUNNER_HUNG)
            return error_set(error, ERROR_DEVICE, "runner: not ready after %.1f s", (double)outcome.wall_ns * 1e-9);
        if (outcome.result != RUNNER_OK)
            return error_set(error, ERROR_DEVICE, "runner: %s during its warm-up",
                             outcome.result == RUNNER_CLOSED ? "closed its channel" : "sent an unexpected message");
        client->ready = client->message.body.ready;
        client->is_ready = true;
    }
    *ready = &client->ready;
    return true;
}

struct runner_outcome runner_client_load(struct runner_client *client, const struct message_load *load,
                                         const int descriptors[CHANNEL_MAX_DESCRIPTORS], int64_t timeout_ns)
{
    struct message message = {.body.load = *load};
    struct runner_outcome unasked;
    int64_t started_ns = clock_now_ns();

    if (spoke_unasked(client, &unasked))
        return unasked;
    /* A send that fails shows in the answer: the channel is closed. */
    (void)channel_send(client->channel, &message, MESSAGE_LOAD, descriptors, CHANNEL_MAX_DESCRIPTORS);
    return expect(client, MESSAGE_LOADED, started_ns, timeout_ns, NULL);
}

struct runner_outcome runner_client_run(struct runner_client *client, const struct message_run *request,
                                        int64_t timeout_ns, struct message_times *times, struct message_counts *counts,
                                        int *counts_fd)
{
    struct message message = {.body.run = *request};
    struct runner_outcome outcome;
    int64_t started_ns = clock_now_ns();

    if (spoke_unasked(client, &outcome))
        return outcome;
    process_resume(&client->process);
    (void)channel_send(client->channel, &message, MESSAGE_RUN, NULL, 0);
    outcome = expect(client, MESSAGE_DONE, started_ns, timeout_ns, NULL);
    if (outcome.result != RUNNER_OK)
        return outcome;
    if ((request->flags & RUN_TIME) && times) {
        struct runner_outcome report = runner_client_take_times(client, request, times);
        report.wall_ns = outcome.wall_ns;
        outcome = report;
    } else if (request->flags & RUN_COUNT) {
        struct runner_outcome report = expect(client, MESSAGE_COUNTS, clock_now_ns(), report_timeout_ns, counts_fd);
        report.wall_ns = outcome.wall_ns;
        outcome = report;
        if (outcome.result == RUNNER_OK)
            *counts = client->message.body.counts;
    }
    return outcome;
}

struct runner_outcome runner_client_wait_done(struct runner_client *client, int64_t timeout_ns)
{
    return expect(client, MESSAGE_DONE, clock_now_ns(), timeout_ns, NULL);
}

struct runner_outcome runner_client_take_times(struct runner_client *client, const struct message_run *request,
                                               struct message_times *times)
{
    struct runner_outcome outcome = expect(client, MESSAGE_TIMES, clock_now_ns(), report_timeout_ns, NULL);

    if (outcome.result != RUNNER_OK)
        return outcome;
    *times = client->message.body.times;
    if (times->count != request->count)
        outcome.result = RUNNER_INVALID;
    return outcome;
}

void runner_client_suspend(struct runner_client *client)
{
    process_suspend(&client->process);
}

const char *runner_client_output(struct runner_client *client, bool *truncated)
{
    drain_all(client);
    buffer_reset(&client->output);
    (void)buffer_append_sanitized(&client->output, client->raw.data, client->raw.length);
    *truncated = client->raw.dropped || client->output.dropped;
    return client->output.data;
}

pid_t runner_client_pid(const struct runner_client *client)
{
    return client->process.pid;
}

bool runner_client_has_ended(const struct runner_client *client)
{
    return client->ended;
}

void runner_client_stop(struct runner_client *client)
{
    if (!client->ended)
        process_signal_kill(&client->process);
}

bool runner_client_reap(struct runner_client *client, int64_t timeout_ns)
{
    if (!client->ended && !process_wait(&client->process, timeout_ns, &client->end))
        return false;
    client->ended = true;
    (void)runner_client_free(client, NULL);
    return true;
}

bool runner_client_free(struct runner_client *client, struct process_end *end)
{
    if (!client)
        return true;
    bool ended = client->ended;
    if (!ended)
        process_kill(&client->process, &client->end);
    if (end)
        *end = client->end;
    process_close_streams(&client->process);
    close_descriptors(client);
    buffer_free(&client->raw);
    buffer_free(&client->output);
    free(client);
    return ended;
}
