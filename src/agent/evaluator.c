#define _GNU_SOURCE
#include "agent/evaluator.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/clock.h"
#include "base/process.h"

extern char **environ;

enum { ANSWER_MAX = 64 << 20, ERRORS_KEPT = 8 << 10, EVENTS_A_CALL = 64, STREAMS = 3 };
static const int64_t timeout_default_ns = INT64_C(900) * 1000000000;
static const int64_t goodbye_ns = INT64_C(2) * 1000000000;

enum stream { STREAM_OUTPUT, STREAM_ERRORS, STREAM_INPUT };

struct job {
    struct job *next;
    char *line; /* owned, with its newline */
    size_t length;
    void *context;
    int crashes;
};

struct slot {
    const char *device;
    bool alive; /* a child runs */
    bool broken;
    int crashes; /* since its last answer */
    struct process child;
    struct job *job; /* under way; NULL: idle */
    size_t sent;     /* bytes of the job's line */
    int64_t started_ns;
    struct buffer output;
    struct buffer errors;
};

struct evaluator {
    int epoll;
    const char **argv; /* room for "--device NAME" at `device_at` */
    size_t device_at;
    const char **environment;
    int64_t timeout_ns;
    struct slot *slots;
    size_t slot_count;
    struct job *first; /* the queue */
    struct job **last;
    size_t waiting;
    struct arena *arena;         /* of the options' copies */
    struct arena *verdict_arena; /* of the last evaluation handed out */
    struct json_document *document;
    struct judgement result;
};

static void copy_environment(struct evaluator *evaluator, const char *scratch)
{
    size_t count = 0;

    while (environ[count])
        count++;
    evaluator->environment = arena_calloc(evaluator->arena, count + 2, sizeof *evaluator->environment);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (!scratch || strncmp(environ[i], "PTXBENCH_TMPDIR=", 16) != 0)
            evaluator->environment[kept++] = environ[i];
    if (scratch)
        evaluator->environment[kept] = arena_printf(evaluator->arena, "PTXBENCH_TMPDIR=%s", scratch);
}

bool evaluator_new(const struct evaluator_options *options, struct evaluator **out, struct error *error)
{
    struct arena *arena = arena_new();
    struct evaluator *evaluator = arena_alloc(arena, sizeof *evaluator);
    size_t words = 0;

    if (!options->device_count || options->device_count > EVALUATOR_SLOTS_MAX) {
        arena_free(arena);
        return error_set(error, ERROR_USAGE, "%zu workers: between 1 and %d can be used", options->device_count,
                         EVALUATOR_SLOTS_MAX);
    }
    evaluator->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (evaluator->epoll < 0) {
        arena_free(arena);
        return error_system(error, errno, "cannot wait for workers");
    }
    while (options->program[words])
        words++;
    evaluator->arena = arena;
    evaluator->argv = arena_calloc(arena, words + 3, sizeof *evaluator->argv);
    for (size_t i = 0; i < words; i++)
        evaluator->argv[i] = arena_strdup(arena, options->program[i]);
    evaluator->argv[words] = "--device";
    evaluator->device_at = words + 1;
    copy_environment(evaluator, options->scratch);
    evaluator->timeout_ns = options->timeout_ns ? options->timeout_ns : timeout_default_ns;
    evaluator->slots = arena_calloc(arena, options->device_count, sizeof *evaluator->slots);
    evaluator->slot_count = options->device_count;
    for (size_t i = 0; i < options->device_count; i++) {
        evaluator->slots[i].device = arena_strdup(arena, options->devices[i]);
        evaluator->slots[i].output = buffer_new(ANSWER_MAX);
        evaluator->slots[i].errors = buffer_new(ERRORS_KEPT);
    }
    evaluator->last = &evaluator->first;
    *out = evaluator;
    return true;
}

static void job_free(struct job *job)
{
    free(job->line);
    free(job);
}

/* The result that was handed out last is over. */
static void drop_result(struct evaluator *evaluator)
{
    json_document_free(evaluator->document);
    arena_free(evaluator->verdict_arena);
    evaluator->document = NULL;
    evaluator->verdict_arena = NULL;
}

static void stop_child(struct slot *slot, bool kindly)
{
    struct process_end end;

    if (!slot->alive)
        return;
    process_close_streams(&slot->child); /* a worker ends at the end of its input */
    if (!kindly || !process_wait(&slot->child, goodbye_ns, &end))
        process_kill(&slot->child, &end);
    slot->alive = false;
}

void evaluator_free(struct evaluator *evaluator)
{
    if (!evaluator)
        return;
    for (size_t i = 0; i < evaluator->slot_count; i++) { /* all at once, then wait for each */
        struct slot *slot = &evaluator->slots[i];
        if (slot->alive && slot->job)
            process_signal_kill(&slot->child);
        else if (slot->alive)
            process_close_streams(&slot->child);
    }
    for (size_t i = 0; i < evaluator->slot_count; i++) {
        struct slot *slot = &evaluator->slots[i];
        stop_child(slot, !slot->job);
        if (slot->job)
            job_free(slot->job);
        buffer_free(&slot->output);
        buffer_free(&slot->errors);
    }
    for (struct job *job = evaluator->first, *next; job; job = next) {
        next = job->next;
        job_free(job);
    }
    drop_result(evaluator);
    (void)close(evaluator->epoll);
    arena_free(evaluator->arena);
}

bool evaluator_submit(struct evaluator *evaluator, json_object *request, void *context, struct error *error)
{
    AUTO_FREE char *text = NULL;

    if (!json_to_text(request, false, &text, error))
        return false;
    struct job *job = calloc(1, sizeof *job);
    if (!job)
        return error_set(error, ERROR_MEMORY, "out of memory for an evaluation");
    job->length = strlen(text) + 1;
    text[job->length - 1] = '\n';
    job->line = steal(&text);
    job->context = context;
    *evaluator->last = job;
    evaluator->last = &job->next;
    evaluator->waiting++;
    return true;
}

static void watch(struct evaluator *evaluator, size_t index, enum stream stream, int fd, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = index * STREAMS + (unsigned)stream};

    if (epoll_ctl(evaluator->epoll, EPOLL_CTL_ADD, fd, &event))
        (void)epoll_ctl(evaluator->epoll, EPOLL_CTL_MOD, fd, &event);
}

static bool start_child(struct evaluator *evaluator, size_t index, struct error *error)
{
    struct slot *slot = &evaluator->slots[index];

    evaluator->argv[evaluator->device_at] = slot->device;
    struct process_spec spec = {.argv = evaluator->argv, .environment = evaluator->environment, .input_pipe = true};
    if (!process_start(&spec, &slot->child, error))
        return false;
    slot->alive = true;
    buffer_reset(&slot->output);
    buffer_reset(&slot->errors);
    slot->output.dropped = 0;
    watch(evaluator, index, STREAM_OUTPUT, slot->child.output, EPOLLIN);
    watch(evaluator, index, STREAM_ERRORS, slot->child.errors, EPOLLIN);
    return true;
}

/* Hands out an evaluation without a verdict. */
static const struct judgement *fail_job(struct evaluator *evaluator, struct job *job, const struct slot *slot,
                                        const struct error *trouble)
{
    evaluator->result = (struct judgement){
        .context = job->context,
        .device = slot ? slot->device : NULL,
        .trouble = *trouble,
        .elapsed_ns = slot ? clock_now_ns() - slot->started_ns : 0,
    };
    job_free(job);
    return &evaluator->result;
}

/* Whatever the child said last on standard error explains its end best. */
static void explain_end(struct slot *slot, const struct process_end *end, struct error *trouble)
{
    char how[128];
    AUTO_BUFFER words = buffer_new(400);

    process_end_text(end, how, sizeof how);
    size_t length = slot->errors.length;
    while (length && slot->errors.data[length - 1] == '\n')
        length--;
    size_t start = length;
    while (start && slot->errors.data[start - 1] != '\n' && length - start < 300)
        start--;
    (void)buffer_append_sanitized(&words, slot->errors.data + start, length - start);
    (void)error_set(trouble, ERROR_PROTOCOL, "worker of %s: %s%s%s", slot->device, how, words.length ? ": " : "",
                    words.data);
}

/* The child is gone, or is no use. Its job goes to the front of the queue once, then fails. */
static const struct judgement *lose_child(struct evaluator *evaluator, struct slot *slot, struct error *trouble)
{
    struct job *job = slot->job;

    slot->job = NULL;
    slot->crashes++;
    slot->broken = slot->crashes >= EVALUATOR_CRASHES_MAX;
    if (!job)
        return NULL;
    if (++job->crashes > 1)
        return fail_job(evaluator, job, slot, trouble);
    job->next = evaluator->first;
    evaluator->first = job;
    if (!job->next)
        evaluator->last = &job->next;
    evaluator->waiting++;
    return NULL;
}

static const struct judgement *reap_child(struct evaluator *evaluator, struct slot *slot)
{
    struct process_end end;
    struct error trouble;

    (void)process_drain(slot->child.errors, &slot->errors);
    if (!process_wait(&slot->child, goodbye_ns / 4, &end))
        process_kill(&slot->child, &end);
    explain_end(slot, &end, &trouble);
    process_close_streams(&slot->child);
    slot->alive = false;
    return lose_child(evaluator, slot, &trouble);
}

/* Sends what the pipe takes. A child that no longer reads is noticed at the end of its output. */
static void send_line(struct evaluator *evaluator, size_t index)
{
    struct slot *slot = &evaluator->slots[index];
    struct job *job = slot->job;

    while (job && slot->sent < job->length) {
        ssize_t put = write(slot->child.input, job->line + slot->sent, job->length - slot->sent);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0 && errno == EAGAIN) {
            watch(evaluator, index, STREAM_INPUT, slot->child.input, EPOLLOUT);
            return;
        }
        if (put < 0)
            break;
        slot->sent += (size_t)put;
    }
    (void)epoll_ctl(evaluator->epoll, EPOLL_CTL_DEL, slot->child.input, NULL);
}

/* Gives waiting jobs to idle children; starts them when needed. */
static const struct judgement *dispatch(struct evaluator *evaluator)
{
    struct error error;
    bool usable = false;

    for (size_t i = 0; i < evaluator->slot_count; i++) {
        struct slot *slot = &evaluator->slots[i];
        usable = usable || !slot->broken;
        if (slot->broken || slot->job || !evaluator->first)
            continue;
        if (!slot->alive && !start_child(evaluator, i, &error)) {
            slot->broken = true;
            continue;
        }
        slot->job = evaluator->first;
        evaluator->first = slot->job->next;
        if (!evaluator->first)
            evaluator->last = &evaluator->first;
        evaluator->waiting--;
        slot->job->next = NULL;
        slot->sent = 0;
        slot->started_ns = clock_now_ns();
        send_line(evaluator, i);
    }
    if (usable || !evaluator->first)
        return NULL;
    struct job *job = evaluator->first;
    evaluator->first = job->next;
    if (!evaluator->first)
        evaluator->last = &evaluator->first;
    evaluator->waiting--;
    (void)error_set(&error, ERROR_DEVICE, "no worker can be kept running");
    (void)error_hint(&error, "'%s %s --device %s' by hand tells why", evaluator->argv[0],
                     evaluator->argv[1] ? evaluator->argv[1] : "", evaluator->slots[0].device);
    return fail_job(evaluator, job, NULL, &error);
}

/* A line of the child's output is an answer: a verdict, or an error object that says why there is none. */
static const struct judgement *take_answer(struct evaluator *evaluator, struct slot *slot, size_t length)
{
    struct job *job = slot->job;
    struct judgement *result = &evaluator->result;
    struct json member;
    const char *text;

    slot->job = NULL;
    slot->crashes = 0;
    *result = (struct judgement){
        .context = job->context, .device = slot->device, .elapsed_ns = clock_now_ns() - slot->started_ns};
    job_free(job);
    evaluator->verdict_arena = arena_new();
    if (!json_parse(slot->output.data, length, "worker", 1, &evaluator->document, &result->trouble))
        return result;
    result->at = json_root(evaluator->document);
    if (json_optional(result->at, "error", &member) && json_kind_of(member) == JSON_OBJECT) {
        if (!json_member_string(member, "message", &text, &result->trouble))
            return result;
        (void)error_set(&result->trouble, ERROR_TOOL, "%s", text);
        if (json_optional(member, "hint", &member) && json_string(member, &text, &result->trouble))
            (void)error_hint(&result->trouble, "%s", text);
        return result;
    }
    if (!verdict_from_json(result->at, evaluator->verdict_arena, &result->verdict, &result->trouble))
        result->verdict = NULL;
    return result;
}

static const struct judgement *read_output(struct evaluator *evaluator, struct slot *slot)
{
    const struct judgement *result = NULL;
    bool open = process_drain(slot->child.output, &slot->output);
    char *newline = memchr(slot->output.data, '\n', slot->output.length);

    if (newline && slot->job) {
        size_t length = (size_t)(newline - slot->output.data);
        result = take_answer(evaluator, slot, length);
        slot->output.length -= length + 1;
        memmove(slot->output.data, newline + 1, slot->output.length + 1);
    }
    if (slot->output.dropped || (newline && !result)) { /* answers that nobody asked for: not a worker */
        process_signal_kill(&slot->child);
        return result;
    }
    if (open)
        return result;
    const struct judgement *lost = reap_child(evaluator, slot);
    return result ? result : lost;
}

static const struct judgement *handle(struct evaluator *evaluator, uint64_t tag)
{
    size_t index = tag / STREAMS;
    struct slot *slot = &evaluator->slots[index];

    if (!slot->alive)
        return NULL;
    switch ((enum stream)(tag % STREAMS)) {
    case STREAM_INPUT:
        send_line(evaluator, index);
        return NULL;
    case STREAM_ERRORS:
        if (slot->errors.length > ERRORS_KEPT / 2) { /* keep the end, which explains a crash */
            memmove(slot->errors.data, slot->errors.data + slot->errors.length - 1024, 1025);
            slot->errors.length = 1024;
        }
        slot->errors.dropped = 0;
        if (!process_drain(slot->child.errors, &slot->errors))
            (void)epoll_ctl(evaluator->epoll, EPOLL_CTL_DEL, slot->child.errors, NULL);
        return NULL;
    case STREAM_OUTPUT:
        return read_output(evaluator, slot);
    }
    return NULL;
}

static const struct judgement *check_timeouts(struct evaluator *evaluator)
{
    int64_t now = clock_now_ns();

    for (size_t i = 0; i < evaluator->slot_count; i++) {
        struct slot *slot = &evaluator->slots[i];
        struct error trouble;
        if (!slot->job || !slot->alive || now < slot->started_ns + evaluator->timeout_ns)
            continue;
        stop_child(slot, false);
        (void)error_set(&trouble, ERROR_LIMIT, "worker of %s: no verdict within %lld s", slot->device,
                        (long long)(evaluator->timeout_ns / 1000000000));
        slot->job->crashes++; /* once is enough: it costs minutes */
        const struct judgement *lost = lose_child(evaluator, slot, &trouble);
        if (lost)
            return lost;
    }
    return NULL;
}

const struct judgement *evaluator_next(struct evaluator *evaluator)
{
    const struct judgement *done = NULL;

    drop_result(evaluator);
    /* One event at a time, since each may finish an evaluation, and only one can be handed out. */
    for (;;) {
        struct epoll_event event;
        if ((done = dispatch(evaluator)))
            return done;
        int count = epoll_wait(evaluator->epoll, &event, 1, 0);
        if (count <= 0)
            break;
        if ((done = handle(evaluator, event.data.u64)))
            return done;
    }
    done = check_timeouts(evaluator);
    return done ? done : dispatch(evaluator);
}

int evaluator_fd(const struct evaluator *evaluator)
{
    return evaluator->epoll;
}

int64_t evaluator_deadline_ns(const struct evaluator *evaluator)
{
    int64_t deadline = INT64_MAX;

    for (size_t i = 0; i < evaluator->slot_count; i++) {
        const struct slot *slot = &evaluator->slots[i];
        if (slot->job && slot->started_ns + evaluator->timeout_ns < deadline)
            deadline = slot->started_ns + evaluator->timeout_ns;
    }
    return deadline;
}

struct evaluator_load evaluator_load(const struct evaluator *evaluator)
{
    struct evaluator_load load = {.waiting = evaluator->waiting};

    for (size_t i = 0; i < evaluator->slot_count; i++) {
        load.running += evaluator->slots[i].job != NULL;
        load.slots += !evaluator->slots[i].broken;
    }
    return load;
}
