#define _GNU_SOURCE
#include "llm/script.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

enum { ERRORS_LIMIT = 4096 };

static const struct {
    int exit_status; /* those of sysexits.h, as far as they fit */
    enum failure_kind kind;
} meanings[] = {
    {65, FAILURE_CONTEXT_OVERFLOW}, {69, FAILURE_QUOTA},   {75, FAILURE_RETRYABLE},
    {77, FAILURE_AUTHENTICATION},   {78, FAILURE_REFUSED},
};

json_object *script_write_input(const struct chat_request *request)
{
    static const char *const roles[] = {"system", "user", "assistant"};
    json_object *input = json_object_new_object(), *messages = json_object_new_array();
    int64_t limit = request_output_limit(request);

    json_put_string(input, "model", request->model->model_id ? request->model->model_id : request->model->name);
    json_put_string(input, "trajectory", request->trajectory);
    json_put_i64(input, "turn", request->turn);
    if (request->has_seed)
        json_put_u64(input, "seed", request->seed);
    if (limit)
        json_put_i64(input, "max_output_tokens", limit);
    for (size_t i = 0; i < request->message_count; i++) {
        json_object *message = json_object_new_object();
        json_put_string(message, "role", roles[request->messages[i].role]);
        json_put_string(message, "text", request->messages[i].text);
        (void)json_object_array_add(messages, message);
    }
    json_put(input, "messages", messages);
    return input;
}

/* Model text is printable; a script's is made so when it is whole. */
static void clean_text(struct chat_call *call)
{
    struct buffer clean = buffer_new(call->stream.text.limit);

    (void)buffer_append_sanitized(&clean, call->stream.text.data, call->stream.text.length);
    clean.dropped += call->stream.text.dropped;
    buffer_free(&call->stream.text);
    call->stream.text = clean;
}

void script_start(struct chat_call *call)
{
    struct process_spec spec = {.argv = call->model->command, .input = call->body, .no_core = true};
    struct script_attempt *script = &call->script;
    struct error error;

    *script = (struct script_attempt){.pidfd = -1, .errors = buffer_new(ERRORS_LIMIT)};
    if (!process_start(&spec, &script->child, &error)) {
        enum failure_kind kind = error.code == ERROR_NOT_FOUND ? FAILURE_BAD_REQUEST : FAILURE_RETRYABLE;
        failure_set(&call->stream.failure, kind, "%s", error.message);
        script_stop(call);
        call_attempt_ended(call);
        return;
    }
    script->pidfd = (int)syscall(SYS_pidfd_open, script->child.pid, 0);
    if (script->pidfd >= 0 && client_watch(call->client, script->pidfd, WATCH_CHILD, EPOLLIN) &&
        client_watch(call->client, script->child.output, WATCH_CHILD, EPOLLIN) &&
        client_watch(call->client, script->child.errors, WATCH_CHILD, EPOLLIN))
        return;
    failure_set(&call->stream.failure, FAILURE_RETRYABLE, "%s: cannot be watched: too many open files",
                call->model->command[0]);
    script_stop(call);
    call_attempt_ended(call);
}

void script_stop(struct chat_call *call)
{
    struct script_attempt *script = &call->script;
    struct process_end end;

    process_kill(&script->child, &end);
    process_close_streams(&script->child); /* closing takes descriptors out of the epoll set */
    if (script->pidfd >= 0)
        (void)close(script->pidfd);
    buffer_free(&script->errors);
    clean_text(call);
    *script = (struct script_attempt){.child = {.pid = -1, .output = -1, .errors = -1}, .pidfd = -1};
}

/* What can be read now. The text passes through a raw buffer, so that a character that two reads split stays whole. */
static bool drain(struct chat_call *call)
{
    struct script_attempt *script = &call->script;
    size_t before = call->stream.text.length;

    if (script->child.errors >= 0 && !process_drain(script->child.errors, &script->errors))
        (void)client_watch(call->client, script->child.errors, WATCH_CHILD, 0);
    if (script->child.output >= 0 && !process_drain(script->child.output, &call->stream.text))
        (void)client_watch(call->client, script->child.output, WATCH_CHILD, 0);
    if (call->stream.text.length > before)
        call_note_progress(call, true);
    return !call->stream.text.dropped;
}

static void explain_end(struct chat_call *call, const struct process_end *end)
{
    enum failure_kind kind = FAILURE_BAD_REQUEST;
    char text[128];

    if (!end->exit_status || call->stream.text.dropped) {
        call->stream.finish_reason = call->stream.text.dropped ? "length" : "stop";
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (meanings[i].exit_status == end->exit_status)
            kind = meanings[i].kind;
    if (end->signal)
        kind = FAILURE_RETRYABLE;
    process_end_text(end, text, sizeof text);
    const char *said = call->script.errors.data;
    failure_set(&call->stream.failure, kind, "%s %s%s%.*s", call->model->command[0], text, *said ? ": " : "",
                (int)strcspn(said, "\n"), said);
}

void script_on_event(struct chat_call *call)
{
    struct process_end end;
    bool cut = !drain(call);

    if (cut)
        process_kill(&call->script.child, &end);
    else if (!process_wait(&call->script.child, 0, &end))
        return;
    (void)drain(call);
    explain_end(call, &end);
    script_stop(call);
    call_attempt_ended(call);
}
