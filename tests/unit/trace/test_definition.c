/* trace/definition.h and trace/workload.h: the checks of the schema and what the structs hold. */
#include "trace_test.h"

#include "base/buffer.h"
#include "trace/workload.h"

static void expect_definition_error(const char *from, const char *to, const char *message)
{
    AUTO_FREE char *text = replace(SCALE_ROWS, from, to);
    AUTO_JSON_DOCUMENT *document = read_json(text);
    AUTO_ARENA *arena = arena_new();
    struct definition *definition;
    struct error error = {0};

    if (definition_parse(json_root(document), arena, &definition, &error))
        fail_msg("accepted with %s", to);
    assert_string_equal(error.message, message);
    assert_int_equal(error.code, ERROR_INPUT);
}

static void test_definition_fields(void **state)
{
    AUTO_JSON_DOCUMENT *document = read_json(SCALE_ROWS);
    AUTO_ARENA *arena = arena_new();
    struct definition *definition = NULL;
    struct error error;
    char *text;

    (void)state;
    assert_true(definition_parse(json_root(document), arena, &definition, &error));
    assert_string_equal(definition->name, "scale_rows_n64");
    assert_string_equal(definition->op_type, "demo");
    assert_null(definition->description);
    assert_int_equal(definition->axis_count, 2);
    assert_int_equal(definition->axes[0].kind, AXIS_VAR);
    assert_int_equal(definition->axes[1].value, 64);
    assert_int_equal(definition->input_count, 2);
    assert_string_equal(definition->inputs[1].name, "alpha");
    assert_true(definition->inputs[1].scalar);
    assert_int_equal(definition->inputs[1].rank, 0);
    assert_int_equal(definition->inputs[0].rank, 2);
    assert_int_equal(definition->inputs[0].axes[1], 1);
    assert_int_equal(definition->output_count, 1);
    assert_int_equal(definition->outputs[0].dtype, DTYPE_BFLOAT16);
    assert_true(definition_has_tag(definition, "status:verified"));
    assert_false(definition_has_tag(definition, "status"));
    assert_int_equal(definition_find_axis(definition, "N"), 1);
    assert_int_equal(definition_find_input(definition, "Y"), -1);
    assert_int_equal(definition_find_output(definition, "Y"), 0);
    assert_true(json_to_text(definition->source.value, false, &text, &error));
    assert_string_equal(text, SCALE_ROWS);
    free(text);
}

static void test_definition_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"value\":64", "\"value\":-1", "t.json:1: $.axes.N.value: expected a non-negative integer, found -1"},
        {"\"value\":64", "\"value\":64.0", "t.json:1: $.axes.N.value: expected a non-negative integer, found a number"},
        {"\"value\":64", "\"size\":64", "t.json:1: $.axes.N: missing member \"value\""},
        {"\"const\"", "\"fixed\"", "t.json:1: $.axes.N: axis type must be \"const\" or \"var\", found \"fixed\""},
        {"\"bfloat16\"", "\"bf16\"", "t.json:1: $.inputs.X.dtype: unknown dtype \"bf16\""},
        {"[\"M\",\"N\"]", "[\"M\",\"K\"]", "t.json:1: $.inputs.X.shape[1]: axis \"K\" is not declared in axes"},
        {"[\"M\",\"N\"]", "[\"M\",64]", "t.json:1: $.inputs.X.shape[1]: expected a string, found an integer"},
        {"[\"M\",\"N\"]", "\"MN\"",
         "t.json:1: $.inputs.X.shape: expected an array of axis names, or null for a scalar, found a string"},
        {"[\"M\",\"N\"]", "[\"M\",\"M\",\"M\",\"M\",\"M\",\"M\",\"M\",\"M\",\"M\"]",
         "t.json:1: $.inputs.X.shape: rank 9 is larger than 8"},
        {"\"Y\"", "\"X\"", "t.json:1: $: \"X\" is both an input and an output"},
        {"\"outputs\":{\"Y\":{\"shape\":[\"M\",\"N\"],\"dtype\":\"bfloat16\"}}", "\"outputs\":{}",
         "t.json:1: $: a definition needs at least one output"},
        {"def run(", "def ran(", "t.json:1: $.reference: the reference must define a top-level function: def run(...)"},
        {"\\ndef run(", "\\n  def run(",
         "t.json:1: $.reference: the reference must define a top-level function: def run(...)"},
        {"\\ndef run(", "\\ndef run_it(",
         "t.json:1: $.reference: the reference must define a top-level function: def run(...)"},
        {"[\"status:verified\"]", "[\" \"]", "t.json:1: $.tags[0]: must not be empty"},
        {"[\"status:verified\"]", "\"x\"", "t.json:1: $.tags: expected an array, found a string"},
        {"M % 8 == 0", "(M % 8 == 0", "t.json:1: $.constraints[0]: not an expression: unbalanced brackets or quotes"},
        {"M % 8 == 0", "M in [1, 2)", "t.json:1: $.constraints[0]: not an expression: unbalanced brackets or quotes"},
        {"\"scale_rows_n64\"", "\"\"", "t.json:1: $.name: must not be empty"},
        {"\"scale_rows_n64\"", "null", "t.json:1: $.name: expected a string, found null"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        expect_definition_error(cases[i].from, cases[i].to, cases[i].message);
}

static void test_reference_spelling(void **state)
{
    static const char *const accepted[] = {"\\ndef  run (", "\\ndef run(\\n"};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(accepted); i++) {
        AUTO_FREE char *text = replace(SCALE_ROWS, "\\ndef run(", accepted[i]);
        AUTO_JSON_DOCUMENT *document = read_json(text);
        AUTO_ARENA *arena = arena_new();
        struct definition *definition;
        struct error error;
        assert_true(definition_parse(json_root(document), arena, &definition, &error));
    }
}

/* Parses `workload_text` against `definition_text`; the message when it was refused, else NULL. */
static const char *workload_problem(const char *definition_text, const char *workload_text, struct error *error)
{
    AUTO_JSON_DOCUMENT *first = read_json(definition_text);
    AUTO_JSON_DOCUMENT *second = read_json(workload_text);
    AUTO_ARENA *arena = arena_new();
    struct definition *definition = NULL;
    struct workload *workload;

    assert_true(definition_parse(json_root(first), arena, &definition, error));
    return workload_parse(json_root(second), definition, "root", arena, &workload, error) ? NULL : error->message;
}

static void test_workload_fields(void **state)
{
    AUTO_JSON_DOCUMENT *first = read_json(SCALE_ROWS);
    AUTO_JSON_DOCUMENT *second = read_json(SCALE_WORKLOAD);
    AUTO_ARENA *arena = arena_new();
    struct definition *definition = NULL;
    struct workload *workload = NULL;
    struct tensor_shape shape;
    struct error error;
    char text[64];

    (void)state;
    assert_true(definition_parse(json_root(first), arena, &definition, &error));
    assert_true(workload_parse(json_root(second), definition, "root", arena, &workload, &error));
    assert_string_equal(workload->uuid, "5d0c2c0e-0000-4000-8000-000000000001");
    assert_int_equal(workload->axes[0], 256);
    assert_int_equal(workload->axes[1], 64);
    assert_int_equal(workload->inputs[0].kind, INPUT_RANDOM);
    assert_int_equal(workload->inputs[1].kind, INPUT_SCALAR);
    assert_true(workload->inputs[1].real == 0.5);
    assert_null(workload->outputs);
    assert_true(workload_tensor_shape(workload, &definition->inputs[0], &shape, &error));
    tensor_shape_text(&shape, text, sizeof text);
    assert_string_equal(text, "bfloat16[256, 64]");
    assert_int_equal(workload_input_bytes(workload), 2 * 256 * 64);
    assert_int_equal(workload_output_bytes(workload), 2 * 256 * 64);
    workload_axes_text(workload, false, text, sizeof text);
    assert_string_equal(text, "M=256 N=64");
    workload_axes_text(workload, true, text, sizeof text);
    assert_string_equal(text, "M=256");
}

static void test_workload_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"M\":256", "\"M\":-1", "t.json:1: $.axes.M: expected a non-negative integer, found -1"},
        {"\"M\":256", "\"M\":2.5", "t.json:1: $.axes.M: expected a non-negative integer, found a number"},
        {"\"M\":256", "\"N\":64", "t.json:1: $.axes: axis \"M\" of scale_rows_n64 has no size"},
        {"\"M\":256", "\"M\":256,\"N\":65", "t.json:1: $.axes.N: axis is 64 in scale_rows_n64"},
        {"\"M\":256", "\"M\":256,\"Q\":1", "t.json:1: $.axes.Q: scale_rows_n64 has no axis \"Q\""},
        {"\"M\":256", "\"M\":9223372036854775808", "t.json:1: $.axes.M: axis size is too large"},
        {"\"M\":256", "\"M\":72057594037927936", "t.json:1: $: \"X\": bfloat16[72057594037927936, 64] is too large"},
        {"\"X\":{\"type\":\"random\"},", "", "t.json:1: $.inputs: missing member \"X\""},
        {"\"X\":", "\"Z\":{},\"X\":", "t.json:1: $.inputs.Z: the definition declares no \"Z\""},
        {"\"random\"", "\"zeros\"",
         "t.json:1: $.inputs.X: input type must be random, scalar, safetensors or derived, found \"zeros\""},
        {"\"random\"", "\"scalar\",\"value\":1", "t.json:1: $.inputs.X: \"X\" is a tensor, a scalar does not fit"},
        {"\"value\":0.5", "\"value\":\"x\"",
         "t.json:1: $.inputs.alpha.value: expected a number, \"NaN\", "
         "\"Infinity\" or \"-Infinity\", found \"x\""},
        {"\"random\"", "\"safetensors\",\"path\":\"a\"", "t.json:1: $.inputs.X: missing member \"tensor_key\""},
        {"\"random\"", "\"derived\"", "t.json:1: $.inputs.X: missing member \"from\""},
        {"\"note\"", "\"outputs\":{\"Y\":{\"type\":\"random\"}},\"note\"",
         "t.json:1: $.outputs: stored outputs must be of type safetensors"},
        {"\"uuid\":", "\"id\":", "t.json:1: $: missing member \"uuid\""},
    };
    struct error error;

    (void)state;
    assert_null(workload_problem(SCALE_ROWS, SCALE_WORKLOAD, &error));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *text = replace(SCALE_WORKLOAD, cases[i].from, cases[i].to);
        const char *problem = workload_problem(SCALE_ROWS, text, &error);
        assert_non_null(problem);
        assert_string_equal(problem, cases[i].message);
    }
}

static void test_total_size(void **state)
{
    /* each of the nine tensors fits, their sum does not */
    AUTO_BUFFER definition = buffer_new(4096);
    AUTO_BUFFER workload = buffer_new(4096);
    struct error error;

    (void)state;
    (void)buffer_append_text(&definition, "{\"name\":\"d\",\"op_type\":\"o\",\"axes\":{\"M\":{\"type\":\"var\"}},"
                                          "\"reference\":\"def run(): pass\",\"inputs\":{");
    (void)buffer_append_text(&workload, "{\"axes\":{\"M\":1152921504606846975},\"uuid\":\"u\",\"inputs\":{");
    for (int i = 0; i < 8; i++) {
        (void)buffer_printf(&definition, "%s\"I%d\":{\"shape\":[\"M\"],\"dtype\":\"int8\"}", i ? "," : "", i);
        (void)buffer_printf(&workload, "%s\"I%d\":{\"type\":\"random\"}", i ? "," : "", i);
    }
    (void)buffer_append_text(&definition, "},\"outputs\":{\"Y\":{\"shape\":[\"M\"],\"dtype\":\"int8\"}}}");
    (void)buffer_append_text(&workload, "}}");
    const char *problem = workload_problem(definition.data, workload.data, &error);
    assert_non_null(problem);
    assert_string_equal(problem, "t.json:1: $: the tensors together are too large");
}

static void test_integer_scalars(void **state)
{
    AUTO_FREE char *definition = replace(SCALE_ROWS, "\"float32\"", "\"int8\"");
    static const struct {
        const char *value;
        bool fits;
    } cases[] = {{"127", true}, {"-128", true}, {"128", false}, {"-129", false}, {"1.5", false}, {"true", true}};
    struct error error;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *workload = replace(SCALE_WORKLOAD, "0.5", cases[i].value);
        assert_int_equal(!workload_problem(definition, workload, &error), cases[i].fits);
    }
}

static void test_resize(void **state)
{
    AUTO_JSON_DOCUMENT *first = read_json(SCALE_ROWS);
    AUTO_JSON_DOCUMENT *second = read_json(SCALE_WORKLOAD);
    AUTO_ARENA *arena = arena_new();
    struct definition *definition = NULL;
    struct workload *workload = NULL;
    struct workload *small = NULL;
    struct error error;
    static const char *const refused[] = {"M", "M=", "M=x", "M=-1", "N=3", "Q=1", "M=1,"};

    (void)state;
    assert_true(definition_parse(json_root(first), arena, &definition, &error));
    assert_true(workload_parse(json_root(second), definition, "root", arena, &workload, &error));
    assert_true(workload_resize(workload, "M=8", arena, &small, &error));
    assert_int_equal(small->axes[0], 8);
    assert_int_equal(workload->axes[0], 256);
    assert_string_equal(small->uuid, "5d0c2c0e-0000-4000-8000-000000000001+M=8");
    for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
        assert_false(workload_resize(workload, refused[i], arena, &small, &error));
        assert_int_equal(error.code, ERROR_USAGE);
    }
    assert_true(workload_resize(workload, "M=999999999999999", arena, &small, &error));
    assert_false(workload_resize(workload, "M=999999999999999999", arena, &small, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_definition_fields),  cmocka_unit_test(test_definition_refused),
        cmocka_unit_test(test_reference_spelling), cmocka_unit_test(test_workload_fields),
        cmocka_unit_test(test_workload_refused),   cmocka_unit_test(test_integer_scalars),
        cmocka_unit_test(test_total_size),         cmocka_unit_test(test_resize),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
