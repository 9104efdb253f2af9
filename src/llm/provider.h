/*
 * How providers differ, as one table: where a request goes, how it is written, how the events of the answer are read.
 * Adding a provider that speaks one of the three APIs is adding a row. Everything here is a pure function.
 */
#ifndef PTXBENCH_LLM_PROVIDER_H
#define PTXBENCH_LLM_PROVIDER_H

#include "base/json.h"
#include "llm/chat.h"
#include "llm/stream.h"

enum provider_transport { TRANSPORT_HTTP, TRANSPORT_SCRIPT, TRANSPORT_REPLAY };

/* What the servers that speak chat completions want differently. */
struct openai_dialect {
    const char *max_tokens_key; /* "max_tokens", or OpenAI's newer name */
    bool takes_top_k;           /* also min_p and repetition_penalty */
    bool takes_routing;         /* OpenRouter: provider.only, usage.include, reasoning.effort */
    bool takes_thinking;        /* vLLM, SGLang: chat_template_kwargs.enable_thinking */
};

struct provider {
    const char *name;
    const char *default_url;
    const char *path;        /* behind base_url; a "%s" is the model_id */
    const char *key_header;  /* "x-api-key: "; the key follows */
    const char *more_header; /* one more header, or NULL */
    const struct openai_dialect *openai;
    /* The request's body. Returns a new object. */
    json_object *(*write_body)(const struct provider *, const struct chat_request *);
    /* One event. False: stop, stream->failure says why. */
    bool (*read_event)(struct chat_stream *, const char *event, const char *data, size_t length);
    enum provider_transport transport;
};

/* NULL when there is none of this name. */
const struct provider *provider_find(const char *name);

/* "openai, openrouter, ...": all names, for messages. */
const char *provider_names(void);

/* The address for a request: base_url, path, model_id. In the arena. */
char *provider_url(struct arena *arena, const struct provider *provider, const struct model_config *model);

/* Readers and writers of the three APIs; `event` may be "". */
json_object *openai_write_body(const struct provider *provider, const struct chat_request *request);
bool openai_read_event(struct chat_stream *stream, const char *event, const char *data, size_t length);
json_object *anthropic_write_body(const struct provider *provider, const struct chat_request *request);
bool anthropic_read_event(struct chat_stream *stream, const char *event, const char *data, size_t length);
json_object *gemini_write_body(const struct provider *provider, const struct chat_request *request);
bool gemini_read_event(struct chat_stream *stream, const char *event, const char *data, size_t length);

/* For writers. */
int64_t request_output_limit(const struct chat_request *request); /* 0: none is sent */
void body_put_number(json_object *body, const char *key, struct number value);
void body_put_count(json_object *body, const char *key, struct count value);

/* For what the request and what the model's extra_body say alike, extra_body wins; objects are merged. */
void body_merge(json_object *body, json_object *extra);

#endif
