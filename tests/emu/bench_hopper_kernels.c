/* Speed of the emulator on our GEMM: bench_hopper_kernels M N K [clusters to run]. Prints one line per repetition. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "hopper_kernels.h"

enum { REPETITIONS = 3 };

static int fail(const struct error *error)
{
    (void)fprintf(stderr, "%s\n", error->message);
    return 2;
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
    for (int i = 0; i < REPETITIONS; i++) {
        AUTO_ARENA *arena = arena_new();
        struct emulator_report report;
        int64_t start = clock_now_ns();
        if (!hopper_gemm_run(emulator, module, &gemm, argc > 4 ? &sample : NULL, arena, &report, &error))
            return fail(&error);
        double seconds = (double)(clock_now_ns() - start) * 1e-9;
        printf("outcome %d, %" PRIu64 " clusters, %" PRIu64 " warp instructions, %" PRIu64 " warps of wgmma, %.1f ms, "
               "%.2f M warp instructions/s\n",
               (int)report.outcome, report.clusters_run, report.warp_instructions, report.targets.warps[SASS_GMMA],
               seconds * 1e3, (double)report.warp_instructions / seconds * 1e-6);
    }
    emulator_unload(emulator, module);
    emulator_free(emulator);
    return 0;
}
