#include "llm/model.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/yaml.h"
#include "llm/provider.h"

/* The file as it stands: every value a text, NULL when absent. */
struct yaml_sampling {
    char *temperature, *top_p, *top_k, *min_p, *presence_penalty, *frequency_penalty, *repetition_penalty;
};

struct yaml_reasoning {
    char *thinking, *effort, *budget_tokens, *visible;
};

struct yaml_price {
    char *up_to_input_tokens, *input, *cached_input, *cache_write, *output;
};

struct yaml_prices {
    char *source, *date;
    struct yaml_price *per_million;
    unsigned per_million_count;
};

struct yaml_model {
    char *name, *provider, *base_url, *model_id, *api_key_env, *context_tokens, *max_output_tokens;
    char *send_max_output_tokens, *prompt_cache, *extra_body, *replay, *max_parallel, *idle_timeout_s, *stall_timeout_s;
    char *notes, *allow_plain_http;
    struct yaml_sampling *sampling;
    struct yaml_reasoning *reasoning;
    struct yaml_prices *prices;
    char **only_providers;
    unsigned only_providers_count;
    char **command;
    unsigned command_count;
};

enum { TEXT_MAX = 65536, LIST_MAX = 64 };
#define OPTIONAL (CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL)
#define TEXT(type, member) CYAML_FIELD_STRING_PTR(#member, OPTIONAL, struct type, member, 1, TEXT_MAX)
#define REQUIRED(type, member) CYAML_FIELD_STRING_PTR(#member, CYAML_FLAG_POINTER, struct type, member, 1, TEXT_MAX)

static const cyaml_schema_value_t text_entry = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char *, 1, TEXT_MAX)};

static const cyaml_schema_field_t sampling_fields[] = {
    TEXT(yaml_sampling, temperature),
    TEXT(yaml_sampling, top_p),
    TEXT(yaml_sampling, top_k),
    TEXT(yaml_sampling, min_p),
    TEXT(yaml_sampling, presence_penalty),
    TEXT(yaml_sampling, frequency_penalty),
    TEXT(yaml_sampling, repetition_penalty),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t reasoning_fields[] = {
    TEXT(yaml_reasoning, thinking),
    TEXT(yaml_reasoning, effort),
    TEXT(yaml_reasoning, budget_tokens),
    TEXT(yaml_reasoning, visible),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t price_fields[] = {
    TEXT(yaml_price, up_to_input_tokens), REQUIRED(yaml_price, input),  TEXT(yaml_price, cached_input),
    TEXT(yaml_price, cache_write),        REQUIRED(yaml_price, output), CYAML_FIELD_END,
};
static const cyaml_schema_value_t price_entry = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct yaml_price, price_fields)};

static const cyaml_schema_field_t prices_fields[] = {
    REQUIRED(yaml_prices, source),
    REQUIRED(yaml_prices, date),
    CYAML_FIELD_SEQUENCE("per_million", CYAML_FLAG_POINTER, struct yaml_prices, per_million, &price_entry, 1, LIST_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t model_fields[] = {
    REQUIRED(yaml_model, name),
    REQUIRED(yaml_model, provider),
    TEXT(yaml_model, base_url),
    TEXT(yaml_model, model_id),
    TEXT(yaml_model, api_key_env),
    TEXT(yaml_model, context_tokens),
    TEXT(yaml_model, max_output_tokens),
    TEXT(yaml_model, send_max_output_tokens),
    TEXT(yaml_model, prompt_cache),
    TEXT(yaml_model, extra_body),
    TEXT(yaml_model, replay),
    TEXT(yaml_model, max_parallel),
    TEXT(yaml_model, idle_timeout_s),
    TEXT(yaml_model, stall_timeout_s),
    TEXT(yaml_model, notes),
    TEXT(yaml_model, allow_plain_http),
    CYAML_FIELD_MAPPING_PTR("sampling", OPTIONAL, struct yaml_model, sampling, sampling_fields),
    CYAML_FIELD_MAPPING_PTR("reasoning", OPTIONAL, struct yaml_model, reasoning, reasoning_fields),
    CYAML_FIELD_MAPPING_PTR("prices", OPTIONAL, struct yaml_model, prices, prices_fields),
    CYAML_FIELD_SEQUENCE("only_providers", OPTIONAL, struct yaml_model, only_providers, &text_entry, 1, LIST_MAX),
    CYAML_FIELD_SEQUENCE("command", OPTIONAL, struct yaml_model, command, &text_entry, 1, LIST_MAX),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t model_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct yaml_model, model_fields)};

/* Where values go, and the first error. Once one was found the rest is skipped. */
struct reading {
    struct arena *arena;
    const char *path;
    struct error *error;
    bool ok;
};

static const double any_number = 1e6;

static struct number take_number(struct reading *at, const char *key, const char *text, double least, double most)
{
    double value = 0;

    if (!text || !at->ok)
        return (struct number){0};
    at->ok = yaml_number(at->path, key, text, least, most, &value, at->error);
    return number_of(value);
}

static struct count take_count(struct reading *at, const char *key, const char *text, int64_t least)
{
    int64_t value = 0;

    if (!text || !at->ok)
        return (struct count){0};
    at->ok = yaml_integer(at->path, key, text, least, INT64_C(1000000000), &value, at->error);
    return count_of(value);
}

static bool take_bool(struct reading *at, const char *key, const char *text, bool otherwise)
{
    if (!text || !at->ok)
        return otherwise;
    if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
        at->ok = error_set(at->error, ERROR_INPUT, "%s: %s: \"%s\" is neither true nor false", at->path, key, text);
    return !strcmp(text, "true");
}

static int64_t take_seconds(struct reading *at, const char *key, const char *text)
{
    struct number seconds = take_number(at, key, text, 0.001, 86400);

    return seconds.known ? (int64_t)(seconds.value * 1e9) : 0;
}

static const char *const *take_list(struct reading *at, char *const *items, unsigned count)
{
    if (!items)
        return NULL;
    const char **list = arena_calloc(at->arena, count + 1U, sizeof *list);
    for (unsigned i = 0; i < count; i++)
        list[i] = arena_strdup(at->arena, items[i]);
    return list;
}

static void take_sampling(struct reading *at, const struct yaml_sampling *from, struct model_sampling *to)
{
    if (!from)
        return;
    to->temperature = take_number(at, "sampling.temperature", from->temperature, 0, 100);
    to->top_p = take_number(at, "sampling.top_p", from->top_p, 0, 1);
    to->top_k = take_count(at, "sampling.top_k", from->top_k, -1);
    to->min_p = take_number(at, "sampling.min_p", from->min_p, 0, 1);
    to->presence_penalty = take_number(at, "sampling.presence_penalty", from->presence_penalty, -100, 100);
    to->frequency_penalty = take_number(at, "sampling.frequency_penalty", from->frequency_penalty, -100, 100);
    to->repetition_penalty = take_number(at, "sampling.repetition_penalty", from->repetition_penalty, 0, 100);
}

static void take_reasoning(struct reading *at, const struct yaml_reasoning *from, struct model_reasoning *to)
{
    static const char *const kinds[] = {"adaptive", "enabled", "disabled"};
    bool known = false;

    if (!from)
        return;
    to->thinking = arena_strdup(at->arena, from->thinking);
    to->effort = arena_strdup(at->arena, from->effort);
    to->budget_tokens = take_count(at, "reasoning.budget_tokens", from->budget_tokens, -1);
    to->visible = take_bool(at, "reasoning.visible", from->visible, false);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        known |= to->thinking && !strcmp(kinds[i], to->thinking);
    if (to->thinking && !known && at->ok)
        at->ok =
            error_set(at->error, ERROR_INPUT, "%s: reasoning.thinking: \"%s\" is none of adaptive, enabled, disabled",
                      at->path, to->thinking);
}

static void take_price(struct reading *at, const struct yaml_price *from, struct model_price *to)
{
    struct count bound = take_count(at, "prices.up_to_input_tokens", from->up_to_input_tokens, 1);
    struct number cached = take_number(at, "prices.cached_input", from->cached_input, 0, any_number);
    struct number written = take_number(at, "prices.cache_write", from->cache_write, 0, any_number);

    to->up_to_input_tokens = bound.known ? bound.value : INT64_MAX;
    to->input = take_number(at, "prices.input", from->input, 0, any_number).value;
    to->output = take_number(at, "prices.output", from->output, 0, any_number).value;
    to->cached_input = cached.known ? cached.value : -1;
    to->cache_write = written.known ? written.value : -1;
}

static void take_prices(struct reading *at, const struct yaml_prices *from, struct model_config *model)
{
    if (!from)
        return;
    struct model_price *prices = arena_calloc(at->arena, from->per_million_count, sizeof *prices);
    for (unsigned i = 0; i < from->per_million_count && at->ok; i++) {
        take_price(at, &from->per_million[i], &prices[i]);
        if (at->ok && i && prices[i].up_to_input_tokens <= prices[i - 1].up_to_input_tokens)
            at->ok = error_set(at->error, ERROR_INPUT, "%s: prices.per_million: bounds must rise", at->path);
    }
    model->prices = prices;
    model->price_count = from->per_million_count;
    model->price_source = arena_strdup(at->arena, from->source);
    model->price_date = arena_strdup(at->arena, from->date);
}

static bool is_name(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")] == 0 && *text != '.';
}

/* Something that can be put between the slashes of an address as it is. */
static bool is_model_id(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text <= 0x20 || (unsigned char)*text >= 0x7f || strchr("?#%\"\\", *text))
            return false;
    return true;
}

static bool is_loopback(const char *url)
{
    static const char *const hosts[] = {"http://127.", "http://localhost:", "http://localhost/", "http://[::1]"};

    for (size_t i = 0; i < ARRAY_LEN(hosts); i++)
        if (!strncmp(url, hosts[i], strlen(hosts[i])))
            return true;
    return !strcmp(url, "http://localhost");
}

/* A key in a file is one `git add` away from the world. Without a scheme curl would guess one. */
static void check_url(struct reading *at, const struct model_config *model, bool plain_allowed)
{
    const char *host = strstr(model->base_url, "://");

    if (strncmp(model->base_url, "https://", 8) != 0 && strncmp(model->base_url, "http://", 7) != 0)
        at->ok = error_set(at->error, ERROR_INPUT, "%s: base_url: \"%s\" begins with neither https:// nor http://",
                           at->path, model->base_url);
    else if (host && strcspn(host + 3, "@") < strcspn(host + 3, "/?#"))
        at->ok = error_set(at->error, ERROR_INPUT, "%s: base_url: must not hold a user name or password", at->path) ||
                 error_hint(at->error, "put the key into an environment variable and name it in api_key_env");
    else if (!is_model_id(model->base_url))
        at->ok = error_set(at->error, ERROR_INPUT, "%s: base_url: must not hold a query, spaces or escapes", at->path);
    else if (model->api_key_env && !plain_allowed && !strncmp(model->base_url, "http://", 7) &&
             !is_loopback(model->base_url))
        at->ok =
            error_set(at->error, ERROR_INPUT, "%s: base_url: a key would cross the network in the clear", at->path) ||
            error_hint(at->error, "use https://, or say allow_plain_http: true for a network that you trust");
}

static void check_extra_body(struct reading *at, const char *text)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct error error;

    if (!json_parse(text, strlen(text), "extra_body", 1, &document, &error) ||
        !json_expect(json_root(document), JSON_OBJECT, &error))
        at->ok = error_set(at->error, ERROR_INPUT, "%s: %s", at->path, error.message);
}

static void need(struct reading *at, const struct model_config *model, const char *key, bool present)
{
    if (at->ok && !present)
        at->ok =
            error_set(at->error, ERROR_INPUT, "%s: %s: missing; provider %s needs it", at->path, key, model->provider);
}

/* What the provider needs of the model's file. */
static void check_model(struct reading *at, struct model_config *model, bool plain_allowed)
{
    const struct provider *provider = provider_find(model->provider);

    if (!is_name(model->name)) {
        at->ok = error_set(at->error, ERROR_INPUT, "%s: name: \"%s\" has other characters than letters, digits, . _ -",
                           at->path, model->name);
        return;
    }
    if (!provider) {
        at->ok = error_set(at->error, ERROR_INPUT, "%s: provider: \"%s\" is unknown", at->path, model->provider) ||
                 error_hint(at->error, "known providers: %s", provider_names());
        return;
    }
    need(at, model, "command", provider->transport != TRANSPORT_SCRIPT || model->command);
    need(at, model, "replay", provider->transport != TRANSPORT_REPLAY || model->replay);
    need(at, model, "model_id", provider->transport != TRANSPORT_HTTP || model->model_id);
    need(at, model, "max_output_tokens",
         strcmp(model->provider, "anthropic") != 0 || (model->max_output_tokens && model->send_max_output_tokens));
    if (at->ok && model->model_id && !is_model_id(model->model_id))
        at->ok = error_set(at->error, ERROR_INPUT, "%s: model_id: \"%s\" holds characters that no provider uses",
                           at->path, model->model_id);
    if (!model->base_url)
        model->base_url = provider->default_url;
    if (at->ok && model->base_url)
        check_url(at, model, plain_allowed);
    if (at->ok && model->extra_body)
        check_extra_body(at, model->extra_body);
    if (at->ok && model->api_key_env && (!is_name(model->api_key_env) || strpbrk(model->api_key_env, ".-")))
        at->ok = error_set(at->error, ERROR_INPUT, "%s: api_key_env: must be the name of an environment variable",
                           at->path); /* not quoted: it may be the key itself */
}

/* Without the slashes behind it. */
static const char *take_url(struct reading *at, const char *text)
{
    size_t length = text ? strlen(text) : 0;

    while (length && text[length - 1] == '/')
        length--;
    return text ? arena_strndup(at->arena, text, length) : NULL;
}

static const char *take_replay(struct reading *at, const char *text)
{
    const char *slash = strrchr(at->path, '/');

    if (!text || !slash)
        return arena_strdup(at->arena, text);
    return file_join(at->arena, arena_strndup(at->arena, at->path, (size_t)(slash - at->path) + 1), text);
}

static void take_model(struct reading *at, const struct yaml_model *from, struct model_config *model)
{
    model->name = arena_strdup(at->arena, from->name);
    model->path = arena_strdup(at->arena, at->path);
    model->provider = arena_strdup(at->arena, from->provider);
    model->base_url = take_url(at, from->base_url);
    model->model_id = arena_strdup(at->arena, from->model_id);
    model->api_key_env = arena_strdup(at->arena, from->api_key_env);
    model->extra_body = arena_strdup(at->arena, from->extra_body);
    model->notes = arena_strdup(at->arena, from->notes);
    model->replay = take_replay(at, from->replay);
    model->only_providers = take_list(at, from->only_providers, from->only_providers_count);
    model->command = take_list(at, from->command, from->command_count);
    model->context_tokens = take_count(at, "context_tokens", from->context_tokens, 1).value;
    model->max_output_tokens = take_count(at, "max_output_tokens", from->max_output_tokens, 1).value;
    model->send_max_output_tokens = take_bool(at, "send_max_output_tokens", from->send_max_output_tokens, true);
    model->prompt_cache = take_bool(at, "prompt_cache", from->prompt_cache, false);
    model->max_parallel = take_count(at, "max_parallel", from->max_parallel, 1).value;
    model->idle_timeout_ns = take_seconds(at, "idle_timeout_s", from->idle_timeout_s);
    model->stall_timeout_ns = take_seconds(at, "stall_timeout_s", from->stall_timeout_s);
    take_sampling(at, from->sampling, &model->sampling);
    take_reasoning(at, from->reasoning, &model->reasoning);
    take_prices(at, from->prices, model);
}

bool model_config_read(struct arena *arena, const char *path, struct model_config *model, struct error *error)
{
    struct reading at = {.arena = arena, .path = path, .error = error, .ok = true};
    void *data;

    *model = (struct model_config){0};
    if (!yaml_read_file(path, &model_schema, &data, error))
        return false;
    take_model(&at, data, model);
    bool plain_allowed = take_bool(&at, "allow_plain_http", ((struct yaml_model *)data)->allow_plain_http, false);
    if (at.ok)
        check_model(&at, model, plain_allowed);
    yaml_release(&model_schema, data);
    return at.ok;
}
