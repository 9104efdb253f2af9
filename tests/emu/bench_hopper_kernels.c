/*
 * Speed of the emulator on our kernels: bench_hopper_kernels M N K [clusters to run, 0: all] for GEMM,
 * bench_hopper_kernels mha LENGTH DIM for one head of MHA forward. Prints a line per repetition: with the hazard layer, and
 * without it. Times are of this process (CPU), since other ones may be running.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "hopper_kernels.h"

enum { REPETITIONS = 3 };

/* A loaded kernel and its launch. */
struct bench {
    struct emulator *emulator;
    struct emulator_module *module;
    struct hopper_launch launch;
    struct hopper_sample sample;
    uint64_t clusters[64];
};

static bool load(struct bench *bench, const char *name, struct error *error)
{
    AUTO_BUFFER ptx = buffer_new(8 << 20);

    return hopper_compile(name, NULL, NULL, &ptx, error) && emulator_new("sm_90a", &bench->emulator, error) &&
           emulator_load(bench->emulator, name, ptx.data, ptx.length, &bench->module, error);
}

static uint64_t values(const struct bench *bench, int rows, int columns, uint64_t seed)
{
    return hopper_address(hopper_values(bench->emulator, (size_t)rows * (size_t)columns, seed));
}

static bool prepare_gemm(struct bench *bench, int argc, char **argv, struct error *error)
{
    struct hopper_gemm gemm = {.cluster = 2, .m = atoi(argv[1]), .n = atoi(argv[2]), .k = atoi(argv[3])};
    struct hopper_device device;

    if (!load(bench, "gemm_wgmma", error))
        return false;
    device = hopper_emulated(bench->emulator);
    gemm.a = values(bench, gemm.m, gemm.k, 1);
    gemm.b = values(bench, gemm.n, gemm.k, 2);
    gemm.c = values(bench, gemm.m, gemm.n, 3);
    bench->sample.count = argc > 4 ? strtoul(argv[4], NULL, 10) : 0;
    if (bench->sample.count > 64)
        bench->sample.count = 64;
    for (size_t i = 0; i < bench->sample.count; i++)
        bench->clusters[i] = i;
    bench->sample.clusters = bench->clusters;
    return hopper_gemm_launch(&device, &gemm, &bench->launch, error);
}

static bool prepare_mha(struct bench *bench, char **argv, struct error *error)
{
    struct hopper_mha mha = {.heads = 1, .sequence = atoi(argv[2]), .dim = atoi(argv[3])};
    struct hopper_device device;

    if (!load(bench, "mha_fwd", error))
        return false;
    device = hopper_emulated(bench->emulator);
    mha.q = values(bench, mha.sequence, mha.dim, 1);
    mha.k = values(bench, mha.sequence, mha.dim, 2);
    mha.v = values(bench, mha.sequence, mha.dim, 3);
    mha.o = values(bench, mha.sequence, mha.dim, 4);
    mha.lse = values(bench, mha.sequence, 2, 5);
    return hopper_mha_launch(&device, &mha, &bench->launch, error);
}

static bool run(const struct bench *bench, bool unchecked, struct error *error)
{
    struct emulator_schedule schedule = {.unchecked = unchecked};
    AUTO_ARENA *arena = arena_new();
    struct emulator_report report;
    clock_t start = clock();

    emulator_set_schedule(bench->emulator, &schedule);
    if (!hopper_launch_run(bench->emulator, bench->module, &bench->launch, bench->sample.count ? &bench->sample : NULL,
                           arena, &report, error))
        return false;
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    printf("%s: outcome %d, %" PRIu64 " clusters, %" PRIu64 " warp instructions, %" PRIu64 " warps of wgmma, %.1f ms, "
           "%.2f M warp instructions/s\n",
           unchecked ? "without hazards" : "with hazards   ", (int)report.outcome, report.clusters_run,
           report.warp_instructions, report.targets.warps[SASS_GMMA], seconds * 1e3,
           (double)report.warp_instructions / seconds * 1e-6);
    return true;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    struct error error = {0};
    bool ok;

    if (argc < 4) {
        (void)fprintf(stderr, "usage: %s M N K [clusters] | mha LENGTH DIM\n", argv[0]);
        return 64;
    }
    ok = strcmp(argv[1], "mha") == 0 ? prepare_mha(&bench, argv, &error) : prepare_gemm(&bench, argc, argv, &error);
    for (int i = 0; i < 2 * REPETITIONS && ok; i++)
        ok = run(&bench, i % 2, &error);
    if (!ok)
        (void)fprintf(stderr, "%s\n", error.message);
    emulator_unload(bench.emulator, bench.module);
    emulator_free(bench.emulator);
    return ok ? 0 : 2;
}
