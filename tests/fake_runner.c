/*
 * A runner without CUDA, for tests of the worker's end: speaks the protocol of device/channel.h and misbehaves as told.
 *
 *     fake_runner --channel --device fake:ACTION@PHASE
 *
 * PHASE is ready, load, run or report: the answer at which ACTION happens. Everything else is answered as a well-behaved
 * runner does. "fake:ok" never misbehaves.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "device/channel.h"

static const char *action = "ok", *phase = "";

static _Noreturn void sleep_forever(void)
{
    for (;;)
        (void)pause();
}

static void answer(struct message *message, enum message_type type)
{
    if (channel_send(CHANNEL_RUNNER_FD, message, type, NULL, 0) != CHANNEL_OK)
        _exit(0);
}

static void print_megabytes(int fd)
{
    char junk[4096];

    for (size_t i = 0; i < sizeof junk; i++)
        junk[i] = (char)(0x80 + i % 0x80);
    for (int i = 0; i < 2048; i++)
        if (write(fd, junk, sizeof junk) < 0)
            _exit(9);
}

/* A descendant of its own session, which outlives the runner's group. Returns when it is there. */
static void start_daemon(void)
{
    int fds[2];
    char byte;

    if (pipe(fds))
        _exit(9);
    pid_t child = fork();
    if (!child) {
        (void)setsid();
        if (fork())
            _exit(0);
        (void)close(CHANNEL_RUNNER_FD);
        (void)!write(fds[1], "d", 1);
        sleep_forever();
    }
    (void)waitpid(child, NULL, 0);
    if (read(fds[0], &byte, 1) != 1)
        _exit(9);
}

static void fail(void)
{
    struct message message = {.body.failed = {.stage = FAILURE_DEVICE, .code = 700, .iteration = 4}};

    (void)snprintf(message.body.failed.text, sizeof message.body.failed.text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    answer(&message, MESSAGE_FAILED);
}

static void violate(void)
{
    struct message message = {.body.violation.syscall = 57};

    answer(&message, MESSAGE_VIOLATION);
    _exit(128 + SIGSYS);
}

static void send_surplus_descriptors(void)
{
    struct message message = {0};
    int descriptors[CHANNEL_MAX_DESCRIPTORS] = {0, 1, 2};

    (void)channel_send(CHANNEL_RUNNER_FD, &message, MESSAGE_FAILED, descriptors, CHANNEL_MAX_DESCRIPTORS);
}

/* Does what the phase is to suffer. Returns whether the right answer is still to be sent. */
static bool misbehave(const char *now)
{
    struct message message = {0};

    if (strcmp(now, phase) != 0)
        return true;
    if (!strcmp(action, "exit3"))
        _exit(3);
    if (!strcmp(action, "abort"))
        abort();
    if (!strcmp(action, "hang"))
        sleep_forever();
    if (!strcmp(action, "close")) {
        (void)close(CHANNEL_RUNNER_FD);
        sleep_forever();
    }
    if (!strcmp(action, "garbage"))
        (void)send(CHANNEL_RUNNER_FD, "garbage", 7, MSG_NOSIGNAL);
    else if (!strcmp(action, "empty"))
        (void)send(CHANNEL_RUNNER_FD, "", 0, MSG_NOSIGNAL);
    else if (!strcmp(action, "other"))
        answer(&message, MESSAGE_LOAD);
    else if (!strcmp(action, "failed"))
        fail();
    else if (!strcmp(action, "violation"))
        violate();
    else if (!strcmp(action, "descriptors"))
        send_surplus_descriptors();
    else
        goto still_right;
    return false;

still_right:
    if (!strcmp(action, "daemon"))
        start_daemon();
    if (!strcmp(action, "megabytes")) {
        print_megabytes(STDOUT_FILENO);
        print_megabytes(STDERR_FILENO);
    }
    if (!strcmp(action, "spam") && !fork())
        for (;;)
            print_megabytes(STDOUT_FILENO);
    return true;
}

static void report(const struct message_run *request)
{
    struct message message = {0};

    if (!misbehave("report"))
        return;
    if (request->flags & RUN_TIME) {
        message.body.times.count = request->count + (!strcmp(action, "forged-times") ? -1 : 0);
        for (int i = 0; i < request->count; i++)
            message.body.times.iterations[i] = (struct activity_iteration){i, 1000 + i, 1, 1, 0, 0};
        answer(&message, MESSAGE_TIMES);
    } else if (request->flags & RUN_COUNT) {
        struct count_record record = {.pc_offset = 16, .warps = 8, .function = "kernel"};
        AUTO_CLOSE int fd = memfd_create("counts", MFD_CLOEXEC);
        if (write(fd, &record, sizeof record) != sizeof record)
            _exit(9);
        message.body.counts = (struct message_counts){.ok = 1, .count = 1};
        if (channel_send(CHANNEL_RUNNER_FD, &message, MESSAGE_COUNTS, &fd, 1) != CHANNEL_OK)
            _exit(0);
    }
}

static void handle(struct message *message)
{
    struct message_run request = message->body.run;
    struct message reply = {0};

    if (message->type == MESSAGE_LOAD) {
        if (misbehave("load"))
            answer(&reply, MESSAGE_LOADED);
    } else if (message->type == MESSAGE_RUN && misbehave("run")) {
        reply.body.done.count = request.count;
        answer(&reply, MESSAGE_DONE);
        report(&request);
    }
    if (!strcmp(action, "early") && message->type == MESSAGE_LOAD) {
        answer(&reply, MESSAGE_DONE); /* before it was asked to run */
        (void)printf("spoken\n");
        (void)fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    struct message message = {.body.ready = {.start_ns = 1, .cupti_version = 13, .sandbox = "none"}};

    if (argc != 4 || strcmp(argv[1], "--channel") != 0 || strcmp(argv[2], "--device") != 0 ||
        strncmp(argv[3], "fake:", 5) != 0) {
        (void)fprintf(stderr, "usage: fake_runner --channel --device fake:ACTION@PHASE\n");
        return 64;
    }
    char *at = strchr(argv[3], '@');
    if (at) {
        *at = '\0';
        phase = at + 1;
    }
    action = argv[3] + 5;
    (void)printf("hello from %s\n", action);
    if (getenv("PTXBENCH_TEST_HARMLESS") && !getenv("TEST_API_KEY"))
        (void)printf("the environment is clean\n");
    (void)fflush(stdout);
    if (misbehave("ready"))
        answer(&message, MESSAGE_READY);
    for (;;) {
        int descriptors[CHANNEL_MAX_DESCRIPTORS];
        int count;
        if (channel_receive(CHANNEL_RUNNER_FD, true, &message, descriptors, &count) != CHANNEL_OK)
            return 0;
        while (count)
            (void)close(descriptors[--count]);
        handle(&message);
    }
}
