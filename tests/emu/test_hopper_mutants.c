/*
 * Defects put into our GEMM one at a time: what the emulator says about each. Those that a fast machine forgives are
 * right when copies and products land at once, and wrong when they land late.
 */
#include "../unit/emu/emu_test.h"

#include <math.h>
#include <stdlib.h>

#include "hopper_kernels.h"
#include "reference/cpu_reference.h"
#include "trace/convert.h"

enum { SEEDS = 8, M = 256, N = 256, K = 640 }; /* ten steps: every stage is used more than once */

struct mutant {
    const char *replace, *with;
    /* Under "as soon as possible" and "as late as possible": a part of the findings, or NULL for a run without any. */
    const char *soon, *late;
    bool wrong_soon, wrong_late, wrong_random; /* the result, when the kernel completes; random: for one of SEEDS */
};

static const struct mutant mutants[] = {
    {"barrier_expect_bytes(full, STAGE_BYTES)", "barrier_expect_bytes(full, STAGE_BYTES + 128)",
     "tx-count 128 bytes outstanding", "tx-count 128 bytes outstanding", false, false, false},
    {"barrier_expect_bytes(full, STAGE_BYTES)", "barrier_expect_bytes(full, STAGE_BYTES - 128)",
     "tx-count -128: 128 bytes landed that no expect_tx announced", "tx-count -128", false, false, false},
    {"barrier_init(&shared.full[stage], 1)", "barrier_init(&shared.full[stage], 2)", "pending arrivals 1 of 2",
     "pending arrivals 1 of 2", false, false, false},
    {"CONSUMER_WARPS * CLUSTER);\n        }", "CONSUMER_WARPS * CLUSTER + 1);\n        }", "pending arrivals 1 of 17",
     "pending arrivals 1 of 17", false, false, false},
    {"barrier_wait(&shared.empty[ring.stage], ring.parity ^ 1)", "barrier_wait(&shared.empty[ring.stage], ring.parity)",
     "waits for the phase of parity 0 of mbarrier", "pending arrivals 16 of 16", false, false, false},
    {"barrier_init(&shared.empty[stage], CONSUMER_WARPS * CLUSTER)", "", "is not initialised", "is not initialised",
     false, false, false},
    /* Reads accumulators that are in flight. */
    {"wgmma_wait<0>();", "wgmma_wait<1>();", NULL, NULL, false, true, true},
    /* Releases a stage that a product in flight still reads: only some orders of events overwrite it. */
    {"wgmma_wait<1>();\n            if (previous >= 0) {\n                release(shared, previous);\n            }",
     "if (k + 1 < problem.k_blocks) { release(shared, ring.stage); }\nwgmma_wait<1>();", NULL, NULL, false, false,
     true},
    /* The result leaves through a buffer that the previous store still reads. */
    {"tma_store_wait_read<1>();", "", NULL, NULL, false, true, true},
    /* 64-byte swizzle against tiles in 128-byte swizzle. */
    {"swizzle_128 = 1", "swizzle_128 = 2", NULL, NULL, true, true, true},
};

/* One run: the findings as text, and whether the result is right. */
struct outcome {
    enum emulator_outcome end;
    char findings[4096];
    bool wrong;
};

static bool is_wrong(const uint16_t *got, const uint16_t *expected)
{
    for (size_t i = 0; i < (size_t)M * N; i++) {
        float value = bfloat16_to_float(got[i]), reference = bfloat16_to_float(expected[i]);
        if (!(fabsf(value - reference) <= 1e-2f + 1e-2f * fabsf(reference)))
            return true;
    }
    return false;
}

static void run(struct emulator *emulator, const struct emulator_module *module, struct hopper_gemm *gemm,
                const uint16_t *expected, uint32_t completion, uint64_t seed, struct outcome *outcome)
{
    struct emulator_schedule schedule = {.completion = completion, .seed = seed};
    const struct emu_findings *findings = emulator_findings(emulator);
    struct emulator_report report;
    struct error error = {0};
    AUTO_ARENA *arena = arena_new();
    size_t length = 0;

    emu_findings_clear(emulator_findings(emulator));
    emulator_set_schedule(emulator, &schedule);
    memset(gemm->c, 0xff, (size_t)M * N * sizeof *gemm->c);
    if (!hopper_gemm_run(emulator, module, gemm, arena, &report, &error))
        fail_msg("%s", error.message);
    outcome->end = report.outcome;
    outcome->wrong = is_wrong(gemm->c, expected);
    outcome->findings[0] = 0;
    for (size_t i = 0; i < emu_findings_count(findings) && length < sizeof outcome->findings; i++)
        length +=
            (size_t)snprintf(outcome->findings + length, sizeof outcome->findings - length, "%s: %s\n",
                             emu_code_text(emu_findings_at(findings, i)->code), emu_findings_at(findings, i)->message);
}

static void check(size_t index, const char *schedule, const struct outcome *got, const char *finding, bool wrong)
{
    bool found = finding ? strstr(got->findings, finding) != NULL : !got->findings[0];

    if (!found || (got->end == EMULATOR_COMPLETED && got->wrong != wrong))
        fail_msg("mutant %zu, %s: outcome %d, result %s, findings: %s", index, schedule, (int)got->end,
                 got->wrong ? "wrong" : "right", got->findings);
}

static void check_mutant(size_t index)
{
    const struct mutant *mutant = &mutants[index];
    AUTO_BUFFER ptx = buffer_new(8 << 20);
    struct emulator *emulator;
    struct emulator_module *module;
    struct error error = {0};
    struct outcome outcome;

    if (!hopper_compile("gemm_wgmma", mutant->replace, mutant->with, &ptx, &error) ||
        !emulator_new("sm_90a", &emulator, &error) ||
        !emulator_load(emulator, "gemm", ptx.data, ptx.length, &module, &error))
        fail_msg("mutant %zu: %s", index, error.message);
    uint16_t *expected = malloc((size_t)M * N * sizeof *expected);
    struct hopper_gemm gemm = {.m = M,
                               .n = N,
                               .k = K,
                               .cluster = 2,
                               .a = hopper_values(emulator, (size_t)M * K, 1),
                               .b = hopper_values(emulator, (size_t)N * K, 2),
                               .c = hopper_values(emulator, (size_t)M * N, 3)};

    cpu_gemm(gemm.a, gemm.b, expected, M, N, K);
    run(emulator, module, &gemm, expected, 0, 0, &outcome);
    check(index, "soon", &outcome, mutant->soon, mutant->wrong_soon);
    run(emulator, module, &gemm, expected, 1, 0, &outcome);
    check(index, "late", &outcome, mutant->late, mutant->wrong_late);
    bool wrong = false;
    for (uint64_t seed = 1; seed <= SEEDS && !wrong; seed++) {
        run(emulator, module, &gemm, expected, 2, seed, &outcome);
        wrong = outcome.end == EMULATOR_COMPLETED && outcome.wrong;
    }
    if (wrong != mutant->wrong_random)
        fail_msg("mutant %zu, random: outcome %d, result %s, findings: %s", index, (int)outcome.end,
                 outcome.wrong ? "wrong" : "right", outcome.findings);
    free(expected);
    emulator_unload(emulator, module);
    emulator_free(emulator);
}

static void every_defect_shows(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(mutants); i++)
        check_mutant(i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_defect_shows)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
