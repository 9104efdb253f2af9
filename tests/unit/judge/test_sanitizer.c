#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "judge/sanitizer.h"

static void parse_file(struct arena *arena, enum sanitizer_tool tool, const char *name, struct sanitizer_report *out)
{
    AUTO_FREE char *text = NULL;
    size_t length;
    struct error error;

    if (!file_read(file_join(arena, TEST_DATA "/sanitizer", name), 1 << 20, &text, &length, &error))
        fail_msg("%s", error.message);
    sanitizer_parse(arena, tool, text, length, out);
}

static void parse_text(struct arena *arena, enum sanitizer_tool tool, const char *text, struct sanitizer_report *out)
{
    sanitizer_parse(arena, tool, text, strlen(text), out);
}

static void test_invalid_write(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sanitizer_report report;

    (void)state;
    parse_file(arena, SANITIZER_MEMCHECK, "invalid_write.txt", &report);
    assert_int_equal(report.clean, TRISTATE_NO);
    assert_null(report.reason);
    assert_int_equal(report.errors.value, 4);
    assert_int_equal(report.noise, 1); /* the launch failure follows from the write */
    assert_true(report.target_failed);
    assert_false(report.use_after_free);
    assert_int_equal(report.findings.count, 2);
    assert_string_equal(report.findings.items[0].code, "memcheck");
    assert_string_equal(report.findings.items[0].file, "kernel.cu");
    assert_int_equal(report.findings.items[0].line, 42);
    assert_int_equal(report.findings.items[0].count, 2);
    assert_string_equal(report.findings.items[0].kernel, "store_tile(float *, int)");
    assert_non_null(strstr(report.findings.items[0].message, "Invalid __global__ write of size 4 bytes: by thread "
                                                             "(32,0,0) in block (7,0,0), Access at 0x7f241b0001e0 is "
                                                             "out of bounds, and is 33 bytes after"));
    assert_null(report.findings.items[1].file);
    assert_string_equal(report.findings.items[1].kernel, "load_tile()");
    assert_int_equal(report.findings.items[1].blame, BLAME_CANDIDATE);
}

static void test_driver_noise_and_our_own_calls_are_clean(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sanitizer_report report;

    (void)state;
    parse_file(arena, SANITIZER_MEMCHECK, "clean_with_noise.txt", &report);
    assert_int_equal(report.clean, TRISTATE_YES);
    assert_int_equal(report.noise, 2);
    assert_int_equal(report.findings.count, 0);
}

static void test_races(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sanitizer_report report;

    (void)state;
    parse_file(arena, SANITIZER_RACECHECK, "race.txt", &report);
    assert_int_equal(report.clean, TRISTATE_NO);
    assert_int_equal(report.findings.count, 2);
    assert_string_equal(report.findings.items[0].code, "racecheck");
    assert_string_equal(report.findings.items[0].file, "race.cu");
    assert_int_equal(report.findings.items[0].line, 21);
    assert_int_equal(report.findings.items[0].count, 128);
    assert_non_null(strstr(report.findings.items[0].message, "race.cu:24"));
    assert_int_equal(report.findings.items[1].count, 64);
}

static void test_old_format_and_leaks(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sanitizer_report report;

    (void)state;
    parse_file(arena, SANITIZER_SYNCCHECK, "old_format.txt", &report);
    assert_int_equal(report.findings.count, 3);
    assert_string_equal(report.findings.items[0].code, "memcheck");
    assert_string_equal(report.findings.items[0].file, "unsafe.cu");
    assert_int_equal(report.findings.items[0].line, 17);
    assert_string_equal(report.findings.items[0].kernel, "oob_kernel(float*)");
    assert_string_equal(report.findings.items[1].code, "synccheck");
    assert_string_equal(report.findings.items[1].kernel, "wait_kernel(int)");
    assert_string_equal(report.findings.items[2].code, "memory_leak");
    assert_int_equal(report.findings.items[2].class, FINDING_CLASS_NOTE);
}

static void test_use_after_free(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sanitizer_report report;

    (void)state;
    parse_file(arena, SANITIZER_MEMCHECK, "use_after_free.txt", &report);
    assert_true(report.use_after_free);
    assert_int_equal(report.clean, TRISTATE_NO);
    assert_int_equal(report.findings.items[0].line, 310);
}

/* What must never count as clean, and what must never count against the candidate. */
static void test_tri_state(void **state)
{
    static const struct {
        const char *text;
        enum tristate clean;
        const char *reason; /* part of it */
    } cases[] = {
        {"========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n", TRISTATE_YES, NULL},
        {"========= COMPUTE-SANITIZER\r\n========= ERROR SUMMARY: 0 errors\r\n", TRISTATE_YES, NULL},
        {"", TRISTATE_UNKNOWN, "without a summary"},
        {"========= COMPUTE-SANITIZER\n", TRISTATE_UNKNOWN, "without a summary"},
        {"compute-sanitizer: error while loading shared libraries\n", TRISTATE_UNKNOWN, "without a summary"},
        {"ERROR SUMMARY: 0 errors\n", TRISTATE_UNKNOWN, "without a summary"}, /* a line of the candidate */
        {"========= Target application returned an error\n========= ERROR SUMMARY: 0 errors\n", TRISTATE_UNKNOWN,
         "program failed under"},
        {"========= Error: process didn't terminate successfully\n========= ERROR SUMMARY: 0 errors\n",
         TRISTATE_UNKNOWN, "program failed under"},
        {"========= Error: No attachable process found. compute-sanitizer timed-out.\n", TRISTATE_UNKNOWN,
         "No attachable process"},
        {"========= CUDA initialized before the Sanitizer, disabling\n========= ERROR SUMMARY: 0 errors\n",
         TRISTATE_UNKNOWN, "before the Sanitizer"},
        {"========= Device not supported. See the documentation\n========= ERROR SUMMARY: 0 errors\n", TRISTATE_UNKNOWN,
         "Device not supported"},
        {"========= ERROR SUMMARY: 3 errors\n", TRISTATE_UNKNOWN, "counted 3 errors, 0 could be read"},
        {"========= ERROR SUMMARY: 5 errors\n========= ERROR SUMMARY: 2 errors were not printed. Use --print-limit "
         "option\n",
         TRISTATE_UNKNOWN, "counted"},
        {"========= Program hit cudaErrorInvalidValue (error 1) due to \"invalid argument\" on CUDA API call to "
         "cudaFuncSetAttribute.\n=========         Host Frame: run [0x1] in candidate.so\n========= ERROR SUMMARY: 1 "
         "error\n",
         TRISTATE_NO, NULL},
        {"========= Some news of the tool\n========= ERROR SUMMARY: 0 errors\n", TRISTATE_YES, NULL},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct sanitizer_report report;
        parse_text(arena, SANITIZER_MEMCHECK, cases[i].text, &report);
        if (report.clean != cases[i].clean)
            fail_msg("case %zu: %d %s", i, (int)report.clean, report.reason ? report.reason : "");
        if (cases[i].reason && !(report.reason && strstr(report.reason, cases[i].reason)))
            fail_msg("case %zu: reason %s", i, report.reason ? report.reason : "none");
    }
}

static void test_tool_trouble_is_unknown(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sanitizer_report report;

    (void)state;
    parse_file(arena, SANITIZER_MEMCHECK, "tool_trouble.txt", &report);
    assert_int_equal(report.clean, TRISTATE_UNKNOWN);
    assert_non_null(strstr(report.reason, "didn't track the launch"));
    assert_false(finding_blames_candidate(&report.findings));
}

static void test_every_prefix_is_harmless(void **state)
{
    AUTO_FREE char *text = NULL;
    size_t length;
    struct error error;

    (void)state;
    assert_true(file_read(TEST_DATA "/sanitizer/invalid_write.txt", 1 << 20, &text, &length, &error));
    for (size_t cut = 0; cut < length; cut += 7) {
        AUTO_ARENA *arena = arena_new();
        struct sanitizer_report report;
        AUTO_FREE char *exact = malloc(cut ? cut : 1);
        memcpy(exact, text, cut);
        sanitizer_parse(arena, SANITIZER_MEMCHECK, exact, cut, &report);
        assert_int_not_equal(report.clean, TRISTATE_YES);
    }
}

static void test_command(void **state)
{
    AUTO_ARENA *arena = arena_new();
    static const char *const target[] = {"runner", "--one", NULL};
    struct sanitizer_request request = {.tool = SANITIZER_RACECHECK, .argv = target};
    const char *const *argv = sanitizer_command(arena, &request, "/bin/cs");
    size_t count = 0;

    (void)state;
    while (argv[count])
        count++;
    assert_string_equal(argv[0], "/bin/cs");
    assert_string_equal(argv[2], "racecheck");
    assert_string_equal(argv[count - 1], "--one");
    assert_string_equal(argv[count - 2], "runner");
    request.tool = SANITIZER_MEMCHECK;
    argv = sanitizer_command(arena, &request, "/bin/cs");
    for (count = 0; argv[count] && strcmp(argv[count], "--track-stream-ordered-races") != 0;)
        count++;
    assert_string_equal(argv[count + 1], "all");
}

/* A stand-in for the tool: writes its last argument's text into the file behind --log-file. */
static const char *make_tool(struct arena *arena, const char *folder, const char *body)
{
    struct error error;
    const char *path = file_join(arena, folder, "compute-sanitizer");
    const char *script =
        arena_printf(arena, "#!/bin/sh\nwhile [ \"$1\" != --log-file ]; do shift; done\nlog=$2\n%s\n", body);

    assert_true(file_write(path, script, strlen(script), 0755, &error));
    return path;
}

static void test_run(void **state)
{
    static const struct {
        const char *body;
        const char *witness;
        enum tristate clean;
        const char *reason;
    } cases[] = {
        {"printf '========= ERROR SUMMARY: 0 errors\\n' > \"$log\"; echo done 17", "done 17", TRISTATE_YES, NULL},
        /* The tool of CUDA 12.4 on one machine: a clean summary although the program never ran. */
        {"printf '========= ERROR SUMMARY: 0 errors\\n' > \"$log\"", "done 17", TRISTATE_UNKNOWN,
         "did not run to its end"},
        /* The candidate prints the tool's words; the log knows better. */
        {"echo '========= ERROR SUMMARY: 0 errors'; printf '========= Invalid __global__ read of size 1 bytes\\n"
         "=========     at k()+0x1 in k.cu:3\\n========= ERROR SUMMARY: 1 error\\n' > \"$log\"",
         NULL, TRISTATE_NO, NULL},
        {"echo broken >&2; exit 3", NULL, TRISTATE_UNKNOWN, "left no log (broken)"},
        {"sleep 30", NULL, TRISTATE_UNKNOWN, "stopped after"},
    };
    static const char *const target[] = {"true", NULL};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct error error = {0};
        struct sanitizer_report report;
        struct verdict_sanitizer record;
        char *folder;
        assert_true(file_make_temporary_folder(arena, file_temporary_root(), "test-sanitizer", &folder, &error));
        struct sanitizer_request request = {
            .tool = SANITIZER_MEMCHECK,
            .program = make_tool(arena, folder, cases[i].body),
            .argv = target,
            .witness = cases[i].witness,
            .timeout_ns = strstr(cases[i].body, "sleep") ? 300000000 : 0,
        };
        if (!sanitizer_run(arena, &request, &report, &record, &error))
            fail_msg("case %zu: %s", i, error.message);
        (void)file_remove_tree(folder);
        if (report.clean != cases[i].clean)
            fail_msg("case %zu: %d %s", i, (int)report.clean, report.reason ? report.reason : "");
        if (cases[i].reason && !strstr(report.reason, cases[i].reason))
            fail_msg("case %zu: %s", i, report.reason);
        assert_true(record.ran);
        assert_int_equal(record.clean, report.clean);
        assert_true((finding_find(&report.findings, FINDING_TOOL_TROUBLE) != NULL) ==
                    (report.clean == TRISTATE_UNKNOWN));
    }
}

static void test_missing_tool_is_no_error(void **state)
{
    AUTO_ARENA *arena = arena_new();
    static const char *const target[] = {"true", NULL};
    struct sanitizer_request request = {.program = "/nonexistent/compute-sanitizer", .argv = target};
    struct sanitizer_report report;
    struct verdict_sanitizer record;
    struct error error;

    (void)state;
    assert_true(sanitizer_run(arena, &request, &report, &record, &error));
    assert_int_equal(report.clean, TRISTATE_UNKNOWN);
    assert_false(record.ran);
    assert_string_equal(record.reason, "compute-sanitizer is not installed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_invalid_write),
        cmocka_unit_test(test_driver_noise_and_our_own_calls_are_clean),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_old_format_and_leaks),
        cmocka_unit_test(test_use_after_free),
        cmocka_unit_test(test_tri_state),
        cmocka_unit_test(test_tool_trouble_is_unknown),
        cmocka_unit_test(test_every_prefix_is_harmless),
        cmocka_unit_test(test_command),
        cmocka_unit_test(test_run),
        cmocka_unit_test(test_missing_tool_is_no_error),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
