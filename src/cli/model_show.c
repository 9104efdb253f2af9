#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "cli/model_internal.h"
#include "llm/provider.h"

/* Whether a call could be made: what is missing, or NULL. */
static const char *what_is_missing(struct arena *arena, const struct model_config *model)
{
    const struct provider *provider = provider_find(model->provider);
    const char *key = model->api_key_env ? getenv(model->api_key_env) : NULL;

    if (provider->transport == TRANSPORT_HTTP && model->api_key_env && (!key || !*key))
        return arena_printf(arena, "the environment variable %s is not set", model->api_key_env);
    if (provider->transport == TRANSPORT_SCRIPT && !file_find_program(arena, model->command[0]))
        return arena_printf(arena, "%s: no such program", model->command[0]);
    if (provider->transport == TRANSPORT_REPLAY && !file_exists(model->replay))
        return arena_printf(arena, "%s: no such file", model->replay);
    return NULL;
}

static const char *count_text(struct arena *arena, int64_t count)
{
    return count ? arena_printf(arena, "%lld", (long long)count) : "-";
}

static const char *price_text(struct arena *arena, const struct model_config *model)
{
    if (!model->price_count)
        return "-";
    return arena_printf(arena, "%.2f / %.2f", model->prices[0].input, model->prices[0].output);
}

static json_object *model_to_json(struct arena *arena, const struct model_config *model)
{
    json_object *object = json_object_new_object(), *prices = json_object_new_array();

    json_put_string(object, "name", model->name);
    json_put_string(object, "file", model->path);
    json_put_string(object, "provider", model->provider);
    json_put_string(object, "model_id", model->model_id);
    json_put_string(object, "base_url", model->base_url);
    json_put_string(object, "api_key_env", model->api_key_env);
    json_put_string(object, "missing", what_is_missing(arena, model));
    json_put(object, "context_tokens", model->context_tokens ? json_object_new_int64(model->context_tokens) : NULL);
    json_put(object, "max_output_tokens",
             model->max_output_tokens ? json_object_new_int64(model->max_output_tokens) : NULL);
    for (size_t i = 0; i < model->price_count; i++) {
        const struct model_price *price = &model->prices[i];
        json_object *row = json_object_new_object();
        json_put(row, "up_to_input_tokens",
                 price->up_to_input_tokens == INT64_MAX ? NULL : json_object_new_int64(price->up_to_input_tokens));
        json_put_double(row, "input", price->input);
        json_put(row, "cached_input", price->cached_input < 0 ? NULL : json_new_double(price->cached_input));
        json_put(row, "cache_write", price->cache_write < 0 ? NULL : json_new_double(price->cache_write));
        json_put_double(row, "output", price->output);
        (void)json_object_array_add(prices, row);
    }
    json_put(object, "prices_per_million", prices);
    json_put_string(object, "price_source", model->price_source);
    json_put_string(object, "price_date", model->price_date);
    return object;
}

static int print_json(json_object *value)
{
    AUTO_FREE char *text = NULL;
    struct error error;

    if (!json_to_text(value, true, &text, &error))
        return cli_fail(&error);
    (void)printf("%s\n", text);
    return CLI_PASSED;
}

int model_list(const struct model_options *options)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_OBJECT *list = json_object_new_array();
    struct error error;
    const char *folder;
    char **names;
    size_t count;

    if (!model_config_names(arena, &folder, &names, &count, &error))
        return cli_fail(&error);
    if (!options->json)
        (void)printf("%-18s %-11s %-34s %9s %9s  %-13s  %s\n", "model", "provider", "model id", "context", "output",
                     "$/M in / out", "key");
    for (size_t i = 0; i < count; i++) {
        struct model_config model;
        if (!model_config_open(arena, names[i], &model, &error))
            return cli_fail(&error);
        const char *missing = what_is_missing(arena, &model);
        if (options->json)
            (void)json_object_array_add(list, model_to_json(arena, &model));
        else
            (void)printf("%-18s %-11s %-34s %9s %9s  %-13s  %s\n", model.name, model.provider,
                         model.model_id ? model.model_id : "-", count_text(arena, model.context_tokens),
                         count_text(arena, model.max_output_tokens), price_text(arena, &model),
                         !model.api_key_env ? "needs none"
                         : missing          ? arena_printf(arena, "%s is not set", model.api_key_env)
                                            : "set");
    }
    return options->json ? print_json(list) : CLI_PASSED;
}

static void print_prices(const struct model_config *model)
{
    if (!model->price_count)
        (void)printf("prices       unknown; costs are those that the provider tells, if it does\n");
    for (size_t i = 0; i < model->price_count; i++) {
        const struct model_price *price = &model->prices[i];
        (void)printf("%-12s $%.2f input", i ? "" : "prices", price->input);
        if (price->cached_input >= 0)
            (void)printf(", $%.2f cached", price->cached_input);
        if (price->cache_write >= 0)
            (void)printf(", $%.2f written to the cache", price->cache_write);
        (void)printf(", $%.2f output per million", price->output);
        if (price->up_to_input_tokens != INT64_MAX)
            (void)printf(", up to %lld tokens of input", (long long)price->up_to_input_tokens);
        (void)printf("\n");
    }
    if (model->price_source)
        (void)printf("             %s, %s\n", model->price_date, model->price_source);
}

int model_check(const char *name, const struct model_options *options)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_OBJECT *object = NULL;
    struct model_config model;
    struct error error;

    if (!model_config_open(arena, name, &model, &error))
        return cli_fail(&error);
    const char *missing = what_is_missing(arena, &model);
    if (options->json) {
        object = model_to_json(arena, &model);
        int status = print_json(object);
        return status == CLI_PASSED && missing ? CLI_TROUBLE : status;
    }
    const struct provider *provider = provider_find(model.provider);
    (void)printf("model        %s (%s)\nprovider     %s\n", model.name, model.path, model.provider);
    if (provider->transport == TRANSPORT_HTTP)
        (void)printf("address      %s\n", provider_url(arena, provider, &model));
    if (model.api_key_env)
        (void)printf("key          %s\n", model.api_key_env);
    (void)printf("tokens       context %s, output %s%s\n", count_text(arena, model.context_tokens),
                 count_text(arena, model.max_output_tokens),
                 model.max_output_tokens && !model.send_max_output_tokens ? " (not sent)" : "");
    print_prices(&model);
    if (!missing)
        return CLI_PASSED;
    (void)error_set(&error, ERROR_UNSUPPORTED, "%s: %s", model.name, missing);
    if (provider->transport == TRANSPORT_HTTP)
        (void)error_hint(&error, "export %s=...", model.api_key_env);
    return cli_fail(&error);
}
