/* The texts for a model: complete, resolved, and with an ABI example that compiles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "agent/prompt.h"
#include "base/file.h"
#include "base/process.h"
#include "toolchain/compile.h"
#include "trace/trace_set.h"

static struct trace_set *set;
static const char *const languages[] = {"cuda-ptx", "triton", "cute-dsl"};

static int open_tasks(void **state)
{
    static const char *const roots[] = {SOURCE_ROOT "/tasks"};
    struct error error;

    (void)state;
    return trace_set_open(roots, 1, &set, &error) ? 0 : -1;
}

static int close_tasks(void **state)
{
    (void)state;
    trace_set_free(set);
    return 0;
}

static struct prompt_task task_of(const char *definition)
{
    struct prompt_task task = {.arch = "sm_90a", .language = "cuda-ptx", .target_speedup = 1.2};
    struct error error;

    if (!trace_set_find_workload(set, definition, NULL, &task.workload, &error))
        fail_msg("%s", error.message);
    return task;
}

static void check_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static void check_ok(bool ok, const struct error *error)
{
    if (!ok)
        fail_msg("%s", error->message);
}

static void states_the_whole_task(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct prompt_task task = task_of("mha_bwd_d128_causal");
    struct error error;
    const char *text;

    (void)state;
    check_ok(prompt_first_turn(arena, &task, &text, &error), &error);
    check_contains(text, "# Task: mha_bwd_d128_causal\n");
    check_contains(text, "\"op_type\": \"mha_bwd\"");
    check_contains(text, "Axes of this workload: B=4 H=48 S=");
    check_contains(text, "| 0 | `Q` | input | [B, H, S, D] = [4, 48, ");
    check_contains(text, "| output | [B, H, S, D] = [4, 48, ");
    check_contains(text, "def run(");
    check_contains(text, "|got - expected| <= 0.01 + 0.01 |expected|");
    check_contains(text, "The goal is 1.2 times");
    assert_null(strstr(text, "\"tags\"")); /* they name the task's place in the paper */
    assert_null(strstr(text, "paper:"));
    task.target_speedup = 0;
    check_ok(prompt_first_turn(arena, &task, &text, &error), &error);
    assert_null(strstr(text, "The goal is"));
}

/* Every text of every language, architecture and task resolves, and no mark of a template is left. */
static void resolves_everywhere(void **state)
{
    static const char *const arches[] = {"sm_90a", "sm_100a"};
    struct extract_result nothing = {.status = EXTRACT_NONE, .reason = "no code"};
    struct prompt_turn turn = {.feedback = "# Result: PASSED\n", .turn = 2, .turn_limit = 8, .best_speedup = 0.9};

    (void)state;
    for (size_t i = 0; i < 6 * trace_set_definition_count(set); i++) {
        AUTO_ARENA *arena = arena_new();
        struct prompt_task task = task_of(trace_set_definition(set, i / 6)->name);
        const char *texts[5];
        struct error error;
        task.language = languages[i % 3];
        task.arch = arches[i / 3 % 2];
        check_ok(prompt_system(arena, &task, &texts[0], &error), &error);
        check_ok(prompt_first_turn(arena, &task, &texts[1], &error), &error);
        check_ok(prompt_next_turn(arena, &task, &turn, &texts[2], &error), &error);
        check_ok(prompt_repair(arena, &task, "int x;\n", "wrong", NULL, &texts[3], &error), &error);
        check_ok(prompt_no_code(arena, &task, &nothing, &turn, &texts[4], &error), &error);
        for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
            assert_null(strstr(texts[k], "{{"));
            assert_null(strstr(texts[k], "\n\n\n\n"));
        }
        check_contains(texts[0], task.arch);
        check_contains(texts[2], "turn 2 of 8");
        check_contains(texts[2], "reached 0.900 times");
        check_contains(texts[4], "could not be judged: no code");
    }
}

static void puts_material_in(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct prompt_task task = task_of("gemm_n7168_k5120");
    struct error error;
    const char *text;

    (void)state;
    check_ok(prompt_system(arena, &task, &text, &error), &error);
    assert_null(strstr(text, "# Reference material"));
    assert_null(strstr(text, "# Guidance"));
    task.pack_text = "## Barriers\n\nasm volatile(\"{%0}{{x}}\");\n";
    task.guidance = "Write a contract first.";
    task.binding = "c";
    check_ok(prompt_system(arena, &task, &text, &error), &error);
    check_contains(text, "# Reference material");
    check_contains(text, "asm volatile(\"{%0}{{x}}\");");
    check_contains(text, "# Guidance\n\nWrite a contract first.");
    check_contains(text, "PTXBENCH_ENTRY(args, count, stream)");
    check_contains(text, "wgmma");
    task.arch = "sm_100a";
    check_ok(prompt_system(arena, &task, &text, &error), &error);
    check_contains(text, "tcgen05.mma");
    assert_null(strstr(text, "wgmma"));
}

static void repair_fences_hold(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct prompt_task task = task_of("gemm_n7168_k5120");
    struct error error;
    const char *text;

    (void)state;
    check_ok(prompt_repair(arena, &task, "/*\n````\n*/\nint x;\n", "the feedback", "the notes", &text, &error), &error);
    check_contains(text, "`````cpp\n/*\n````\n*/\nint x;\n`````\n");
    check_contains(text, "# What happened\n\nthe feedback\n\nthe notes\n");
}

static void refuses_what_it_does_not_know(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct prompt_task task = task_of("gemm_n7168_k5120");
    struct error error;
    const char *text;

    (void)state;
    task.language = "fortran";
    assert_false(prompt_system(arena, &task, &text, &error));
    assert_string_equal(error.hint, "known: cuda-ptx, triton, cute-dsl");
    task.language = "cuda-ptx";
    task.arch = "sm_80";
    assert_false(prompt_system(arena, &task, &text, &error));
    assert_string_equal(error.hint, "known: sm_90a, sm_100a");
    task.arch = "sm_90a";
    task.binding = "torch";
    assert_false(prompt_system(arena, &task, &text, &error));
    assert_string_equal(error.message, "prompts/abi-torch.cu is not there");
}

/* The examples are what a model copies: they must compile, and export the entry that their binding needs. */
static void abi_examples_compile(void **state)
{
    static const struct {
        const char *binding;
        enum compile_binding compile;
        const char *entry;
    } cases[] = {{"tvm-ffi", COMPILE_BINDING_TVM_FFI, "run"}, {"c", COMPILE_BINDING_C, "ptxbench_run"}};
    AUTO_ARENA *arena = arena_new();
    struct toolchain toolchain;
    struct error error;

    (void)state;
    check_ok(toolchain_find(arena, &toolchain, &error), &error);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct prompt_task task = {.language = "cuda-ptx", .arch = "sm_90a", .binding = cases[i].binding};
        struct compile_source source = {.path = "kernel.cu"};
        struct compile_request request = {
            .sources = &source, .source_count = 1, .entry = "kernel.cu", .arch = "sm_90a", .binding = cases[i].compile};
        struct compile_result result;
        check_ok(prompt_abi_example(arena, &task, &source.content, &error), &error);
        source.length = strlen(source.content);
        check_ok(compile_run(&toolchain, &request, arena, &result, &error), &error);
        if (result.status != COMPILE_OK || diagnostics_count(&result.diagnostics, DIAGNOSTIC_WARNING))
            fail_msg("%s: %s\n%s", cases[i].binding, result.summary, result.log);
        assert_int_equal(result.entry_count, 1);
        assert_string_equal(result.entries[0], cases[i].entry);
    }
}

/* Triton and CuTe DSL are not installed here: their examples are parsed only. */
static void python_examples_parse(void **state)
{
    (void)state;
    for (size_t i = 1; i < ARRAY_LEN(languages); i++) {
        AUTO_ARENA *arena = arena_new();
        struct prompt_task task = {.language = languages[i], .arch = "sm_90a"};
        struct extract_result result;
        struct error error;
        const char *example;
        check_ok(prompt_abi_example(arena, &task, &example, &error), &error);
        const char *answer = arena_printf(arena, "```python\n%s```\n", example);
        extract_code_of(answer, strlen(answer), prompt_extract_language(languages[i]), arena, &result);
        assert_int_equal(result.status, EXTRACT_FOUND);
        assert_true(result.candidates[0].entry && result.candidates[0].kernel && result.candidates[0].whole_syntax);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_the_whole_task),
        cmocka_unit_test(resolves_everywhere),
        cmocka_unit_test(puts_material_in),
        cmocka_unit_test(repair_fences_hold),
        cmocka_unit_test(refuses_what_it_does_not_know),
        cmocka_unit_test(abi_examples_compile),
        cmocka_unit_test(python_examples_parse),
    };
    return cmocka_run_group_tests(tests, open_tasks, close_tasks);
}
