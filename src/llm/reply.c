/* What the caller gets of a call. */
#include <string.h>

#include "llm/call.h"
#include "llm/cost.h"

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

static const char *text_or_null(const char *text)
{
    return *text ? text : NULL;
}

static void write_error(const struct chat_call *call, struct error *error)
{
    static const enum error_code codes[] = {
        [CHAT_OK] = ERROR_NONE,          [CHAT_RETRYABLE_EXHAUSTED] = ERROR_TOOL, [CHAT_AUTHENTICATION] = ERROR_INPUT,
        [CHAT_QUOTA] = ERROR_TOOL,       [CHAT_CONTEXT_OVERFLOW] = ERROR_LIMIT,   [CHAT_REFUSED] = ERROR_TOOL,
        [CHAT_BAD_REQUEST] = ERROR_TOOL, [CHAT_PROTOCOL] = ERROR_PROTOCOL,        [CHAT_CANCELLED] = ERROR_SYSTEM,
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

const struct chat_reply *call_write_reply(struct chat_call *call)
{
    struct chat_stream *stream = &call->stream;
    struct chat_reply *reply = &call->client->reply;
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
