/* Objects of tests/unit/runner/objects, called with host memory where a runner passes device memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "runner/candidate.h"

enum { DEVICE_ORDINAL = 2 };

static bool has_tvm_ffi;

/* libcudart, which comes last, may be missing on this machine: the objects here do not need it. */
static int preload(void **state)
{
    AUTO_ARENA *arena = arena_new();
    const char *folder = getenv("PTXBENCH_TVM_FFI");
    struct error error;

    (void)state;
    (void)!candidate_preload_libraries(&error);
    has_tvm_ffi = folder && file_exists(file_join(arena, folder, "lib/libtvm_ffi.so"));
    return 0;
}

static struct candidate *load(const char *object, const char *entry, enum runner_binding binding)
{
    AUTO_ARENA *arena = arena_new();
    struct candidate *candidate = NULL;
    struct error error;

    bool ok = candidate_load(file_join(arena, OBJECTS, object), entry, binding, DEVICE_ORDINAL, &candidate, &error);
    if (!ok)
        print_error("%s\n", error.message);
    assert_true(ok);
    return candidate;
}

static void assert_refused(const char *path, const char *entry, const char *text)
{
    struct candidate *candidate;
    struct error error;

    assert_false(candidate_load(path, entry, RUNNER_BINDING_C, 0, &candidate, &error));
    assert_int_equal(error.code, ERROR_INPUT); /* the candidate's fault, not the machine's */
    if (!strstr(error.message, text))
        print_error("%s\n", error.message);
    assert_non_null(strstr(error.message, text));
}

static void test_objects_that_do_not_load(void **state)
{
    (void)state;
    assert_refused(OBJECTS "/absent.so", "ptxbench_run", "absent.so");
    assert_refused("/proc/self/cmdline", "ptxbench_run", "does not load");
    assert_refused(OBJECTS "/c_entries.so", "no_such_entry", "does not export no_such_entry");
    assert_refused(OBJECTS "/unresolved.so", "ptxbench_run", "ptxbench_test_function_of_nobody");
}

static void test_constructors_run(void **state)
{
    struct candidate *candidate = load("c_entries.so", "ptxbench_run", RUNNER_BINDING_C);

    (void)state;
    assert_string_equal(getenv("PTXBENCH_TEST_CONSTRUCTOR"), "ran");
    free(candidate);
}

static void test_c_codes(void **state)
{
    struct candidate *candidate = load("c_entries.so", "ptxbench_run", RUNNER_BINDING_C);
    char text[64] = "untouched", tiny[8];

    (void)state;
    assert_int_equal(candidate_call(candidate, NULL, 0, text, sizeof text), 0);
    assert_string_equal(text, "untouched");
    free(candidate);
    candidate = load("c_entries.so", "return_seven", RUNNER_BINDING_C);
    assert_int_equal(candidate_call(candidate, NULL, 0, text, sizeof text), 7);
    assert_string_equal(text, "ptxbench_run returned 7");
    assert_int_equal(candidate_call(candidate, NULL, 0, tiny, sizeof tiny), 7);
    assert_string_equal(tiny, "ptxbenc");
    free(candidate);
}

static void test_c_arguments(void **state)
{
    int input = 1234;
    float output = 0;
    const struct message_argument specs[] = {
        {.kind = ARGUMENT_INPUT, .dtype = DTYPE_BFLOAT16, .rank = 2, .dims = {3, 4}},
        {.kind = ARGUMENT_SCALAR, .dtype = DTYPE_FLOAT32, .real = 0.5, .integer = 99},
        {.kind = ARGUMENT_SCALAR, .dtype = DTYPE_INT32, .real = 99, .integer = -7},
        {.kind = ARGUMENT_SCALAR, .dtype = DTYPE_BOOL, .integer = 1},
        {.kind = ARGUMENT_OUTPUT, .dtype = DTYPE_FLOAT32, .rank = 0},
    };
    struct candidate_argument arguments[ARRAY_LEN(specs)];
    char text[64] = "";

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        arguments[i] = (struct candidate_argument){&specs[i], (CUdeviceptr)(uintptr_t)&input};
    arguments[4].address = (CUdeviceptr)(uintptr_t)&output;
    struct candidate *candidate = load("c_entries.so", "check_arguments", RUNNER_BINDING_C);
    int code = candidate_call(candidate, arguments, ARRAY_LEN(specs), text, sizeof text);
    if (code)
        print_error("objects/c_entries.c:%d\n", code);
    assert_int_equal(code, 0);
    assert_true(output >= 2.5f && output <= 2.5f);
    free(candidate);
}

static void require_tvm_ffi(void)
{
    if (has_tvm_ffi)
        return;
    print_message("no libtvm_ffi.so at $PTXBENCH_TVM_FFI\n");
    skip();
}

static void test_tvm_arguments(void **state)
{
    int input = 1234;
    float output = 0;
    const struct message_argument specs[] = {
        {.kind = ARGUMENT_INPUT, .dtype = DTYPE_BFLOAT16, .rank = 3, .dims = {3, 4, 5}},
        {.kind = ARGUMENT_SCALAR, .dtype = DTYPE_FLOAT32, .real = 0.5, .integer = 99},
        {.kind = ARGUMENT_SCALAR, .dtype = DTYPE_INT32, .real = 99, .integer = -7},
        {.kind = ARGUMENT_SCALAR, .dtype = DTYPE_BOOL, .integer = 1},
        {.kind = ARGUMENT_OUTPUT, .dtype = DTYPE_FLOAT8_E4M3FN, .rank = 1, .dims = {2}},
        {.kind = ARGUMENT_OUTPUT, .dtype = DTYPE_FLOAT32, .rank = 0},
    };
    struct candidate_argument arguments[ARRAY_LEN(specs)];
    char text[256] = "";

    (void)state;
    require_tvm_ffi();
    for (size_t i = 0; i < ARRAY_LEN(specs); i++)
        arguments[i] = (struct candidate_argument){&specs[i], (CUdeviceptr)(uintptr_t)&input};
    arguments[5].address = (CUdeviceptr)(uintptr_t)&output;
    struct candidate *candidate = load("tvm_entries.so", "__tvm_ffi_run", RUNNER_BINDING_TVM_FFI);
    int code = candidate_call(candidate, arguments, ARRAY_LEN(specs), text, sizeof text);
    if (code)
        print_error("%s\n", text);
    assert_int_equal(code, 0);
    assert_true(output >= 2.5f && output <= 2.5f);
    free(candidate);
}

static void test_tvm_errors(void **state)
{
    char text[256] = "", tiny[8];

    (void)state;
    require_tvm_ffi();
    struct candidate *candidate = load("tvm_entries.so", "__tvm_ffi_raise", RUNNER_BINDING_TVM_FFI);
    assert_int_equal(candidate_call(candidate, NULL, 0, text, sizeof text), -1);
    assert_string_equal(text, "ValueError: M must be a multiple of 128");
    assert_int_equal(candidate_call(candidate, NULL, 0, tiny, sizeof tiny), -1);
    assert_string_equal(tiny, "ValueEr");
    free(candidate);
    candidate = load("tvm_entries.so", "__tvm_ffi_fail_silently", RUNNER_BINDING_TVM_FFI);
    assert_int_equal(candidate_call(candidate, NULL, 0, text, sizeof text), -1);
    assert_string_equal(text, "the entry failed without an error object"); /* and no error of an earlier call */
    free(candidate);
}

static void test_tvm_without_the_library(void **state)
{
    struct candidate *candidate;
    struct error error;

    (void)state; /* before anything is preloaded */
    assert_false(
        candidate_load(OBJECTS "/c_entries.so", "ptxbench_run", RUNNER_BINDING_TVM_FFI, 0, &candidate, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    assert_non_null(strstr(error.message, "libtvm_ffi.so"));
}

int main(void)
{
    const struct CMUnitTest bare[] = {cmocka_unit_test(test_tvm_without_the_library)};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_objects_that_do_not_load),
        cmocka_unit_test(test_constructors_run),
        cmocka_unit_test(test_c_codes),
        cmocka_unit_test(test_c_arguments),
        cmocka_unit_test(test_tvm_arguments),
        cmocka_unit_test(test_tvm_errors),
    };

    return cmocka_run_group_tests(bare, NULL, NULL) + cmocka_run_group_tests(tests, preload, NULL);
}
