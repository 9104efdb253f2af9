/*
 * Speed of the emulator on our kernels, beside the compiler's: bench_hopper_kernels [repetitions [part of a case's text]]. Prints a Markdown table
 * of medians; user CPU time says more than wall time where the machine is shared. Exit status 1: a limit is passed.
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

static bool run_gemm(const struct bench_case *c, struct emulator *emulator, const struct emulator_module *module,
                     struct hopper_gemm *gemm, struct arena *arena, struct emulator_report *report, struct error *error)
{
    static const uint64_t first[SAMPLE_MAX] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

    if (!gemm->a) {
        *gemm = (struct hopper_gemm){.m = c->m, .n = c->n, .k = c->k, .cluster = 2, .one_tile = c->one_tile};
        gemm->a = hopper_values(emulator, (size_t)c->m * (size_t)c->k, 1);
        gemm->b = hopper_values(emulator, (size_t)c->n * (size_t)c->k, 2);
        gemm->c = emu_memory_allocate(emulator_memory(emulator), (size_t)c->m * (size_t)c->n * sizeof *gemm->c);
        gemm->sample = c->sample_count ? first : NULL;
        gemm->sample_count = c->sample_count;
        return true;
    }
    return hopper_gemm_run(emulator, module, gemm, arena, report, error);
}

static bool run_mha(const struct bench_case *c, struct emulator *emulator, const struct emulator_module *module,
                    struct hopper_mha *mha, struct arena *arena, struct emulator_report *report, struct error *error)
{
    size_t elements = (size_t)c->sequence * (size_t)c->dim;

    if (!mha->q) {
        *mha = (struct hopper_mha){.heads = 1, .sequence = c->sequence, .dim = c->dim, .causal = c->causal};
        mha->q = hopper_values(emulator, elements, 1);
        mha->k = hopper_values(emulator, elements, 2);
        mha->v = hopper_values(emulator, elements, 3);
        mha->o = hopper_values(emulator, elements, 4);
        mha->lse = emu_memory_allocate(emulator_memory(emulator), (size_t)c->sequence * sizeof *mha->lse);
        return true;
    }
    return hopper_mha_run(emulator, module, mha, arena, report, error);
}

/* One row of the table. The first run prepares the inputs and is not timed. */
static bool measure(const struct bench_case *c, int repetitions, bool *passed, struct error *error)
{
    AUTO_BUFFER ptx = buffer_new(8 << 20);
    AUTO_ARENA *arena = arena_new();
    struct times compile = now(RUSAGE_CHILDREN);
    double wall[REPETITIONS_MAX], user[REPETITIONS_MAX];
    struct emulator *emulator;
    struct emulator_module *module;
    struct emulator_report report;
    struct hopper_gemm gemm = {0};
    struct hopper_mha mha = {0};

    if (!hopper_compile(c->kernel, NULL, NULL, &ptx, error))
        return false;
    compile = since(compile, RUSAGE_CHILDREN);
    struct times load = now(RUSAGE_SELF);
    if (!emulator_new("sm_90a", &emulator, error) ||
        !emulator_load(emulator, c->kernel, ptx.data, ptx.length, &module, error))
        return false;
    load = since(load, RUSAGE_SELF);
    for (int i = -1; i < repetitions; i++) {
        struct times start = now(RUSAGE_SELF);
        if (!(c->is_mha ? run_mha(c, emulator, module, &mha, arena, &report, error)
                        : run_gemm(c, emulator, module, &gemm, arena, &report, error)))
            return false;
        start = since(start, RUSAGE_SELF);
        if (i >= 0) {
            wall[i] = start.wall_ms;
            user[i] = start.user_ms;
        }
    }
    double wall_ms = median(wall, repetitions), user_ms = median(user, repetitions);
    struct rusage usage;
    (void)getrusage(RUSAGE_SELF, &usage);
    printf("| %s | %" PRIu64 " | %.2f M | %.1f | %.1f | %.0f | %.1f | %.1f | %ld |\n", c->text, report.clusters_run,
           (double)report.warp_instructions * 1e-6, wall_ms, user_ms, c->limit_ms, compile.wall_ms * 1e-3, load.wall_ms,
           usage.ru_maxrss / 1024);
    (void)fflush(stdout);
    *passed = *passed && report.outcome == EMULATOR_COMPLETED && (c->limit_ms == 0 || user_ms <= c->limit_ms);
    emulator_unload(emulator, module);
    emulator_free(emulator);
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
    printf(
        "| case | clusters | warp instructions | wall ms | user ms | limit ms | nvcc -ptx s | parse ms | peak MiB |\n"
        "|---|---|---|---|---|---|---|---|---|\n");
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
