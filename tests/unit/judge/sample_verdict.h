/* A verdict with every member set, shared by the tests of its JSON, trace and summary. */
#ifndef PTXBENCH_TESTS_SAMPLE_VERDICT_H
#define PTXBENCH_TESTS_SAMPLE_VERDICT_H

#include "judge/verdict.h"

static inline void sample_fill_correctness(struct verdict *v, struct arena *arena)
{
    struct verdict_output *output;

    v->correctness = (struct verdict_correctness){
        .rule = "allclose",
        .atol = number_of(1e-2),
        .rtol = number_of(1e-2),
        .required_ratio = number_of(1),
        .matched_ratio = number_of(1),
        .max_abs = number_of(0.0078125),
        .max_rel = number_of(0.0039),
        .elements = count_of(58720256),
        .mismatches = count_of(0),
        .inputs_intact = TRISTATE_YES,
        .guards_intact = TRISTATE_YES,
        .checks = count_of(181),
    };
    output = LIST_APPEND(arena, &v->correctness.outputs);
    *output = (struct verdict_output){
        .name = "C",
        .dtype = "bfloat16",
        .ok = TRISTATE_YES,
        .elements = count_of(58720256),
        .mismatches = count_of(0),
        .nan = count_of(0),
        .inf = count_of(0),
        .untouched = count_of(0),
        .max_abs = number_of(0.0078125),
        .max_rel = number_of(0.0039),
        .error_norm = number_of(1.7e-3),
        .library_error_norm = number_of(1.6e-3),
    };
    *LIST_APPEND(arena, &output->shape) = 8192;
    *LIST_APPEND(arena, &output->shape) = 7168;
}

static inline void sample_fill_timing(struct verdict *v, struct arena *arena)
{
    struct verdict_trial *trial;

    v->performance = (struct verdict_performance){
        .latency_ms = number_of(0.875),
        .reference_latency_ms = number_of(0.79625),
        .speedup = number_of(0.91),
        .ci95 = {true, 0.9043, 0.9151},
        .n = count_of(150),
        .reference = "cuBLASLt 13.1.0",
        .tflops = number_of(687.2),
        .bandwidth_gbs = number_of(312.5),
        .limiter = "tensor pipe 71 % busy",
    };
    v->timing = (struct verdict_timing){
        .clock = "cupti",
        .l2_policy = "cold: 2 x L2 flush",
        .warmup = count_of(10),
        .iterations = count_of(50),
        .launches = count_of(1),
        .candidate_cv = number_of(0.011),
        .reference_cv = number_of(0.009),
        .drift = number_of(-0.002),
        .outliers = count_of(2),
        .sm_clock_min_mhz = number_of(1695),
        .sm_clock_max_mhz = number_of(1755),
        .temperature_max_c = number_of(61),
        .power_max_w = number_of(688.5),
        .throttle = "",
        .audit = {"consistent", "the clocks agree", number_of(131.2), number_of(139), count_of(150)},
        .memo = {TRISTATE_NO, number_of(0.876), number_of(0.875), number_of(0.42), "no sign of kept results"},
    };
    for (int t = 0; t < 3; t++) {
        trial = LIST_APPEND(arena, &v->timing.trials);
        for (int i = 0; i < 4; i++) {
            *LIST_APPEND(arena, &trial->candidate_ms) = 0.875 + i * 0.001;
            *LIST_APPEND(arena, &trial->reference_ms) = 0.796 + i * 0.001;
        }
        trial->candidate_median_ms = number_of(0.875);
        trial->sm_clock_mhz = number_of(1740);
    }
}

static inline void sample_fill_target(struct verdict *v, struct arena *arena)
{
    struct verdict_kernel *kernel;

    v->target = (struct verdict_target){
        .family = "hopper",
        .executed = EXECUTED_YES,
        .mma_flops = number_of(601295421440.0),
        .legacy_mma_flops = number_of(0),
        .required_flops = number_of(601295421440.0),
        .tensor_share = number_of(1),
        .foreign = count_of(12),
        .measured_with = "cupti sass metrics",
        .wall_ms = number_of(97),
        .verified_with = "ncu 2025.3.1: agrees",
    };
    count_map_set(&v->target.in_object, arena, "gmma", 8);
    count_map_set(&v->target.in_object, arena, "tma", 0);
    *LIST_APPEND(arena, &v->target.counts) =
        (struct verdict_family){"gmma", true, count_of(8), count_of(4587520), count_of(146800640)};
    *LIST_APPEND(arena, &v->target.counts) = (struct verdict_family){"tma", true, count_of(0), {0}, {0}};
    kernel = LIST_APPEND(arena, &v->target.kernels);
    kernel->name = "gemm_kernel";
    kernel->launches = count_of(1);
    *LIST_APPEND(arena, &kernel->families) =
        (struct verdict_family){"gmma", true, count_of(8), count_of(4587520), count_of(146800640)};
}

static inline struct verdict *sample_passed(struct arena *arena)
{
    struct verdict *v = verdict_new(arena);

    v->task = (struct verdict_task){
        .definition = "gemm_n7168_k5120",
        .op_type = "gemm",
        .workload = "92bd0358-01a8-4c5b-9209-3103fd490e94",
        .device = "cuda:0",
        .arch = "sm_90a",
        .solution = "my_kernel",
        .binding = "c",
    };
    count_map_set(&v->task.axes, arena, "M", 8192);
    v->compile = (struct verdict_compile){
        .ok = TRISTATE_YES,
        .key = "0123abcd",
        .cached = TRISTATE_NO,
        .wall_ms = number_of(9210.5),
        .summary = "compiled",
        .log = "ptxas info : Used 168 registers\n",
    };
    *LIST_APPEND(arena, &v->compile.diagnostics) = (struct verdict_diagnostic){
        "advisory", "ptxas", "C7510", "wgmma serialised", "kernel.cu", 88, 0, false, "gemm_kernel", "fence earlier"};
    *LIST_APPEND(arena, &v->compile.resources) =
        (struct verdict_resources){"gemm_kernel", "sm_90a", 168, 64, 32, 16, 1024, 3};
    sample_fill_correctness(v, arena);
    sample_fill_timing(v, arena);
    sample_fill_target(v, arena);
    v->sanitizer = (struct verdict_sanitizer){
        true, "compute-sanitizer memcheck", TRISTATE_YES, count_of(0), NULL, number_of(2100)};
    v->runner = (struct verdict_runner){
        .end = "exited with status 0",
        .exit_status = count_of(0),
        .start_ms = number_of(310),
        .hang_limit_ms = number_of(1000),
        .output = "PASSED 99.9x\n",
    };
    finding_add(&v->findings, arena, FINDING_COMPILE_ADVISORY, "wgmma serialised")->file = "kernel.cu";
    v->findings.items[0].line = 88;
    v->provenance = (struct verdict_provenance){
        .version = "0.1.0",
        .time = "2026-08-01T12:00:00Z",
        .host = "node7",
        .gpu = "NVIDIA H200",
        .gpu_uuid = "GPU-1234",
        .driver = "580.65.06",
        .definition_sha256 = "aa",
        .workload_sha256 = "bb",
        .source_sha256 = "cc",
        .object_sha256 = "dd",
        .input_seed = "00000000deadbeef",
        .order_seed = "0000000000000007",
        .protocol = "paper",
        .sandbox = "landlock ABI 4",
        .wall_ms = number_of(15800),
    };
    text_map_set(&v->provenance.tools, arena, "nvcc", "13.0.88");
    verdict_set_status(v, arena, VERDICT_PASSED, "all outputs agree");
    return v;
}

static inline struct verdict *sample_wrong(struct arena *arena)
{
    struct verdict *v = sample_passed(arena);
    struct verdict_output *output = &v->correctness.outputs.items[0];

    v->performance = (struct verdict_performance){0};
    v->timing = (struct verdict_timing){0};
    output->ok = TRISTATE_NO;
    output->mismatches = v->correctness.mismatches = count_of(917504);
    output->max_abs = v->correctness.max_abs = number_of(__builtin_inf());
    output->max_rel = v->correctness.max_rel = number_of(__builtin_nan(""));
    output->nan = count_of(64);
    output->pattern = "rows 64 to 127 of every 128";
    output->first_mismatch = (struct verdict_mismatch){"C", {NULL, 0}, number_of(0.5), number_of(__builtin_nan(""))};
    *LIST_APPEND(arena, &output->first_mismatch.index) = 64;
    *LIST_APPEND(arena, &output->first_mismatch.index) = 0;
    v->correctness.first_mismatch = output->first_mismatch;
    v->correctness.matched_ratio = number_of(0.984375);
    (void)finding_add(&v->findings, arena, FINDING_NUMERICAL_MISMATCH, "C: 917504 of 58720256 elements differ");
    verdict_set_status(v, arena, VERDICT_INCORRECT_NUMERICAL, "C differs");
    return v;
}

#endif
