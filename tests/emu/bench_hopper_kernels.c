/*
 * Speed of the emulator on our GEMM: bench_hopper_kernels M N K [clusters to run, 0: all]. Prints a line per repetition:
 * with the hazard layer, and without it. Times are of this process (CPU), since other ones may be running.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "hopper_kernels.h"

enum { REPETITIONS = 3 };

static int fail(const struct error *error)
{
    (void)fprintf(stderr, "%s\n", error->message);
    return 2;
}

static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

int main(int argc, char **argv)
{
    struct hopper_gemm gemm = {.cluster = 2};
    uint64_t clusters[64];
    struct hopper_sample sample = {.clusters = clusters};
    struct emulator *emulator;
    struct emulator_module *module;
    struct error error = {0};
    AUTO_BUFFER ptx = buffer_new(8 << 20);

    if (argc < 4) {
        (void)fprintf(stderr, "usage: %s M N K [clusters]\n", argv[0]);
        return 64;
    }
    gemm.m = atoi(argv[1]);
    gemm.n = atoi(argv[2]);
    gemm.k = atoi(argv[3]);
    if (!hopper_compile("gemm_wgmma", NULL, NULL, &ptx, &error) || !emulator_new("sm_90a", &emulator, &error) ||
        !emulator_load(emulator, "gemm_wgmma", ptx.data, ptx.length, &module, &error))
        return fail(&error);
    gemm.a = hopper_address(hopper_values(emulator, (size_t)gemm.m * (size_t)gemm.k, 1));
    gemm.b = hopper_address(hopper_values(emulator, (size_t)gemm.n * (size_t)gemm.k, 2));
    gemm.c = hopper_address(hopper_values(emulator, (size_t)gemm.m * (size_t)gemm.n, 3));
    if (argc > 4) {
        sample.count = (size_t)atoi(argv[4]) < 64 ? (size_t)atoi(argv[4]) : 64;
        for (size_t i = 0; i < sample.count; i++)
            clusters[i] = i;
    }
    for (int i = 0; i < 2 * REPETITIONS; i++) {
        struct emulator_schedule schedule = {.unchecked = i % 2};
        AUTO_ARENA *arena = arena_new();
        struct emulator_report report;
        emulator_set_schedule(emulator, &schedule);
        double start = cpu_seconds();
        if (!hopper_gemm_run(emulator, module, &gemm, sample.count ? &sample : NULL, arena, &report, &error))
            return fail(&error);
        double seconds = cpu_seconds() - start;
        printf("%s: outcome %d, %" PRIu64 " clusters, %" PRIu64 " warp instructions, %" PRIu64
               " warps of wgmma, %.1f ms, "
               "%.2f M warp instructions/s\n",
               schedule.unchecked ? "without hazards" : "with hazards   ", (int)report.outcome, report.clusters_run,
               report.warp_instructions, report.targets.warps[SASS_GMMA], seconds * 1e3,
               (double)report.warp_instructions / seconds * 1e-6);
    }
    emulator_unload(emulator, module);
    emulator_free(emulator);
    return 0;
}
