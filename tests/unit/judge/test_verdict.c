#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "sample_verdict.h"

static char *text_of(const struct verdict *verdict)
{
    AUTO_JSON_OBJECT *object = verdict_to_json(verdict);
    struct error error;
    char *text = NULL;

    assert_true(json_to_text(object, true, &text, &error));
    return text;
}

static bool read_back(const char *text, struct arena *arena, struct verdict **out, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = NULL;

    if (!json_parse(text, strlen(text), "verdict.json", 1, &document, error))
        return false;
    return verdict_from_json(json_root(document), arena, out, error);
}

static void check_round_trip(const struct verdict *verdict)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_FREE char *first = text_of(verdict);
    AUTO_FREE char *second = NULL;
    struct verdict *back;
    struct error error;

    if (!read_back(first, arena, &back, &error))
        fail_msg("%s", error.message);
    second = text_of(back);
    assert_string_equal(first, second);
}

static void test_round_trip(void **state)
{
    AUTO_ARENA *arena = arena_new();

    (void)state;
    check_round_trip(verdict_new(arena));
    check_round_trip(sample_passed(arena));
    check_round_trip(sample_wrong(arena));
}

/* The paths that consumers rely on (docs/formats/verdict.md). */
static void test_paths(void **state)
{
    static const char *const paths[] = {
        "schema",
        "status",
        "blame",
        "correct",
        "summary",
        "compile.diagnostics.0.line",
        "compile.resources.0.registers",
        "correctness.max_abs",
        "correctness.max_rel",
        "correctness.mismatches",
        "correctness.first_mismatch.index.0",
        "correctness.first_mismatch.expected",
        "correctness.first_mismatch.got",
        "correctness.outputs.0.pattern",
        "correctness.outputs.0.error_norm",
        "target.static.gmma",
        "target.executed",
        "target.counts.gmma.threads",
        "target.counts.gmma.static",
        "target.tensor_share",
        "target.kernels.0.families.gmma.warps",
        "findings.0.class",
        "findings.0.code",
        "findings.0.message",
        "findings.0.file",
        "findings.0.line",
        "findings.0.hint",
        "sanitizer.clean",
        "runner.output",
        "provenance.tools.nvcc",
        "provenance.input_seed",
        "task.axes.M",
    };
    static const char *const timed[] = {
        "performance.latency_ms", "performance.reference_latency_ms",
        "performance.speedup",    "performance.ci95.1",
        "performance.n",          "timing.trials.2.candidate_ms.3",
        "timing.audit.result",    "timing.memo.memoised",
        "timing.clock",           "timing.l2_policy",
        "timing.throttle",
    };
    AUTO_ARENA *arena = arena_new();

    (void)state;
    for (int pass = 0; pass < 2; pass++) {
        AUTO_JSON_OBJECT *object = verdict_to_json(pass ? sample_passed(arena) : sample_wrong(arena));
        for (size_t i = 0; i < (pass ? ARRAY_LEN(timed) : ARRAY_LEN(paths)); i++) {
            char path[128];
            json_object *at = object;
            (void)snprintf(path, sizeof path, "%s", pass ? timed[i] : paths[i]);
            for (char *save = NULL, *key = strtok_r(path, ".", &save); key; key = strtok_r(NULL, ".", &save)) {
                if (json_object_is_type(at, json_type_array))
                    at = json_object_array_get_idx(at, (size_t)atoi(key));
                else if (!json_object_object_get_ex(at, key, &at))
                    fail_msg("no %s", pass ? timed[i] : paths[i]);
            }
            if (!at)
                fail_msg("null %s", pass ? timed[i] : paths[i]);
        }
    }
}

static void check_documented(const char *page, json_object *value)
{
    if (json_object_is_type(value, json_type_array)) {
        for (size_t i = 0; i < json_object_array_length(value); i++)
            check_documented(page, json_object_array_get_idx(value, i));
    } else if (json_object_is_type(value, json_type_object)) {
        json_object_object_foreach(value, key, member)
        {
            char words[2][64];
            (void)snprintf(words[0], sizeof words[0], "`%s`", key);
            (void)snprintf(words[1], sizeof words[1], "`%s[]`", key);
            if (!strstr(page, words[0]) && !strstr(page, words[1]) && strcmp(key, "M") != 0 && strcmp(key, "nvcc") != 0)
                fail_msg("docs/formats/verdict.md does not tell of %s", key);
            check_documented(page, member);
        }
    }
}

/* First cells of the page's tables: "| `atol`, `rtol` |". Each name must be a key somewhere. */
static void check_rows_exist(const char *page, const char *first, const char *second)
{
    for (const char *line = page; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line;
        const char *end;
        if (strncmp(line, "| `", 3) != 0)
            continue;
        end = strchr(line + 1, '|');
        while ((at = memchr(at, '`', (size_t)(end - at)))) {
            char key[64];
            int length = (int)strcspn(at + 1, "[`");
            (void)snprintf(key, sizeof key, "\"%.*s\": ", length, at + 1);
            if (!strstr(first, key) && !strstr(second, key))
                fail_msg("docs/formats/verdict.md tells of %s, which is not written", key);
            at = strchr(at + 1, '`') + 1;
        }
    }
}

static void test_every_key_is_documented(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_OBJECT *passed = verdict_to_json(sample_passed(arena));
    AUTO_JSON_OBJECT *wrong = verdict_to_json(sample_wrong(arena));
    AUTO_FREE char *passed_text = text_of(sample_passed(arena));
    AUTO_FREE char *wrong_text = text_of(sample_wrong(arena));
    AUTO_FREE char *page = NULL;
    size_t length;
    struct error error;

    (void)state;
    if (!file_read(SOURCE_ROOT "/docs/formats/verdict.md", 1 << 20, &page, &length, &error))
        fail_msg("%s", error.message);
    check_documented(page, passed);
    check_documented(page, wrong);
    check_rows_exist(page, passed_text, wrong_text);
}

static void test_unknown_is_null_not_zero(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_FREE char *text = text_of(verdict_new(arena));

    (void)state;
    assert_non_null(strstr(text, "\"status\": \"INFRA_ERROR\""));
    assert_non_null(strstr(text, "\"correct\": null"));
    assert_non_null(strstr(text, "\"latency_ms\": null"));
    assert_non_null(strstr(text, "\"ci95\": null"));
    assert_non_null(strstr(text, "\"executed\": \"unknown\""));
    assert_non_null(strstr(text, "\"static\": null"));
    assert_non_null(strstr(text, "\"first_mismatch\": null"));
    assert_null(strstr(text, ": 0,"));
}

static void test_infinities_are_strings(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_FREE char *text = text_of(sample_wrong(arena));
    struct verdict *back;
    struct error error;

    (void)state;
    assert_non_null(strstr(text, "\"max_abs\": \"Infinity\""));
    assert_non_null(strstr(text, "\"got\": \"NaN\""));
    assert_true(read_back(text, arena, &back, &error));
    assert_true(isinf(back->correctness.max_abs.value) && isnan(back->correctness.first_mismatch.got.value));
    assert_int_equal(back->status, VERDICT_INCORRECT_NUMERICAL);
    assert_int_equal(back->correctness.first_mismatch.index.items[0], 64);
}

static void test_refuses_other_documents(void **state)
{
    static const char *const texts[] = {
        "[]",
        "{}",
        "{\"schema\": \"ptxbench.verdict.v2\", \"status\": \"PASSED\"}",
        "{\"schema\": \"ptxbench.verdict.v1\"}",
        "{\"schema\": \"ptxbench.verdict.v1\", \"status\": null}",
        "{\"schema\": \"ptxbench.verdict.v1\", \"status\": \"passed\"}",
        "{\"schema\": \"ptxbench.verdict.v1\", \"status\": \"PASSED\", \"performance\": {\"speedup\": \"fast\"}}",
    };
    AUTO_ARENA *arena = arena_new();

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct verdict *verdict;
        struct error error = {0};
        if (read_back(texts[i], arena, &verdict, &error))
            fail_msg("accepted %s", texts[i]);
        assert_int_equal(error.code, ERROR_INPUT);
    }
}

static void test_status_sets_blame_and_correct(void **state)
{
    static const struct {
        enum verdict_status status;
        enum blame blame;
        enum tristate correct;
        int exit_status;
    } cases[] = {
        {VERDICT_PASSED, BLAME_NONE, TRISTATE_YES, 0},
        {VERDICT_INCORRECT_SHAPE, BLAME_CANDIDATE, TRISTATE_NO, 1},
        {VERDICT_INCORRECT_NUMERICAL, BLAME_CANDIDATE, TRISTATE_NO, 1},
        {VERDICT_INCORRECT_DTYPE, BLAME_CANDIDATE, TRISTATE_NO, 1},
        {VERDICT_RUNTIME_ERROR, BLAME_CANDIDATE, TRISTATE_UNKNOWN, 1},
        {VERDICT_COMPILE_ERROR, BLAME_CANDIDATE, TRISTATE_UNKNOWN, 1},
        {VERDICT_TIMEOUT, BLAME_CANDIDATE, TRISTATE_UNKNOWN, 1},
        {VERDICT_INFRA_ERROR, BLAME_INFRASTRUCTURE, TRISTATE_UNKNOWN, 2},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct verdict *verdict = verdict_new(arena);
        enum verdict_status parsed;
        verdict_set_status(verdict, arena, cases[i].status, "line\nPASSED");
        assert_int_equal(verdict->blame, cases[i].blame);
        assert_int_equal(verdict->correct, cases[i].correct);
        assert_int_equal(verdict_exit_status(verdict), cases[i].exit_status);
        assert_string_equal(verdict->summary, "line PASSED");
        assert_true(verdict_status_parse(verdict_status_text(cases[i].status), &parsed));
        assert_int_equal(parsed, cases[i].status);
    }
}

static void test_forgotten_verdict_is_infrastructure(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct verdict *verdict = verdict_new(arena);

    (void)state;
    assert_int_equal(verdict_exit_status(verdict), 2);
    verdict->status = VERDICT_RUNTIME_ERROR; /* a failure that nobody was blamed for counts against nobody */
    assert_int_equal(verdict_exit_status(verdict), 2);
    verdict->blame = BLAME_TOOL;
    assert_int_equal(verdict_exit_status(verdict), 2);
}

static void test_trouble(void **state)
{
    static const struct {
        enum error_code code;
        enum blame blame;
        const char *finding;
    } cases[] = {
        {ERROR_TOOL, BLAME_TOOL, "tool_trouble"},
        {ERROR_DEVICE, BLAME_DEVICE, "device_trouble"},
        {ERROR_SYSTEM, BLAME_INFRASTRUCTURE, "infrastructure"},
        {ERROR_PROTOCOL, BLAME_INFRASTRUCTURE, "infrastructure"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct verdict *verdict = verdict_new(arena);
        struct error trouble;
        struct error error;
        (void)error_set(&trouble, cases[i].code, "it broke");
        (void)error_hint(&trouble, "mend it");
        verdict_set_trouble(verdict, arena, &trouble);
        assert_int_equal(verdict->status, VERDICT_INFRA_ERROR);
        assert_int_equal(verdict->blame, cases[i].blame);
        assert_string_equal(verdict->findings.items[0].code, cases[i].finding);
        assert_string_equal(verdict->findings.items[0].hint, "mend it");
        assert_int_equal(verdict_exit_status(verdict), 2);
        assert_true(verdict_check(verdict, &error));
    }
}

static void test_check_finds_contradictions(void **state)
{
    struct error error;

    (void)state;
    for (int i = 0; i < 10; i++) {
        AUTO_ARENA *arena = arena_new();
        struct verdict *verdict = i == 9 ? sample_wrong(arena) : sample_passed(arena);
        switch (i) {
        case 1:
            verdict->correct = TRISTATE_UNKNOWN;
            break;
        case 2:
            verdict->blame = BLAME_CANDIDATE;
            break;
        case 3:
            verdict->correctness.max_abs.known = false;
            break;
        case 4:
            (void)finding_add(&verdict->findings, arena, FINDING_GUARD_OVERWRITTEN, "x");
            break;
        case 5:
            verdict->performance.speedup = number_of(1.2);
            break;
        case 6:
            verdict->performance.latency_ms = (struct number){0};
            break;
        case 7:
            verdict->status = VERDICT_RUNTIME_ERROR;
            break;
        case 8:
            verdict->status = VERDICT_INFRA_ERROR;
            break;
        default:
            break;
        }
        if (verdict_check(verdict, &error) != (i == 0 || i == 9))
            fail_msg("case %d: %s", i, error.message);
    }
}

/* What the sanitizer or the emulator finds has no status of FlashInfer-Trace: it stands beside a pass. */
static void test_sanitizer_finding_beside_a_pass(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct verdict *verdict = sample_passed(arena);
    struct error error;

    (void)state;
    (void)finding_add(&verdict->findings, arena, FINDING_MEMCHECK, "Invalid read");
    assert_true(verdict_check(verdict, &error));
}

static void test_evaluation(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct evaluation evaluation;
    struct error error;
    struct verdict *verdict = sample_passed(arena);

    (void)state;
    assert_true(verdict_to_evaluation(verdict, arena, &evaluation, &error));
    assert_int_equal(evaluation.status, EVALUATION_PASSED);
    assert_true(evaluation.has_correctness && evaluation.has_performance);
    assert_true(evaluation.speedup_factor == 0.91);
    assert_string_equal(evaluation.hardware, "NVIDIA H200");
    assert_int_equal(evaluation.library_count, 3);
    assert_non_null(strstr(evaluation.log, "| PASSED 99.9x\n"));
    assert_null(strstr(evaluation.log, "\nPASSED"));
    assert_true(evaluation_check(&evaluation, &error));
    assert_true(verdict_to_evaluation(sample_wrong(arena), arena, &evaluation, &error));
    assert_true(evaluation.has_correctness && !evaluation.has_performance);
    assert_true(evaluation_check(&evaluation, &error));
    verdict_set_status(verdict, arena, VERDICT_TIMEOUT, "hang");
    assert_true(verdict_to_evaluation(verdict, arena, &evaluation, &error));
    assert_false(evaluation.has_correctness || evaluation.has_performance);
    assert_true(evaluation_check(&evaluation, &error));
}

static void test_evaluation_refuses_what_the_format_cannot_say(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct evaluation evaluation;
    struct error error;
    struct verdict *verdict = sample_passed(arena);

    (void)state;
    verdict->performance = (struct verdict_performance){0}; /* emulator: right, but not timed */
    assert_false(verdict_to_evaluation(verdict, arena, &evaluation, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.hint, "emulator"));
    verdict_set_status(verdict, arena, VERDICT_INFRA_ERROR, "x");
    assert_false(verdict_to_evaluation(verdict, arena, &evaluation, &error));
    verdict = sample_wrong(arena);
    verdict->correctness.max_abs.known = false;
    assert_false(verdict_to_evaluation(verdict, arena, &evaluation, &error));
}

static void test_trace_line(void **state)
{
    static const char definition_text[] =
        "{\"name\": \"gemm\", \"op_type\": \"gemm\", \"axes\": {\"M\": {\"type\": \"var\"}}, \"inputs\": {\"A\": "
        "{\"shape\": [\"M\"], \"dtype\": \"float32\"}}, \"outputs\": {\"C\": {\"shape\": [\"M\"], \"dtype\": "
        "\"float32\"}}, \"reference\": \"def run(A):\\n    return A\\n\"}";
    static const char workload_text[] = "{\"axes\": {\"M\": 4}, \"inputs\": {\"A\": {\"type\": \"random\"}}, "
                                        "\"uuid\": \"u1\", \"x-own\": 7}";
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_DOCUMENT *definition_document = NULL;
    AUTO_JSON_DOCUMENT *workload_document = NULL;
    AUTO_JSON_OBJECT *line = NULL;
    AUTO_FREE char *text = NULL;
    struct definition *definition;
    struct workload *workload;
    struct verdict *verdict = sample_passed(arena);
    struct error error;

    (void)state;
    if (!json_parse(definition_text, strlen(definition_text), "d.json", 1, &definition_document, &error) ||
        !definition_parse(json_root(definition_document), arena, &definition, &error) ||
        !json_parse(workload_text, strlen(workload_text), "w.json", 1, &workload_document, &error) ||
        !workload_parse(json_root(workload_document), definition, ".", arena, &workload, &error) ||
        !verdict_to_trace_line(verdict, workload, &line, &error) || !json_to_text(line, false, &text, &error))
        fail_msg("%s", error.message);
    assert_non_null(strstr(text, "my_kernel"));
    assert_non_null(strstr(text, "x-own"));
    assert_non_null(strstr(text, "matched_ratio"));
    assert_non_null(strstr(text, "speedup_factor"));
    verdict->task.solution = NULL;
    assert_false(verdict_to_trace_line(verdict, workload, &line, &error));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_every_key_is_documented),
        cmocka_unit_test(test_unknown_is_null_not_zero),
        cmocka_unit_test(test_infinities_are_strings),
        cmocka_unit_test(test_refuses_other_documents),
        cmocka_unit_test(test_status_sets_blame_and_correct),
        cmocka_unit_test(test_forgotten_verdict_is_infrastructure),
        cmocka_unit_test(test_trouble),
        cmocka_unit_test(test_check_finds_contradictions),
        cmocka_unit_test(test_sanitizer_finding_beside_a_pass),
        cmocka_unit_test(test_evaluation),
        cmocka_unit_test(test_evaluation_refuses_what_the_format_cannot_say),
        cmocka_unit_test(test_trace_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
