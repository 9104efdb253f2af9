/* trace/solution.h */
#include "trace_test.h"

#include "trace/solution.h"

#define SOLUTION                                                                                                       \
    "{\"name\":\"eval_kernel\",\"definition\":\"scale_rows_n64\",\"author\":\"eval\",\"spec\":{\"language\":\"cuda\"," \
    "\"binding\":\"tvm-ffi\",\"target_hardware\":[\"H100\"],\"entry_point\":\"kernel.cu::run\",\"dependencies\":[],"   \
    "\"destination_passing_style\":true},\"sources\":[{\"path\":\"kernel.cu\",\"content\":\"// CUDA\"},"               \
    "{\"path\":\"include/x.h\",\"content\":\"// x\"}]}"

static bool parse(const char *text, char hash[HASH_TEXT_BYTES], char name[64], struct error *error)
{
    AUTO_JSON_DOCUMENT *document = read_json(text);
    AUTO_ARENA *arena = arena_new();
    struct solution *solution;

    if (!solution_parse(json_root(document), arena, &solution, error))
        return false;
    memcpy(hash, solution->hash, HASH_TEXT_BYTES);
    (void)snprintf(name, 64, "%s", solution_unique_name(solution, arena));
    return true;
}

static void test_fields(void **state)
{
    AUTO_JSON_DOCUMENT *document = read_json(SOLUTION);
    AUTO_ARENA *arena = arena_new();
    struct solution *solution = NULL;
    struct error error;

    (void)state;
    assert_true(solution_parse(json_root(document), arena, &solution, &error));
    assert_int_equal(solution->language, LANGUAGE_CUDA);
    assert_int_equal(solution->binding, BINDING_TVM_FFI);
    assert_string_equal(solution->entry_file, "kernel.cu");
    assert_string_equal(solution->entry_symbol, "run");
    assert_int_equal(solution->source_count, 2);
    assert_string_equal(solution->sources[1].path, "include/x.h");
    assert_true(solution->destination_passing_style);
    assert_int_equal(solution->target_hardware_count, 1);
}

static void test_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"path\":\"kernel.cu\"", "\"path\":\"/kernel.cu\"",
         "t.json:1: $.sources[0].path: source path \"/kernel.cu\" is absolute"},
        {"include/x.h", "a/../../x.h", "t.json:1: $.sources[1].path: source path \"a/../../x.h\" contains \"..\""},
        {"include/x.h", "..", "t.json:1: $.sources[1].path: source path \"..\" contains \"..\""},
        {"include/x.h", "C:/x.h", "t.json:1: $.sources[1].path: source path \"C:/x.h\" is absolute"},
        {"include/x.h", "a\\\\x.h", "t.json:1: $.sources[1].path: source path \"a\\x.h\" contains a backslash"},
        {"include/x.h", "./x.h",
         "t.json:1: $.sources[1].path: source path \"./x.h\" is not normal (empty or \".\" part)"},
        {"include/x.h", "a//x.h",
         "t.json:1: $.sources[1].path: source path \"a//x.h\" is not normal (empty or \".\" part)"},
        {"include/x.h", "", "t.json:1: $.sources[1].path: source path \"\" is empty"},
        {"include/x.h", "kernel.cu", "t.json:1: $.sources[1].path: duplicate source path \"kernel.cu\""},
        {"// x", "", "t.json:1: $.sources[1].content: must not be empty"},
        {"kernel.cu::run", "kernel.cu",
         "t.json:1: $.spec.entry_point: expected \"file::symbol\" with exactly one "
         "\"::\", found \"kernel.cu\""},
        {"kernel.cu::run", "kernel.cu::a::b",
         "t.json:1: $.spec.entry_point: expected \"file::symbol\" with exactly "
         "one \"::\", found \"kernel.cu::a::b\""},
        {"kernel.cu::run", "main.cu::run",
         "t.json:1: $.spec.entry_point: entry file \"main.cu\" is not among the "
         "sources"},
        {"[\"H100\"]", "[]", "t.json:1: $.spec: target_hardware must name at least one device"},
        {"\"cuda\"", "\"rust\"", "t.json:1: $.spec.language: unknown language \"rust\""},
        {"\"tvm-ffi\"", "\"pybind\"", "t.json:1: $.spec.binding: unknown binding \"pybind\""},
        {"\"author\":\"eval\"", "\"author\":7", "t.json:1: $.author: expected a string, found an integer"},
    };
    char hash[HASH_TEXT_BYTES];
    char name[64];
    struct error error;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *text = replace(SOLUTION, cases[i].from, cases[i].to);
        if (parse(text, hash, name, &error))
            fail_msg("accepted with %s", cases[i].to);
        assert_string_equal(error.message, cases[i].message);
    }
}

static void test_hash(void **state)
{
    static const struct {
        const char *from, *to;
        bool same;
    } cases[] = {
        {"\"author\":\"eval\"", "\"author\":\"other\"", true},
        {"H100", "B200", true},
        {"\"name\":\"eval_kernel\"", "\"name\":\"k2\"", true},
        {"// CUDA", "// CUDA ", false},
        {"kernel.cu::run", "kernel.cu::go", false},
        {"tvm-ffi", "c", false},
        {"\"dependencies\":[]", "\"dependencies\":[\"cutlass\"]", false},
        {"\"path\":\"kernel.cu\",\"content\":\"// CUDA\"", "\"content\":\"// CUDA\",\"path\":\"kernel.cu\"", true},
    };
    char base[HASH_TEXT_BYTES];
    char hash[HASH_TEXT_BYTES];
    char name[64];
    char expected[64];
    struct error error;

    (void)state;
    assert_true(parse(SOLUTION, base, name, &error));
    (void)snprintf(expected, sizeof expected, "eval_kernel_%.8s", base);
    assert_string_equal(name, expected);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *text = replace(SOLUTION, cases[i].from, cases[i].to);
        assert_true(parse(text, hash, name, &error));
        if (!strcmp(hash, base) != cases[i].same)
            fail_msg("hash with %s", cases[i].to);
    }
}

static void test_new_cuda(void **state)
{
    AUTO_JSON_OBJECT *built =
        solution_new_cuda("mine", "gemm", "me", BINDING_C, "kernel.cu", "ptxbench_run", "H200", "int x;\n");
    AUTO_ARENA *arena = arena_new();
    AUTO_FREE char *text = NULL;
    struct solution *solution = NULL;
    struct error error;

    (void)state;
    assert_true(json_to_text(built, true, &text, &error));
    AUTO_JSON_DOCUMENT *document = read_json(text);
    assert_true(solution_parse(json_root(document), arena, &solution, &error));
    assert_int_equal(solution->binding, BINDING_C);
    assert_string_equal(solution->entry_symbol, "ptxbench_run");
    assert_string_equal(solution->sources[0].content, "int x;\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_new_cuda),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
