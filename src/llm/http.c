#include "llm/http.h"

#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <time.h>

#include "base/clock.h"
#include "llm/curl_api.h"

enum { EVENT_LIMIT = 8 << 20, BODY_LIMIT = 64 << 10 };

struct http {
    struct chat_client *client;
    const struct curl_api *api;
    CURLM *multi;
    int64_t timer_ns;
};

static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known)
{
    struct http *http = context;
    uint32_t events = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) | (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);

    (void)easy;
    (void)known;
    if (what == CURL_POLL_REMOVE)
        events = 0;
    return client_watch(http->client, fd, WATCH_SOCKET, events) ? 0 : -1;
}

static int on_curl_timer(CURLM *multi, long timeout_ms, void *context)
{
    struct http *http = context;

    (void)multi;
    http->timer_ns = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + (int64_t)timeout_ms * 1000000;
    return 0;
}

bool http_new(struct chat_client *client, struct http **out, struct error *error)
{
    const struct curl_api *api = curl_api_get(error);

    if (!api)
        return false;
    CURLM *multi = api->multi_init();
    struct http *http = calloc(1, sizeof *http);
    if (!multi || !http) {
        free(http);
        return error_set(error, ERROR_MEMORY, "cannot start libcurl");
    }
    *http = (struct http){.client = client, .api = api, .multi = multi, .timer_ns = INT64_MAX};
    (void)api->multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
    (void)api->multi_setopt(multi, CURLMOPT_SOCKETDATA, http);
    (void)api->multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
    (void)api->multi_setopt(multi, CURLMOPT_TIMERDATA, http);
    *out = http;
    return true;
}

void http_free(struct http *http)
{
    if (!http)
        return;
    (void)http->api->multi_cleanup(http->multi);
    free(http);
}

/* "Name: value\r\n" with this name: the value, its end cut off in place. NULL otherwise. */
static const char *header_value(char *line, const char *name)
{
    size_t length = strlen(name);

    if (strncasecmp(line, name, length) != 0 || line[length] != ':')
        return NULL;
    char *value = line + length + 1;
    while (*value == ' ' || *value == '\t')
        value++;
    value[strcspn(value, "\r\n")] = 0;
    return value;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *context)
{
    struct chat_call *call = context;
    struct failure *failure = &call->stream.failure;
    char line[512];
    const char *value;

    size *= count;
    call_note_progress(call, false);
    if (size >= sizeof line)
        return size;
    memcpy(line, bytes, size);
    line[size] = 0;
    if (!strncmp(line, "HTTP/", 5)) { /* a further response, behind a 100 or a proxy's */
        call->http.is_events = false;
        failure->retry_after_ns = -1;
    } else if ((value = header_value(line, "content-type"))) {
        call->http.is_events = !strncasecmp(value, "text/event-stream", strlen("text/event-stream"));
    } else if ((value = header_value(line, "retry-after-ms"))) {
        int64_t wait = failure_retry_after(value, 0);
        failure->retry_after_ns = wait < 0 ? -1 : wait / 1000;
    } else if ((value = header_value(line, "retry-after"))) {
        if (failure->retry_after_ns < 0)
            failure->retry_after_ns = failure_retry_after(value, (int64_t)time(NULL));
    } else if ((value = header_value(line, "request-id")) || (value = header_value(line, "x-request-id"))) {
        stream_set_name(call->stream.request_id, value);
    }
    return size;
}

static bool on_event(void *context, const char *event, const char *data, size_t length)
{
    struct chat_call *call = context;
    struct chat_stream *stream = &call->stream;
    size_t before = stream->text.length + stream->reasoning.length + stream->reasoning.dropped;
    bool ok = call->provider->read_event(stream, event, data, length);

    if (stream->text.length + stream->reasoning.length + stream->reasoning.dropped > before)
        call_note_progress(call, true);
    if (stream_is_complete(stream)) /* usage may still come, and the connection's end, so that it can be used again */
        call_limit_attempt(call, call->client->options.end_grace_ns);
    return ok && !stream->text.dropped;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *context)
{
    struct chat_call *call = context;

    size *= count;
    call_note_progress(call, false);
    if (!call->http.is_events) {
        (void)buffer_append(&call->http.body, bytes, size);
        return size;
    }
    if (sse_feed(&call->http.sse, bytes, size, on_event, call))
        return size;
    call->http.stopped = true;
    return 0; /* curl ends the transfer */
}

static bool add_header(struct http *http, struct curl_slist **list, const char *text)
{
    struct curl_slist *longer = http->api->slist_append(*list, text);

    if (longer)
        *list = longer;
    return longer != NULL;
}

static bool set_headers(struct http *http, struct chat_call *call)
{
    struct curl_slist *list = NULL;
    bool ok = add_header(http, &list, "Content-Type: application/json") &&
              add_header(http, &list, "Accept: text/event-stream") && add_header(http, &list, "Expect:");

    if (ok && call->provider->more_header)
        ok = add_header(http, &list, call->provider->more_header);
    if (ok && call->key) {
        AUTO_BUFFER line = buffer_new(8192);
        ok = buffer_printf(&line, "%s%s", call->provider->key_header, call->key) && add_header(http, &list, line.data);
        explicit_bzero(line.data, line.length);
    }
    call->http.headers = list;
    return ok;
}

static bool set_options(struct http *http, struct chat_call *call)
{
    const struct curl_api *api = http->api;
    CURL *easy = call->http.easy;
    long connect_ms = (long)(http->client->options.connect_timeout_ns / 1000000);
    bool ok = true;

#define SET(option, value) ok = ok && api->easy_setopt(easy, option, value) == CURLE_OK
    SET(CURLOPT_URL, call->url);
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    SET(CURLOPT_HTTPHEADER, (struct curl_slist *)call->http.headers);
    SET(CURLOPT_POST, 1L);
    SET(CURLOPT_POSTFIELDS, call->body);
    SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body_bytes);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, call);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, call);
    SET(CURLOPT_PRIVATE, call);
    SET(CURLOPT_ERRORBUFFER, call->http.error_text);
    SET(CURLOPT_CONNECTTIMEOUT_MS, connect_ms > 0 ? connect_ms : 1L);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_FOLLOWLOCATION, 0L); /* the key goes to the address of the model's file and nowhere else */
    SET(CURLOPT_USERAGENT, "ptxbench");
#undef SET
    return ok;
}

void http_start(struct http *http, struct chat_call *call)
{
    _Static_assert(sizeof call->http.error_text >= CURL_ERROR_SIZE, "libcurl writes so much");
    call->http = (struct http_attempt){.easy = http->api->easy_init(), .body = buffer_new(BODY_LIMIT)};
    sse_init(&call->http.sse, EVENT_LIMIT);
    if (call->http.easy && set_headers(http, call) && set_options(http, call) &&
        http->api->multi_add_handle(http->multi, call->http.easy) == CURLM_OK)
        return;
    failure_set(&call->stream.failure, FAILURE_RETRYABLE,
                "cannot set up a transfer: out of memory, or libcurl too old");
    http_stop(http, call);
    call_attempt_ended(call);
}

void http_stop(struct http *http, struct chat_call *call)
{
    if (call->http.easy) {
        (void)http->api->multi_remove_handle(http->multi, call->http.easy);
        http->api->easy_cleanup(call->http.easy);
    }
    http->api->slist_free_all(call->http.headers);
    sse_free(&call->http.sse);
    buffer_free(&call->http.body);
    call->http = (struct http_attempt){0};
}

/* What libcurl could not do. A wrong address or certificate does not get right by waiting. */
static void explain_transport(struct http *http, struct chat_call *call, CURLcode result)
{
    static const CURLcode hopeless[] = {CURLE_URL_MALFORMAT, CURLE_UNSUPPORTED_PROTOCOL, CURLE_PEER_FAILED_VERIFICATION,
                                        CURLE_SSL_CACERT_BADFILE, CURLE_COULDNT_RESOLVE_PROXY};
    const char *text = *call->http.error_text ? call->http.error_text : http->api->easy_strerror(result);
    enum failure_kind kind = FAILURE_RETRYABLE;

    for (size_t i = 0; i < ARRAY_LEN(hopeless); i++)
        if (result == hopeless[i])
            kind = FAILURE_BAD_REQUEST;
    failure_set(&call->stream.failure, kind, "%s", text);
}

static void explain_end(struct http *http, struct chat_call *call, CURLcode result)
{
    struct chat_stream *stream = &call->stream;
    int status = call->http_status;

    if (stream->failure.kind != FAILURE_NONE || stream->text.dropped)
        return;
    if (sse_overflowed(&call->http.sse))
        failure_set(&stream->failure, FAILURE_PROTOCOL, "an event is longer than %d MiB", EVENT_LIMIT >> 20);
    else if (status >= 300 && status < 400)
        failure_set(&stream->failure, FAILURE_BAD_REQUEST, "status %d: redirections are not followed", status);
    else if (status >= 400)
        failure_from_body(call->http.body.data, call->http.body.length, status, &stream->failure);
    else if (result != CURLE_OK && !stream_is_complete(stream))
        explain_transport(http, call, result);
    else if (!call->http.is_events)
        failure_from_body(call->http.body.data, call->http.body.length, status, &stream->failure);
    else if (!stream_is_complete(stream))
        failure_set(&stream->failure, FAILURE_RETRYABLE, "the stream ended before the answer did");
}

static void collect_finished(struct http *http)
{
    struct CURLMsg *message;
    int left;

    while ((message = http->api->multi_info_read(http->multi, &left))) {
        char *private = NULL;
        long status = 0;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode result = message->data.result; /* the message dies with the handle */
        (void)http->api->easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
        (void)http->api->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &private);
        struct chat_call *call = (struct chat_call *)(void *)private;
        call->http_status = status > 0 && status < 1000 ? (int)status : 0;
        explain_end(http, call, result);
        http_stop(http, call);
        call_attempt_ended(call);
    }
}

void http_on_socket(struct http *http, int fd, uint32_t events)
{
    int running;
    int what = (events & EPOLLIN ? CURL_CSELECT_IN : 0) | (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);

    (void)http->api->multi_socket_action(http->multi, fd, what, &running);
    collect_finished(http);
}

int64_t http_timer_ns(const struct http *http)
{
    return http->timer_ns;
}

void http_on_timer(struct http *http)
{
    int running;

    http->timer_ns = INT64_MAX; /* curl sets the next one in the call below */
    (void)http->api->multi_socket_action(http->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    collect_finished(http);
}
