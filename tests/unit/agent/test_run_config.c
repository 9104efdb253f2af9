/* Configurations of runs and the plans that follow from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "agent/plan.h"
#include "base/file.h"

static struct arena *arena;
static char *folder;

static const char *write_config(const char *text)
{
    const char *path = file_join(arena, folder, "run.yaml");
    struct error error;

    assert_true(file_write(path, text, strlen(text), 0644, &error));
    return path;
}

static bool read_config(const char *text, struct run_config *config, struct error *error)
{
    *config = run_config_defaults();
    return run_config_read(arena, write_config(text), config, error) && run_config_check(config, error);
}

static void test_everything(void **state)
{
    struct run_config config, copy;
    struct error error;
    struct json_document *document;

    (void)state;
    assert_true(read_config("name: paper\n"
                            "models: [gpt, claude]\n"
                            "tasks:\n"
                            "  - definition: gemm_n7168_k5120\n"
                            "    workloads: [9492]\n"
                            "    axes: M=64\n"
                            "variants: [0, none]\n"
                            "trajectories: 4\n"
                            "turns: 6\n"
                            "target_speedup: 1.5\n"
                            "context: latest-pair\n"
                            "arch: sm_100a\n"
                            "binding: c\n"
                            "guidance: yes\n"
                            "devices: [cuda:0, cuda:1]\n"
                            "parallel: 100\n"
                            "budget: {tokens: 1000000, usd: 12.5, hours: 3}\n"
                            "trajectory_budget: {tokens: 500}\n"
                            "evaluation: {trials: 1, sanitizer: off, timeout: 100}\n",
                            &config, &error));
    AUTO_JSON_OBJECT *object = run_config_to_json(&config);
    AUTO_FREE char *text = NULL;
    assert_true(json_to_text(object, true, &text, &error));
    assert_true(json_parse(text, strlen(text), "run.json", 1, &document, &error));
    assert_true(run_config_from_json(json_root(document), arena, &copy, &error));
    json_document_free(document);
    AUTO_JSON_OBJECT *again = run_config_to_json(&copy);
    assert_true(json_object_equal(object, again));
    assert_int_equal(copy.models.count, 2);
    assert_string_equal(copy.tasks.items[0].workloads.items[0].name, "9492");
    assert_int_equal(copy.turns, 6);
    assert_true(copy.budget.usd == 12.5);
    assert_true(copy.target_speedup == 1.5);
    assert_int_equal(copy.trajectory_budget.tokens, 500);
    assert_string_equal(copy.evaluation.sanitizer, "off");
    assert_true(copy.guidance);
}

static void test_mistakes(void **state)
{
    static const struct {
        const char *text;
        const char *said;
    } cases[] = {
        {"models: [a]\ntasks:\n  - definition: x\nturrns: 3\n", "run.yaml:4: "},
        {"models: [a]\ntasks:\n  - definitoin: x\n", "run.yaml:3: "},
        {"models: [a]\n", "tasks"},
        {"tasks:\n  - definition: x\n", "models"},
        {"models: [a]\ntasks:\n  - definition: x\nturns: eight\n", "turns: \"eight\""},
        {"models: [a]\ntasks:\n  - definition: x\nturns: 0\n", "turns"},
        {"models: [a]\ntasks:\n  - definition: x\ntarget_speedup: -1\n", "target_speedup"},
        {"models: [a]\ntasks:\n  - definition: x\ncontext: some\n", "latest-pair"},
        {"models: [a]\ntasks:\n  - definition: x\narch: sm_80\n", "sm_90a"},
        {"models: [a]\ntasks:\n  - definition: x\nbinding: auto\n", "tvm-ffi"},
        {"models: [a]\ntasks:\n  - definition: x\nbudget: {usd: lots}\n", "usd"},
        {"", "empty"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct run_config config;
        struct error error;
        assert_false(read_config(cases[i].text, &config, &error));
        if (!strstr(error.message, cases[i].said))
            fail_msg("\"%s\" does not say \"%s\"", error.message, cases[i].said);
    }
}

/* Names of files beside the configuration, wherever the program is called from. */
static void test_relative_paths(void **state)
{
    struct run_config config;
    struct error error;

    (void)state;
    assert_true(file_write(file_join(arena, folder, "mine.yaml"), "x", 1, 0644, &error));
    assert_true(read_config("models: [mine.yaml, shipped]\ntasks:\n  - definition: x\n", &config, &error));
    assert_string_equal(config.models.items[0].name, file_join(arena, folder, "mine.yaml"));
    assert_string_equal(config.models.items[1].name, "shipped");
}

static void test_plan(void **state)
{
    static const char *const root = SOURCE_ROOT "/tasks";
    struct model_config models[2] = {{.name = "a b"}, {.name = "c"}};
    struct run_config config;
    struct trace_set *tasks;
    struct error error;
    struct plan plan;

    (void)state;
    assert_true(trace_set_open(&root, 1, &tasks, &error));
    assert_true(read_config("models: [x, y]\ntasks:\n  - definition: gemm_n7168_k5120\n    axes: M=64\n"
                            "variants: [0, 2]\ntrajectories: 3\n",
                            &config, &error));
    assert_true(plan_make(arena, &config, models, tasks, &plan, &error));
    assert_int_equal(plan.count, 2 * 2 * 3);
    assert_string_equal(plan.items[0].name, "a_b.gemm_n7168_k5120.v0.t0");
    assert_string_equal(plan.items[4].name, "a_b.gemm_n7168_k5120.v1.t1");
    assert_string_equal(plan.items[4].variant_name, "2");
    assert_non_null(strstr(plan.items[0].workload->uuid, "+M=64"));
    config.models.items[1] = config.models.items[0];
    models[1].name = "a b";
    assert_false(plan_make(arena, &config, models, tasks, &plan, &error)); /* two folders of one name */
    assert_non_null(strstr(error.message, "a_b.gemm_n7168_k5120.v0.t0"));
    config.tasks.items[0].definition = "gemm_n7168_k512";
    assert_false(plan_make(arena, &config, models, tasks, &plan, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    trace_set_free(tasks);
}

static int set_up(void **state)
{
    struct error error;

    (void)state;
    arena = arena_new();
    return file_make_temporary_folder(arena, file_temporary_root(), "run_config", &folder, &error) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)file_remove_tree(folder);
    arena_free(arena);
    return 0;
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {TEST(test_everything), TEST(test_mistakes), TEST(test_relative_paths),
                                       TEST(test_plan)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
