#include "llm/chat.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/splitmix.h"
#include "llm/call.h"
#include "llm/cost.h"
#include "llm/http.h"
#include "llm/replay.h"
#include "llm/script.h"

static const int64_t second_ns = 1000000000;

static const char *const status_texts[] = {
#define X(name, text) [name] = text,
    CHAT_STATUSES(X)
#undef X
};

bool chat_status_is_answer(enum chat_status status)
{
    return status == CHAT_OK || status == CHAT_REFUSED;
}

const char *chat_status_text(enum chat_status status)
{
    return status_texts[status];
}

bool chat_status_from_text(const char *text, enum chat_status *status)
{
    for (size_t i = 0; i < ARRAY_LEN(status_texts); i++)
        if (!strcmp(text, status_texts[i])) {
            *status = (enum chat_status)i;
            return true;
        }
    return false;
}

struct chat_client_options chat_client_defaults(void)
{
    return (struct chat_client_options){.wake_fd = -1};
}

static void fill_defaults(struct chat_client_options *options)
{
#define DEFAULT(member, value) options->member = options->member > 0 ? options->member : (value)
    DEFAULT(max_attempts, 8);
    DEFAULT(backoff_base_ns, second_ns);
    DEFAULT(backoff_cap_ns, 60 * second_ns);
    DEFAULT(retry_after_cap_ns, 900 * second_ns);
    DEFAULT(connect_timeout_ns, 30 * second_ns);
    DEFAULT(idle_timeout_ns, 600 * second_ns);
    DEFAULT(stall_timeout_ns, 3600 * second_ns);
    DEFAULT(text_limit, (size_t)4 << 20);
    DEFAULT(max_parallel, 1000);
#undef DEFAULT
}

/* A thousand sockets or children are more than the usual soft limit of descriptors allows. */
static void raise_descriptor_limit(void)
{
    const rlim_t wanted = 65536;
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur >= wanted)
        return;
    limit.rlim_cur = limit.rlim_max < wanted ? limit.rlim_max : wanted;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

bool client_watch(struct chat_client *client, int fd, enum watch_kind kind, uint32_t events)
{
    struct epoll_event event = {.events = events, .data.u64 = (uint64_t)kind << 32 | (uint32_t)fd};

    if (!events) {
        (void)epoll_ctl(client->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return true;
    }
    if (!epoll_ctl(client->epoll_fd, EPOLL_CTL_MOD, fd, &event))
        return true;
    return errno == ENOENT && !epoll_ctl(client->epoll_fd, EPOLL_CTL_ADD, fd, &event);
}

bool chat_client_new(const struct chat_client_options *options, struct chat_client **out, struct error *error)
{
    struct chat_client *client = calloc(1, sizeof *client);

    if (!client)
        return error_set(error, ERROR_MEMORY, "cannot make a client for models");
    *client = (struct chat_client){.options = *options, .next_look_ns = INT64_MAX};
    fill_defaults(&client->options);
    client->random = client->options.seed;
    client->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (client->epoll_fd < 0 || (options->wake_fd >= 0 && !client_watch(client, options->wake_fd, WATCH_WAKE, EPOLLIN))) {
        (void)error_system(error, errno, "cannot make a client for models");
        chat_client_free(client);
        return false;
    }
    raise_descriptor_limit();
    *out = client;
    return true;
}

/* --- one call -------------------------------------------------------------------------------------------------- */

static void stop_transport(struct chat_call *call)
{
    if (call->http.easy)
        http_stop(call->client->http, call);
    if (call->script.child.pid > 0)
        script_stop(call);
}

static void free_call(struct chat_call *call)
{
    stop_transport(call);
    stream_free(&call->stream);
    free(call->body);
    if (call->key)
        explicit_bzero(call->key, strlen(call->key));
    free(call->key);
    arena_free(call->arena);
}

static void unlink_call(struct chat_client *client, struct chat_call *call)
{
    *(call->previous ? &call->previous->next : &client->first) = call->next;
    *(call->next ? &call->next->previous : &client->last) = call->previous;
    call->next = call->previous = NULL;
    client->pending--;
}

void chat_client_free(struct chat_client *client)
{
    if (!client)
        return;
    while (client->first) {
        struct chat_call *call = client->first;
        unlink_call(client, call);
        free_call(call);
    }
    if (client->taken)
        free_call(client->taken);
    while (client->gates) {
        struct gate *next = client->gates->next;
        free(client->gates);
        client->gates = next;
    }
    http_free(client->http);
    replay_free(client->books);
    if (client->epoll_fd >= 0)
        (void)close(client->epoll_fd);
    free(client);
}

static struct gate *find_gate(struct chat_client *client, const struct model_config *model)
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

static void finish_call(struct chat_call *call, enum chat_status status)
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
        [FAILURE_NONE] = CHAT_OK,
        [FAILURE_RETRYABLE] = CHAT_RETRYABLE_EXHAUSTED,
        [FAILURE_PROTOCOL] = CHAT_PROTOCOL,
        [FAILURE_AUTHENTICATION] = CHAT_AUTHENTICATION,
        [FAILURE_QUOTA] = CHAT_QUOTA,
        [FAILURE_CONTEXT_OVERFLOW] = CHAT_CONTEXT_OVERFLOW,
        [FAILURE_REFUSED] = CHAT_REFUSED,
        [FAILURE_BAD_REQUEST] = CHAT_BAD_REQUEST,
    };

    return statuses[kind];
}

/* Too many requests: half as many of this model's calls from now on, once for each crowd of answers. */
static void narrow_gate(struct gate *gate, int64_t now_ns)
{
    if (now_ns - gate->cut_ns < second_ns)
        return;
    gate->cut_ns = now_ns;
    gate->limit = gate->running + 1 > 2 ? (gate->running + 1) / 2.0 : 1;
}

/* Another attempt, unless the server wants more patience than we have. */
static void plan_attempt(struct chat_call *call, int64_t now_ns)
{
    const struct chat_client_options *options = &call->client->options;
    struct failure *failure = &call->stream.failure;
    int64_t asked = failure->retry_after_ns;

    if (call->http_status == 429)
        narrow_gate(call->gate, now_ns);
    if (asked > options->retry_after_cap_ns) {
        char text[sizeof failure->message];
        (void)snprintf(text, sizeof text, "%s", failure->message);
        failure_set(failure, failure->kind, "the server asks to wait %lld s: %s", (long long)(asked / second_ns), text);
        finish_call(call, status_of(failure->kind));
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

static void redact_call(struct chat_call *call)
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

    redact_call(call);
    client->running--;
    call->gate->running--;
    client->look = true;
    if ((kind == FAILURE_RETRYABLE || kind == FAILURE_PROTOCOL) && call->attempt < client->options.max_attempts) {
        plan_attempt(call, now);
        return;
    }
    if (kind == FAILURE_NONE && call->gate->limit < call->gate->most)
        call->gate->limit += 1;
    finish_call(call, status_of(kind));
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

    stop_transport(call);
    if (call->stream.failure.kind == FAILURE_NONE && !stream_is_complete(&call->stream))
        failure_set(&call->stream.failure, FAILURE_RETRYABLE, "%s %.1f s", why, (double)(now_ns - since) * 1e-9);
    call_attempt_ended(call);
}

/* Starts what may start, ends what took too long; sets when that has to be looked at again. */
static void walk_calls(struct chat_client *client)
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

/* --- starting ---------------------------------------------------------------------------------------------------- */

static bool check_request(const struct chat_request *request, struct error *error)
{
    if (!request->message_count)
        return error_set(error, ERROR_INPUT, "a request without a message");
    for (size_t i = 0; i < request->message_count; i++)
        if (i && request->messages[i].role == CHAT_SYSTEM)
            return error_set(error, ERROR_INPUT, "a system message is not the first one");
    return true;
}

static bool write_body(struct chat_call *call, const struct chat_request *request, struct error *error)
{
    AUTO_JSON_OBJECT *body = NULL;
    AUTO_JSON_DOCUMENT *extra = NULL;
    const char *extra_text = request->model->extra_body;

    if (call->provider->transport == TRANSPORT_REPLAY)
        return true;
    body = call->provider->transport == TRANSPORT_HTTP ? call->provider->write_body(call->provider, request)
                                                        : script_write_input(request);
    if (extra_text && call->provider->transport == TRANSPORT_HTTP) {
        if (!json_parse(extra_text, strlen(extra_text), "extra_body", 1, &extra, error))
            return false;
        body_merge(body, json_root(extra).value);
    }
    if (!json_to_text(body, false, &call->body, error)) {
        error->code = ERROR_INPUT; /* the caller's text, not ours */
        return error_prefix(error, "request to %s", request->model->name);
    }
    call->body_bytes = strlen(call->body);
    return true;
}

/* The key from the environment, without white space around it. False with the failure set when there is none. */
static bool take_key(struct chat_call *call)
{
    const char *name = call->model->api_key_env;
    const char *value = name ? getenv(name) : NULL;
    struct failure *failure = &call->stream.failure;

    if (!name || call->provider->transport != TRANSPORT_HTTP)
        return true;
    value = value ? value + strspn(value, " \t\r\n") : "";
    size_t length = strlen(value);
    while (length && strchr(" \t\r\n", value[length - 1]))
        length--;
    if (!length) {
        failure_set(failure, FAILURE_AUTHENTICATION, "the environment variable %s is not set", name);
        (void)snprintf(failure->hint, sizeof failure->hint, "export %s=...", name);
        return false;
    }
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)value[i] <= 0x20 || (unsigned char)value[i] >= 0x7f) {
            failure_set(failure, FAILURE_AUTHENTICATION, "the environment variable %s holds no key: it has spaces, "
                                                         "line breaks or other characters than ASCII", name);
            return false;
        }
    call->key = strndup(value, length);
    return call->key != NULL;
}

bool chat_client_start(struct chat_client *client, const struct chat_request *request, void *context,
                       struct error *error)
{
    const struct model_config *model = request->model;
    const struct provider *provider = provider_find(model->provider);
    struct gate *gate = find_gate(client, model);

    if (!provider || !gate)
        return error_set(error, ERROR_INPUT, "%s: unknown provider \"%s\"", model->name, model->provider);
    if (!check_request(request, error))
        return false;
    struct arena *arena = arena_new();
    struct chat_call *call = arena_alloc(arena, sizeof *call);
    *call = (struct chat_call){.client = client,
                               .arena = arena,
                               .context = context,
                               .model = model,
                               .provider = provider,
                               .gate = gate,
                               .trajectory = arena_strdup(arena, request->trajectory ? request->trajectory : ""),
                               .turn = request->turn,
                               .created_ns = clock_now_ns(),
                               .first_token_ns = -1,
                               .script = {.child = {.pid = -1, .output = -1, .errors = -1}, .pidfd = -1}};
    call->since_ns = call->created_ns;
    stream_init(&call->stream, client->options.text_limit);
    if (!write_body(call, request, error)) {
        free_call(call);
        return false;
    }
    if (provider->transport == TRANSPORT_HTTP)
        call->url = provider_url(arena, provider, model);
    call->previous = client->last;
    *(client->last ? &client->last->next : &client->first) = call;
    client->last = call;
    client->pending++;
    client->look = true;
    if (!take_key(call))
        finish_call(call, CHAT_AUTHENTICATION);
    return true;
}

size_t chat_client_pending(const struct chat_client *client)
{
    return client->pending;
}

void chat_client_cancel(struct chat_client *client, const void *context)
{
    for (struct chat_call *call = client->first; call; call = call->next) {
        if (call->state == CALL_FINISHED || (context && call->context != context))
            continue;
        if (call->state == CALL_RUNNING) {
            stop_transport(call);
            client->running--;
            call->gate->running--;
        }
        redact_call(call);
        failure_set(&call->stream.failure, FAILURE_RETRYABLE, "cancelled");
        finish_call(call, CHAT_CANCELLED);
    }
}

/* --- replies ----------------------------------------------------------------------------------------------------- */

static const char *text_or_null(const char *text)
{
    return *text ? text : NULL;
}

static void write_error(const struct chat_call *call, struct error *error)
{
    static const enum error_code codes[] = {
        [CHAT_OK] = ERROR_NONE,
        [CHAT_RETRYABLE_EXHAUSTED] = ERROR_TOOL,
        [CHAT_AUTHENTICATION] = ERROR_INPUT,
        [CHAT_QUOTA] = ERROR_TOOL,
        [CHAT_CONTEXT_OVERFLOW] = ERROR_LIMIT,
        [CHAT_REFUSED] = ERROR_TOOL,
        [CHAT_BAD_REQUEST] = ERROR_TOOL,
        [CHAT_PROTOCOL] = ERROR_PROTOCOL,
        [CHAT_CANCELLED] = ERROR_SYSTEM,
    };
    const struct failure *failure = &call->stream.failure;

    error_clear(error);
    if (call->status == CHAT_OK)
        return;
    char times[48] = "";
    if (call->attempt > 1)
        (void)snprintf(times, sizeof times, " (%d attempts)", call->attempt);
    if (call->http_status && call->http_status != 200)
        error_set_message(error, codes[call->status], "%s: status %d: %s%s", call->model->name, call->http_status,
                          failure->message, times);
    else
        error_set_message(error, codes[call->status], "%s: %s%s", call->model->name, failure->message, times);
    if (*failure->hint)
        error_set_hint(error, "%s", failure->hint);
}

static const struct chat_reply *write_reply(struct chat_client *client, struct chat_call *call)
{
    struct chat_stream *stream = &call->stream;
    struct chat_reply *reply = &client->reply;
    bool cut = stream->text.dropped > 0;

    *reply = (struct chat_reply){.status = call->status,
                                 .text = stream->text.data,
                                 .reasoning = stream->reasoning.data,
                                 .finish_reason = stream->finish_reason,
                                 .raw_finish_reason = text_or_null(stream->raw_finish_reason),
                                 .text_cut = cut,
                                 .usage = stream->usage,
                                 .cost_usd = stream->cost_usd,
                                 .provider = call->model->provider,
                                 .fingerprint = text_or_null(stream->fingerprint),
                                 .served_model = text_or_null(stream->served_model),
                                 .request_id = text_or_null(stream->request_id),
                                 .http_status = call->http_status,
                                 .attempts = call->attempt,
                                 .elapsed_ns = call->finished_ns - call->created_ns,
                                 .waited_ns = call->waited_ns,
                                 .first_token_ns = call->first_token_ns};
    if (cut && !reply->finish_reason)
        reply->finish_reason = "length";
    if (reply->cost_usd < 0)
        reply->cost_usd = cost_of(call->model, &stream->usage);
    if (*stream->upstream)
        reply->provider = arena_printf(call->arena, "%s/%s", call->model->provider, stream->upstream);
    write_error(call, &reply->error);
    return reply;
}

/* In the order of their starts. */
static const struct chat_reply *take_finished(struct chat_client *client, void **context)
{
    if (!client->finished)
        return NULL;
    struct chat_call *call = client->first;
    while (call->state != CALL_FINISHED)
        call = call->next;
    unlink_call(client, call);
    client->finished--;
    client->taken = call;
    *context = call->context;
    return write_reply(client, call);
}

/* --- the loop ---------------------------------------------------------------------------------------------------- */

static struct chat_call *call_of_child(struct chat_client *client, int fd)
{
    for (struct chat_call *call = client->first; call; call = call->next)
        if (call->script.child.pid > 0 &&
            (call->script.pidfd == fd || call->script.child.output == fd || call->script.child.errors == fd))
            return call;
    return NULL;
}

static void handle_event(struct chat_client *client, const struct epoll_event *event)
{
    int fd = (int)(uint32_t)event->data.u64;
    struct chat_call *call;

    switch ((enum watch_kind)(event->data.u64 >> 32)) {
    case WATCH_WAKE:
        client->woken = true;
        break;
    case WATCH_SOCKET:
        http_on_socket(client->http, fd, event->events);
        break;
    case WATCH_CHILD:
        call = call_of_child(client, fd);
        if (call)
            script_on_event(call);
        break;
    }
}

static int timeout_until(int64_t then_ns, int64_t now_ns)
{
    if (then_ns <= now_ns)
        return 0;
    if (then_ns == INT64_MAX)
        return -1;
    int64_t ms = (then_ns - now_ns + 999999) / 1000000; /* up, so that a wait is never a spin */
    return ms < 3600000 ? (int)ms : 3600000;
}

/* Waits for and handles what comes, until `deadline_ns` at the latest. False when a signal came. */
static bool work(struct chat_client *client, int64_t deadline_ns)
{
    struct epoll_event events[64];
    int64_t wake = deadline_ns;

    if (client->next_look_ns < wake)
        wake = client->next_look_ns;
    if (client->http && http_timer_ns(client->http) < wake)
        wake = http_timer_ns(client->http);
    int count = epoll_wait(client->epoll_fd, events, ARRAY_LEN(events), timeout_until(wake, clock_now_ns()));
    if (count < 0)
        return errno != EINTR;
    for (int i = 0; i < count; i++)
        handle_event(client, &events[i]);
    int64_t now = clock_now_ns();
    if (client->http && http_timer_ns(client->http) <= now)
        http_on_timer(client->http);
    if (client->next_look_ns <= now)
        client->look = true;
    return true;
}

const struct chat_reply *chat_client_next(struct chat_client *client, int timeout_ms, void **context)
{
    int64_t deadline = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + (int64_t)timeout_ms * 1000000;

    if (client->taken)
        free_call(client->taken);
    client->taken = NULL;
    client->woken = false;
    for (bool last = false;;) {
        while (client->look)
            walk_calls(client);
        const struct chat_reply *reply = take_finished(client, context);
        if (reply || !client->pending || client->woken || last)
            return reply;
        if (!work(client, deadline))
            last = true; /* a signal: hand out what is ready, then return */
        if (clock_now_ns() >= deadline)
            last = true;
    }
}
