#include "llm/provider.h"

#include <string.h>

static const struct openai_dialect openai_dialect = {.max_tokens_key = "max_completion_tokens"};
static const struct openai_dialect openrouter_dialect = {
    .max_tokens_key = "max_tokens", .takes_top_k = true, .takes_routing = true};
static const struct openai_dialect local_dialect = {
    .max_tokens_key = "max_tokens", .takes_top_k = true, .takes_thinking = true};

#define CHAT_COMPLETIONS                                                                                               \
    .path = "/chat/completions", .key_header = "Authorization: Bearer ", .write_body = openai_write_body,              \
    .read_event = openai_read_event

static const struct provider providers[] = {
    {.name = "openai", .default_url = "https://api.openai.com/v1", .openai = &openai_dialect, CHAT_COMPLETIONS},
    {.name = "openrouter",
     .default_url = "https://openrouter.ai/api/v1",
     .openai = &openrouter_dialect,
     CHAT_COMPLETIONS},
    {.name = "vllm", .default_url = "http://127.0.0.1:8000/v1", .openai = &local_dialect, CHAT_COMPLETIONS},
    {.name = "sglang", .default_url = "http://127.0.0.1:30000/v1", .openai = &local_dialect, CHAT_COMPLETIONS},
    {.name = "anthropic",
     .default_url = "https://api.anthropic.com",
     .path = "/v1/messages",
     .key_header = "x-api-key: ",
     .more_header = "anthropic-version: 2023-06-01",
     .write_body = anthropic_write_body,
     .read_event = anthropic_read_event},
    {.name = "gemini",
     .default_url = "https://generativelanguage.googleapis.com",
     .path = "/v1beta/models/%s:streamGenerateContent?alt=sse",
     .key_header = "x-goog-api-key: ",
     .write_body = gemini_write_body,
     .read_event = gemini_read_event},
    {.name = "replay", .transport = TRANSPORT_REPLAY},
    {.name = "script", .transport = TRANSPORT_SCRIPT},
};

const struct provider *provider_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(providers); i++)
        if (!strcmp(providers[i].name, name))
            return &providers[i];
    return NULL;
}

const char *provider_names(void)
{
    return "openai, openrouter, vllm, sglang, anthropic, gemini, replay, script";
}

char *provider_url(struct arena *arena, const struct provider *provider, const struct model_config *model)
{
    const char *slot = strstr(provider->path, "%s");

    if (!slot)
        return arena_printf(arena, "%s%s", model->base_url, provider->path);
    return arena_printf(arena, "%s%.*s%s%s", model->base_url, (int)(slot - provider->path), provider->path,
                        model->model_id, slot + 2);
}

int64_t request_output_limit(const struct chat_request *request)
{
    if (request->max_output_tokens)
        return request->max_output_tokens;
    return request->model->send_max_output_tokens ? request->model->max_output_tokens : 0;
}

void body_put_number(json_object *body, const char *key, struct number value)
{
    if (value.known)
        json_put_double(body, key, value.value);
}

void body_put_count(json_object *body, const char *key, struct count value)
{
    if (value.known)
        json_put_i64(body, key, value.value);
}

void body_merge(json_object *body, json_object *extra)
{
    json_object_object_foreach(extra, key, value)
    {
        json_object *there;
        if (json_object_is_type(value, json_type_object) && json_object_object_get_ex(body, key, &there) &&
            json_object_is_type(there, json_type_object))
            body_merge(there, value);
        else
            json_put(body, key, json_object_get(value));
    }
}
