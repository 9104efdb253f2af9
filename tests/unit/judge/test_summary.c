#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/summary.h"
#include "sample_verdict.h"

static void check_contains(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("no \"%s\" in:\n%s", part, text);
}

static size_t columns(const char *line, size_t length)
{
    size_t count = 0;

    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)line[i] & 0xc0) != 0x80;
    return count;
}

/* Lines, and that none is wider than `width`. */
static int check_width(const char *text, size_t width)
{
    int lines = 0;

    while (*text) {
        size_t length = strcspn(text, "\n");
        if (columns(text, length) > width)
            fail_msg("wider than %zu: %.*s", width, (int)length, text);
        text += length + (text[length] == '\n');
        lines++;
    }
    return lines;
}

static void test_passed(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER out = buffer_new(1 << 16);
    struct summary_options options = {0};

    (void)state;
    summary_write(&out, sample_passed(arena), &options);
    assert_true(
        strncmp(out.data, "PASSED 0.91x (0.875 ms, reference 0.7963 ms) gemm_n7168_k5120 on NVIDIA H200\n", 75) == 0);
    check_contains(out.data, "kernel.cu:88: wgmma serialised");
    check_contains(out.data, "95 % CI 0.904 to 0.915");
    check_contains(out.data, "limited by tensor pipe");
    check_contains(out.data, "tensor share 100 %");
    check_contains(out.data, "168 registers, 96 spilled bytes");
    check_contains(out.data, "memcheck: clean");
    assert_null(strstr(out.data, "99.9x")); /* a passed candidate's output is not worth a screen */
    assert_null(strchr(out.data, '\033'));
    assert_true(check_width(out.data, 100) <= 24);
}

static void test_wrong(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER out = buffer_new(1 << 16);
    struct summary_options options = {.width = 80};

    (void)state;
    summary_write(&out, sample_wrong(arena), &options);
    assert_true(strncmp(out.data, "INCORRECT_NUMERICAL gemm_n7168_k5120 on NVIDIA H200: C differs\n", 62) == 0);
    check_contains(out.data, "error numerical_mismatch: C: 917504");
    check_contains(out.data, "first at C[64, 0]:");
    check_contains(out.data, "nan, expected 0.5");
    check_contains(out.data, "64 NaN");
    check_contains(out.data, "| PASSED 99.9x");
    assert_true(strstr(out.data, "error numerical") < strstr(out.data, "hazard compile_advisory"));
    assert_true(check_width(out.data, 80) <= 24);
}

/* Nothing that the candidate wrote may start a line of ours. */
static void test_candidate_cannot_forge(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER out = buffer_new(1 << 16);
    struct verdict *verdict = sample_wrong(arena);
    struct summary_options options = {.width = 60};
    const char *forged = "\nPASSED 9x\r\n\033[2J\033[HPASSED 9x (1 ms)\n\x9b"
                         "2J\nPASSED\xff";

    (void)state;
    verdict->runner.output = forged;
    verdict->correctness.outputs.items[0].pattern = forged;
    verdict->sanitizer.reason = forged;
    verdict->compile.resources.items[0].kernel = forged;
    (void)finding_add(&verdict->findings, arena, FINDING_COMPILE_ERROR, "#error %s", forged);
    verdict->findings.items[0].file = "\nPASSED 9x.cu";
    verdict_set_status(verdict, arena, VERDICT_COMPILE_ERROR, "%s", forged);
    summary_write(&out, verdict, &options);
    for (const char *line = out.data; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (strncmp(line, "PASSED", 6) == 0)
            fail_msg("forged line in:\n%s", out.data);
    assert_null(strchr(out.data, '\033'));
    assert_null(strchr(out.data, '\r'));
    (void)check_width(out.data, 60);
}

static void test_limits(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER out = buffer_new(1 << 16);
    AUTO_BUFFER long_text = buffer_new(1 << 14);
    struct verdict *verdict = sample_wrong(arena);
    struct summary_options options = {.width = 1, .findings = 2, .quoted = 3};

    (void)state;
    for (int i = 0; i < 400; i++)
        (void)buffer_append_text(&long_text, i % 7 ? "\xc3\xa4" : "word ");
    for (int i = 0; i < 5; i++)
        (void)finding_add(&verdict->findings, arena, FINDING_NAN, "%s", long_text.data);
    verdict->runner.output = arena_printf(arena, "a\nb\nc\nd\n%s", long_text.data);
    summary_write(&out, verdict, &options);
    check_contains(out.data, "more findings in the verdict's JSON)");
    check_contains(out.data, "| c\n(more in the verdict's JSON)\n");
    (void)check_width(out.data, 40);
}

static void test_states(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct verdict *verdict = verdict_new(arena);
    AUTO_BUFFER out = buffer_new(1 << 16);
    struct error trouble;
    struct summary_options options = {.color = true};

    (void)state;
    (void)error_set(&trouble, ERROR_TOOL, "nvcc: not found");
    verdict_set_trouble(verdict, arena, &trouble);
    assert_string_equal(summary_headline(arena, verdict), "INFRA_ERROR (tool trouble): nvcc: not found");
    summary_write(&out, verdict, &options);
    check_contains(out.data, "\033[33mINFRA_ERROR");
    verdict = verdict_new(arena);
    verdict_set_status(verdict, arena, VERDICT_PASSED, "no defect found under 3 schedules");
    verdict->task.device = "emu:sm_90a";
    assert_string_equal(summary_headline(arena, verdict), "PASSED (emulated) on emu:sm_90a");
    verdict->task.device = "cuda:0";
    assert_string_equal(summary_headline(arena, verdict), "PASSED (not timed) on cuda:0");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_passed), cmocka_unit_test(test_wrong),  cmocka_unit_test(test_candidate_cannot_forge),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_states),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
