/* Our Hopper kernels, from source to result, against the CPU references, under every schedule. */
#include "../unit/emu/emu_test.h"

#include <math.h>
#include <stdlib.h>

#include "hopper_kernels.h"
#include "reference/cpu_reference.h"
#include "trace/convert.h"

static const struct emulator_schedule schedules[] = {
    {.completion = 0},
    {.completion = 1},
    {.completion = 2, .seed = 1},
    {.completion = 2, .seed = 2, .quantum = 7},
    {.completion = 0, .reverse_warps = true},
    {.completion = 1, .reverse_warps = true},
    {.completion = 2, .reverse_warps = true, .seed = 3},
    {.completion = 1, .quantum = 64, .shared_shift = 1024},
};

/* An emulator with one kernel loaded. */
struct fixture {
    struct emulator *emulator;
    struct emulator_module *module;
    struct arena *arena;
};

static void setup(struct fixture *f, const char *name, const char *replace, const char *with)
{
    AUTO_BUFFER ptx = buffer_new(8 << 20);
    struct error error = {0};

    if (!hopper_compile(name, replace, with, &ptx, &error) || !emulator_new("sm_90a", &f->emulator, &error) ||
        !emulator_load(f->emulator, name, ptx.data, ptx.length, &f->module, &error))
        fail_msg("%s", error.message);
    f->arena = arena_new();
}

static void teardown(struct fixture *f)
{
    emulator_unload(f->emulator, f->module);
    emulator_free(f->emulator);
    arena_free(f->arena);
}

static void check_report(const struct fixture *f, bool ok, const struct emulator_report *report,
                         const struct error *error)
{
    const struct emu_findings *findings = emulator_findings(f->emulator);

    if (!ok)
        fail_msg("%s", error->message);
    for (size_t i = 0; i < emu_findings_count(findings); i++)
        print_error("%s: %s\n", emu_code_text(emu_findings_at(findings, i)->code),
                    emu_findings_at(findings, i)->message);
    if (report->unsupported)
        print_error("unsupported: %s\n", report->unsupported);
    assert_int_equal(report->outcome, EMULATOR_COMPLETED);
    assert_int_equal(emu_findings_count(findings), 0);
}

static bool is_close(float got, float expected)
{
    return fabsf(got - expected) <= 1e-2f + 1e-2f * fabsf(expected);
}

static void compare_bf16(const uint16_t *got, const uint16_t *expected, size_t count, const char *what)
{
    for (size_t i = 0; i < count; i++)
        if (!is_close(bfloat16_to_float(got[i]), bfloat16_to_float(expected[i])))
            fail_msg("%s: element %zu is %g, expected %g", what, i, (double)bfloat16_to_float(got[i]),
                     (double)bfloat16_to_float(expected[i]));
}

static uint64_t round_up(int value, int step)
{
    return (uint64_t)((value + step - 1) / step * step);
}

/* All the work of whole tiles, in m64n256k16 of four warps each; tensor copies: two loads of each CTA for each step,
 * four stores of each consumer for each tile. */
static void check_targets(const struct emulator_report *report, const struct hopper_gemm *gemm)
{
    uint64_t m = round_up(gemm->m, 128 * gemm->cluster), n = round_up(gemm->n, 256), k = round_up(gemm->k, 64);
    uint64_t tiles = m / 128 * (n / 256), steps = k / 64;

    assert_int_equal(report->targets.matrix_work, 2 * m * n * k);
    assert_int_equal(report->targets.warps[SASS_GMMA], tiles * 2 * steps * 4 * 4);
    assert_int_equal(report->targets.warps[SASS_TMA], tiles * (2 * steps + 8));
    assert_int_equal(report->targets.warps[SASS_LEGACY_MMA], 0);
}

static void check_gemm(struct fixture *f, int m, int n, int k, int cluster)
{
    size_t elements = (size_t)m * (size_t)n;
    uint16_t *a = hopper_values(f->emulator, (size_t)m * (size_t)k, 1), *c = hopper_values(f->emulator, elements, 3);
    uint16_t *b = hopper_values(f->emulator, (size_t)n * (size_t)k, 2), *expected = malloc(elements * sizeof *expected);

    cpu_gemm(a, b, expected, m, n, k);
    for (size_t s = 0; s < ARRAY_LEN(schedules); s++) {
        struct hopper_gemm gemm = {.m = m, .n = n, .k = k, .cluster = cluster};
        gemm.a = hopper_address(a), gemm.b = hopper_address(b), gemm.c = hopper_address(c);
        struct emulator_report report;
        struct error error = {0};
        char what[128];

        memset(c, 0xff, elements * sizeof *c);
        emulator_set_schedule(f->emulator, &schedules[s]);
        bool ok = hopper_gemm_run(f->emulator, f->module, &gemm, NULL, f->arena, &report, &error);
        check_report(f, ok, &report, &error);
        (void)snprintf(what, sizeof what, "gemm %dx%dx%d, cluster of %d, schedule %zu", m, n, k, cluster, s);
        compare_bf16(c, expected, elements, what);
        check_targets(&report, &gemm);
    }
    free(expected);
}

static void gemm_in_clusters_of_two(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f, "gemm_wgmma", NULL, NULL);
    check_gemm(&f, 256, 512, 192, 2);
    check_gemm(&f, 129, 264, 72, 2);
    check_gemm(&f, 300, 40, 520, 2);
    teardown(&f);
}

static void gemm_without_clusters(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f, "gemm_wgmma", "constexpr int CLUSTER = 2;", "constexpr int CLUSTER = 1;");
    check_gemm(&f, 200, 264, 136, 1);
    teardown(&f);
}

static void check_mha(struct fixture *f, int heads, int sequence, int dim, bool causal)
{
    struct cpu_attention shape = {.batch = 1, .heads = heads, .length = sequence, .dim = dim, .causal = causal};
    size_t rows = (size_t)heads * (size_t)sequence, elements = rows * (size_t)dim;
    uint16_t *q = hopper_values(f->emulator, elements, 1), *k = hopper_values(f->emulator, elements, 2);
    uint16_t *v = hopper_values(f->emulator, elements, 3), *o = hopper_values(f->emulator, elements, 4);
    float *logs = (float *)(void *)hopper_values(f->emulator, rows * 2, 5);
    struct hopper_mha mha = {
        .heads = heads,
        .sequence = sequence,
        .dim = dim,
        .causal = causal,
        .q = hopper_address(q),
        .k = hopper_address(k),
        .v = hopper_address(v),
        .o = hopper_address(o),
        .lse = hopper_address(logs),
    };
    uint16_t *expected = malloc(elements * sizeof *expected);
    float *lse = malloc(rows * sizeof *lse);

    cpu_mha_forward(&shape, q, k, v, expected, lse);
    for (size_t s = 0; s < ARRAY_LEN(schedules); s++) {
        struct emulator_report report;
        struct error error = {0};
        char what[128];

        memset(o, 0xff, elements * sizeof *o);
        memset(logs, 0xff, rows * sizeof *logs);
        emulator_set_schedule(f->emulator, &schedules[s]);
        bool ok = hopper_mha_run(f->emulator, f->module, &mha, f->arena, &report, &error);
        check_report(f, ok, &report, &error);
        (void)snprintf(what, sizeof what, "mha H%d S%d D%d causal %d, schedule %zu", heads, sequence, dim, causal, s);
        compare_bf16(o, expected, elements, what);
        for (size_t i = 0; i < rows; i++)
            if (!is_close(logs[i], lse[i]))
                fail_msg("%s: lse %zu is %g, expected %g", what, i, (double)logs[i], (double)lse[i]);
    }
    free(expected);
    free(lse);
}

static void mha_forward(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f, "mha_fwd", NULL, NULL);
    check_mha(&f, 1, 256, 64, false);
    check_mha(&f, 1, 200, 64, false);
    check_mha(&f, 1, 256, 128, false);
    check_mha(&f, 2, 200, 128, false);
    teardown(&f);
}

static void mha_forward_causal(void **state)
{
    struct fixture f;

    (void)state;
    setup(&f, "mha_fwd_causal", NULL, NULL);
    check_mha(&f, 1, 256, 64, true);
    check_mha(&f, 1, 200, 64, true);
    check_mha(&f, 1, 256, 128, true);
    check_mha(&f, 2, 200, 128, true);
    teardown(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_in_clusters_of_two),
        cmocka_unit_test(gemm_without_clusters),
        cmocka_unit_test(mha_forward),
        cmocka_unit_test(mha_forward_causal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
