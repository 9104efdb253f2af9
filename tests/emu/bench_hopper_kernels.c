/*
 * Speed of the emulator on our kernels, beside the compiler's: bench_hopper_kernels [repetitions [part of a case's text]]. Prints a Markdown table
 * of medians, with the hazard layer and without it (unchecked); user CPU time says more than wall time where the machine is shared. Exit status 1: a limit is passed.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "hopper_kernels.h"

enum { SAMPLE_MAX = 16, REPETITIONS_MAX = 101 };

struct bench_case {
    const char *text, *kernel;
    bool is_mha;
    int m, n, k; /* of a GEMM */
    bool one_tile;
    size_t sample_count; /* clusters from the first on; 0: all */
    int sequence, dim;   /* of one head */
    bool causal;
    double limit_ms;
};

static const struct bench_case CASES[] = {
    {.text = "GEMM 256 x 256 x 256", .kernel = "gemm_wgmma", .m = 256, .n = 256, .k = 256, .limit_ms = 50},
    {.text = "GEMM 8192 x 7168 x 5120, one persistent cluster: 28 tiles of 128 x 256",
     .kernel = "gemm_wgmma",
     .m = 8192,
     .n = 7168,
     .k = 5120,
     .sample_count = 1,
     .limit_ms = 800},
    {.text = "GEMM 8192 x 7168 x 5120, 32 CTAs of one tile each",
     .kernel = "gemm_wgmma",
     .m = 8192,
     .n = 7168,
     .k = 5120,
     .one_tile = true,
     .sample_count = 16,
     .limit_ms = 1000},
    {.text = "MHA forward causal, one head, S 4096, D 128",
     .kernel = "mha_fwd_causal",
     .is_mha = true,
     .sequence = 4096,
     .dim = 128,
     .causal = true,
     .limit_ms = 1000},
    {.text = "MHA forward, one head, S 4096, D 128", .kernel = "mha_fwd", .is_mha = true, .sequence = 4096, .dim = 128},
};

struct times {
    double wall_ms, user_ms;
};

static struct times now(int who)
{
    struct rusage usage;

    (void)getrusage(who, &usage);
    return (struct times){(double)clock_now_ns() * 1e-6,
                          (double)usage.ru_utime.tv_sec * 1e3 + (double)usage.ru_utime.tv_usec * 1e-3};
}

static struct times since(struct times start, int who)
{
    struct times end = now(who);

    return (struct times){end.wall_ms - start.wall_ms, end.user_ms - start.user_ms};
}

static int by_value(const void *left, const void *right)
{
    const double *a = left, *b = right;

    return (*a > *b) - (*a < *b);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, by_value);
    return values[count / 2];
}

/* A case made ready. */
struct prepared {
    struct emulator *emulator;
    struct emulator_module *module;
    struct hopper_launch launch;
    struct hopper_sample sample;
    double load_ms;
};

static uint64_t values(const struct prepared *prepared, int rows, int columns, uint64_t seed)
{
    return hopper_address(hopper_values(prepared->emulator, (size_t)rows * (size_t)columns, seed));
}

static bool prepare(const struct bench_case *c, const struct buffer *ptx, struct prepared *out, struct error *error)
{
    static const uint64_t first[SAMPLE_MAX] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    struct times load = now(RUSAGE_SELF);

    *out = (struct prepared){.sample = {first, c->sample_count}};
    if (!emulator_new("sm_90a", &out->emulator, error) ||
        !emulator_load(out->emulator, c->kernel, ptx->data, ptx->length, &out->module, error))
        return false;
    out->load_ms = since(load, RUSAGE_SELF).wall_ms;
    struct hopper_device device = hopper_emulated(out->emulator);
    if (c->is_mha) {
        struct hopper_mha mha = {.heads = 1, .sequence = c->sequence, .dim = c->dim, .causal = c->causal};
        mha.q = values(out, c->sequence, c->dim, 1);
        mha.k = values(out, c->sequence, c->dim, 2);
        mha.v = values(out, c->sequence, c->dim, 3);
        mha.o = values(out, c->sequence, c->dim, 4);
        mha.lse = values(out, c->sequence, 2, 5);
        return hopper_mha_launch(&device, &mha, &out->launch, error);
    }
    struct hopper_gemm gemm = {.m = c->m, .n = c->n, .k = c->k, .cluster = 2, .one_tile = c->one_tile};
    gemm.a = values(out, c->m, c->k, 1);
    gemm.b = values(out, c->n, c->k, 2);
    gemm.c = values(out, c->m, c->n, 3);
    return hopper_gemm_launch(&device, &gemm, &out->launch, error);
}

/* Medians of `repetitions` runs behind one that is not timed. */
static bool time_runs(const struct prepared *prepared, bool unchecked, int repetitions, struct times *out,
                      struct emulator_report *report, struct error *error)
{
    double wall[REPETITIONS_MAX], user[REPETITIONS_MAX];
    struct emulator_schedule schedule = {.unchecked = unchecked};

    emulator_set_schedule(prepared->emulator, &schedule);
    for (int i = -1; i < repetitions; i++) {
        AUTO_ARENA *arena = arena_new();
        struct times start = now(RUSAGE_SELF);
        if (!hopper_launch_run(prepared->emulator, prepared->module, &prepared->launch,
                               prepared->sample.count ? &prepared->sample : NULL, arena, report, error))
            return false;
        start = since(start, RUSAGE_SELF);
        if (i >= 0) {
            wall[i] = start.wall_ms;
            user[i] = start.user_ms;
        }
    }
    *out = (struct times){median(wall, repetitions), median(user, repetitions)};
    return true;
}

/* One row of the table. */
static bool measure(const struct bench_case *c, int repetitions, bool *passed, struct error *error)
{
    AUTO_BUFFER ptx = buffer_new(8 << 20);
    struct times compile = now(RUSAGE_CHILDREN), checked, unchecked;
    struct emulator_report report;
    struct prepared prepared;
    struct rusage usage;

    if (!hopper_compile(c->kernel, NULL, NULL, &ptx, error))
        return false;
    compile = since(compile, RUSAGE_CHILDREN);
    if (!prepare(c, &ptx, &prepared, error) || !time_runs(&prepared, true, repetitions, &unchecked, &report, error) ||
        !time_runs(&prepared, false, repetitions, &checked, &report, error))
        return false;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("| %s | %" PRIu64 " | %.2f M | %.1f | %.1f | %.1f | %.0f | %.1f | %.1f | %ld |\n", c->text,
           report.clusters_run, (double)report.warp_instructions * 1e-6, checked.wall_ms, checked.user_ms,
           unchecked.user_ms, c->limit_ms, compile.wall_ms * 1e-3, prepared.load_ms, usage.ru_maxrss / 1024);
    (void)fflush(stdout);
    *passed = *passed && report.outcome == EMULATOR_COMPLETED && (c->limit_ms == 0 || checked.user_ms <= c->limit_ms);
    emulator_unload(prepared.emulator, prepared.module);
    emulator_free(prepared.emulator);
    return true;
}

int main(int argc, char **argv)
{
    int repetitions = argc > 1 ? atoi(argv[1]) : 5;
    bool passed = true;

    if (argc > 3 || repetitions < 1 || repetitions > REPETITIONS_MAX) {
        (void)fprintf(stderr, "usage: %s [repetitions, 1 to %d [part of a case]]\n", argv[0], REPETITIONS_MAX);
        return 64;
    }
    printf("Medians of %d. Limits are of user CPU time; 0: none.\n\n", repetitions);
    printf("| case | clusters | warp instructions | wall ms | user ms | user ms unchecked | limit ms | nvcc -ptx s | "
           "parse ms "
           "| peak MiB |\n|---|---|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct error error = {0};
        if (argc > 2 && !strstr(CASES[i].text, argv[2]))
            continue;
        if (!measure(&CASES[i], repetitions, &passed, &error)) {
            (void)fprintf(stderr, "%s: %s\n", CASES[i].text, error.message);
            return 2;
        }
    }
    return passed ? 0 : 1;
}
