/* ptxbench worker: judges candidates that come as lines on standard input. */
#include <argp.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "base/buffer.h"
#include "base/interrupt.h"
#include "cli/cli.h"
#include "cli/task_roots.h"
#include "cli/worker_request.h"
#include "device/device.h"

enum { MAX_ROOTS = 16 };
enum { OPTION_RUNNERS = 256, OPTION_WORKLOADS, OPTION_SAMPLE };
enum { DEFAULT_SAMPLE = 4 };

struct worker_arguments {
    const char *roots[MAX_ROOTS];
    size_t root_count;
    struct worker_options options;
};

static const struct argp_option option_table[] = {
    {"device", 'd', "NAME", 0, "Device to own: cuda:N or emu:sm_90a (default: cuda:0 when there is a GPU)", 0},
    {"tasks", 'T', "DIR", 0, "Trace set to read; repeatable (default: the shipped one)", 0},
    {"runners", OPTION_RUNNERS, "N", 0, "Warm runners kept ready (default 2)", 0},
    {"workloads", OPTION_WORKLOADS, "N", 0, "Workloads kept prepared (default 2)", 0},
    {"sample", OPTION_SAMPLE, "N", 0, "Emulator: clusters of a large grid that run (default 4; 0: all)", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct worker_arguments *into = state->input;

    switch (key) {
    case 'd':
        if (!device_name_is_valid(value))
            argp_error(state, "--device: \"%s\" is not a device; name a GPU as cuda:0, cuda:1, ..., or emu:sm_90a",
                       value);
        into->options.device = value;
        return 0;
    case 'T':
        if (into->root_count == MAX_ROOTS)
            argp_error(state, "more than %d --tasks", MAX_ROOTS);
        into->roots[into->root_count++] = value;
        return 0;
    case OPTION_RUNNERS:
        into->options.warm_runners = (int)cli_parse_number(state, "runners", value, 1, 8);
        return 0;
    case OPTION_WORKLOADS:
        into->options.max_workloads = (int)cli_parse_number(state, "workloads", value, 1, 64);
        return 0;
    case OPTION_SAMPLE:
        into->options.sample = (uint64_t)cli_parse_number(state, "sample", value, 0, INT32_MAX);
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "\"%s\": requests come on standard input", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static bool print_line(json_object *answer, struct error *error)
{
    AUTO_FREE char *text = NULL;

    if (!json_to_text(answer, false, &text, error))
        return false;
    if (printf("%s\n", text) < 0 || fflush(stdout))
        return error_system(error, errno, "standard output: cannot write");
    return true;
}

/* One request. What is wrong with it is its answer; only trouble with the output ends the worker. */
static bool serve(struct worker *worker, struct worker_workloads *workloads, const char *line, size_t length,
                  int number, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_DOCUMENT *document = NULL;
    AUTO_JSON_OBJECT *answer = NULL;
    struct judge_request request;
    const char *id = NULL;
    struct error refusal;

    if (json_parse(line, length, "request", number, &document, &refusal) &&
        worker_request_read(json_root(document), arena, workloads, &request, &id, &refusal)) {
        const struct verdict *verdict = worker_judge(worker, &request, arena);
        if (interrupt_requested()) /* half a verdict is none */
            return error_set(error, ERROR_SYSTEM, "interrupted");
        answer = worker_answer(verdict, id);
    } else {
        answer = worker_refusal(&refusal, id);
    }
    return print_line(answer, error);
}

/* Appends what standard input has. False at its end, or when a signal came. */
static bool read_more(struct buffer *input, bool *ended, struct error *error)
{
    struct pollfd waiting[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = interrupt_fd(), .events = POLLIN}};
    char piece[64 * 1024];

    if (poll(waiting, ARRAY_LEN(waiting), -1) < 0 || interrupt_requested()) {
        *ended = interrupt_requested();
        return true;
    }
    ssize_t got = read(STDIN_FILENO, piece, sizeof piece);
    if (got < 0 && errno != EINTR && errno != EAGAIN)
        return error_system(error, errno, "standard input: cannot read");
    *ended = got == 0;
    if (got > 0 && !buffer_append(input, piece, (size_t)got))
        return error_set(error, ERROR_LIMIT, "standard input: a line is longer than %d bytes", WORKER_LINE_MAX);
    return true;
}

static bool serve_all(struct worker *worker, struct worker_workloads *workloads, struct error *error)
{
    AUTO_BUFFER input = buffer_new(WORKER_LINE_MAX);
    bool ended = false;
    int number = 1;

    while (!ended) {
        char *newline = memchr(input.data, '\n', input.length);
        if (!newline) {
            if (!read_more(&input, &ended, error))
                return false;
            continue;
        }
        size_t length = (size_t)(newline - input.data);
        if (strspn(input.data, " \t\r\n") < length && !serve(worker, workloads, input.data, length, number, error))
            return false;
        number++;
        input.length -= length + 1;
        memmove(input.data, newline + 1, input.length + 1);
    }
    return true;
}

int cmd_worker(int argc, char **argv)
{
    static const struct argp parser = {
        option_table,
        parse_option,
        NULL,
        "Judge candidates that come as JSON lines on standard input; each is answered by its verdict, one line.\v"
        "The device, prepared workloads and warm runners are kept between requests. docs/formats/worker.md describes "
        "the "
        "lines. The end of the input ends the worker.",
        NULL,
        NULL,
        NULL};
    struct worker_arguments arguments = {.options = {.version = PTXBENCH_VERSION, .sample = DEFAULT_SAMPLE}};
    AUTO_TRACE_SET *tasks = NULL;
    AUTO_ARENA *arena = arena_new();
    struct worker *worker;
    struct error error;

    if (argp_parse(&parser, argc, argv, 0, NULL, &arguments))
        return CLI_USAGE;
    if (!arguments.options.device)
        arguments.options.device = device_default_name();
    if (!task_roots_open(arguments.roots, arguments.root_count, &tasks, &error) ||
        !worker_open(&arguments.options, &worker, &error))
        return cli_fail(&error);
    interrupt_catch();
    struct worker_workloads workloads = {.tasks = tasks, .arena = arena};
    int status = serve_all(worker, &workloads, &error) ? CLI_PASSED : cli_fail(&error);
    worker_close(worker);
    interrupt_finish();
    return status;
}
