/* Attempts: when one may start, how long it may take, and what its end means. */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/splitmix.h"
#include "llm/call.h"
#include "llm/http.h"
#include "llm/replay.h"
#include "llm/script.h"

static const int64_t second_ns = 1000000000;

void call_stop(struct chat_call *call)
{
    if (call->http.easy)
        http_stop(call->client->http, call);
    if (call->script.child.pid > 0)
        script_stop(call);
}

struct gate *client_gate(struct chat_client *client, const struct model_config *model)
{
    for (struct gate *gate = client->gates; gate; gate = gate->next)
        if (gate->model == model)
            return gate;
    struct gate *gate = calloc(1, sizeof *gate);
    if (!gate)
        return NULL;
    double most = model->max_parallel ? (double)model->max_parallel : (double)client->options.max_parallel;
    *gate = (struct gate){.next = client->gates, .model = model, .limit = most, .most = most};
    client->gates = gate;
    return gate;
}

void call_finish(struct chat_call *call, enum chat_status status)
{
    call->state = CALL_FINISHED;
    call->status = status;
    call->finished_ns = clock_now_ns();
    call->client->finished++;
    call->client->look = true;
}

static enum chat_status status_of(enum failure_kind kind)
{
    static const enum chat_status statuses[] = {
        [FAILURE_NONE] = CHAT_OK,           [FAILURE_RETRYABLE] = CHAT_RETRYABLE_EXHAUSTED,
        [FAILURE_PROTOCOL] = CHAT_PROTOCOL, [FAILURE_AUTHENTICATION] = CHAT_AUTHENTICATION,
        [FAILURE_QUOTA] = CHAT_QUOTA,       [FAILURE_CONTEXT_OVERFLOW] = CHAT_CONTEXT_OVERFLOW,
        [FAILURE_REFUSED] = CHAT_REFUSED,   [FAILURE_BAD_REQUEST] = CHAT_BAD_REQUEST,
    };

    return statuses[kind];
}

/* Too many requests: half as many of this model's calls from now on, once for each crowd of answers. */
static void narrow_gate(struct gate *gate, int64_t now_ns, int64_t pause_ns)
{
    if (now_ns - gate->cut_ns < pause_ns)
        return;
    gate->cut_ns = now_ns;
    gate->limit = gate->running > 1 ? (gate->running + 1) / 2 : 1;
}

/* Another attempt, unless the server wants more patience than we have. */
static void plan_attempt(struct chat_call *call, int64_t now_ns)
{
    const struct chat_client_options *options = &call->client->options;
    struct failure *failure = &call->stream.failure;
    int64_t asked = failure->retry_after_ns;

    if (call->http_status == 429)
        narrow_gate(call->gate, now_ns, options->backoff_base_ns);
    if (asked > options->retry_after_cap_ns) {
        char text[sizeof failure->message];
        (void)snprintf(text, sizeof text, "%s", failure->message);
        failure_set(failure, failure->kind, "the server asks to wait %lld s: %s", (long long)(asked / second_ns), text);
        call_finish(call, status_of(failure->kind));
        return;
    }
    int64_t wait = failure_backoff(call->attempt, options->backoff_base_ns, options->backoff_cap_ns,
                                   splitmix_next(&call->client->random));
    if (asked >= 0) { /* with jitter on top, or all calls come back at the same moment */
        int64_t jitter = wait < options->backoff_base_ns ? wait : options->backoff_base_ns;
        wait = asked + jitter / 4;
        if (now_ns + asked > call->gate->not_before_ns)
            call->gate->not_before_ns = now_ns + asked;
    }
    log_message(LOG_INFO, "%s: attempt %d failed, trying again in %.1f s: %s", call->model->name, call->attempt,
                (double)wait * 1e-9, failure->message);
    call->state = CALL_WAITING;
    call->since_ns = now_ns;
    call->ready_ns = now_ns + wait;
}

static void redact_text(struct chat_call *call, char *text)
{
    size_t length = strlen(text);

    call_redact(call, text, &length);
}

void call_redact_all(struct chat_call *call)
{
    struct chat_stream *stream = &call->stream;

    call_redact(call, stream->text.data, &stream->text.length);
    call_redact(call, stream->reasoning.data, &stream->reasoning.length);
    redact_text(call, stream->failure.message);
    redact_text(call, stream->raw_finish_reason);
    redact_text(call, stream->upstream);
    redact_text(call, stream->fingerprint);
    redact_text(call, stream->served_model);
    redact_text(call, stream->request_id);
}

void call_attempt_ended(struct chat_call *call)
{
    struct chat_client *client = call->client;
    enum failure_kind kind = call->stream.failure.kind;
    int64_t now = clock_now_ns();

    call_redact_all(call);
    client->running--;
    call->gate->running--;
    client->look = true;
    if ((kind == FAILURE_RETRYABLE || kind == FAILURE_PROTOCOL) && call->attempt < client->options.max_attempts) {
        plan_attempt(call, now);
        return;
    }
    if (kind == FAILURE_NONE && call->gate->limit < call->gate->most)
        call->gate->limit += 1;
    call_finish(call, status_of(kind));
}

void call_note_progress(struct chat_call *call, bool content)
{
    int64_t now = clock_now_ns();

    call->last_byte_ns = now;
    if (!content)
        return;
    call->last_content_ns = now;
    if (call->first_token_ns < 0)
        call->first_token_ns = now - call->attempt_ns;
}

void call_limit_attempt(struct chat_call *call, int64_t delay_ns)
{
    int64_t deadline = clock_now_ns() + delay_ns;

    if (deadline < call->deadline_ns)
        call->deadline_ns = deadline;
    if (deadline < call->client->next_look_ns)
        call->client->next_look_ns = deadline;
}

static void start_attempt(struct chat_call *call, int64_t now_ns)
{
    struct chat_client *client = call->client;
    struct error error;

    call->state = CALL_RUNNING;
    call->attempt++;
    call->waited_ns += now_ns - call->since_ns;
    call->http_status = 0;
    call->attempt_ns = call->last_byte_ns = call->last_content_ns = now_ns;
    call->first_token_ns = -1;
    call->deadline_ns = INT64_MAX;
    stream_reset(&call->stream);
    client->running++;
    call->gate->running++;
    switch (call->provider->transport) {
    case TRANSPORT_HTTP:
        if (client->http || http_new(client, &client->http, &error)) {
            http_start(client->http, call);
            return;
        }
        failure_set(&call->stream.failure, FAILURE_BAD_REQUEST, "%s", error.message);
        (void)snprintf(call->stream.failure.hint, sizeof call->stream.failure.hint, "%s", error.hint);
        call_attempt_ended(call);
        return;
    case TRANSPORT_SCRIPT:
        script_start(call);
        return;
    case TRANSPORT_REPLAY:
        replay_start(call);
        return;
    }
}

/* When the attempt is given up, and why. */
static int64_t attempt_deadline(const struct chat_call *call, const char **why)
{
    const struct chat_client_options *options = &call->client->options;
    int64_t idle = call->model->idle_timeout_ns ? call->model->idle_timeout_ns : options->idle_timeout_ns;
    int64_t stall = call->model->stall_timeout_ns ? call->model->stall_timeout_ns : options->stall_timeout_ns;
    int64_t deadline = call->last_content_ns + stall;

    if (call->provider->transport == TRANSPORT_REPLAY)
        return call->deadline_ns;
    *why = "no text came for";
    if (call->provider->transport == TRANSPORT_HTTP && call->last_byte_ns + idle < deadline) {
        *why = "nothing came for";
        deadline = call->last_byte_ns + idle;
    }
    return call->deadline_ns < deadline ? call->deadline_ns : deadline;
}

static void end_attempt_in_time(struct chat_call *call, int64_t now_ns, const char *why)
{
    int64_t since = strcmp(why, "nothing came for") == 0 ? call->last_byte_ns : call->last_content_ns;

    call_stop(call);
    if (call->stream.failure.kind == FAILURE_NONE && !stream_is_complete(&call->stream))
        failure_set(&call->stream.failure, FAILURE_RETRYABLE, "%s %.1f s", why, (double)(now_ns - since) * 1e-9);
    call_attempt_ended(call);
}

/* Starts what may start, ends what took too long; sets when that has to be looked at again. */
void client_walk_calls(struct chat_client *client)
{
    int64_t now = clock_now_ns(), next = INT64_MAX;

    client->look = false;
    client->next_look_ns = INT64_MAX;
    for (struct chat_call *call = client->first; call; call = call->next) {
        if (call->state == CALL_WAITING) {
            int64_t ready = call->ready_ns > call->gate->not_before_ns ? call->ready_ns : call->gate->not_before_ns;
            if (ready > now)
                next = ready < next ? ready : next;
            else if (client->running < (size_t)client->options.max_parallel &&
                     call->gate->running < (int)call->gate->limit)
                start_attempt(call, now); /* a slot that is missing comes free with `look` set */
        }
        if (call->state == CALL_RUNNING) {
            const char *why = "";
            int64_t deadline = attempt_deadline(call, &why);
            if (deadline <= now)
                end_attempt_in_time(call, now, why);
            else
                next = deadline < next ? deadline : next;
        }
    }
    if (next < client->next_look_ns)
        client->next_look_ns = next;
}
