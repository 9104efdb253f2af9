/* trace/trace_set.h: folders, several roots, conflicts, lookups; and our own tasks/. */
#include "trace_test.h"

#include "base/file.h"
#include "trace/trace_set.h"

#define LINE                                                                                                           \
    "{\"definition\":\"scale_rows_n64\",\"workload\":" SCALE_WORKLOAD ",\"solution\":null,\"evaluation\":null}\n"
#define SOLUTION                                                                                                       \
    "{\"name\":\"k\",\"definition\":\"scale_rows_n64\",\"author\":\"a\",\"spec\":{\"language\":\"cuda\","              \
    "\"target_hardware\":[\"H100\"],\"entry_point\":\"k.cu::run\"},\"sources\":[{\"path\":\"k.cu\","                   \
    "\"content\":\"x\"}]}"

static struct arena *arena;
static char *folder;

static int set_up(void **state)
{
    struct error error;

    (void)state;
    arena = arena_new();
    return file_make_temporary_folder(arena, file_temporary_root(), "sets", &folder, &error) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    (void)file_remove_tree(folder);
    arena_free(arena);
    return 0;
}

static void put_file(const char *path, const char *text)
{
    char *full = file_join(arena, folder, path);
    char *parent = arena_strdup(arena, full);
    struct error error;

    *strrchr(parent, '/') = '\0';
    assert_true(file_make_folder(parent, &error));
    assert_true(file_write(full, text, strlen(text), 0644, &error));
}

static bool open_set(const char *first, const char *second, struct trace_set **set, struct error *error)
{
    const char *roots[2] = {file_join(arena, folder, first), second ? file_join(arena, folder, second) : NULL};

    return trace_set_open(roots, second ? 2 : 1, set, error);
}

static bool count_trace(const struct trace *trace, void *context, struct error *error)
{
    (void)trace;
    (void)error;
    ++*(int *)context;
    return true;
}

static void test_one_root(void **state)
{
    AUTO_TRACE_SET *set = NULL;
    const struct definition *definition = NULL;
    const struct workload *workload = NULL;
    const struct solution *solution = NULL;
    struct error error;
    int traces = 0;

    (void)state;
    put_file("a/definitions/demo/scale.json", SCALE_ROWS);
    put_file("a/workloads/demo/scale.jsonl", LINE "\n" LINE);
    put_file("a/solutions/k.json", SOLUTION);
    put_file("a/traces/t.jsonl",
             "{\"definition\":\"scale_rows_n64\",\"workload\":" SCALE_WORKLOAD ",\"solution\":\"k\",\"evaluation\":{"
             "\"status\":\"TIMEOUT\",\"environment\":{\"hardware\":\"h\"},\"timestamp\":\"t\",\"log\":\"\"}}\n{torn\n");
    assert_true(open_set("a", NULL, &set, &error));
    assert_int_equal(trace_set_definition_count(set), 1);
    assert_int_equal(trace_set_solution_count(set), 1);
    assert_true(trace_set_find_definition(set, "scale_rows_n64", &definition, &error));
    assert_int_equal(trace_set_workload_count(set, definition), 1);
    assert_true(trace_set_find_workload(set, "scale_rows_n64", NULL, &workload, &error));
    assert_ptr_equal(workload, trace_set_workload(set, definition, 0));
    assert_true(trace_set_find_workload(set, "scale_rows_n64", "5d0c", &workload, &error));
    assert_false(trace_set_find_workload(set, "scale_rows_n64", "5d0", &workload, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    assert_true(trace_set_find_solution(set, "k", &solution, &error));
    assert_true(trace_set_each_trace(set, JSONL_SKIP, count_trace, &traces, &error));
    assert_int_equal(traces, 1);
    assert_false(trace_set_each_trace(set, JSONL_REFUSE, count_trace, &traces, &error));
    assert_false(trace_set_find_definition(set, "scale_cols", &definition, &error));
    assert_string_equal(error.message, "no definition is named \"scale_cols\"");
    assert_string_equal(error.hint, "did you mean \"scale_rows_n64\"?");
}

static void test_roots_merge(void **state)
{
    AUTO_TRACE_SET *set = NULL;
    const struct workload *workload = NULL;
    const struct definition *definition = NULL;
    struct error error;

    (void)state;
    put_file("b/definitions/s.json", SCALE_ROWS);
    put_file("b/workloads/s.jsonl", LINE);
    put_file("c/definitions/other/place.json", " " SCALE_ROWS);
    AUTO_FREE char *stored = replace(LINE, "\"X\":{\"type\":\"random\"}",
                                     "\"X\":{\"type\":\"safetensors\",\"path\":\"blob/x\",\"tensor_key\":\"X\"}");
    AUTO_FREE char *renamed = replace(stored, "5d0c2c0e", "77777777");
    put_file("c/workloads/s.jsonl", renamed);
    assert_true(open_set("b", "c", &set, &error));
    assert_int_equal(trace_set_definition_count(set), 1);
    assert_true(trace_set_find_definition(set, "scale_rows_n64", &definition, &error));
    assert_int_equal(trace_set_workload_count(set, definition), 2);
    assert_true(trace_set_find_workload(set, "scale_rows_n64", "77777777", &workload, &error));
    assert_string_equal(workload->inputs[0].path, file_join(arena, folder, "c/blob/x"));
    assert_true(trace_set_find_workload(set, "scale_rows_n64", NULL, &workload, &error));
    assert_int_equal(workload->uuid[0], '5');
}

static void test_conflicts(void **state)
{
    struct trace_set *set;
    struct error error;

    (void)state;
    put_file("d/definitions/s.json", SCALE_ROWS);
    put_file("d/workloads/s.jsonl", LINE);
    AUTO_FREE char *other = replace(LINE, "256", "512");
    put_file("e/workloads/s.jsonl", other);
    put_file("e/definitions/s.json", SCALE_ROWS);
    assert_false(open_set("d", "e", &set, &error));
    assert_string_equal(error.message,
                        arena_printf(arena,
                                     "conflicting workload uuid \"5d0c2c0e-0000-4000-8000-000000000001\": "
                                     "%s/d/workloads/s.jsonl:1 and %s/e/workloads/s.jsonl:1 differ",
                                     folder, folder));

    AUTO_FREE char *definition = replace(SCALE_ROWS, "\"value\":64", "\"value\":65");
    put_file("f/definitions/s.json", definition);
    assert_false(open_set("d", "f", &set, &error));
    assert_non_null(strstr(error.message, "conflicting definition \"scale_rows_n64\""));

    /* json_object_equal does not see this difference */
    AUTO_FREE char *without = replace(SCALE_ROWS, "\"X\":{\"shape\":[\"M\",\"N\"],\"dtype\":\"bfloat16\"},", "");
    AUTO_FREE char *swapped = replace(without, "\"dtype\":\"float32\"}",
                                      "\"dtype\":\"float32\"},\"X\":{\"shape\":[\"M\",\"N\"],\"dtype\":\"bfloat16\"}");
    put_file("g/definitions/s.json", swapped);
    assert_false(open_set("d", "g", &set, &error));
    assert_non_null(strstr(error.message, "conflicting definition"));
}

static void test_refused(void **state)
{
    struct trace_set *set;
    struct error error;

    (void)state;
    assert_false(open_set("absent", NULL, &set, &error));
    assert_int_equal(error.code, ERROR_NOT_FOUND);
    put_file("h/workloads/s.jsonl", "\n" LINE);
    assert_false(open_set("h", NULL, &set, &error));
    assert_non_null(strstr(error.message, "h/workloads/s.jsonl:2: $.definition: no definition is named"));
    put_file("h/workloads/s.jsonl", "{\n");
    assert_false(open_set("h", NULL, &set, &error));
    assert_non_null(strstr(error.message, "s.jsonl:1: expected a key"));
}

static void test_shipped_tasks(void **state)
{
    static const struct {
        const char *definition, *uuid;
        int64_t size;
    } paper[] = {
        {"gemm_n7168_k5120", "94920358-01a8-4c5b-9209-3103fd490e94", 8192},
        {"mha_with_lse_d128", "bc38b351-d595-451b-9153-8e225702e53b", 4096},
        {"mha_with_lse_d128_causal", "6d2f67a7-225a-4af5-87d3-cbb99b496325", 4096},
        {"mha_bwd_d128", "38c3b07c-f006-5f5e-9860-ba214c805a6b", 4096},
        {"mha_bwd_d128_causal", "c119b3f0-c051-5e96-9c2a-2268d992fe1a", 4096},
    };
    AUTO_TRACE_SET *set = NULL;
    const char *root = SOURCE_ROOT "/tasks";
    const struct workload *workload = NULL;
    struct error error;

    (void)state;
    if (!trace_set_open(&root, 1, &set, &error))
        fail_msg("%s", error.message);
    assert_int_equal(trace_set_definition_count(set), 17 + 8 + 6);
    for (size_t i = 0; i < ARRAY_LEN(paper); i++) {
        assert_true(trace_set_find_workload(set, paper[i].definition, NULL, &workload, &error));
        assert_string_equal(workload->uuid, paper[i].uuid);
        int axis = definition_find_axis(workload->definition, i ? "S" : "M");
        assert_int_equal(workload->axes[axis], paper[i].size);
        assert_true(definition_has_tag(workload->definition, "paper:primary"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_root), cmocka_unit_test(test_roots_merge),   cmocka_unit_test(test_conflicts),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_shipped_tasks),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
