#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/target.h"

#define GMMA "HGMMA.64x256x16.F32.BF16"
#define GMMA_WORK (2.0 * 64 * 256 * 16 / 4) /* of one of the four warps of a warpgroup */

/* An object with a GEMM, a kernel of ordinary code and an HMMA kernel. */
static void build(struct sass_report *report, const char *arch)
{
    static struct sass_instruction gemm[] = {{0x00, "LDC"}, {0x10, "UTMALDG.2D"}, {0x20, GMMA}, {0x30, "EXIT"}};
    static struct sass_instruction plain[] = {{0x00, "FFMA"}, {0x10, "EXIT"}};
    static struct sass_instruction legacy[] = {{0x00, "HMMA.16816.F32.BF16"}, {0x10, "EXIT"}};
    static struct sass_function functions[3];

    functions[0] = (struct sass_function){
        .name = "gemm", .instructions = gemm, .count = 4, .family_count = {[SASS_GMMA] = 1, [SASS_TMA] = 1}};
    functions[1] = (struct sass_function){.name = "plain", .instructions = plain, .count = 2};
    functions[2] = (struct sass_function){
        .name = "legacy", .instructions = legacy, .count = 2, .family_count = {[SASS_LEGACY_MMA] = 1}};
    *report = (struct sass_report){.functions = functions,
                                   .count = 3,
                                   .arch = arch,
                                   .family_count = {[SASS_GMMA] = 1, [SASS_TMA] = 1, [SASS_LEGACY_MMA] = 1}};
}

static const struct verdict_family *family(const struct verdict_target *target, const char *name)
{
    for (size_t i = 0; i < target->counts.count; i++)
        if (strcmp(target->counts.items[i].name, name) == 0)
            return &target->counts.items[i];
    return NULL;
}

static void test_executed(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sass_report report;
    const struct target_count counts[] = {
        {"gemm", 0x20, 1000, 32000}, {"gemm", 0x10, 50, 50},  {"gemm", 0x20, 24, 768},    /* a second launch */
        {"gemm", 0x00, 9, 288},      {"plain", 0x00, 7, 224}, {"flush_l2", 0x40, 5, 160}, /* of the harness */
    };
    struct target_input input = {.sass = &report,
                                 .arch = "sm_90a",
                                 .measured = true,
                                 .counts = counts,
                                 .count_count = ARRAY_LEN(counts),
                                 .measured_with = "cupti sass metrics",
                                 .required_flops = number_of(1024 * GMMA_WORK * 2)};
    struct verdict_target target;
    struct finding_list findings = {0};

    (void)state;
    build(&report, "sm_90a");
    target_judge(arena, &input, &target, &findings);
    assert_int_equal(target.executed, EXECUTED_YES);
    assert_null(target.reason);
    assert_string_equal(target.family, "hopper");
    assert_int_equal(family(&target, "gmma")->warps.value, 1024);
    assert_int_equal(family(&target, "gmma")->threads.value, 32768);
    assert_int_equal(family(&target, "tma")->threads.value, 50);
    assert_int_equal(family(&target, "legacy_mma")->warps.value, 0);
    assert_false(family(&target, "legacy_mma")->target);
    assert_null(family(&target, "tcgen"));
    assert_int_equal(*count_map_get(&target.in_object, "gmma"), 1);
    assert_int_equal(target.foreign.value, 1);
    assert_int_equal(target.kernels.count, 2);
    assert_string_equal(target.kernels.items[0].name, "gemm");
    assert_true(target.mma_flops.value == 1024 * GMMA_WORK);
    assert_true(fabs(target.tensor_share.value - 0.5) < 1e-12);
    assert_true(target.legacy_mma_flops.value == 0);
    assert_int_equal(findings.count, 0);
}

/* Rules of the paper's appendix A.2, one case each. */
static void test_statuses(void **state)
{
    static const struct target_count ran[] = {{"gemm", 0x20, 4, 128}};
    static const struct target_count predicated_off[] = {{"gemm", 0x20, 4, 0}, {"plain", 0x00, 4, 128}};
    static const struct target_count elsewhere[] = {{"plain", 0x00, 4, 128}, {"legacy", 0x00, 4, 128}};
    static const struct target_count odd[] = {{"gemm", 0x24, 4, 128}};
    static const struct {
        const char *name;
        const char *arch;
        struct target_input input;
        enum verdict_executed executed;
        const char *reason;
        const char *finding; /* code of the only one; NULL: none */
    } cases[] = {
        {"ran", "sm_90a", {.measured = true, .counts = ran, .count_count = 1}, EXECUTED_YES, NULL, "tensor_share_low"},
        {"scanner bait in a kernel that is not launched",
         "sm_90a",
         {.measured = true, .counts = elsewhere, .count_count = 2},
         EXECUTED_NO,
         "none ran",
         "target_not_executed"},
        {"executed with the predicate off",
         "sm_90a",
         {.measured = true, .counts = predicated_off, .count_count = 2},
         EXECUTED_NO,
         "none ran",
         "target_not_executed"},
        {"nothing counted", "sm_90a", {.measured = true}, EXECUTED_NO, "none ran", "target_not_executed"},
        {"no counting run",
         "sm_90a",
         {.unmeasured_reason = "crashed under instrumentation"},
         EXECUTED_UNKNOWN,
         "crashed under instrumentation",
         NULL},
        {"use after free",
         "sm_90a",
         {.measured = true, .counts = ran, .count_count = 1, .undefined_reason = "use after free"},
         EXECUTED_UNKNOWN,
         "use after free",
         NULL},
        {"counts do not fit",
         "sm_90a",
         {.measured = true, .counts = odd, .count_count = 1},
         EXECUTED_UNKNOWN,
         "do not fit the disassembly",
         "tool_trouble"},
        {"TMA and GMMA do not count on Blackwell",
         "sm_100a",
         {.measured = true, .counts = ran, .count_count = 1},
         EXECUTED_NEVER,
         "no selected instruction",
         "target_absent"},
        {"never also without a counting run",
         "sm_100a",
         {.unmeasured_reason = "no CUPTI"},
         EXECUTED_NEVER,
         "no selected instruction",
         "target_absent"},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct sass_report report;
        struct target_input input = cases[i].input;
        struct verdict_target target;
        struct finding_list findings = {0};
        build(&report, cases[i].arch);
        input.sass = &report;
        input.arch = cases[i].arch;
        input.required_flops = number_of(1e9);
        target_judge(arena, &input, &target, &findings);
        if (target.executed != cases[i].executed)
            fail_msg("%s: %s", cases[i].name, verdict_executed_text(target.executed));
        if (cases[i].reason ? !target.reason || !strstr(target.reason, cases[i].reason) : target.reason != NULL)
            fail_msg("%s: reason %s", cases[i].name, target.reason ? target.reason : "none");
        if (findings.count != (cases[i].finding != NULL) ||
            (cases[i].finding && strcmp(findings.items[0].code, cases[i].finding) != 0))
            fail_msg("%s: %zu findings, %s", cases[i].name, findings.count,
                     findings.count ? findings.items[0].code : "");
        if (target.executed == EXECUTED_UNKNOWN)
            assert_false(target.tensor_share.known);
    }
}

static void test_unknown_parts(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sass_report report;
    struct verdict_target target;
    struct finding_list findings = {0};
    struct target_input input = {.arch = "sm_90a", .sass_reason = "nvdisasm is missing"};

    (void)state;
    target_judge(arena, &input, &target, &findings);
    assert_int_equal(target.executed, EXECUTED_UNKNOWN);
    assert_string_equal(target.reason, "nvdisasm is missing");
    assert_int_equal(target.in_object.count, 0);
    build(&report, "sm_80");
    input = (struct target_input){.arch = "sm_80", .sass = &report};
    target_judge(arena, &input, &target, &findings);
    assert_int_equal(target.executed, EXECUTED_UNKNOWN);
    assert_non_null(strstr(target.reason, "sm_80"));
    assert_null(target_family_of_arch(NULL));
    assert_string_equal(target_family_of_arch("sm_103a"), "blackwell");
}

/* tcgen05 keeps its shape in a descriptor: the share is unknown, never a guess. */
static void test_unknown_work(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct sass_instruction code[] = {{0x00, "UTCHMMA"}};
    struct sass_function function = {.name = "k", .instructions = code, .count = 1, .family_count = {[SASS_TCGEN] = 1}};
    struct sass_report report = {
        .functions = &function, .count = 1, .arch = "sm_100a", .family_count = {[SASS_TCGEN] = 1}};
    struct target_count count = {"k", 0, 10, 10};
    struct target_input input = {.sass = &report,
                                 .arch = "sm_100a",
                                 .measured = true,
                                 .counts = &count,
                                 .count_count = 1,
                                 .required_flops = number_of(1e9)};
    struct verdict_target target;
    struct finding_list findings = {0};

    (void)state;
    target_judge(arena, &input, &target, &findings);
    assert_int_equal(target.executed, EXECUTED_YES);
    assert_false(target.tensor_share.known);
    assert_non_null(target.tensor_share_reason);
}

static struct count_map axes_of(struct arena *arena, const char *const *names, const int64_t *sizes)
{
    struct count_map map = {0};

    for (; *names; names++, sizes++)
        count_map_set(&map, arena, *names, *sizes);
    return map;
}

static void test_required_flops(void **state)
{
    static const struct {
        const char *definition;
        const char *op_type;
        const char *names[5];
        int64_t sizes[4];
        double flops; /* < 0: unknown */
    } cases[] = {
        {"gemm_n7168_k5120", "gemm", {"M", "N", "K"}, {8192, 7168, 5120}, 2.0 * 8192 * 7168 * 5120},
        {"fp8_gemm_nt_1d2d", NULL, {"M", "N", "K"}, {4096, 24576, 1536}, 2.0 * 4096 * 24576 * 1536},
        {"my_op", "gemm", {"M", "N", "K"}, {2, 3, 4}, 48},
        {"mha_with_lse_d128", "mha", {"B", "H", "S", "D"}, {4, 48, 4096, 128}, 4.0 * 4 * 48 * 4096 * 4096 * 128},
        {"mha_with_lse_d128_causal", "mha", {"B", "H", "S", "D"}, {1, 1, 4, 8}, 4.0 * 10 * 8},
        {"mha_bwd_d128", "mha_bwd", {"B", "H", "S", "d"}, {1, 2, 4, 8}, 10.0 * 2 * 16 * 8},
        {"mha_bwd_d128_causal", NULL, {"B", "H", "S", "d"}, {1, 2, 4, 8}, 10.0 * 2 * 10 * 8},
        {"fp8_mha_with_lse_d64", NULL, {"B", "H", "L", "D"}, {1, 1, 2, 4}, 4.0 * 4 * 4},
        {"gemm_n7168_k5120", "gemm", {"M", "N"}, {8192, 7168}, -1},
        {"gqa_paged_decode", "gqa_paged", {"B", "H", "S", "D"}, {1, 1, 1, 1}, -1},
        {NULL, NULL, {NULL}, {0}, -1},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_ARENA *arena = arena_new();
        struct count_map axes = axes_of(arena, cases[i].names, cases[i].sizes);
        struct number flops = target_required_flops(cases[i].definition, cases[i].op_type, &axes);
        assert_int_equal(flops.known, cases[i].flops >= 0);
        if (flops.known && flops.value != cases[i].flops)
            fail_msg("%s: %g", cases[i].definition, flops.value);
    }
}

static void test_verify(void **state)
{
    AUTO_ARENA *arena = arena_new();
    struct verdict_target target = {0};
    struct count_map warps = {0};
    struct count_map threads = {0};
    struct verdict_family *gmma = LIST_APPEND(arena, &target.counts);

    (void)state;
    *gmma = (struct verdict_family){.name = "gmma", .target = true, .warps = count_of(4), .threads = count_of(128)};
    assert_false(target_verify(arena, &target, "ncu", &warps, &threads));
    assert_non_null(strstr(target.verified_with, "nothing to compare"));
    count_map_set(&warps, arena, "gmma", 4);
    count_map_set(&threads, arena, "gmma", 127);
    assert_false(target_verify(arena, &target, "ncu", &warps, &threads));
    assert_string_equal(target.verified_with, "ncu: differs for gmma: 4 warps, 127 threads against 4 and 128");
    count_map_set(&threads, arena, "gmma", 128);
    assert_true(target_verify(arena, &target, "ncu", &warps, &threads));
    assert_string_equal(target.verified_with, "ncu: agrees");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_executed),       cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_unknown_parts),  cmocka_unit_test(test_unknown_work),
        cmocka_unit_test(test_required_flops), cmocka_unit_test(test_verify),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
