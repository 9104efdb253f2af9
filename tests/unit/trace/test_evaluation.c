/* trace/evaluation.h and trace/trace.h: invariants, inf and NaN as texts, log cap, unknown members kept. */
#include "trace_test.h"

#include <math.h>

#include "trace/trace.h"

static const struct evaluation_library libraries[] = {{"cuda", "13.0"}, {"cudnn", "9.20.0"}};

static struct evaluation sample(enum evaluation_status status, bool correctness, bool performance)
{
    return (struct evaluation){
        .status = status,
        .hardware = "NVIDIA H200",
        .libraries = libraries,
        .library_count = 2,
        .timestamp = "2026-08-01T12:00:00Z",
        .log = "ptxas info\n",
        .has_correctness = correctness,
        .max_relative_error = 0.0039,
        .max_absolute_error = (double)INFINITY,
        .has_performance = performance,
        .latency_ms = 0.011,
        .reference_latency_ms = 0.013,
        .speedup_factor = 1.18,
    };
}

static void test_invariants(void **state)
{
    static const bool needs[][2] = {
#define X(name, text, correctness, performance) [name] = {correctness, performance},
        EVALUATION_STATUSES(X)
#undef X
    };
    struct error error;

    (void)state;
    for (int status = 0; status < (int)ARRAY_LEN(needs); status++)
        for (int bits = 0; bits < 4; bits++) {
            struct evaluation evaluation = sample((enum evaluation_status)status, bits & 1, bits & 2);
            bool expected = needs[status][0] == (bool)(bits & 1) && needs[status][1] == (bool)(bits & 2);
            assert_int_equal(evaluation_check(&evaluation, &error), expected);
        }
    struct evaluation evaluation = sample(EVALUATION_TIMEOUT, true, false);
    assert_false(evaluation_check(&evaluation, &error));
    assert_string_equal(error.message, "status TIMEOUT must not have correctness");
    evaluation = sample(EVALUATION_PASSED, true, false);
    assert_false(evaluation_check(&evaluation, &error));
    assert_string_equal(error.message, "status PASSED needs performance");
    evaluation = sample(EVALUATION_PASSED, true, true);
    evaluation.latency_ms = -1;
    assert_false(evaluation_check(&evaluation, &error));
    evaluation.latency_ms = (double)NAN;
    assert_false(evaluation_check(&evaluation, &error));
}

static void test_round_trip(void **state)
{
    AUTO_JSON_DOCUMENT *definition_text = read_json(SCALE_ROWS);
    AUTO_JSON_DOCUMENT *workload_text = read_json(SCALE_WORKLOAD);
    AUTO_ARENA *arena = arena_new();
    struct definition *definition = NULL;
    struct workload *workload = NULL;
    struct evaluation evaluation = sample(EVALUATION_PASSED, true, true);
    AUTO_JSON_OBJECT *built = NULL;
    AUTO_FREE char *text = NULL;
    struct trace trace;
    struct error error;

    (void)state;
    assert_true(definition_parse(json_root(definition_text), arena, &definition, &error));
    assert_true(workload_parse(json_root(workload_text), definition, "", arena, &workload, &error));
    assert_true(trace_to_json(workload, "eval_kernel_1a2b3c4d", &evaluation, &built, &error));
    assert_true(json_to_text(built, false, &text, &error));
    assert_string_equal(
        text,
        "{\"definition\":\"scale_rows_n64\",\"workload\":" SCALE_WORKLOAD ",\"solution\":\"eval_kernel_1a2b3c4d\","
        "\"evaluation\":{\"status\":\"PASSED\",\"environment\":{\"hardware\":\"NVIDIA H200\",\"libs\":{\"cuda\":"
        "\"13.0\",\"cudnn\":\"9.20.0\"}},\"timestamp\":\"2026-08-01T12:00:00Z\",\"log\":\"ptxas info\\n\","
        "\"correctness\":{\"max_relative_error\":0.0039,\"max_absolute_error\":\"Infinity\"},\"performance\":{"
        "\"latency_ms\":0.011,\"reference_latency_ms\":0.013,\"speedup_factor\":1.18}}}");
    AUTO_JSON_DOCUMENT *again = read_json(text);
    assert_true(trace_parse(json_root(again), arena, &trace, &error));
    assert_string_equal(trace.definition, "scale_rows_n64");
    assert_string_equal(trace.solution, "eval_kernel_1a2b3c4d");
    assert_true(trace.has_evaluation);
    assert_int_equal(trace.evaluation.status, EVALUATION_PASSED);
    assert_int_equal(trace.evaluation.library_count, 2);
    assert_string_equal(trace.evaluation.libraries[1].version, "9.20.0");
    assert_true(isinf(trace.evaluation.max_absolute_error));
    assert_true(trace.evaluation.latency_ms == 0.011);
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"{\"definition\":\"d\",\"workload\":{},\"solution\":\"s\",\"evaluation\":null}",
         "t.json:1: $: solution and evaluation are either both present or both null"},
        {"{\"definition\":\"d\",\"workload\":{},\"solution\":\"s\",\"evaluation\":{\"status\":\"OK\"}}",
         "t.json:1: $.evaluation.status: unknown status \"OK\""},
        {"{\"definition\":\"d\",\"workload\":{},\"solution\":\"s\",\"evaluation\":{\"status\":\"PASSED\","
         "\"environment\":{\"hardware\":\"h\",\"libs\":{}},\"timestamp\":\"t\",\"log\":\"\"}}",
         "t.json:1: $.evaluation: status PASSED needs correctness"},
        {"{\"definition\":\"d\",\"workload\":[],\"solution\":null,\"evaluation\":null}",
         "t.json:1: $.workload: expected an object, found an array"},
        {"{\"definition\":\"d\",\"workload\":{},\"solution\":\"s\",\"evaluation\":{\"status\":\"INCORRECT_NUMERICAL\","
         "\"environment\":{\"hardware\":\"h\"},\"timestamp\":\"t\",\"correctness\":{\"max_relative_error\":\"big\","
         "\"max_absolute_error\":1}}}",
         "t.json:1: $.evaluation.correctness.max_relative_error: expected a number, \"NaN\", \"Infinity\" or "
         "\"-Infinity\", found \"big\""},
    };
    AUTO_ARENA *arena = arena_new();
    struct trace trace;
    struct error error;

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON_DOCUMENT *document = read_json(cases[i].text);
        assert_false(trace_parse(json_root(document), arena, &trace, &error));
        assert_string_equal(error.message, cases[i].message);
    }
}

static void test_workload_line(void **state)
{
    AUTO_JSON_DOCUMENT *document =
        read_json("{\"definition\":\"d\",\"workload\":{},\"solution\":null,\"evaluation\":null}");
    AUTO_ARENA *arena = arena_new();
    struct trace trace;
    struct error error;

    (void)state;
    assert_true(trace_parse(json_root(document), arena, &trace, &error));
    assert_null(trace.solution);
    assert_false(trace.has_evaluation);
}

static void test_log(void **state)
{
    size_t length = EVALUATION_LOG_BYTES + 3;
    AUTO_FREE char *log = malloc(length + 1);
    struct evaluation evaluation = sample(EVALUATION_COMPILE_ERROR, false, false);
    AUTO_JSON_OBJECT *built = NULL;
    json_object *value;
    struct error error;

    (void)state;
    assert_non_null(log);
    memset(log, 'x', length);
    log[length] = '\0';
    /* a two-byte character across the cap, and a byte that is not UTF-8 */
    memcpy(log + EVALUATION_LOG_BYTES - 1, "\xc3\xa9", 2);
    evaluation.log = log;
    assert_true(evaluation_to_json(&evaluation, &built, &error));
    assert_true(json_object_object_get_ex(built, "log", &value));
    const char *text = json_object_get_string(value);
    assert_int_equal(strlen(text), EVALUATION_LOG_BYTES - 1 + strlen("\n[log truncated]"));
    assert_string_equal(text + EVALUATION_LOG_BYTES - 1, "\n[log truncated]");
    json_object_put(built);

    evaluation.log = "bad \xff byte";
    assert_true(evaluation_to_json(&evaluation, &built, &error));
    assert_true(json_object_object_get_ex(built, "log", &value));
    assert_string_equal(json_object_get_string(value), "bad \xef\xbf\xbd byte");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invariants),    cmocka_unit_test(test_round_trip), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_workload_line), cmocka_unit_test(test_log),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
