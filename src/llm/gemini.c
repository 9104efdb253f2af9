/* streamGenerateContent, as of https://ai.google.dev/api/generate-content. */
#include <string.h>

#include "llm/provider.h"

static const struct finish_word finish_words[] = {
    {"STOP", "stop"},         {"MAX_TOKENS", "length"},          {"SAFETY", "refusal"}, {"RECITATION", "refusal"},
    {"BLOCKLIST", "refusal"}, {"PROHIBITED_CONTENT", "refusal"}, {"SPII", "refusal"},   {"LANGUAGE", "refusal"},
};

static json_object *write_parts(const char *text)
{
    json_object *content = json_object_new_object(), *parts = json_object_new_array(), *part = json_object_new_object();

    json_put_string(part, "text", text);
    (void)json_object_array_add(parts, part);
    json_put(content, "parts", parts);
    return content;
}

static void write_contents(json_object *body, const struct chat_request *request)
{
    json_object *contents = json_object_new_array();

    for (size_t i = 0; i < request->message_count; i++) {
        json_object *content = write_parts(request->messages[i].text);
        if (request->messages[i].role == CHAT_SYSTEM) {
            json_put(body, "systemInstruction", content);
            continue;
        }
        json_put_string(content, "role", request->messages[i].role == CHAT_USER ? "user" : "model");
        (void)json_object_array_add(contents, content);
    }
    json_put(body, "contents", contents);
}

json_object *gemini_write_body(const struct provider *provider, const struct chat_request *request)
{
    const struct model_sampling *sampling = &request->model->sampling;
    const struct model_reasoning *reasoning = &request->model->reasoning;
    json_object *body = json_object_new_object();
    json_object *options = json_object_new_object(), *thinking = json_object_new_object();
    int64_t limit = request_output_limit(request);

    (void)provider;
    write_contents(body, request);
    body_put_number(options, "temperature", sampling->temperature);
    body_put_number(options, "topP", sampling->top_p);
    body_put_count(options, "topK", sampling->top_k);
    body_put_number(options, "presencePenalty", sampling->presence_penalty);
    body_put_number(options, "frequencyPenalty", sampling->frequency_penalty);
    if (limit)
        json_put_i64(options, "maxOutputTokens", limit);
    if (request->has_seed) /* the API's field is a signed 32-bit number */
        json_put_u64(options, "seed", request->seed & INT32_MAX);
    if (reasoning->visible)
        json_put_bool(thinking, "includeThoughts", true);
    if (reasoning->effort)
        json_put_string(thinking, "thinkingLevel", reasoning->effort);
    body_put_count(thinking, "thinkingBudget", reasoning->budget_tokens);
    if (json_object_object_length(thinking))
        json_put(options, "thinkingConfig", thinking);
    else
        (void)json_object_put(thinking);
    json_put(body, "generationConfig", options);
    return body;
}

/* Thoughts are counted apart from candidates; both are output. */
static void read_usage(struct chat_stream *stream, struct json usage)
{
    struct chat_usage *to = &stream->usage;
    int64_t answer = -1;

    if (json_kind_of(usage) != JSON_OBJECT)
        return;
    stream_read_count(&to->input_tokens, usage, "promptTokenCount");
    stream_read_count(&to->cached_tokens, usage, "cachedContentTokenCount");
    stream_read_count(&to->reasoning_tokens, usage, "thoughtsTokenCount");
    stream_read_count(&answer, usage, "candidatesTokenCount");
    if (answer < 0 && to->reasoning_tokens < 0)
        return;
    if (answer <= INT64_MAX / 2 && to->reasoning_tokens <= INT64_MAX / 2)
        to->output_tokens = (answer > 0 ? answer : 0) + (to->reasoning_tokens > 0 ? to->reasoning_tokens : 0);
}

static void read_parts(struct chat_stream *stream, struct json content)
{
    struct json parts, value;

    if (json_kind_of(content) != JSON_OBJECT || !json_optional(content, "parts", &parts) ||
        json_kind_of(parts) != JSON_ARRAY)
        return;
    for (size_t i = 0; i < json_length(parts); i++) {
        struct json part = json_at(parts, i), text;
        if (json_kind_of(part) != JSON_OBJECT || !json_optional(part, "text", &text))
            continue;
        bool thought = json_optional(part, "thought", &value) && json_kind_of(value) == JSON_BOOL &&
                       json_object_get_boolean(value.value);
        stream_add_text(thought ? &stream->reasoning : &stream->text, text);
    }
}

static void read_candidate(struct chat_stream *stream, struct json candidate)
{
    struct json value;

    if (json_kind_of(candidate) != JSON_OBJECT)
        return;
    if (json_optional(candidate, "content", &value))
        read_parts(stream, value);
    if (json_optional(candidate, "finishReason", &value) && json_kind_of(value) == JSON_STRING)
        stream_set_finish(stream, json_object_get_string(value.value), finish_words, ARRAY_LEN(finish_words));
}

/* The prompt itself was refused: no candidate comes. */
static void read_prompt_feedback(struct chat_stream *stream, struct json feedback)
{
    char reason[STREAM_NAME_MAX] = "";

    if (json_kind_of(feedback) != JSON_OBJECT)
        return;
    stream_copy_name(reason, feedback, "blockReason");
    if (!*reason)
        return;
    stream->finish_reason = "refusal";
    (void)snprintf(stream->raw_finish_reason, sizeof stream->raw_finish_reason, "%s", reason);
    failure_set(&stream->failure, FAILURE_REFUSED, "the prompt was blocked: %s", reason);
}

bool gemini_read_event(struct chat_stream *stream, const char *event, const char *data, size_t length)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct json value;

    (void)event;
    if (!stream_parse(stream, data, length, &document))
        return false;
    struct json chunk = json_root(document);
    stream_copy_name(stream->request_id, chunk, "responseId");
    stream_copy_name(stream->served_model, chunk, "modelVersion");
    if (json_optional(chunk, "usageMetadata", &value))
        read_usage(stream, value);
    if (json_optional(chunk, "promptFeedback", &value))
        read_prompt_feedback(stream, value);
    if (json_optional(chunk, "candidates", &value) && json_kind_of(value) == JSON_ARRAY && json_length(value))
        read_candidate(stream, json_at(value, 0));
    return true;
}
