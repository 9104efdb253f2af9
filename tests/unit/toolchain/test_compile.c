/* Real compilations with the nvcc of this machine; skipped where there is none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "base/file.h"
#include "toolchain/compile.h"
#include "toolchain/compile_cache.h"
#include "toolchain/fatbin.h"
#include "toolchain/sass.h"

static const char good_source[] = "#include <ptxbench/candidate.h>\n"
                                  "#include \"part/scale.cuh\"\n"
                                  "__global__ void scale(float *x) { x[threadIdx.x] *= factor(); }\n"
                                  "PTXBENCH_ENTRY(args, count, stream)\n"
                                  "{\n"
                                  "    scale<<<1, count, 0, (cudaStream_t)stream>>>((float *)args[0].data);\n"
                                  "    return cudaGetLastError();\n"
                                  "}\n";
static const char good_header[] = "static __device__ float factor() { return 2.5f; }\n";
static const char bad_source[] = "__global__ void k(float *x)\n"
                                 "{\n"
                                 "    asm volatile(\"mov.u31 %0, 1;\" : \"=f\"(x[0]));\n"
                                 "}\n";

struct fixture {
    struct arena *arena;
    struct toolchain toolchain;
    char *cache;
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct error error;

    if (!fixture)
        return -1;
    fixture->arena = arena_new();
    *state = fixture;
    return toolchain_find(fixture->arena, &fixture->toolchain, &error) &&
                   file_make_temporary_folder(fixture->arena, file_temporary_root(), "test-compile", &fixture->cache,
                                              &error)
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    (void)file_remove_tree(fixture->cache);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

static struct compile_request request_for(const struct fixture *fixture, const struct compile_source *sources,
                                          size_t count)
{
    return (struct compile_request){.sources = sources,
                                    .source_count = count,
                                    .entry = "kernel.cu",
                                    .arch = "sm_90a",
                                    .cache_root = fixture->cache};
}

static struct compile_result compile(struct fixture *fixture, const struct compile_request *request)
{
    struct compile_result result;
    struct error error;

    if (!fixture->toolchain.nvcc)
        skip();
    if (!compile_run(&fixture->toolchain, request, fixture->arena, &result, &error))
        fail_msg("%s", error.message);
    return result;
}

static struct compile_source source_of(const char *path, const char *text)
{
    return (struct compile_source){path, text, strlen(text)};
}

static void check_device_code(struct fixture *fixture, const struct compile_result *result, uint32_t arch)
{
    struct fatbin fatbin;
    struct sass_report sass;
    struct error error;

    if (!fatbin_read_file(fixture->arena, result->object_path, &fatbin, &error))
        fail_msg("%s", error.message);
    const struct fatbin_entry *ptx = fatbin_find_ptx(&fatbin, arch);
    assert_non_null(ptx);
    assert_non_null(memchr(ptx->bytes, '.', ptx->length));
    assert_int_equal(strlen((const char *)ptx->bytes), ptx->length);
    assert_non_null(strstr((const char *)ptx->bytes, ".visible .entry _Z5scalePf"));
    if (!fixture->toolchain.nvdisasm)
        return;
    for (int pass = 0; pass < 2; pass++) {
        if (!sass_analyze(&fixture->toolchain, result->object_path, result->arch, result->folder, fixture->arena, &sass,
                          &error))
            fail_msg("%s", error.message);
        assert_int_equal(sass.from_cache, pass == 1);
        assert_non_null(sass_find_function(&sass, "_Z5scalePf"));
        assert_non_null(sass_opcode_at(&sass, "_Z5scalePf", 0));
    }
}

static bool has_dependency(const struct compile_result *result, const char *path)
{
    for (size_t i = 0; i < result->dependency_count; i++)
        if (strcmp(result->dependencies[i], path) == 0)
            return true;
    return false;
}

static void test_good_candidate(void **state)
{
    struct fixture *fixture = *state;
    const struct compile_source sources[] = {source_of("kernel.cu", good_source),
                                             source_of("part/scale.cuh", good_header)};
    struct compile_request request = request_for(fixture, sources, 2);
    struct compile_result first = compile(fixture, &request);

    assert_int_equal(first.status, COMPILE_OK);
    assert_int_equal(first.binding, COMPILE_BINDING_C);
    assert_false(first.cache_hit);
    assert_int_equal(first.entry_count, 1);
    assert_string_equal(first.entries[0], "ptxbench_run");
    assert_int_equal(first.diagnostics.kernel_count, 1);
    assert_true(has_dependency(&first, "kernel.cu"));
    assert_true(has_dependency(&first, "part/scale.cuh"));
    assert_non_null(first.ptx);
    assert_null(strstr(first.log, fixture->cache));
    assert_null(strstr(first.ptx, fixture->cache));
    assert_non_null(strstr(first.expanded, "return 2.5f;"));
    assert_null(strstr(first.expanded, "cudaMalloc")); /* nothing of the toolkit's headers */
    check_device_code(fixture, &first, 90);

    struct compile_result second = compile(fixture, &request);
    assert_true(second.cache_hit);
    assert_string_equal(second.key, first.key);
    assert_string_equal(second.object_path, first.object_path);
    assert_int_equal(second.dependency_count, first.dependency_count);
    assert_int_equal(second.ptx_length, first.ptx_length);
    assert_int_equal(second.expanded_length, first.expanded_length);

    request.arch = "sm_100a";
    struct compile_result blackwell = compile(fixture, &request);
    assert_false(blackwell.cache_hit);
    check_device_code(fixture, &blackwell, 100);
}

static void test_damaged_entry_is_rebuilt(void **state)
{
    struct fixture *fixture = *state;
    const struct compile_source sources[] = {source_of("kernel.cu", good_source),
                                             source_of("part/scale.cuh", good_header)};
    const struct compile_request request = request_for(fixture, sources, 2);
    struct compile_result result = compile(fixture, &request);
    struct error error;

    assert_true(file_write(result.object_path, "torn", 4, 0644, &error));
    result = compile(fixture, &request);
    assert_false(result.cache_hit);
    assert_int_equal(result.status, COMPILE_OK);
    result = compile(fixture, &request);
    assert_true(result.cache_hit);
}

static void test_failure_is_cached_and_points_into_the_source(void **state)
{
    struct fixture *fixture = *state;
    const struct compile_source source = source_of("kernel.cu", bad_source);
    const struct compile_request request = request_for(fixture, &source, 1);

    for (int pass = 0; pass < 2; pass++) {
        struct compile_result result = compile(fixture, &request);
        const struct diagnostic *first = diagnostics_first(&result.diagnostics, DIAGNOSTIC_ERROR);
        assert_int_equal(result.status, COMPILE_FAILED);
        assert_int_equal(result.cache_hit, pass == 1);
        assert_null(result.object_path);
        assert_non_null(first);
        assert_string_equal(first->file, "kernel.cu");
        assert_int_equal(first->line, 3);
        assert_false(first->ptx_line);
        assert_int_equal(strncmp(result.summary, "kernel.cu:3: ", 13), 0);
    }
}

static void test_time_and_memory_limits(void **state)
{
    struct fixture *fixture = *state;
    const struct compile_source source = source_of("kernel.cu", bad_source);
    struct compile_request request = request_for(fixture, &source, 1);

    request.timeout_ns = 20000000;
    struct compile_result result = compile(fixture, &request);
    assert_int_equal(result.status, COMPILE_TIMED_OUT);
    assert_null(result.folder);
    request.timeout_ns = 0;
    request.memory_bytes = 120 << 20;
    result = compile(fixture, &request);
    assert_int_equal(result.status, COMPILE_LIMIT);
    assert_non_null(strstr(result.summary, "memory"));
    request.memory_bytes = 0;
    request.file_bytes = 2000;
    result = compile(fixture, &request);
    assert_int_equal(result.status, COMPILE_LIMIT);
    assert_non_null(strstr(result.summary, "file size"));
    /* None of them was remembered. */
    request.file_bytes = 0;
    result = compile(fixture, &request);
    assert_int_equal(result.status, COMPILE_FAILED);
    assert_false(result.cache_hit);
}

static void test_missing_function_is_a_compile_error(void **state)
{
    struct fixture *fixture = *state;
    const struct compile_source source =
        source_of("kernel.cu", "#include <ptxbench/candidate.h>\nint other();\n"
                               "PTXBENCH_ENTRY(args, count, stream) { return other(); }\n");
    const struct compile_request request = request_for(fixture, &source, 1);
    struct compile_result result;

    if (!fixture->toolchain.cuda_stubs)
        skip();
    result = compile(fixture, &request);
    assert_int_equal(result.status, COMPILE_FAILED);
    assert_non_null(strstr(result.summary, "undefined reference to `other()'"));
}

static void test_the_compiler_cannot_read_the_machine(void **state)
{
    struct fixture *fixture = *state;
    char *secret = file_join(fixture->arena, fixture->cache, "secret.h");
    char *text = arena_printf(fixture->arena, "#include \"%s\"\n", secret);
    const struct compile_source source = source_of("kernel.cu", text);
    const struct compile_request request = request_for(fixture, &source, 1);
    struct error error;

    assert_true(file_write(secret, "#error topsecret\n", 17, 0644, &error));
    struct compile_result result = compile(fixture, &request);
    if (strncmp(result.sandbox, "landlock", 8) != 0)
        skip();
    assert_int_equal(result.status, COMPILE_FAILED);
    assert_null(strstr(result.log, "topsecret"));
}

static void expect_refusal(struct fixture *fixture, const struct compile_request *request, enum error_code code)
{
    struct compile_result result;
    struct error error;

    assert_false(compile_run(&fixture->toolchain, request, fixture->arena, &result, &error));
    assert_int_equal(error.code, code);
    assert_true(error.message[0]);
}

static void test_bad_requests(void **state)
{
    static const char *const bad_paths[] = {"/etc/x.cu", "../kernel.cu", "a/../../x.cu", "-o.cu", "a b.cu",
                                            "",          "a//b.cu",      "x\ny.cu",      "a/",    "./k.cu"};
    struct fixture *fixture = *state;
    struct compile_source sources[] = {source_of("kernel.cu", "int x;"), source_of("kernel.cu", "int y;")};
    struct compile_request request = request_for(fixture, sources, 2);

    expect_refusal(fixture, &request, ERROR_INPUT);
    for (size_t i = 0; i < ARRAY_LEN(bad_paths); i++) {
        sources[1].path = bad_paths[i];
        expect_refusal(fixture, &request, ERROR_INPUT);
    }
    request.source_count = 1;
    request.entry = "other.cu";
    expect_refusal(fixture, &request, ERROR_INPUT);
    request.entry = "kernel.cu";
    request.arch = "sm_80";
    expect_refusal(fixture, &request, ERROR_USAGE);
}

static void test_trouble_with_the_store_is_not_the_candidates(void **state)
{
    struct fixture *fixture = *state;
    const struct compile_source source = source_of("kernel.cu", "int x;");
    struct compile_request request = request_for(fixture, &source, 1);
    struct compile_result result;
    struct error error;

    if (!fixture->toolchain.nvcc)
        skip();
    request.cache_root = "/dev/null/cache";
    assert_false(compile_run(&fixture->toolchain, &request, fixture->arena, &result, &error));
    assert_int_equal(error.code, ERROR_SYSTEM);
    assert_non_null(strstr(error.hint, "PTXBENCH_CACHE"));
    struct toolchain nothing = {0};
    assert_false(compile_run(&nothing, &request, fixture->arena, &result, &error));
    assert_int_equal(error.code, ERROR_TOOL);
    assert_true(error.hint[0]);
}

static void add_entry(struct fixture *fixture, char digit, int age_seconds)
{
    char key[HASH_TEXT_BYTES] = {0};
    char *folder, text[8192];
    struct error error;

    memset(key, digit, HASH_TEXT_BYTES - 1);
    memset(text, 'x', sizeof text);
    assert_true(compile_cache_workspace(fixture->arena, fixture->cache, &folder, &error));
    assert_true(file_write(file_join(fixture->arena, folder, "object.so"), text, sizeof text, 0644, &error));
    assert_true(compile_cache_publish(fixture->cache, key, folder, &error));
    assert_false(file_exists(folder));
    const struct timespec times[2] = {{.tv_sec = time(NULL) - age_seconds}, {.tv_sec = time(NULL) - age_seconds}};
    assert_int_equal(utimensat(-1, compile_cache_folder(fixture->arena, fixture->cache, key), times, 0), 0);
}

static bool has_entry(struct fixture *fixture, char digit)
{
    char key[HASH_TEXT_BYTES] = {0};

    memset(key, digit, HASH_TEXT_BYTES - 1);
    return file_exists(compile_cache_folder(fixture->arena, fixture->cache, key));
}

static void test_trim_removes_the_least_recently_used(void **state)
{
    struct fixture *fixture = *state;
    struct error error;
    size_t removed;

    add_entry(fixture, 'a', 5000);
    add_entry(fixture, 'b', 9000);
    add_entry(fixture, 'c', 7000);
    add_entry(fixture, 'd', 0);
    assert_true(compile_cache_trim(fixture->cache, 1 << 20, &removed, &error));
    assert_int_equal(removed, 0);
    assert_true(compile_cache_trim(fixture->cache, 2 * 8192, &removed, &error));
    assert_int_equal(removed, 2);
    assert_true(has_entry(fixture, 'a'));
    assert_false(has_entry(fixture, 'b'));
    assert_false(has_entry(fixture, 'c'));
    assert_true(compile_cache_trim(fixture->cache, 0, &removed, &error));
    assert_true(has_entry(fixture, 'd')); /* used just now: somebody may be loading it */
    assert_int_equal(removed, 1);
}

static void test_publishing_twice_keeps_the_first(void **state)
{
    struct fixture *fixture = *state;

    add_entry(fixture, 'e', 100);
    add_entry(fixture, 'e', 100);
    assert_true(has_entry(fixture, 'e'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_good_candidate, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damaged_entry_is_rebuilt, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failure_is_cached_and_points_into_the_source, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time_and_memory_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_missing_function_is_a_compile_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_compiler_cannot_read_the_machine, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bad_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trouble_with_the_store_is_not_the_candidates, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_trim_removes_the_least_recently_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_publishing_twice_keeps_the_first, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
