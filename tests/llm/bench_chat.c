/* What waiting for many slow answers costs: bench_chat [CALLS [SECONDS BETWEEN EVENTS [EVENTS]]], all calls at once in one
 * thread against tests/llm/server.py. Prints processor time of this thread, which the server's own does not enter. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/clock.h"
#include "llm/fault_server.h"

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    (void)clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int threads_now(void)
{
    AUTO_FCLOSE FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    int threads = 0;

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Threads: %d", &threads) == 1)
            break;
    return threads;
}

int main(int argc, char **argv)
{
    static const char *const providers[] = {"openai", "anthropic", "gemini"};
    AUTO_ARENA *arena = arena_new();
    long calls = argc > 1 ? strtol(argv[1], NULL, 10) : 500;
    const char *delay = argc > 2 ? argv[2] : "0.2";
    const char *pieces = argc > 3 ? argv[3] : "40";
    const struct chat_message message = {CHAT_USER, "Write a kernel."};
    struct chat_client_options options = chat_client_defaults();
    struct model_config models[ARRAY_LEN(providers)];
    struct fault_server server;
    struct chat_client *client;
    struct rusage usage;
    struct error error;
    long answered = 0;
    void *context;

    (void)setenv("FAULT_SERVER_PIECES", pieces, 1);
    fault_server_start(&server, "--delay", delay);
    for (size_t i = 0; i < ARRAY_LEN(providers); i++)
        models[i] = fault_model(arena, &server, providers[i], "drip", "bench");
    if (!chat_client_new(&options, &client, &error))
        return 1;
    double cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID), wall = seconds_of(CLOCK_MONOTONIC);
    for (long i = 0; i < calls; i++) {
        struct chat_request request = {
            .model = &models[(size_t)i % ARRAY_LEN(providers)], .messages = &message, .message_count = 1};
        if (!chat_client_start(client, &request, NULL, &error))
            return 1;
    }
    int threads = 0;
    while (chat_client_pending(client)) {
        const struct chat_reply *reply = chat_client_next(client, 1000, &context);
        answered += reply && reply->status == CHAT_OK && !strcmp(reply->text, FAULT_TEXT);
        threads = threads_now() > threads ? threads_now() : threads;
    }
    cpu = seconds_of(CLOCK_THREAD_CPUTIME_ID) - cpu;
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    (void)getrusage(RUSAGE_SELF, &usage);
    (void)printf("%ld of %ld calls answered in %.2f s: %.3f s of processor time (%.2f %% of one core, %.3f ms a call), "
                 "peak memory %.1f MiB, %d thread%s\n",
                 answered, calls, wall, cpu, 100 * cpu / wall, 1e3 * cpu / (double)calls,
                 (double)usage.ru_maxrss / 1024, threads, threads == 1 ? "" : "s");
    chat_client_free(client);
    fault_server_stop(&server);
    return answered == calls ? 0 : 1;
}
