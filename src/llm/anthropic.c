/* Messages, as of https://docs.anthropic.com/en/api/messages-streaming; adaptive thinking and effort likewise. */
#include <string.h>

#include "llm/provider.h"

static const struct finish_word finish_words[] = {
    {"end_turn", "stop"},
    {"stop_sequence", "stop"},
    {"max_tokens", "length"},
    {"refusal", "refusal"},
    {"model_context_window_exceeded", "overflow"},
};

/* [{"type": "text", "text": ...}], with the mark that everything up to here is worth caching. */
static json_object *write_content(const char *text, bool cache)
{
    json_object *blocks = json_object_new_array(), *block = json_object_new_object();

    json_put_string(block, "type", "text");
    json_put_string(block, "text", text);
    if (cache) {
        json_object *control = json_object_new_object();
        json_put_string(control, "type", "ephemeral");
        json_put(block, "cache_control", control);
    }
    (void)json_object_array_add(blocks, block);
    return blocks;
}

static void write_messages(json_object *body, const struct chat_request *request)
{
    json_object *messages = json_object_new_array();
    bool cache = request->model->prompt_cache;

    for (size_t i = 0; i < request->message_count; i++) {
        const struct chat_message *from = &request->messages[i];
        if (from->role == CHAT_SYSTEM) {
            json_put(body, "system", write_content(from->text, cache));
            continue;
        }
        json_object *message = json_object_new_object();
        json_put_string(message, "role", from->role == CHAT_USER ? "user" : "assistant");
        json_put(message, "content", write_content(from->text, cache && i + 1 == request->message_count));
        (void)json_object_array_add(messages, message);
    }
    json_put(body, "messages", messages);
}

static void write_reasoning(json_object *body, const struct model_reasoning *reasoning)
{
    if (reasoning->thinking) {
        json_object *thinking = json_object_new_object();
        json_put_string(thinking, "type", reasoning->thinking);
        body_put_count(thinking, "budget_tokens", reasoning->budget_tokens);
        if (reasoning->visible && strcmp(reasoning->thinking, "disabled") != 0)
            json_put_string(thinking, "display", "summarized");
        json_put(body, "thinking", thinking);
    }
    if (reasoning->effort) {
        json_object *output = json_object_new_object();
        json_put_string(output, "effort", reasoning->effort);
        json_put(body, "output_config", output);
    }
}

json_object *anthropic_write_body(const struct provider *provider, const struct chat_request *request)
{
    const struct model_config *model = request->model;
    json_object *body = json_object_new_object();
    int64_t limit = request_output_limit(request);

    (void)provider;
    json_put_string(body, "model", model->model_id);
    if (limit)
        json_put_i64(body, "max_tokens", limit);
    write_messages(body, request);
    json_put_bool(body, "stream", true);
    body_put_number(body, "temperature", model->sampling.temperature);
    body_put_number(body, "top_p", model->sampling.top_p);
    body_put_count(body, "top_k", model->sampling.top_k);
    write_reasoning(body, &model->reasoning);
    return body;
}

/* What is read from and written to the cache is not in input_tokens here; ours is the whole prompt. */
static void read_usage(struct chat_stream *stream, struct json usage)
{
    struct chat_usage *to = &stream->usage;
    struct json details;
    int64_t fresh = -1, cached = -1, written = -1;

    if (json_kind_of(usage) != JSON_OBJECT)
        return;
    stream_read_count(&fresh, usage, "input_tokens");
    stream_read_count(&cached, usage, "cache_read_input_tokens");
    stream_read_count(&written, usage, "cache_creation_input_tokens");
    stream_read_count(&to->output_tokens, usage, "output_tokens");
    if (json_optional(usage, "output_tokens_details", &details) && json_kind_of(details) == JSON_OBJECT)
        stream_read_count(&to->reasoning_tokens, details, "thinking_tokens");
    if (fresh < 0) /* message_delta need not repeat the prompt's */
        return;
    to->cached_tokens = cached;
    to->cache_write_tokens = written;
    if (fresh <= INT64_MAX / 4 && cached <= INT64_MAX / 4 && written <= INT64_MAX / 4)
        to->input_tokens = fresh + (cached > 0 ? cached : 0) + (written > 0 ? written : 0);
}

static void read_start(struct chat_stream *stream, struct json event)
{
    struct json message, usage;

    if (!json_optional(event, "message", &message) || json_kind_of(message) != JSON_OBJECT)
        return;
    stream_copy_name(stream->request_id, message, "id");
    stream_copy_name(stream->served_model, message, "model");
    if (json_optional(message, "usage", &usage))
        read_usage(stream, usage);
}

/* content_block_start may carry the first piece of a block, content_block_delta the next ones. */
static void read_piece(struct chat_stream *stream, struct json piece)
{
    struct json value;

    if (json_kind_of(piece) != JSON_OBJECT)
        return;
    if (json_optional(piece, "text", &value))
        stream_add_text(&stream->text, value);
    if (json_optional(piece, "thinking", &value))
        stream_add_text(&stream->reasoning, value);
}

static void read_message_delta(struct chat_stream *stream, struct json event)
{
    struct json value, reason;

    if (json_optional(event, "usage", &value))
        read_usage(stream, value);
    if (json_optional(event, "delta", &value) && json_kind_of(value) == JSON_OBJECT &&
        json_optional(value, "stop_reason", &reason) && json_kind_of(reason) == JSON_STRING)
        stream_set_finish(stream, json_object_get_string(reason.value), finish_words, ARRAY_LEN(finish_words));
}

bool anthropic_read_event(struct chat_stream *stream, const char *event, const char *data, size_t length)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct json type, value;

    (void)event; /* the data say it too, and proxies drop the line */
    if (!stream_parse(stream, data, length, &document))
        return false;
    struct json root = json_root(document);
    if (!json_optional(root, "type", &type) || json_kind_of(type) != JSON_STRING)
        return true;
    const char *name = json_object_get_string(type.value);
    if (!strcmp(name, "message_start"))
        read_start(stream, root);
    else if (!strcmp(name, "content_block_start") && json_optional(root, "content_block", &value))
        read_piece(stream, value);
    else if (!strcmp(name, "content_block_delta") && json_optional(root, "delta", &value))
        read_piece(stream, value);
    else if (!strcmp(name, "message_delta"))
        read_message_delta(stream, root);
    else if (!strcmp(name, "message_stop"))
        stream->done = true;
    return true;
}
