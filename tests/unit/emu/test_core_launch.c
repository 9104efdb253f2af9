/* What a launch refuses, samples of a grid, instructions that are not emulated, module variables, counts. */
#include "emu_test.h"

#include "emu/emulator.h"

static const char text[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".global .align 4 .u32 table[4] = {10, 20, 30};\n"
    ".global .align 8 .u64 link = table;\n"
    ".visible .entry mark(.param .u64 out)\n"
    "{ .reg .b64 %rd<6>; .reg .b32 %r<6>; ld.param.u64 %rd1, [out]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %nctaid.x;\n"
    "mad.wide.u32 %rd2, %r1, 4, %rd1; mov.u64 %rd3, link; ld.global.u64 %rd4, [%rd3]; ld.global.u32 %r3, [%rd4+4];\n"
    "add.u32 %r3, %r3, %r2; st.global.u32 [%rd2], %r3; ret; }\n"
    ".visible .entry relay(.param .u64 out, .param .u64 in)\n"
    "{ .reg .b64 %rd<6>; .reg .b32 %r<6>; ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [in]; mov.u32 %r1, %ctaid.x;\n"
    "mul.wide.u32 %rd3, %r1, 4; add.u64 %rd1, %rd1, %rd3; add.u64 %rd2, %rd2, %rd3; ld.global.u32 %r2, [%rd2];\n"
    "st.global.u32 [%rd1], %r2; ret; }\n"
    ".visible .entry held_back(.param .u64 out)\n"
    "{ .reg .b64 %rd<2>; .reg .pred %p1; ld.param.u64 %rd1, [out]; setp.ne.u64 %p1, %rd1, 0;\n"
    "@%p1 st.global.u32 [%rd1], 0; ret; }\n"
    ".visible .entry limits() .reqntid 64, 1, 1 .reqnctapercluster 2, 1, 1 { ret; }\n"
    ".shared .align 64 .b8 both[128];\n"
    ".visible .entry other()\n{ .reg .b32 %r<2>; ld.shared.u32 %r1, [both]; ret; }\n"
    ".visible .entry places(.param .u64 out)\n"
    "{ .reg .b64 %rd<4>; .reg .b32 %r<6>; .shared .align 4 .b8 late[40]; .shared .align 8 .b8 early[8];\n"
    ".shared .align 4 .b8 unused[16]; ld.param.u64 %rd1, [out]; mov.u32 %r1, both; mov.u32 %r2, early;\n"
    "mov.u32 %r3, late; st.global.u32 [%rd1], %r1; st.global.u32 [%rd1+4], %r2; st.global.u32 [%rd1+8], %r3; ret; }\n"
    ".visible .entry strange()\n{ .reg .b32 %r<4>;\nvmax4.u32.u32.u32 %r1, %r2, %r3, %r1;\nret; }\n"
    ".visible .entry wrong()\n{ .reg .b32 %r<4>; .reg .b64 %rd<4>;\nadd.u32 %r1, %rd2, %r3;\nret; }\n"
    ".visible .entry spin(.param .u64 flag)\n{ .reg .b64 %rd<2>; .reg .b32 %r<2>; .reg .pred %p1;\n"
    "ld.param.u64 %rd1, [flag]; AGAIN: ld.volatile.global.u32 %r1, [%rd1]; setp.eq.u32 %p1, %r1, 0;\n"
    "@%p1 bra AGAIN; ret; }\n";

static struct emulator *emulator;
static struct emulator_module *module;
static struct arena *arena;

static int setup(void **state)
{
    struct error error = {0};

    (void)state;
    arena = arena_new();
    if (!emulator_new("sm_90a", &emulator, &error) ||
        !emulator_load(emulator, "launch.ptx", text, strlen(text), &module, &error))
        fail_msg("%s", error.message);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    emulator_unload(emulator, module);
    emulator_free(emulator);
    arena_free(arena);
    return 0;
}

static struct emulator_launch plain(const char *name, const void *parameters, size_t bytes)
{
    return (struct emulator_launch){.module = module,
                                    .entry = emulator_find_entry(module, name),
                                    .grid = {8, 1, 1},
                                    .block = {64, 1, 1},
                                    .cluster = {1, 1, 1},
                                    .parameters = parameters,
                                    .parameter_bytes = bytes};
}

static void test_sample(void **state)
{
    uint32_t *out = emu_memory_allocate(emulator_memory(emulator), 32);
    uint64_t parameter = (uintptr_t)out, sample[] = {5, 2};
    struct emulator_launch launch = plain("mark", &parameter, 8);
    struct emulator_report report;
    struct error error = {0};

    (void)state;
    launch.sample = sample;
    launch.sample_count = 2;
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.outcome, EMULATOR_COMPLETED);
    assert_int_equal(report.clusters_run, 2);
    for (int i = 0; i < 8; i++)
        assert_int_equal(out[i], i == 2 || i == 5 ? 28 : UINT32_MAX);
    assert_int_equal(report.opcode_warps[PTX_OP_ST], 4);
    assert_int_equal(report.warp_instructions, 4 * 10);
    sample[1] = 8;
    assert_false(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_non_null(strstr(error.message, "cluster 8 of 8"));
}

/* As ptxas does: the kernel's own variables in the order of their declarations, then those of several kernels. */
static void test_shared_places(void **state)
{
    uint32_t *out = emu_memory_allocate(emulator_memory(emulator), 32);
    uint64_t parameter = (uintptr_t)out;
    struct emulator_launch launch = plain("places", &parameter, 8);
    struct emulator_report report;
    struct error error = {0};

    (void)state;
    launch.grid[0] = 1;
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.outcome, EMULATOR_COMPLETED);
    assert_int_equal(out[2], 0x400);
    assert_int_equal(out[1], 0x428);
    assert_int_equal(out[0], 0x440);
}

/* `sampled`: so many clusters run; 0: all. */
static bool depends(const uint32_t *out, const uint32_t *in, size_t sampled)
{
    uint64_t parameters[] = {(uintptr_t)out, (uintptr_t)in}, sample[] = {1, 6};
    struct emulator_launch launch = plain("relay", parameters, sizeof parameters);
    struct emulator_report report;
    struct error error = {0};

    launch.block[0] = 32; /* one warp, so that nothing is read behind its own write */
    launch.sample = sampled ? sample : NULL;
    launch.sample_count = sampled;
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.outcome, EMULATOR_COMPLETED);
    return report.depends_on_missing;
}

/* A launch that reads what a sampled one left out says so; so does a sampled one that reads what it writes. */
static void test_missing_results(void **state)
{
    uint32_t *first = emu_memory_allocate(emulator_memory(emulator), 32);
    uint32_t *second = emu_memory_allocate(emulator_memory(emulator), 32);
    uint32_t *third = emu_memory_allocate(emulator_memory(emulator), 32);

    (void)state;
    assert_false(depends(second, first, 0));
    assert_false(depends(second, second, 0));
    assert_false(depends(second, first, 2)); /* reads what is whole */
    assert_true(depends(third, second, 0));
    emu_memory_forget(emulator_memory(emulator));
    assert_true(depends(first, first, 2));
    emu_memory_forget(emulator_memory(emulator));
    assert_true(depends(third, third, 1)); /* it reads before it writes */
    emu_memory_forget(emulator_memory(emulator));
}

/* Who waits for a flag, in a part of a grid, may wait for a cluster that was left out. */
static void test_missing_flag(void **state)
{
    uint32_t *flag = emu_memory_allocate(emulator_memory(emulator), 4);
    uint64_t parameter = (uintptr_t)flag, sample[] = {3};
    struct emulator_launch launch = plain("spin", &parameter, 8);
    struct emulator_report report;
    struct error error = {0};

    (void)state;
    *flag = 0;
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.outcome, EMULATOR_DEADLOCKED);
    assert_false(report.depends_on_missing);
    launch.sample = sample;
    launch.sample_count = 1;
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.outcome, EMULATOR_DEADLOCKED);
    assert_true(report.depends_on_missing);
    emu_memory_forget(emulator_memory(emulator));
}

/* The sample ends when it has taken enough work, and not before one cluster has run. */
static void test_sample_work(void **state)
{
    uint32_t *out = emu_memory_allocate(emulator_memory(emulator), 32);
    uint64_t parameter = (uintptr_t)out, sample[] = {7, 0, 1, 2};
    struct emulator_launch launch = plain("mark", &parameter, 8);
    struct emulator_report report;
    struct error error = {0};

    (void)state;
    launch.sample = sample;
    launch.sample_count = 4;
    launch.sample_work = 30; /* two clusters of two warps and ten instructions */
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.clusters_run, 2);
    launch.sample_work = 1;
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.clusters_run, 1);
}

/* What a false predicate holds back has not run. */
static void test_predicated_off(void **state)
{
    uint64_t parameter = 0;
    struct emulator_launch launch = plain("held_back", &parameter, 8);
    struct emulator_report report;
    struct error error = {0};

    (void)state;
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.opcode_warps[PTX_OP_ST], 0);
    assert_int_equal(report.opcode_warps[PTX_OP_SETP], 16);
}

static void expect_refused(struct emulator_launch launch, const char *part)
{
    struct emulator_report report;
    struct error error = {0};

    assert_false(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(error.code, ERROR_INPUT);
    if (!strstr(error.message, part))
        fail_msg("%s", error.message);
}

static void test_refusals(void **state)
{
    uint64_t parameter = 0;
    struct emulator_launch launch = plain("mark", &parameter, 8);

    (void)state;
    launch.block[0] = 2048;
    expect_refused(launch, "block.x is 2048");
    launch = plain("mark", &parameter, 8);
    launch.block[1] = 32;
    expect_refused(launch, "2048 threads per block");
    launch = plain("mark", &parameter, 8);
    launch.cluster[0] = 3;
    expect_refused(launch, "no multiple of the cluster's 3");
    launch = plain("mark", &parameter, 8);
    launch.shared_bytes = 240000;
    expect_refused(launch, "240000 bytes of shared memory");
    expect_refused(plain("mark", &parameter, 4), "4 bytes of parameters, the kernel takes 8");
    expect_refused(plain("nothing", NULL, 0), "no entry number -1");
    expect_refused(plain("limits", NULL, 0), ".reqnctapercluster");
    launch = plain("limits", NULL, 0);
    launch.cluster[0] = 2;
    launch.block[0] = 32;
    expect_refused(launch, ".reqntid");
    expect_refused(plain("wrong", NULL, 0), "register %rd2 does not fit type .u32");
}

static void test_unsupported(void **state)
{
    struct emulator_launch launch = plain("strange", NULL, 0);
    struct emulator_report report;
    struct error error = {0};

    (void)state;
    assert_true(emulator_launch(emulator, &launch, 0, arena, &report, &error));
    assert_int_equal(report.outcome, EMULATOR_UNSUPPORTED);
    assert_non_null(strstr(report.unsupported, "vmax4"));
    assert_non_null(strstr(report.unsupported, "PTX line 27"));
}

static void test_variable(void **state)
{
    void *address;
    size_t bytes;

    (void)state;
    assert_true(emulator_find_variable(module, "table", &address, &bytes));
    assert_int_equal(bytes, 16);
    assert_memory_equal(address, ((uint32_t[]){10, 20, 30, 0}), 16);
    assert_false(emulator_find_variable(module, "chair", &address, &bytes));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sample),          cmocka_unit_test(test_shared_places),
        cmocka_unit_test(test_missing_results), cmocka_unit_test(test_missing_flag),
        cmocka_unit_test(test_sample_work),     cmocka_unit_test(test_predicated_off),
        cmocka_unit_test(test_refusals),        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_variable),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
