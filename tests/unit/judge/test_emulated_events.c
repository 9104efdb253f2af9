/* The lines of an emulated device: what is taken from them, and what is not believed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/emulated_events.h"

static struct emulated_events read_text(struct arena *arena, const char *text)
{
    struct emulated_events events;

    emulated_events_read(arena, text, strlen(text), &events);
    return events;
}

static void launches(void **state)
{
    AUTO_ARENA *arena = arena_new();
    (void)state;
    struct emulated_events events = read_text(
        arena, "{\"class\":\"start\",\"kernel\":\"k\"}\n"
               "{\"class\":\"launch\",\"kernel\":\"k\",\"outcome\":\"completed\",\"clusters\":4,\"grid_clusters\":40,"
               "\"matrix_work\":100,\"legacy_work\":7,\"families\":{\"gmma\":8},\"depends_on_missing\":false}\n"
               "{\"class\":\"launch\",\"kernel\":\"l\",\"outcome\":\"completed\",\"clusters\":2,\"grid_clusters\":2,"
               "\"matrix_work\":1,\"legacy_work\":0,\"families\":{\"gmma\":1,\"tma\":3},\"depends_on_missing\":true}\n"
               "{\"class\":\"start\",\"kernel\":\"m\"}\n");
    assert_string_equal(events.running, "m");
    assert_int_equal(events.launches, 2);
    assert_int_equal(events.clusters, 6);
    assert_int_equal(events.grid_clusters, 42);
    assert_true(events.depends_on_missing);
    assert_false(events.failed);
    assert_true(events.sums.scaled);
    assert_true(events.sums.target_flops == 1001);
    assert_true(events.sums.legacy_flops == 70);
    assert_true(events.sums.warps[SASS_GMMA] == 81);
    assert_true(events.sums.warps[SASS_TMA] == 3);
}

static void findings(void **state)
{
    AUTO_ARENA *arena = arena_new();
    (void)state;
    struct emulated_events events = read_text(
        arena,
        "{\"class\":\"error\",\"code\":\"deadlock\",\"message\":\"m\",\"hint\":\"h\",\"kernel\":\"k\",\"file\":\"/tmp/"
        "x/a.cu\","
        "\"line\":7,\"caller_file\":\"/tmp/x/b.cu\",\"caller_line\":9,\"count\":1}\n"
        "{\"class\":\"hazard\",\"code\":\"race\",\"message\":\"n\",\"hint\":null,\"kernel\":null,\"file\":null,"
        "\"line\":0,"
        "\"count\":3}\n"
        "{\"class\":\"unsupported\",\"code\":\"unsupported\",\"message\":\"k: not emulated: /tmp/x/source/a.cu:7: "
        "vabsdiff4\"}\n"
        "{\"class\":\"launch\",\"kernel\":\"k\",\"outcome\":\"deadlocked\",\"clusters\":0,\"grid_clusters\":9}\n");
    assert_int_equal(events.findings.count, 2);
    assert_string_equal(events.findings.items[0].code, "deadlock");
    assert_string_equal(events.findings.items[0].file, "a.cu");
    assert_int_equal(events.findings.items[0].line, 7);
    assert_string_equal(events.findings.items[0].message, "m (called at b.cu:9)");
    assert_int_equal(events.findings.items[0].class, FINDING_CLASS_ERROR);
    assert_int_equal(events.findings.items[0].stage, STAGE_EMULATOR);
    assert_int_equal(events.findings.items[1].class, FINDING_CLASS_HAZARD);
    assert_int_equal(events.findings.items[1].count, 3);
    assert_string_equal(events.unsupported, "k: not emulated: a.cu:7: vabsdiff4");
    assert_true(events.failed);
    assert_null(events.running);
}

static void strangers(void **state)
{
    AUTO_ARENA *arena = arena_new();
    (void)state;
    struct emulated_events events = read_text(
        arena, "\n[1]\n7\n{\"class\":5}\n{\"class\":\"launch\",\"families\":[],\"clusters\":\"x\"}\n"
               "{\"class\":\"error\",\"code\":\"c\"}\n{\"class\":\"error\"\n{\"class\":\"start\",\"kernel\":\"k\"}");
    assert_int_equal(events.findings.count, 0);
    assert_int_equal(events.launches, 1);
    assert_true(events.failed);  /* it does not say that it completed */
    assert_null(events.running); /* a torn line */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches),
        cmocka_unit_test(findings),
        cmocka_unit_test(strangers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
