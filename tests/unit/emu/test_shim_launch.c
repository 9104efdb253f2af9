#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "emu/shim/shim_launch.h"

static const struct shim_launch_limits h100 = {
    .device_threads = 1024,
    .max_threads = 1024,
    .shared_bytes = 49152,
    .max_cluster = 8,
    .resident_blocks = 132,
};

static struct shim_launch one_block(void)
{
    return (struct shim_launch){.grid = {1, 1, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
}

static int check(const struct shim_launch_limits *limits, const struct shim_launch *launch)
{
    const char *why = NULL;
    int code = shim_launch_check(limits, launch, &why);

    assert_true((code != 0) == (why != NULL)); /* every refusal is explained */
    return code;
}

static void test_dimensions(void **state)
{
    struct shim_launch launch = one_block();

    (void)state;
    assert_int_equal(check(&h100, &launch), 0);
    launch.grid[0] = 0;
    assert_int_equal(check(&h100, &launch), 9);
    launch.grid[0] = 2147483647;
    assert_int_equal(check(&h100, &launch), 0);
    launch.grid[1] = 65536;
    assert_int_equal(check(&h100, &launch), 9);
    launch = one_block();
    launch.block[2] = 65;
    assert_int_equal(check(&h100, &launch), 9);
    launch = one_block();
    launch.block[1] = 33; /* 1056 threads */
    assert_int_equal(check(&h100, &launch), 9);
}

static void test_launch_bounds(void **state)
{
    struct shim_launch_limits bounded = h100;
    struct shim_launch launch = one_block();

    (void)state;
    bounded.max_threads = 128;
    launch.block[0] = 128;
    assert_int_equal(check(&bounded, &launch), 0);
    launch.block[0] = 129;
    assert_int_equal(check(&bounded, &launch), 701);
}

static void test_shared_memory(void **state)
{
    struct shim_launch launch = one_block();

    (void)state;
    launch.shared_bytes = 49152;
    assert_int_equal(check(&h100, &launch), 0);
    launch.shared_bytes = 49153;
    assert_int_equal(check(&h100, &launch), 1);
}

static void test_clusters(void **state)
{
    struct shim_launch_limits limits = h100;
    struct shim_launch launch = one_block();

    (void)state;
    launch.grid[0] = 16;
    launch.cluster[0] = 8;
    assert_int_equal(check(&limits, &launch), 0);
    launch.grid[0] = 17;
    assert_int_equal(check(&limits, &launch), 912);
    launch.grid[0] = 16;
    launch.cluster[0] = 16;
    assert_int_equal(check(&limits, &launch), 912);
    limits.max_cluster = 16;
    assert_int_equal(check(&limits, &launch), 0);
    limits.cluster[0] = 2; /* the kernel was compiled for another */
    assert_int_equal(check(&limits, &launch), 1);
}

static void test_cooperative(void **state)
{
    struct shim_launch launch = one_block();

    (void)state;
    launch.cooperative = true;
    launch.grid[0] = 132;
    assert_int_equal(check(&h100, &launch), 0);
    launch.grid[0] = 133;
    assert_int_equal(check(&h100, &launch), 720);
}

static void test_fault_codes(void **state)
{
    static const struct {
        enum emu_code code;
        int result;
    } rows[] = {
        {EMU_GLOBAL_OUT_OF_BOUNDS, 700},
        {EMU_USE_AFTER_FREE, 700},
        {EMU_READ_ONLY, 700},
        {EMU_SHARED_OUT_OF_BOUNDS, 700},
        {EMU_MISALIGNED, 716},
        {EMU_TRAP, 719},
        {EMU_DEADLOCK, 702},
        {EMU_BAD_INSTRUCTION, 715},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct emu_findings *findings = emu_findings_new();
        const struct emu_finding fault = {.code = rows[i].code, .warp = -1, .lane = -1, .kernel = "k"};
        const struct emu_finding hazard = {.code = EMU_UNINITIALISED_SHARED, .warp = -1, .lane = -1, .kernel = "k"};
        emu_findings_add(findings, &fault, "fault");
        emu_findings_add(findings, &hazard, "told behind it, and not what ended the kernel");
        assert_int_equal(shim_fault_code(EMULATOR_FAULTED, findings), rows[i].result);
        assert_int_equal(shim_fault_code(EMULATOR_COMPLETED, findings), 0);
        emu_findings_free(findings);
    }
}

static void test_other_outcomes(void **state)
{
    struct emu_findings *none = emu_findings_new();

    (void)state;
    assert_int_equal(shim_fault_code(EMULATOR_DEADLOCKED, none), 702);
    assert_int_equal(shim_fault_code(EMULATOR_OUT_OF_BUDGET, none), 702);
    assert_int_equal(shim_fault_code(EMULATOR_UNSUPPORTED, none), 801);
    assert_int_equal(shim_fault_code(EMULATOR_FAULTED, none), 719); /* unexplained */
    emu_findings_free(none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dimensions),     cmocka_unit_test(test_launch_bounds),
        cmocka_unit_test(test_shared_memory),  cmocka_unit_test(test_clusters),
        cmocka_unit_test(test_cooperative),    cmocka_unit_test(test_fault_codes),
        cmocka_unit_test(test_other_outcomes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
