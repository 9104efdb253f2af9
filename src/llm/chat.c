#include "llm/chat.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "llm/call.h"
#include "llm/http.h"
#include "llm/replay.h"
#include "llm/script.h"

struct chat_client_options chat_client_defaults(void)
{
    return (struct chat_client_options){.wake_fd = -1};
}

static void fill_defaults(struct chat_client_options *options)
{
    const int64_t second_ns = 1000000000;

#define DEFAULT(member, value) options->member = options->member > 0 ? options->member : (value)
    DEFAULT(max_attempts, 8);
    DEFAULT(backoff_base_ns, second_ns);
    DEFAULT(backoff_cap_ns, 60 * second_ns);
    DEFAULT(retry_after_cap_ns, 900 * second_ns);
    DEFAULT(connect_timeout_ns, 30 * second_ns);
    DEFAULT(idle_timeout_ns, 600 * second_ns);
    DEFAULT(stall_timeout_ns, 3600 * second_ns);
    DEFAULT(end_grace_ns, 10 * second_ns);
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
    if (client->epoll_fd < 0 ||
        (options->wake_fd >= 0 && !client_watch(client, options->wake_fd, WATCH_WAKE, EPOLLIN))) {
        (void)error_system(error, errno, "cannot make a client for models");
        chat_client_free(client);
        return false;
    }
    raise_descriptor_limit();
    *out = client;
    return true;
}

static void free_call(struct chat_call *call)
{
    call_stop(call);
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

static bool check_request(const struct chat_request *request, struct error *error)
{
    if (!request->message_count)
        return error_set(error, ERROR_INPUT, "a request without a message");
    for (size_t i = 0; i < request->message_count; i++)
        if (i && request->messages[i].role == CHAT_SYSTEM)
            return error_set(error, ERROR_INPUT, "a system message is not the first one");
    return true;
}

bool chat_request_body(const struct chat_request *request, json_object **out, struct error *error)
{
    AUTO_JSON_DOCUMENT *extra = NULL;
    const struct provider *provider = provider_find(request->model->provider);
    const char *extra_text = request->model->extra_body;

    *out = NULL;
    if (!provider)
        return error_set(error, ERROR_INPUT, "%s: unknown provider \"%s\"", request->model->name,
                         request->model->provider);
    if (!check_request(request, error))
        return false;
    if (provider->transport == TRANSPORT_REPLAY)
        *out = json_object_new_object();
    else if (provider->transport == TRANSPORT_SCRIPT)
        *out = script_write_input(request);
    else
        *out = provider->write_body(provider, request);
    if (!extra_text || provider->transport != TRANSPORT_HTTP)
        return true;
    if (!json_parse(extra_text, strlen(extra_text), "extra_body", 1, &extra, error) ||
        !json_expect(json_root(extra), JSON_OBJECT, error)) {
        (void)json_object_put(*out);
        *out = NULL;
        return false;
    }
    body_merge(*out, json_root(extra).value);
    return true;
}

static bool write_body(struct chat_call *call, const struct chat_request *request, struct error *error)
{
    AUTO_JSON_OBJECT *body = NULL;

    if (!chat_request_body(request, &body, error))
        return false;
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
            failure_set(failure, FAILURE_AUTHENTICATION,
                        "the environment variable %s holds no key: it has spaces, "
                        "line breaks or other characters than ASCII",
                        name);
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
    struct gate *gate = client_gate(client, model);

    if (!provider)
        return error_set(error, ERROR_INPUT, "%s: unknown provider \"%s\"", model->name, model->provider);
    if (!gate)
        return error_set(error, ERROR_MEMORY, "%s: out of memory", model->name);
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
        call_finish(call, CHAT_AUTHENTICATION);
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
            call_stop(call);
            client->running--;
            call->gate->running--;
        }
        call_redact_all(call);
        failure_set(&call->stream.failure, FAILURE_RETRYABLE, "cancelled");
        call_finish(call, CHAT_CANCELLED);
    }
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
    return call_write_reply(call);
}

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
            client_walk_calls(client);
        const struct chat_reply *reply = take_finished(client, context);
        if (reply || !client->pending || client->woken || last)
            return reply;
        if (!work(client, deadline))
            last = true; /* a signal: hand out what is ready, then return */
        if (clock_now_ns() >= deadline)
            last = true;
    }
}
