/*
 * A worker: the process that owns one device and judges candidates on it (ARCHITECTURE.md, "one evaluation"). It keeps
 * prepared workloads and warm runners between evaluations. Nothing that a candidate does costs it that state.
 *
 * One worker per process; all functions belong to the thread that opened it.
 */
#ifndef PTXBENCH_JUDGE_WORKER_H
#define PTXBENCH_JUDGE_WORKER_H

#include "judge/tolerance.h"
#include "judge/verdict.h"
#include "toolchain/compile.h"

struct worker;

struct worker_options {
    const char *device;  /* "cuda:0", "emu:sm_90a" */
    const char *version; /* of this program, for records */
    const char *runner;  /* program; NULL: ptxbench-runner beside the executable */
    int warm_runners;    /* kept ready; 0: 2 */
    double memory_share; /* of free device memory for one workload; 0: 0.5 */
    int max_workloads;   /* kept prepared, least recently used goes; 0: 2 */
    uint64_t sample;     /* emulated device: most clusters of a launch that run; 0: all */
};

/* Finds the tools. The device is opened by the first evaluation that needs it, so that a candidate that does not
 * compile is judged without one. Returns new. */
MUST_CHECK bool worker_open(const struct worker_options *options, struct worker **out, struct error *error);
void worker_close(struct worker *worker); /* accepts NULL */

enum sanitizer_mode { SANITIZER_AUTO, SANITIZER_ALWAYS, SANITIZER_NEVER };

/* One candidate and how to judge it. Members that are 0 take the paper's values. */
struct judge_request {
    const struct workload *workload;
    const char *solution; /* name for records */
    const struct compile_source *sources;
    size_t source_count;
    const char *entry_file;
    const char *entry_symbol; /* "run"; ignored by binding c */
    enum compile_binding binding;
    const char *arch; /* NULL: the device's */
    bool allow_libraries;
    struct tolerance tolerance;    /* zeroed: tolerance_paper() */
    enum sanitizer_mode sanitizer; /* AUTO: once for correct candidates, and for those that crash */
    bool verify_with_ncu;
    int trials;                 /* 3 */
    int warmup;                 /* 10 */
    int iterations;             /* 50 */
    int64_t pause_ns;           /* idle time behind each timed call: keeps the device below its power limit, where
                                         * clocks are steady; 0: a quarter of the reference's latency, at most 2 ms;
                                         * negative: none */
    uint64_t seed;              /* of the first inputs */
    const char *cache_root;     /* NULL: default */
    int64_t compile_timeout_ns; /* 0: default */
    bool no_explanation;        /* on a GPU: do not ask the emulator why a candidate failed */
    int64_t emulation_limit_ns; /* emulated device: of all its runs; 0: three minutes */
    void (*progress)(void *context, const char *step); /* NULL: none */
    void *progress_context;
};

/* Judges. Always returns a verdict in the arena: trouble that is not the candidate's is INFRA_ERROR. */
struct verdict *worker_judge(struct worker *worker, const struct judge_request *request, struct arena *arena);

/* Prepares device and workload ahead of the first evaluation. */
MUST_CHECK bool worker_prepare(struct worker *worker, const struct workload *workload, struct error *error);

#endif
