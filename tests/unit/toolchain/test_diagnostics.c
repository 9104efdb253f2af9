/* The parser on what nvcc 13.0, gcc 12 and ptxas really printed (tests/data/diagnostics). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "base/file.h"
#include "toolchain/diagnostics.h"

struct parsed {
    struct arena *arena;
    struct diagnostics diagnostics;
};

static char *read_data(struct arena *arena, const char *name, size_t *length)
{
    AUTO_FREE char *text = NULL;
    struct error error;

    if (!file_read(arena_printf(arena, TEST_DATA "/diagnostics/%s", name), 1 << 20, &text, length, &error))
        fail_msg("%s", error.message);
    return arena_strndup(arena, text, *length);
}

static struct parsed parse(const char *name, const char *ptx)
{
    struct parsed parsed = {.arena = arena_new()};
    size_t length, ptx_length = 0;
    char *text = read_data(parsed.arena, name, &length);
    char *ptx_text = ptx ? read_data(parsed.arena, ptx, &ptx_length) : NULL;
    const struct diagnostics_paths paths = {.entry = "kernel.cu", .ptx = ptx_text, .ptx_length = ptx_length};

    diagnostics_parse(parsed.arena, text, length, &paths, &parsed.diagnostics);
    return parsed;
}

struct expected {
    const char *file_of_data;
    enum diagnostic_severity severity;
    enum diagnostic_tool tool;
    const char *code;
    const char *file;
    int line;
    int column;
    bool ptx_line;
    const char *message_part;
    const char *kernel;
    bool has_hint;
};

/* First message of the given severity in each file. */
static const struct expected first_messages[] = {
    {"syntax.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_NVCC, NULL, "syntax.cu", 5, 1, false, "expected a \";\"", NULL, false},
    {"missing_include.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_GCC, NULL, "missing_include.cu", 1, 10, false,
     "tiles/none.h: No such file or directory", NULL, true},
    {"host_assembly.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_GCC, NULL, "host_gcc.cu", 8, 0, false, "no such instruction",
     NULL, true},
    {"host_assembly.txt", DIAGNOSTIC_WARNING, DIAGNOSTIC_GCC, "-Wcpp", "host_gcc.cu", 4, 2, false,
     "#warning \"careful\"", NULL, false},
    {"ptx_error.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_PTXAS, NULL, NULL, 28, 0, true, "Unknown modifier '.nonsense'", NULL,
     true},
    {"unresolved_device_function.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_PTXAS, NULL, NULL, 0, 0, false,
     "Unresolved extern function", "_Z9elsewheref", true},
    {"too_much_shared.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_PTXAS, NULL, NULL, 0, 0, false, "too much shared data",
     "_Z1kPf", true},
    {"templates.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_NVCC, NULL, "tmpl.cu", 6, 56, false,
     "argument types are: (const char [2]); object type is: std::vector", NULL, false},
    {"undefined_reference.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_LD, NULL, NULL, 0, 0, false,
     "undefined reference to `other(int)'", NULL, true},
    {"driver_fatal.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_NVCC, NULL, NULL, 0, 0, false, "Unsupported gpu architecture",
     NULL, false},
    {"wrong_target.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_PTXAS, NULL, NULL, 26, 0, true, "not supported on .target", NULL,
     true},
    {"C7506_recursion.txt", DIAGNOSTIC_ADVISORY, DIAGNOSTIC_PTXAS, "C7506", NULL, 0, 0, false, "'setmaxnreg' ignored",
     NULL, true},
    {"C7508_setmaxnreg.txt", DIAGNOSTIC_ADVISORY, DIAGNOSTIC_PTXAS, "C7508", NULL, 0, 0, false, "'setmaxnreg' ignored",
     NULL, true},
    {"C7510_assert.txt", DIAGNOSTIC_ADVISORY, DIAGNOSTIC_PTXAS, "C7510", NULL, 0, 0, false, "are serialized",
     "_Z1kPfyyi", true},
    {"C7511_registers.txt", DIAGNOSTIC_ADVISORY, DIAGNOSTIC_PTXAS, "C7511", NULL, 0, 0, false, "insufficient register",
     "_Z1kPfyyi", true},
    {"C7514_read_early.txt", DIAGNOSTIC_ADVISORY, DIAGNOSTIC_PTXAS, "C7517", NULL, 58, 0, true, "warpgroup.wait",
     "_Z1kPfyyi", true},
    {"C7517_no_wait.txt", DIAGNOSTIC_ADVISORY, DIAGNOSTIC_PTXAS, "C7517", NULL, 51, 0, true, "warpgroup.wait",
     "_Z1kPfyyi", true},
    {"C7518_divergent.txt", DIAGNOSTIC_ADVISORY, DIAGNOSTIC_PTXAS, "C7518", NULL, 0, 0, false, "divergent path",
     "_Z1kPfyyi", true},
    {"C7519_no_fence.txt", DIAGNOSTIC_ADVISORY, DIAGNOSTIC_PTXAS, "C7519", NULL, 40, 0, true, "warpgroup.arrive",
     "_Z1kPfyyi", true},
    {"C7602_registers.txt", DIAGNOSTIC_ERROR, DIAGNOSTIC_PTXAS, "C7602", NULL, 295, 0, true, "Insufficient registers",
     "_Z1kPfyy", true},
};

static void check_text(const char *got, const char *wanted)
{
    if (wanted)
        assert_non_null(got);
    if (wanted)
        assert_string_equal(got, wanted);
    else
        assert_null(got);
}

static void test_first_messages(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(first_messages); i++) {
        const struct expected *wanted = &first_messages[i];
        struct parsed parsed = parse(wanted->file_of_data, NULL);
        const struct diagnostic *got = diagnostics_first(&parsed.diagnostics, wanted->severity);
        print_message("%s\n", wanted->file_of_data);
        assert_non_null(got);
        assert_int_equal(got->tool, wanted->tool);
        check_text(got->code, wanted->code);
        check_text(got->file, wanted->file);
        assert_int_equal(got->line, wanted->line);
        assert_int_equal(got->column, wanted->column);
        assert_int_equal(got->ptx_line, wanted->ptx_line);
        assert_non_null(strstr(got->message, wanted->message_part));
        check_text(got->kernel, wanted->kernel);
        assert_int_equal(got->hint != NULL, wanted->has_hint);
        arena_free(parsed.arena);
    }
}

static void test_errors_of_ptxas_point_into_the_source(void **state)
{
    struct parsed parsed = parse("ptx_error.txt", "ptx_error.ptx");
    const struct diagnostics *diagnostics = &parsed.diagnostics;

    (void)state;
    assert_int_equal(diagnostics->count, 4); /* "aborted due to errors" says nothing new */
    assert_string_equal(diagnostics->items[0].file, "ptx_error.cu");
    assert_int_equal(diagnostics->items[0].line, 3);
    assert_int_equal(diagnostics->items[0].column, 5);
    assert_false(diagnostics->items[0].ptx_line);
    assert_int_equal(diagnostics->items[2].line, 4);
    arena_free(parsed.arena);
}

static void test_repeated_messages_count_once(void **state)
{
    struct parsed parsed = parse("host_assembly.txt", NULL);

    (void)state;
    assert_int_equal(diagnostics_count(&parsed.diagnostics, DIAGNOSTIC_WARNING), 2);
    assert_string_equal(parsed.diagnostics.items[1].code, "#177-D");
    assert_int_equal(parsed.diagnostics.items[1].column, 12);
    arena_free(parsed.arena);
}

static void test_resources(void **state)
{
    struct parsed parsed = parse("spills.txt", NULL);
    const struct kernel_resources *kernel = parsed.diagnostics.kernels;

    (void)state;
    assert_int_equal(parsed.diagnostics.count, 0);
    assert_int_equal(parsed.diagnostics.kernel_count, 1);
    assert_string_equal(kernel->kernel, "_Z1kPfPKf");
    assert_string_equal(kernel->arch, "sm_90a");
    assert_true(kernel->entry);
    assert_int_equal(kernel->registers, 32);
    assert_int_equal(kernel->barriers, 1);
    assert_int_equal(kernel->stack_bytes, 3792);
    assert_int_equal(kernel->spill_store_bytes, 4236);
    assert_int_equal(kernel->spill_load_bytes, 8440);
    arena_free(parsed.arena);

    parsed = parse("too_much_shared.txt", NULL);
    assert_int_equal(parsed.diagnostics.kernels[0].shared_bytes, 320000);
    arena_free(parsed.arena);
}

static void parse_text(struct arena *arena, const char *text, const struct diagnostics_paths *paths,
                       struct diagnostics *out)
{
    diagnostics_parse(arena, text, strlen(text), paths, out);
}

static void test_paths(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const struct diagnostics_paths paths = {.folder = "/tmp/work", .entry = "gemm.cu"};
    struct diagnostics out;

    (void)state;
    parse_text(arena, "/tmp/work/a/b.cuh(7): error: bad\n/tmp/tmpxft_1_gemm.cudafe1.cpp(3): error: worse\n", &paths,
               &out);
    assert_int_equal(out.count, 2);
    assert_string_equal(out.items[0].file, "a/b.cuh");
    assert_string_equal(out.items[1].file, "gemm.cu");
}

static void test_candidate_text_does_not_pose_as_ptxas(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct diagnostics out;

    (void)state;
    parse_text(arena, "kernel.cu(1): error: #error ptxas info    : (C7510) Potential Performance Loss: x\n", NULL,
               &out);
    assert_int_equal(out.count, 1);
    assert_int_equal(out.items[0].severity, DIAGNOSTIC_ERROR);
    assert_int_equal(out.items[0].tool, DIAGNOSTIC_NVCC);
}

static void test_caps_hold(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER text = buffer_new(8 << 20);
    struct diagnostics out;

    (void)state;
    for (int i = 0; i < DIAGNOSTICS_MAX + 50; i++)
        (void)buffer_printf(&text, "k.cu(%d): error: number %d\n", i + 1, i);
    (void)buffer_append_text(&text, "k.cu(1): error: ");
    for (int i = 0; i < 100000; i++)
        (void)buffer_append_text(&text, "x");
    diagnostics_parse(arena, text.data, text.length, NULL, &out);
    assert_int_equal(out.count, DIAGNOSTICS_MAX);
    assert_int_equal(out.dropped, 51);
    parse_text(arena, text.data + text.length - 100016, NULL, &out);
    assert_int_equal(strlen(out.items[0].message), DIAGNOSTICS_MESSAGE_MAX);
}

static void test_control_characters_are_removed(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct diagnostics out;

    (void)state;
    parse_text(arena, "k.cu(1): error: \033[31mred\r\n", NULL, &out);
    assert_int_equal(out.count, 1);
    assert_null(strchr(out.items[0].message, '\033'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_messages),
        cmocka_unit_test(test_errors_of_ptxas_point_into_the_source),
        cmocka_unit_test(test_repeated_messages_count_once),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_paths),
        cmocka_unit_test(test_candidate_text_does_not_pose_as_ptxas),
        cmocka_unit_test(test_caps_hold),
        cmocka_unit_test(test_control_characters_are_removed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
