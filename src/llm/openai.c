/* Chat completions, as of https://platform.openai.com/docs/api-reference/chat-streaming, and what OpenRouter, vLLM and
 * SGLang add to it. */
#include <string.h>

#include "llm/provider.h"

static const struct finish_word finish_words[] = {
    {"stop", "stop"},
    {"length", "length"},
    {"content_filter", "refusal"},
};

static json_object *write_messages(const struct chat_request *request)
{
    static const char *const roles[] = {"system", "user", "assistant"};
    json_object *messages = json_object_new_array();

    for (size_t i = 0; i < request->message_count; i++) {
        json_object *message = json_object_new_object();
        json_put_string(message, "role", roles[request->messages[i].role]);
        json_put_string(message, "content", request->messages[i].text);
        (void)json_object_array_add(messages, message);
    }
    return messages;
}

static void write_sampling(json_object *body, const struct openai_dialect *dialect,
                           const struct model_sampling *sampling)
{
    body_put_number(body, "temperature", sampling->temperature);
    body_put_number(body, "top_p", sampling->top_p);
    body_put_number(body, "presence_penalty", sampling->presence_penalty);
    body_put_number(body, "frequency_penalty", sampling->frequency_penalty);
    if (!dialect->takes_top_k)
        return;
    body_put_count(body, "top_k", sampling->top_k);
    body_put_number(body, "min_p", sampling->min_p);
    body_put_number(body, "repetition_penalty", sampling->repetition_penalty);
}

static void write_routing(json_object *body, const struct model_config *model)
{
    json_object *usage = json_object_new_object();

    json_put_bool(usage, "include", true);
    json_put(body, "usage", usage);
    if (!model->only_providers)
        return;
    json_object *routing = json_object_new_object(), *only = json_object_new_array();
    for (const char *const *name = model->only_providers; *name; name++)
        (void)json_object_array_add(only, json_object_new_string(*name));
    json_put(routing, "only", only);
    json_put(body, "provider", routing);
}

static void write_reasoning(json_object *body, const struct openai_dialect *dialect,
                            const struct model_reasoning *reasoning)
{
    if (dialect->takes_routing && (reasoning->effort || reasoning->budget_tokens.known)) {
        json_object *options = json_object_new_object();
        if (reasoning->effort)
            json_put_string(options, "effort", reasoning->effort);
        body_put_count(options, "max_tokens", reasoning->budget_tokens);
        json_put(body, "reasoning", options);
    } else if (reasoning->effort) {
        json_put_string(body, "reasoning_effort", reasoning->effort);
    }
    if (dialect->takes_thinking && reasoning->thinking) {
        json_object *options = json_object_new_object();
        json_put_bool(options, "enable_thinking", strcmp(reasoning->thinking, "disabled") != 0);
        json_put(body, "chat_template_kwargs", options);
    }
}

json_object *openai_write_body(const struct provider *provider, const struct chat_request *request)
{
    const struct model_config *model = request->model;
    const struct openai_dialect *dialect = provider->openai;
    json_object *body = json_object_new_object(), *options = json_object_new_object();
    int64_t limit = request_output_limit(request);

    json_put_string(body, "model", model->model_id);
    json_put(body, "messages", write_messages(request));
    json_put_bool(body, "stream", true);
    json_put_bool(options, "include_usage", true);
    json_put(body, "stream_options", options);
    if (limit)
        json_put_i64(body, dialect->max_tokens_key, limit);
    write_sampling(body, dialect, &model->sampling);
    write_reasoning(body, dialect, &model->reasoning);
    if (dialect->takes_routing)
        write_routing(body, model);
    if (request->has_seed) /* servers read it as a signed number */
        json_put_u64(body, "seed", request->seed & INT64_MAX);
    return body;
}

static void read_usage(struct chat_stream *stream, struct json usage)
{
    struct json details, cost;

    if (json_kind_of(usage) != JSON_OBJECT)
        return;
    stream_read_count(&stream->usage.input_tokens, usage, "prompt_tokens");
    stream_read_count(&stream->usage.output_tokens, usage, "completion_tokens");
    if (json_optional(usage, "prompt_tokens_details", &details) && json_kind_of(details) == JSON_OBJECT) {
        stream_read_count(&stream->usage.cached_tokens, details, "cached_tokens");
        stream_read_count(&stream->usage.cache_write_tokens, details, "cache_write_tokens");
    }
    if (json_optional(usage, "completion_tokens_details", &details) && json_kind_of(details) == JSON_OBJECT)
        stream_read_count(&stream->usage.reasoning_tokens, details, "reasoning_tokens");
    struct error error;
    double value;
    if (json_optional(usage, "cost", &cost) &&
        (json_kind_of(cost) == JSON_REAL || json_kind_of(cost) == JSON_INTEGER) && json_double(cost, &value, &error) &&
        value >= 0)
        stream->cost_usd = value;
}

/* vLLM and SGLang say "reasoning_content", OpenRouter and newer vLLM "reasoning". One of them, should both be there. */
static void read_delta(struct chat_stream *stream, struct json delta)
{
    struct json value;

    if (json_optional(delta, "content", &value))
        stream_add_text(&stream->text, value);
    if (json_optional(delta, "reasoning_content", &value) || json_optional(delta, "reasoning", &value))
        stream_add_text(&stream->reasoning, value);
    if (json_optional(delta, "refusal", &value) && json_kind_of(value) == JSON_STRING &&
        json_object_get_string_len(value.value)) {
        stream_add_text(&stream->text, value);
        failure_set(&stream->failure, FAILURE_REFUSED, "the model declined");
        stream->finish_reason = "refusal";
    }
}

static void read_choice(struct chat_stream *stream, struct json choice)
{
    struct json value;

    if (json_kind_of(choice) != JSON_OBJECT)
        return;
    if (json_optional(choice, "delta", &value) && json_kind_of(value) == JSON_OBJECT)
        read_delta(stream, value);
    if (json_optional(choice, "finish_reason", &value) && json_kind_of(value) == JSON_STRING &&
        stream->failure.kind == FAILURE_NONE)
        stream_set_finish(stream, json_object_get_string(value.value), finish_words, ARRAY_LEN(finish_words));
}

bool openai_read_event(struct chat_stream *stream, const char *event, const char *data, size_t length)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct json value;

    (void)event;
    if (length == 6 && !memcmp(data, "[DONE]", 6)) {
        stream->done = true;
        return true;
    }
    if (!stream_parse(stream, data, length, &document))
        return false;
    struct json chunk = json_root(document);
    stream_copy_name(stream->request_id, chunk, "id");
    stream_copy_name(stream->served_model, chunk, "model");
    stream_copy_name(stream->fingerprint, chunk, "system_fingerprint");
    stream_copy_name(stream->upstream, chunk, "provider");
    if (json_optional(chunk, "choices", &value) && json_kind_of(value) == JSON_ARRAY && json_length(value))
        read_choice(stream, json_at(value, 0));
    if (json_optional(chunk, "usage", &value))
        read_usage(stream, value);
    return true;
}
