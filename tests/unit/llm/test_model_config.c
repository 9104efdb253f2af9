/* Model files: ours say what the paper says, and wrong ones are refused by file, line and key. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "llm/cost.h"
#include "llm/model.h"

static struct arena *arena;
static char *folder;

static int set_up(void **state)
{
    struct error error;

    (void)state;
    arena = arena_new();
    assert_true(file_make_temporary_folder(arena, file_temporary_root(), "model", &folder, &error));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(file_remove_tree(folder));
    arena_free(arena);
    return 0;
}

static bool read_text(const char *text, struct model_config *model, struct error *error)
{
    const char *path = file_join(arena, folder, "m.yaml");

    assert_true(file_write(path, text, strlen(text), 0644, error));
    return model_config_read(arena, path, model, error);
}

static struct model_config open_model(const char *name)
{
    struct model_config model;
    struct error error;

    if (!model_config_open(arena, name, &model, &error))
        fail_msg("%s", error.message);
    return model;
}

/* Appendix A.1 of the paper. */
static void test_the_papers_sampling(void **state)
{
    (void)state;
    struct model_config qwen = open_model("qwen3.6-27b");
    assert_true(qwen.sampling.temperature.value == 1.0 && qwen.sampling.top_p.value == 0.95);
    assert_true(qwen.sampling.top_k.value == 20 && qwen.sampling.presence_penalty.value == 1.5);
    assert_int_equal(qwen.max_output_tokens, 81920);

    struct model_config glm = open_model("glm-5.2");
    assert_string_equal(glm.provider, "openrouter");
    assert_int_equal(glm.max_output_tokens, 131072);
    assert_string_equal(glm.only_providers[0], "z-ai/fp8");
    assert_string_equal(glm.only_providers[1], "fireworks");
    assert_null(glm.only_providers[2]);

    struct model_config opus = open_model("claude-opus-4.8");
    assert_string_equal(opus.reasoning.thinking, "adaptive");
    assert_string_equal(opus.reasoning.effort, "xhigh");
    assert_int_equal(opus.max_output_tokens, 128000);

    struct model_config gemini = open_model("gemini-3.1-pro");
    assert_false(gemini.send_max_output_tokens);
    assert_null(gemini.reasoning.effort);

    struct model_config inkling = open_model("inkling");
    assert_string_equal(inkling.provider, "anthropic");
    assert_int_equal(inkling.max_output_tokens, 65536);
}

static void test_only_qwen_overrides_sampling(void **state)
{
    struct error error;
    const char *where;
    char **names;
    size_t count;

    (void)state;
    assert_true(model_config_names(arena, &where, &names, &count, &error));
    assert_int_equal(count, 5);
    for (size_t i = 0; i < count; i++) {
        struct model_config model = open_model(names[i]);
        bool overrides = model.sampling.temperature.known || model.sampling.top_p.known || model.sampling.top_k.known;
        assert_true(overrides == !strcmp(names[i], "qwen3.6-27b"));
        assert_string_equal(model.name, names[i]);
        assert_true(!model.price_count || (model.price_source && model.price_date));
        assert_true(model.context_tokens > model.max_output_tokens);
    }
}

#define HEAD "name: m\nprovider: openai\nmodel_id: m\n"

static const struct {
    const char *text, *message;
} wrong[] = {
    {"", "the file is empty"},
    {"provider: openai\n", "Missing required mapping field: name"},
    {HEAD "temprature: 1\n", "Unexpected key: temprature"},
    {HEAD "sampling:\n  temperature: hot\n", "sampling.temperature: \"hot\" is not a number"},
    {HEAD "sampling:\n  temperature: 1.0x\n", "sampling.temperature: \"1.0x\" is not a number"},
    {HEAD "sampling:\n  top_k: 20.5\n", "sampling.top_k: \"20.5\" is not a whole number"},
    {HEAD "sampling:\n  top_p: 1.5\n", "sampling.top_p: \"1.5\" is not a number from 0 to 1"},
    {HEAD "sampling:\n  top_p: nan\n", "sampling.top_p: \"nan\" is not a number"},
    {HEAD "max_output_tokens: -1\n", "max_output_tokens: \"-1\" is not a whole number"},
    {HEAD "prompt_cache: maybe\n", "prompt_cache: \"maybe\" is neither true nor false"},
    {HEAD "reasoning:\n  thinking: deep\n", "reasoning.thinking: \"deep\" is none of"},
    {HEAD "base_url: api.example.org\n", "begins with neither https:// nor http://"},
    {HEAD "base_url: https://user:xyzzy@host\n", "must not hold a user name or password"},
    {HEAD "base_url: https://host/v1?key=1\n", "must not hold a query"},
    {HEAD "base_url: http://10.0.0.1/v1\napi_key_env: K\n", "a key would cross the network in the clear"},
    {HEAD "base_url: http://localhost.example.org/v1\napi_key_env: K\n", "in the clear"},
    {HEAD "extra_body: '[1]'\n", "expected an object"},
    {HEAD "extra_body: '{'\n", "extra_body:1:"},
    {HEAD "api_key_env: sk-secret-1\n", "api_key_env: must be the name of an environment variable"},
    {HEAD "prices:\n  date: d\n  per_million:\n    - {input: 1, output: 2}\n",
     "Missing required mapping field: source"},
    {HEAD "prices:\n  source: s\n  date: d\n  per_million:\n    - {input: 1, output: 2}\n    - {input: 1, output: 2}\n",
     "bounds must rise"},
    {HEAD "name: again\n", "m.yaml:3: Mapping field already seen: name"},
    {HEAD "---\nname: b\n", "Ignoring documents after first"},
    {HEAD "notes: &a x\nextra_body: *a\n", "YAML alias unsupported"},
    {"name: a/b\nprovider: openai\nmodel_id: m\n", "name: \"a/b\" has other characters"},
    {"name: m\nprovider: opena\nmodel_id: m\n", "provider: \"opena\" is unknown"},
    {"name: m\nprovider: openai\n", "model_id: missing; provider openai needs it"},
    {"name: m\nprovider: openai\nmodel_id: 'a b'\n", "model_id: \"a b\" holds characters"},
    {"name: m\nprovider: anthropic\nmodel_id: m\n", "max_output_tokens: missing"},
    {"name: m\nprovider: script\n", "command: missing"},
    {"name: m\nprovider: replay\n", "replay: missing"},
};

static void test_wrong_files_are_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct model_config model;
        struct error error;
        bool ok = read_text(wrong[i].text, &model, &error);
        if (ok || !strstr(error.message, wrong[i].message))
            print_error("%s\n-> %s\n", wrong[i].text, ok ? "accepted" : error.message);
        assert_false(ok);
        assert_int_equal(error.code, ERROR_INPUT);
        assert_non_null(strstr(error.message, "m.yaml"));
        assert_non_null(strstr(error.message, wrong[i].message));
        assert_null(strstr(error.message, "sk-secret-1"));
        assert_null(strstr(error.message, "xyzzy"));
    }
}

static void test_defaults_and_paths(void **state)
{
    struct model_config model;
    struct error error;

    (void)state;
    assert_true(read_text(HEAD "base_url: http://127.0.0.1:1/v1//\nidle_timeout_s: 0.5\n", &model, &error));
    assert_string_equal(model.base_url, "http://127.0.0.1:1/v1");
    assert_int_equal(model.idle_timeout_ns, 500000000);
    assert_true(model.send_max_output_tokens);
    assert_true(read_text(HEAD "base_url: http://127.0.0.1:1\napi_key_env: K\n", &model, &error));
    assert_true(read_text(HEAD "base_url: http://10.0.0.1\n", &model, &error));
    assert_true(read_text(HEAD "base_url: http://10.0.0.1\napi_key_env: K\nallow_plain_http: true\n", &model, &error));
    assert_true(read_text(HEAD, &model, &error));
    assert_string_equal(model.base_url, "https://api.openai.com/v1");
    assert_true(read_text("name: r\nprovider: replay\nreplay: answers.jsonl\n", &model, &error));
    assert_string_equal(model.replay, file_join(arena, folder, "answers.jsonl"));
    assert_false(model_config_open(arena, "no-such-model", &model, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_non_null(strstr(error.hint, "claude-opus-4.8, gemini-3.1-pro"));
    assert_false(model_config_open(arena, "/nowhere/m.yaml", &model, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
}

static void assert_cost(const struct model_config *model, struct chat_usage usage, double wanted)
{
    double cost = cost_of(model, &usage);

    if (cost < wanted - 1e-9 || cost > wanted + 1e-9)
        fail_msg("%.9f, wanted %.9f", cost, wanted);
}

static void test_costs(void **state)
{
    (void)state;
    struct model_config opus = open_model("claude-opus-4.8"), gemini = open_model("gemini-3.1-pro");
    struct model_config qwen = open_model("qwen3.6-27b");
    /* 700 fresh at 5, 200 read at 0.5, 100 written at 6.25, 50 out at 25 dollars a million */
    assert_cost(&opus, (struct chat_usage){1000, 200, 100, 50, -1}, (3500 + 100 + 625 + 1250) * 1e-6);
    assert_cost(&opus, (struct chat_usage){1000, -1, -1, 0, -1}, 5000e-6);
    assert_cost(&opus, (struct chat_usage){100, 200, 300, 0, -1}, 50e-6); /* nonsense is not billed twice */
    assert_cost(&gemini, (struct chat_usage){200000, 0, -1, 1000, -1}, 0.4 + 0.012);
    assert_cost(&gemini, (struct chat_usage){200001, 0, -1, 1000, -1}, 0.800004 + 0.018);
    assert_cost(&opus, (struct chat_usage){-1, -1, -1, 50, -1}, -1);
    assert_cost(&opus, (struct chat_usage){10, -1, -1, -1, -1}, -1);
    assert_cost(&gemini, (struct chat_usage){300000, 0, -1, 0, -1}, 1.2);
    assert_cost(&gemini, (struct chat_usage){300000, 1, -1, 0, -1}, -1); /* at a price that has no source */
    assert_cost(&qwen, (struct chat_usage){1000, 0, 0, 10, 0}, -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_papers_sampling),
        cmocka_unit_test(test_only_qwen_overrides_sampling),
        cmocka_unit_test(test_wrong_files_are_refused),
        cmocka_unit_test(test_defaults_and_paths),
        cmocka_unit_test(test_costs),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
