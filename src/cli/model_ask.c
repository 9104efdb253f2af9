#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/json.h"
#include "cli/model_internal.h"
#include "llm/provider.h"

enum { TEXT_LIMIT = 16 << 20 };

static bool read_standard_input(struct buffer *text, struct error *error)
{
    char chunk[65536];
    size_t got;

    while ((got = fread(chunk, 1, sizeof chunk, stdin)) > 0)
        if (!buffer_append(text, chunk, got))
            return error_set(error, ERROR_LIMIT, "standard input: more than %d MiB", TEXT_LIMIT >> 20);
    return ferror(stdin) ? error_set(error, ERROR_SYSTEM, "standard input: cannot read") : true;
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

static int print_request(const struct chat_request *request)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_OBJECT *body = NULL;
    struct error error;

    if (!chat_request_body(request, &body, &error))
        return cli_fail(&error);
    const struct provider *provider = provider_find(request->model->provider);
    if (provider->transport == TRANSPORT_HTTP)
        (void)fprintf(stderr, "POST %s\n", provider_url(arena, provider, request->model));
    return print_json(body);
}

static void put_count(json_object *object, const char *key, int64_t count)
{
    json_put(object, key, count < 0 ? NULL : json_object_new_int64(count));
}

static json_object *reply_to_json(const struct chat_reply *reply)
{
    json_object *object = json_object_new_object(), *usage = json_object_new_object();

    json_put_string(object, "schema", "ptxbench.answer.v1");
    json_put_string(object, "status", chat_status_text(reply->status));
    json_put_string(object, "text", reply->text);
    json_put_string(object, "reasoning", reply->reasoning);
    json_put_string(object, "finish_reason", reply->finish_reason);
    json_put_string(object, "raw_finish_reason", reply->raw_finish_reason);
    put_count(usage, "input_tokens", reply->usage.input_tokens);
    put_count(usage, "cached_tokens", reply->usage.cached_tokens);
    put_count(usage, "cache_write_tokens", reply->usage.cache_write_tokens);
    put_count(usage, "output_tokens", reply->usage.output_tokens);
    put_count(usage, "reasoning_tokens", reply->usage.reasoning_tokens);
    json_put(object, "usage", usage);
    json_put(object, "cost_usd", reply->cost_usd < 0 ? NULL : json_new_double(reply->cost_usd));
    json_put_string(object, "provider", reply->provider);
    json_put_string(object, "served_model", reply->served_model);
    json_put_string(object, "fingerprint", reply->fingerprint);
    json_put_string(object, "request_id", reply->request_id);
    json_put_i64(object, "attempts", reply->attempts);
    json_put_i64(object, "elapsed_ns", reply->elapsed_ns);
    put_count(object, "first_token_ns", reply->first_token_ns);
    json_put_string(object, "error", reply->error.code == ERROR_NONE ? NULL : reply->error.message);
    return object;
}

static const char *number_text(struct arena *arena, int64_t count)
{
    return count < 0 ? "?" : arena_printf(arena, "%lld", (long long)count);
}

static void print_usage(const struct chat_reply *reply)
{
    AUTO_ARENA *arena = arena_new();
    const struct chat_usage *usage = &reply->usage;

    (void)fprintf(stderr, "%s%s%s, %s: %s tokens in (%s cached), %s out (%s reasoning), ", reply->provider,
                  reply->served_model ? " " : "", reply->served_model ? reply->served_model : "",
                  reply->finish_reason ? reply->finish_reason : "no end", number_text(arena, usage->input_tokens),
                  number_text(arena, usage->cached_tokens), number_text(arena, usage->output_tokens),
                  number_text(arena, usage->reasoning_tokens));
    if (reply->cost_usd < 0)
        (void)fprintf(stderr, "cost unknown");
    else
        (void)fprintf(stderr, "$%.6f", reply->cost_usd);
    (void)fprintf(stderr, ", %.1f s, %d attempt%s\n", (double)reply->elapsed_ns * 1e-9, reply->attempts,
                  reply->attempts == 1 ? "" : "s");
}

static int print_reply(const struct chat_reply *reply, const struct model_options *options)
{
    if (options->json) {
        AUTO_JSON_OBJECT *object = reply_to_json(reply);
        (void)print_json(object);
    } else {
        (void)printf("%s%s", reply->text, *reply->text && reply->text[strlen(reply->text) - 1] != '\n' ? "\n" : "");
        (void)fflush(stdout);
        if (reply->attempts)
            print_usage(reply);
    }
    if (reply->status == CHAT_OK)
        return CLI_PASSED;
    int status = cli_fail(&reply->error);
    return reply->status == CHAT_REFUSED ? CLI_FAILED : status;
}

static int call(const struct chat_request *request, const struct model_options *options)
{
    struct chat_client_options client_options = chat_client_defaults();
    const struct chat_reply *reply = NULL;
    struct chat_client *client;
    struct error error;
    void *context;
    int status;

    client_options.max_attempts = options->attempts;
    if (!chat_client_new(&client_options, &client, &error))
        return cli_fail(&error);
    if (!chat_client_start(client, request, NULL, &error)) {
        chat_client_free(client);
        return cli_fail(&error);
    }
    while (!reply)
        reply = chat_client_next(client, -1, &context);
    status = print_reply(reply, options);
    chat_client_free(client);
    return status;
}

int model_ask(const char *name, const char *text, const struct model_options *options)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER input = buffer_new(TEXT_LIMIT);
    struct model_config model;
    struct error error;

    if (!model_config_open(arena, name, &model, &error))
        return cli_fail(&error);
    if (!strcmp(text, "-") && !read_standard_input(&input, &error))
        return cli_fail(&error);
    const struct chat_message messages[] = {{CHAT_SYSTEM, options->system},
                                            {CHAT_USER, strcmp(text, "-") != 0 ? text : input.data}};
    struct chat_request request = {.model = &model,
                                   .messages = options->system ? messages : messages + 1,
                                   .message_count = options->system ? 2 : 1,
                                   .max_output_tokens = options->max_output_tokens,
                                   .has_seed = options->has_seed,
                                   .seed = options->seed,
                                   .trajectory = options->trajectory,
                                   .turn = options->turn};
    return options->dry_run ? print_request(&request) : call(&request, options);
}
