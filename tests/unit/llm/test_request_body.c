/* What is sent: one request, each provider's body as JSON text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "llm/chat.h"
#include "llm/provider.h"

static const struct chat_message conversation[] = {
    {CHAT_SYSTEM, "S"},
    {CHAT_USER, "U1"},
    {CHAT_ASSISTANT, "A1"},
    {CHAT_USER, "U2"},
};

static const struct model_sampling every_parameter = {
    .temperature = {true, 1.0},
    .top_p = {true, 0.95},
    .top_k = {true, 20},
    .min_p = {true, 0},
    .presence_penalty = {true, 1.5},
    .repetition_penalty = {true, 1},
};

static void assert_body(const struct model_config *model, const char *wanted)
{
    struct chat_request request = {.model = model,
                                   .messages = conversation,
                                   .message_count = 4,
                                   .has_seed = true,
                                   .seed = 7,
                                   .trajectory = "t1",
                                   .turn = 3};
    AUTO_JSON_OBJECT *body = NULL;
    AUTO_FREE char *text = NULL;
    struct error error;

    assert_true(chat_request_body(&request, &body, &error));
    assert_true(json_to_text(body, false, &text, &error));
    for (char *at = text; (at = strchr(at, '"'));) /* single quotes, so that the wanted texts can be read */
        *at++ = '\'';
    assert_string_equal(text, wanted);
}

#define OPENAI_MESSAGES                                                                                                \
    "'messages':[{'role':'system','content':'S'},{'role':'user','content':'U1'},{'role':'assistant','content':'A1'},"  \
    "{'role':'user','content':'U2'}],'stream':true,'stream_options':{'include_usage':true}"

static void test_openai(void **state)
{
    struct model_config model = {.provider = "openai",
                                 .model_id = "m",
                                 .max_output_tokens = 100,
                                 .send_max_output_tokens = true,
                                 .reasoning = {.effort = "high"},
                                 .sampling = every_parameter};

    (void)state;
    assert_body(&model, "{'model':'m'," OPENAI_MESSAGES ",'max_completion_tokens':100,'temperature':1.0,'top_p':0.95,"
                        "'presence_penalty':1.5,'reasoning_effort':'high','seed':7}");
}

static void test_vllm_takes_more_sampling(void **state)
{
    struct model_config model = {.provider = "vllm",
                                 .model_id = "m",
                                 .max_output_tokens = 81920,
                                 .send_max_output_tokens = true,
                                 .reasoning = {.thinking = "disabled"},
                                 .sampling = every_parameter};

    (void)state;
    assert_body(&model, "{'model':'m'," OPENAI_MESSAGES ",'max_tokens':81920,'temperature':1.0,'top_p':0.95,"
                        "'presence_penalty':1.5,'top_k':20,'min_p':0.0,'repetition_penalty':1.0,"
                        "'chat_template_kwargs':{'enable_thinking':false},'seed':7}");
}

static void test_openrouter_pins_providers(void **state)
{
    static const char *const only[] = {"z-ai/fp8", "fireworks", NULL};
    struct model_config model = {.provider = "openrouter",
                                 .model_id = "z-ai/m",
                                 .max_output_tokens = 131072,
                                 .send_max_output_tokens = true,
                                 .only_providers = only,
                                 .reasoning = {.effort = "high"},
                                 .extra_body = "{\"provider\":{\"sort\":\"price\"},\"top_k\":5}"};

    (void)state;
    assert_body(&model, "{'model':'z-ai/m'," OPENAI_MESSAGES ",'max_tokens':131072,'reasoning':{'effort':'high'},"
                        "'usage':{'include':true},'provider':{'only':['z-ai/fp8','fireworks'],'sort':'price'},'seed':7,"
                        "'top_k':5}");
}

static void test_anthropic_thinks_and_caches(void **state)
{
    struct model_config model = {.provider = "anthropic",
                                 .model_id = "m",
                                 .max_output_tokens = 128000,
                                 .send_max_output_tokens = true,
                                 .prompt_cache = true,
                                 .reasoning = {.thinking = "adaptive", .effort = "xhigh", .visible = true}};

    (void)state;
    assert_body(&model, "{'model':'m','max_tokens':128000,"
                        "'system':[{'type':'text','text':'S','cache_control':{'type':'ephemeral'}}],"
                        "'messages':[{'role':'user','content':[{'type':'text','text':'U1'}]},"
                        "{'role':'assistant','content':[{'type':'text','text':'A1'}]},"
                        "{'role':'user','content':[{'type':'text','text':'U2','cache_control':{'type':'ephemeral'}}]}],"
                        "'stream':true,'thinking':{'type':'adaptive','display':'summarized'},"
                        "'output_config':{'effort':'xhigh'}}");
}

static void test_gemini_keeps_its_default_length(void **state)
{
    struct model_config model = {
        .provider = "gemini", .model_id = "m", .max_output_tokens = 65536, .reasoning = {.visible = true}};

    (void)state;
    assert_body(&model, "{'systemInstruction':{'parts':[{'text':'S'}]},"
                        "'contents':[{'parts':[{'text':'U1'}],'role':'user'},{'parts':[{'text':'A1'}],'role':'model'},"
                        "{'parts':[{'text':'U2'}],'role':'user'}],"
                        "'generationConfig':{'seed':7,'thinkingConfig':{'includeThoughts':true}}}");
}

static void test_a_script_gets_the_conversation(void **state)
{
    struct model_config model = {.name = "n", .provider = "script"};

    (void)state;
    assert_body(&model, "{'model':'n','trajectory':'t1','turn':3,'seed':7,'messages':[{'role':'system','text':'S'},"
                        "{'role':'user','text':'U1'},{'role':'assistant','text':'A1'},{'role':'user','text':'U2'}]}");
}

static void test_seeds_fit_what_servers_read(void **state)
{
    struct model_config model = {.provider = "gemini", .model_id = "m"};
    struct chat_request request = {
        .model = &model, .messages = conversation, .message_count = 2, .has_seed = true, .seed = UINT64_MAX};
    AUTO_JSON_OBJECT *gemini = NULL, *openai = NULL;
    struct error error;

    (void)state;
    assert_true(chat_request_body(&request, &gemini, &error));
    assert_non_null(strstr(json_object_to_json_string_ext(gemini, JSON_C_TO_STRING_PLAIN), "\"seed\":2147483647}"));
    model.provider = "vllm";
    assert_true(chat_request_body(&request, &openai, &error));
    assert_non_null(
        strstr(json_object_to_json_string_ext(openai, JSON_C_TO_STRING_PLAIN), "\"seed\":9223372036854775807}"));
}

static void test_addresses(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct model_config model = {.base_url = "https://host/v1", .model_id = "m-1"};

    (void)state;
    assert_string_equal(provider_url(arena, provider_find("openai"), &model), "https://host/v1/chat/completions");
    assert_string_equal(provider_url(arena, provider_find("anthropic"), &model), "https://host/v1/v1/messages");
    assert_string_equal(provider_url(arena, provider_find("gemini"), &model),
                        "https://host/v1/v1beta/models/m-1:streamGenerateContent?alt=sse");
    assert_null(provider_find("opena"));
}

static void test_requests_that_cannot_be_sent(void **state)
{
    static const struct chat_message late_system[] = {{CHAT_USER, "U"}, {CHAT_SYSTEM, "S"}};
    static const struct chat_message broken[] = {{CHAT_USER, "\xff"}};
    struct model_config model = {.name = "n", .provider = "openai", .base_url = "http://127.0.0.1:1", .model_id = "m"};
    struct chat_client_options options = chat_client_defaults();
    struct chat_request request = {.model = &model};
    struct chat_client *client;
    struct error error;

    (void)state;
    assert_true(chat_client_new(&options, &client, &error));
    assert_false(chat_client_start(client, &request, NULL, &error));
    assert_string_equal(error.message, "a request without a message");
    request.messages = late_system;
    request.message_count = 2;
    assert_false(chat_client_start(client, &request, NULL, &error));
    assert_string_equal(error.message, "a system message is not the first one");
    request.messages = broken;
    request.message_count = 1;
    assert_false(chat_client_start(client, &request, NULL, &error));
    assert_int_equal(error.code, ERROR_INPUT);
    model.provider = "nobody";
    assert_false(chat_client_start(client, &request, NULL, &error));
    assert_int_equal(chat_client_pending(client), 0);
    chat_client_free(client);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_openai),
        cmocka_unit_test(test_vllm_takes_more_sampling),
        cmocka_unit_test(test_openrouter_pins_providers),
        cmocka_unit_test(test_anthropic_thinks_and_caches),
        cmocka_unit_test(test_gemini_keeps_its_default_length),
        cmocka_unit_test(test_a_script_gets_the_conversation),
        cmocka_unit_test(test_seeds_fit_what_servers_read),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_requests_that_cannot_be_sent),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
