#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/verdict_toolchain.h"

static struct diagnostic messages[] = {
    {.severity = DIAGNOSTIC_ERROR,
     .tool = DIAGNOSTIC_NVCC,
     .file = "k.cu",
     .line = 3,
     .column = 9,
     .message = "identifier \"foo\" is undefined",
     .hint = "declare it"},
    {.severity = DIAGNOSTIC_ADVISORY,
     .tool = DIAGNOSTIC_PTXAS,
     .code = "C7510",
     .kernel = "_Z1kv",
     .line = 120,
     .ptx_line = true,
     .message = "Potential Performance Loss: wgmma.mma_async instructions are serialized"},
    {.severity = DIAGNOSTIC_WARNING, .tool = DIAGNOSTIC_NVCC, .code = "#177-D", .message = "never referenced"},
};
static struct kernel_resources kernels[] = {
    {.kernel = "_Z1kv", .arch = "sm_90a", .registers = 255, .spill_store_bytes = 48, .spill_load_bytes = 64},
    {.kernel = "_Z1gv", .arch = "sm_90a", .registers = 32, .shared_bytes = 1024},
};

static struct compile_result result_of(enum compile_status status)
{
    return (struct compile_result){
        .status = status,
        .binding = COMPILE_BINDING_C,
        .arch = "sm_90a",
        .key = "0123",
        .summary = "compilation timed out after 60 s",
        .log = "log",
        .log_dropped_bytes = 1,
        .wall_ns = 2500000,
        .nvcc_version = "13.0.88",
    };
}

static void test_diagnostics_and_resources(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct verdict *verdict = verdict_new(arena);
    struct compile_result result = result_of(COMPILE_FAILED);

    (void)state;
    result.diagnostics = (struct diagnostics){messages, 3, kernels, 2, 0};
    verdict_take_compile(verdict, arena, &result);
    assert_int_equal(verdict->compile.ok, TRISTATE_NO);
    assert_true(verdict->compile.wall_ms.value == 2.5);
    assert_true(verdict->compile.log_truncated);
    assert_int_equal(verdict->compile.diagnostics.count, 3);
    assert_int_equal(verdict->compile.resources.count, 2);
    assert_int_equal(verdict->compile.resources.items[0].registers, 255);
    assert_string_equal(verdict->task.binding, "c");
    assert_string_equal(text_map_get(&verdict->provenance.tools, "nvcc"), "13.0.88");
    assert_null(text_map_get(&verdict->provenance.tools, "tvm-ffi"));
    assert_int_equal(verdict->findings.count, 3); /* error, advisory, spill; the warning is no defect */
    assert_string_equal(verdict->findings.items[0].code, "compile_error");
    assert_int_equal(verdict->findings.items[0].line, 3);
    assert_string_equal(verdict->findings.items[0].hint, "declare it");
    assert_string_equal(verdict->findings.items[1].code, "C7510");
    assert_int_equal(verdict->findings.items[1].class, FINDING_CLASS_HAZARD);
    assert_int_equal(verdict->findings.items[1].line, 0); /* a line of the PTX is none of the source */
    assert_string_equal(verdict->findings.items[2].code, "register_spill");
    assert_string_equal(verdict->findings.items[2].kernel, "_Z1kv");
}

static void test_outcomes(void **state)
{
    static const struct {
        enum compile_status status;
        const char *code;
    } cases[] = {
        {COMPILE_OK, NULL},
        {COMPILE_FAILED, "compile_error"}, /* also when nothing of the output could be read */
        {COMPILE_TIMED_OUT, "compile_timeout"},
        {COMPILE_LIMIT, "compile_timeout"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct verdict *verdict = verdict_new(arena);
        struct compile_result result = result_of(cases[i].status);
        verdict_take_compile(verdict, arena, &result);
        assert_int_equal(verdict->findings.count, cases[i].code != NULL);
        if (cases[i].code)
            assert_string_equal(verdict->findings.items[0].code, cases[i].code);
    }
}

static void test_screen(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct verdict *verdict = verdict_new(arena);
    struct screen_finding found[] = {
        {SCREEN_VENDOR_INCLUDE, SCREEN_OFFENCE, "includes <cublas_v2.h>", "k.cu", 2, "write the kernel"},
        {SCREEN_EMBEDDED_CODE, SCREEN_OFFENCE, "holds a cubin", NULL, 0, NULL},
        {SCREEN_CONSTRUCTOR, SCREEN_NOTE, "runs code when it is loaded", NULL, 0, NULL},
    };
    struct screen_report report = {found, 3, 2, 0};

    (void)state;
    assert_true(verdict_take_screen(verdict, arena, &report));
    assert_string_equal(verdict->findings.items[0].code, "banned_library");
    assert_int_equal(verdict->findings.items[0].line, 2);
    assert_string_equal(verdict->findings.items[1].code, "foreign_code");
    assert_int_equal(verdict->findings.items[2].class, FINDING_CLASS_NOTE);
    assert_string_equal(verdict->findings.items[2].code, screen_code_text(SCREEN_CONSTRUCTOR));
    report = (struct screen_report){found + 2, 1, 0, 0};
    assert_false(verdict_take_screen(verdict, arena, &report));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_diagnostics_and_resources),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_screen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
