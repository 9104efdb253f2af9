#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/file.h"
#include "judge/ncu.h"

static void test_source_page(void **state)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_FREE char *text = NULL;
    size_t length;
    struct ncu_report report;
    struct count_map warps = {0};
    struct count_map threads = {0};
    struct error error;

    (void)state;
    assert_true(file_read(TEST_DATA "/ncu/source_page.csv", 1 << 20, &text, &length, &error));
    assert_true(ncu_parse(arena, text, length, &report, &error));
    assert_int_equal(report.tables, 2);
    assert_int_equal(report.count, 8);
    assert_int_equal(report.skipped, 0);
    assert_null(report.trouble);
    assert_string_equal(report.items[2].opcode, "UTMALDG.2D");
    assert_string_equal(report.items[3].opcode, "UTMAPF.L2.2D");
    assert_true(report.items[4].address == 0x7f52cafff940);
    assert_int_equal(report.items[4].threads, 73400320);
    assert_non_null(strstr(report.items[4].kernel, "gemm_kernel<(int)128, (int)256>"));
    ncu_families(arena, &report, "sm_90a", &warps, &threads);
    assert_int_equal(*count_map_get(&warps, "gmma"), 2293770);
    assert_int_equal(*count_map_get(&threads, "gmma"), 73400640);
    assert_int_equal(*count_map_get(&warps, "tma"), 10240); /* prefetch is no payload transfer */
    assert_int_equal(*count_map_get(&threads, "tcgen"), 0);
}

static void test_shapes_of_tables(void **state)
{
    static const struct {
        const char *text;
        size_t count;
        const char *opcode;
        int64_t warps;
    } cases[] = {
        {"\"#\",\"Address\",\"Source\",\"inst_executed\",\"thread_inst_executed_true\"\n"
         "\"1\",\"0x10\",\"@!P1 UTCHMMA gdesc[UR4], tmem[UR8]\",\"7\",\"7\"\n",
         1, "UTCHMMA", 7},
        /* CUDA source beside SASS: sums per line are no instructions. */
        {"\"Line No\",\"Source\",\"Address\",\"Source\",\"Instructions Executed\","
         "\"Predicated-On Thread Instructions Executed\"\n"
         "\"12\",\"HGMMA in a comment\",\"-\",\"HGMMA of the line\",\"40\",\"40\"\n\"\",\"\",\"0x20\",\"HGMMA.X "
         "R1\",\"5\",\"160\"\n",
         1, "HGMMA.X", 5},
        {"Source,inst_executed,thread_inst_executed_true\n/*0090*/ HGMMA.Y R1,3,96\n", 1, "HGMMA.Y", 3},
        {"Address,Source,inst_executed,thread_inst_executed_true\n10,HGMMA R1,n/a,1\n20,HGMMA R1\n", 0, NULL, 0},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct ncu_report report;
        struct error error;
        assert_true(ncu_parse(arena, cases[i].text, strlen(cases[i].text), &report, &error));
        if (report.count != cases[i].count)
            fail_msg("case %zu: %zu rows", i, report.count);
        if (cases[i].count) {
            assert_string_equal(report.items[0].opcode, cases[i].opcode);
            assert_int_equal(report.items[0].warps, cases[i].warps);
        }
    }
}

static void test_refusals(void **state)
{
    static const struct {
        const char *text;
        const char *message;
        const char *hint;
    } cases[] = {
        {"", "no source table", "by hand"},
        {"==ERROR== The application returned an error code (1).\n", "returned an error code (1)", "by hand"},
        {"==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n", "ERR_NVGPUCTRPERM", "reserved to root"},
        {"\"Kernel Name\",\"k\"\n\"Address\",\"Source\",\"# Samples\"\n\"10\",\"HGMMA\",\"3\"\n", "no source table",
         "by hand"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct ncu_report report;
        struct error error = {0};
        assert_false(ncu_parse(arena, cases[i].text, strlen(cases[i].text), &report, &error));
        assert_int_equal(error.code, ERROR_TOOL);
        if (!strstr(error.message, cases[i].message) || !strstr(error.hint, cases[i].hint))
            fail_msg("case %zu: %s (%s)", i, error.message, error.hint);
    }
}

static bool has_pair(const char *const *argv, const char *option, const char *value)
{
    for (; argv[0] && argv[1]; argv++)
        if (strcmp(argv[0], option) == 0 && strcmp(argv[1], value) == 0)
            return true;
    return false;
}

static void test_command(void **state)
{
    AUTO_ARENA *arena = arena_new();
    static const char *const target[] = {"runner", "--count", NULL};
    struct ncu_request request = {
        .argv = target, .nvtx_range = "candidate", .kernel_pattern = "^gemm", .launch_count = 2};
    const char *const *argv = ncu_command(arena, &request, "ncu");

    (void)state;
    assert_true(has_pair(argv, "--replay-mode", "application"));
    assert_true(has_pair(argv, "--page", "source"));
    assert_true(has_pair(argv, "--metrics", "inst_executed,thread_inst_executed_true"));
    assert_true(has_pair(argv, "--nvtx-include", "candidate]"));
    assert_true(has_pair(argv, "--kernel-name", "regex:^gemm"));
    assert_true(has_pair(argv, "--launch-count", "2"));
    assert_true(has_pair(argv, "runner", "--count"));
}

static void test_run(void **state)
{
    static const struct {
        const char *body;
        bool works;
        const char *message;
    } cases[] = {
        {"cat " TEST_DATA "/ncu/source_page.csv", true, NULL},
        {"cat " TEST_DATA "/ncu/source_page.csv; exit 9", false, "exited with status 9"},
        {"echo '==ERROR== No kernels were profiled.'; exit 1", false, "No kernels were profiled"},
    };
    static const char *const target[] = {"true", NULL};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct error error = {0};
        struct ncu_report report;
        char *folder;
        assert_true(file_make_temporary_folder(arena, file_temporary_root(), "test-ncu", &folder, &error));
        struct ncu_request request = {.program = file_join(arena, folder, "ncu"), .argv = target};
        const char *script = arena_printf(arena, "#!/bin/sh\n%s\n", cases[i].body);
        assert_true(file_write(request.program, script, strlen(script), 0755, &error));
        bool worked = ncu_run(arena, &request, &report, &error);
        (void)file_remove_tree(folder);
        if (worked != cases[i].works)
            fail_msg("case %zu: %s", i, error.message);
        if (!worked && !strstr(error.message, cases[i].message))
            fail_msg("case %zu: %s", i, error.message);
    }
}

static void test_missing_program(void **state)
{
    AUTO_ARENA *arena = arena_new();
    static const char *const target[] = {"true", NULL};
    struct ncu_request request = {.program = "/nonexistent/ncu", .argv = target};
    struct ncu_report report;
    struct error error;

    (void)state;
    assert_false(ncu_run(arena, &request, &report, &error));
    assert_int_equal(error.code, ERROR_TOOL);
    assert_non_null(strstr(error.message, "/nonexistent/ncu"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_source_page), cmocka_unit_test(test_shapes_of_tables),
        cmocka_unit_test(test_refusals),    cmocka_unit_test(test_command),
        cmocka_unit_test(test_run),         cmocka_unit_test(test_missing_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
