/*
 * The full result of one evaluation: one candidate, one workload, one device (docs/formats/verdict.md).
 *
 * A verdict is plain data in one arena. Zeroed members mean "unknown" and are JSON null: a step that did not run
 * leaves its part zeroed. The zero status is INFRA_ERROR, so that a forgotten field never passes a candidate.
 * All texts are borrowed from that arena (or static). Not thread-safe.
 */
#ifndef PTXBENCH_JUDGE_VERDICT_H
#define PTXBENCH_JUDGE_VERDICT_H

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/record.h"
#include "judge/finding.h"
#include "trace/evaluation.h"
#include "trace/workload.h"

#define VERDICT_SCHEMA "ptxbench.verdict.v1"

/* The statuses of FlashInfer-Trace and one for trouble that is not the candidate's (never written to a trace). */
#define VERDICT_STATUSES(X)                                                                                            \
    X(VERDICT_INFRA_ERROR, "INFRA_ERROR")                                                                              \
    X(VERDICT_PASSED, "PASSED")                                                                                        \
    X(VERDICT_INCORRECT_SHAPE, "INCORRECT_SHAPE")                                                                      \
    X(VERDICT_INCORRECT_NUMERICAL, "INCORRECT_NUMERICAL")                                                              \
    X(VERDICT_INCORRECT_DTYPE, "INCORRECT_DTYPE")                                                                      \
    X(VERDICT_RUNTIME_ERROR, "RUNTIME_ERROR")                                                                          \
    X(VERDICT_COMPILE_ERROR, "COMPILE_ERROR") /* also: banned library, foreign code */                                 \
    X(VERDICT_TIMEOUT, "TIMEOUT")

enum verdict_status {
#define X(name, text) name,
    VERDICT_STATUSES(X)
#undef X
};

/* What was judged. */
struct verdict_task {
    const char *definition;
    const char *op_type;
    const char *workload; /* uuid */
    struct count_map axes;
    const char *device;   /* "cuda:0", "emu:sm_90a" */
    const char *arch;     /* "sm_90a" */
    const char *solution; /* name */
    const char *binding;  /* "c", "tvm-ffi" */
};

struct verdict_diagnostic {
    const char *severity; /* "error", "warning", "advisory", "note" */
    const char *tool;
    const char *code;
    const char *message;
    const char *file;
    int line;
    int column;
    bool ptx_line; /* `line` counts in the PTX text */
    const char *kernel;
    const char *hint;
};

/* Of one kernel, as ptxas states them. */
struct verdict_resources {
    const char *kernel;
    const char *arch;
    int64_t registers;
    int64_t spill_store_bytes;
    int64_t spill_load_bytes;
    int64_t stack_bytes;
    int64_t shared_bytes; /* static */
    int64_t barriers;
};

struct verdict_compile {
    enum tristate ok; /* unknown: not compiled */
    const char *key;  /* of the cache */
    enum tristate cached;
    struct number wall_ms; /* of the compilation, also when the result came from the cache */
    const char *summary;
    RECORD_LIST(struct verdict_diagnostic) diagnostics;
    RECORD_LIST(struct verdict_resources) resources;
    const char *log; /* printable; candidate's words */
    bool log_truncated;
};

struct verdict_mismatch {
    const char *output;         /* name; NULL: there is no mismatch */
    RECORD_LIST(int64_t) index; /* one entry per dimension */
    struct number expected;
    struct number got;
};

/* One output. Counts are elements. */
struct verdict_output {
    const char *name;
    const char *dtype;
    RECORD_LIST(int64_t) shape;
    enum tristate ok;
    struct count elements;
    struct count mismatches;
    struct count nan;       /* NaN where the reference has none */
    struct count inf;       /* infinite where the reference is not equal */
    struct count untouched; /* still the poison written before the call */
    struct number max_abs;
    struct number max_rel;
    struct number error_norm;         /* ||got - exact|| / ||exact||, exact = high-precision expected output */
    struct number library_error_norm; /* the same of the library operator; NULL when no exact output was computed */
    struct verdict_mismatch first_mismatch;
    const char *pattern; /* where the mismatches lie: "rows 64..127 of every 128", ... */
};

struct verdict_correctness {
    const char *rule; /* "allclose" or "flashinfer" (tolerance.h) */
    struct number atol;
    struct number rtol;
    struct number required_ratio; /* share of elements that must match, 1 as in the paper */
    struct number matched_ratio;
    struct number max_abs; /* over all outputs */
    struct number max_rel;
    struct count elements;
    struct count mismatches;
    struct verdict_mismatch first_mismatch;
    RECORD_LIST(struct verdict_output) outputs;
    enum tristate inputs_intact;
    enum tristate guards_intact;
    struct count checks; /* how many calls had all their outputs compared, timed ones included */
};

struct verdict_performance {
    struct number latency_ms; /* median over the iterations of a trial, mean over trials */
    struct number reference_latency_ms;
    struct number speedup; /* reference / candidate */
    struct interval ci95;  /* of the speed-up */
    struct count n;        /* timed iterations of the candidate, all trials */
    const char *reference; /* "cuBLASLt 13.1.0", "cuDNN 9.20.0" */
    struct number tflops;
    struct number bandwidth_gbs;
    const char *limiter; /* what bounds it, in words; NULL when not analysed */
};

/* One trial: candidate and reference interleaved. Samples in the order taken. */
struct verdict_trial {
    struct number_list candidate_ms;
    struct number_list reference_ms;
    struct number candidate_median_ms;
    struct number reference_median_ms;
    struct number sm_clock_mhz; /* mean over the trial */
    struct number temperature_c;
    struct number power_w;
};

/* The worker's own clock against the device's timestamps (statistics.h). */
struct verdict_audit {
    const char *result; /* "consistent", "host_time", "forged"; NULL: not done */
    const char *explanation;
    struct number device_ms; /* sum over audited launches */
    struct number wall_ms;
    struct count launches;
};

/* Inputs never seen before against repeated ones (statistics.h). */
struct verdict_memo_test {
    enum tristate memoised;
    struct number fresh_median_ms;
    struct number repeated_median_ms;
    struct number p_value;
    const char *explanation;
};

struct verdict_timing {
    const char *clock;     /* "cupti", "events", "wall"; NULL: not timed */
    const char *l2_policy; /* "cold: 2 x L2 flush" */
    struct count warmup;
    struct count iterations; /* timed, per trial */
    struct number pause_ms;  /* idle time behind each call */
    struct count launches;   /* kernels per call */
    RECORD_LIST(struct verdict_trial) trials;
    struct number candidate_cv; /* standard deviation / mean, over all timed iterations */
    struct number reference_cv;
    struct number drift; /* last trial's median / first trial's median - 1 */
    struct count outliers;
    struct number sm_clock_min_mhz;
    struct number sm_clock_max_mhz;
    struct number temperature_max_c;
    struct number power_max_w;
    const char *throttle; /* reasons as NVML names them, "" when none; NULL: not read */
    struct verdict_audit audit;
    struct verdict_memo_test memo;
};

struct verdict_sanitizer {
    bool ran;
    const char *tool;    /* "compute-sanitizer memcheck 2025.3.1" */
    enum tristate clean; /* unknown with `reason` when the tool could not tell */
    struct count errors; /* as the tool counts them */
    const char *reason;
    struct number wall_ms;
};

/* Whether the candidate executes target instructions, and why unknown or not (target.h). */
#define VERDICT_EXECUTED(X)                                                                                            \
    X(EXECUTED_UNKNOWN, "unknown")                                                                                     \
    X(EXECUTED_NEVER, "never") /* none in the object */                                                                \
    X(EXECUTED_NO, "no")       /* in the object, did not run */                                                        \
    X(EXECUTED_YES, "yes")

enum verdict_executed {
#define X(name, text) name,
    VERDICT_EXECUTED(X)
#undef X
};

struct verdict_family {
    const char *name;       /* "gmma", "tma", "tcgen", "legacy_mma" */
    bool target;            /* a target family of the architecture */
    struct count in_object; /* instructions in the object; JSON key "static" */
    struct count warps;     /* warp executions */
    struct count threads;   /* of these, threads whose predicate was on */
};

struct verdict_kernel {
    const char *name; /* demangled where known */
    struct count launches;
    RECORD_LIST(struct verdict_family) families;
};

struct verdict_target {
    const char *family;         /* "hopper" or "blackwell": what the task asks for */
    struct count_map in_object; /* JSON key "static": family -> instructions */
    enum verdict_executed executed;
    const char *reason; /* always set unless executed is yes */
    RECORD_LIST(struct verdict_family) counts;
    RECORD_LIST(struct verdict_kernel) kernels;
    struct count foreign;            /* counts of functions that the object does not hold: ignored */
    struct number mma_flops;         /* done by executed tensor core instructions of the target families */
    struct number legacy_mma_flops;  /* done by HMMA and its like: tensor cores, but not the target path */
    struct number required_flops;    /* of the operation */
    struct number tensor_share;      /* mma_flops / required_flops */
    const char *tensor_share_reason; /* why it is unknown */
    const char *measured_with;       /* "cupti sass metrics" */
    struct number wall_ms;           /* of the counting run, by the worker's clock */
    const char *verified_with;       /* "ncu 2025.3.1: agrees"; NULL: not cross-checked */
};

/* What the runner process did and printed. */
struct verdict_runner {
    const char *end; /* "exited with status 0" */
    struct count exit_status;
    struct count signal;
    struct number start_ms; /* from asking for a runner to the loaded candidate */
    struct number hang_limit_ms;
    const char *output; /* printable; candidate's words */
    bool output_truncated;
};

struct verdict_provenance {
    const char *version; /* of ptxbench */
    const char *time;    /* UTC, start of the evaluation */
    const char *host;
    const char *gpu; /* "NVIDIA H200" */
    const char *gpu_uuid;
    const char *driver;
    struct text_map tools; /* "nvcc": "13.0.88", "cudnn": ... */
    const char *definition_sha256;
    const char *workload_sha256;
    const char *source_sha256;
    const char *object_sha256;
    const char *input_seed; /* hexadecimal; decides the inputs */
    const char *order_seed; /* hexadecimal; decides rotation and order of timed inputs */
    const char *protocol;   /* "paper" or what deviates */
    const char *sandbox;
    struct number wall_ms; /* of the whole evaluation */
    struct count_map
        phases_us; /* of it: build, prepare, load, first_call, reference, timed_calls, compare, clocks, statistics, count, stop, sanitizer, target, explain */
};

struct verdict {
    enum verdict_status status;
    enum blame blame;
    enum tristate correct;
    const char *summary; /* one line: why this status */
    struct verdict_task task;
    struct verdict_compile compile;
    struct verdict_correctness correctness;
    struct verdict_performance performance;
    struct verdict_timing timing;
    struct verdict_sanitizer sanitizer;
    struct verdict_target target;
    struct verdict_runner runner;
    struct finding_list findings;
    struct verdict_provenance provenance;
};

/* A zeroed verdict in the arena. */
struct verdict *verdict_new(struct arena *arena);

/* Sets status, the blame that goes with it (INFRA_ERROR: infrastructure unless set otherwise; PASSED: none; else
 * candidate) and the summary. `correct` follows: PASSED yes, INCORRECT_* no, others stay as they are. */
void verdict_set_status(struct verdict *verdict, struct arena *arena, enum verdict_status status, const char *format,
                        ...) PRINTF_LIKE(4, 5);

/* Trouble outside the candidate: INFRA_ERROR with a finding and the blame that follows from the error's code
 * (ERROR_TOOL tool, ERROR_DEVICE device, else infrastructure). */
void verdict_set_trouble(struct verdict *verdict, struct arena *arena, const struct error *trouble);

/* Contradictions: PASSED without correctness, with blame or with an error finding against the candidate (other than of
 * sanitizer and emulator, which have no status of their own); a failure without blame; speed-up that is not the
 * quotient. ERROR_INTERNAL names the first. */
MUST_CHECK bool verdict_check(const struct verdict *verdict, struct error *error);

/* The JSON object of docs/formats/verdict.md, every key present. Returns new. */
json_object *verdict_to_json(const struct verdict *verdict);

/* Reads a ptxbench.verdict.v1 object into a verdict of the arena; unknown members are ignored. */
MUST_CHECK bool verdict_from_json(struct json at, struct arena *arena, struct verdict **out, struct error *error);

/* 0 passed; 1 the candidate failed; 2 infrastructure, device or tool trouble. */
int verdict_exit_status(const struct verdict *verdict);

/* What a FlashInfer-Trace evaluation holds: correctness and performance for PASSED, correctness for
 * INCORRECT_NUMERICAL, neither otherwise; findings, compiler log and runner output as log. Texts go to the arena.
 * ERROR_UNSUPPORTED for a verdict that the format cannot express: INFRA_ERROR, or PASSED without timing (emulator). */
MUST_CHECK bool verdict_to_evaluation(const struct verdict *verdict, struct arena *arena, struct evaluation *out,
                                      struct error *error);

/* One trace {definition, workload, solution, evaluation} of the named solution; the caller owns the tree. */
MUST_CHECK bool verdict_to_trace_line(const struct verdict *verdict, const struct workload *workload, json_object **out,
                                      struct error *error);

/* Status by its text; false when there is none. */
MUST_CHECK bool verdict_status_parse(const char *text, enum verdict_status *out);
const char *verdict_status_text(enum verdict_status status);
const char *verdict_executed_text(enum verdict_executed executed);

#endif
