#include "judge/verdict_schema.h"

#include "judge/verdict.h"

static const char *const status_texts[] = {
#define X(name, text) text,
    VERDICT_STATUSES(X)
#undef X
};
static const char *const blame_texts[] = {
#define X(name, text) text,
    BLAMES(X)
#undef X
};
static const char *const executed_texts[] = {
#define X(name, text) text,
    VERDICT_EXECUTED(X)
#undef X
};

static const struct record_field task_fields[] = {
    RECORD_TEXT(struct verdict_task, definition), RECORD_TEXT(struct verdict_task, op_type),
    RECORD_TEXT(struct verdict_task, workload),   RECORD_COUNT_MAP(struct verdict_task, axes),
    RECORD_TEXT(struct verdict_task, device),     RECORD_TEXT(struct verdict_task, arch),
    RECORD_TEXT(struct verdict_task, solution),   RECORD_TEXT(struct verdict_task, binding),
};
static const struct record_type task_record = RECORD_TYPE(struct verdict_task, task_fields);

static const struct record_field diagnostic_fields[] = {
    RECORD_TEXT(struct verdict_diagnostic, severity), RECORD_TEXT(struct verdict_diagnostic, tool),
    RECORD_TEXT(struct verdict_diagnostic, code),     RECORD_TEXT(struct verdict_diagnostic, message),
    RECORD_TEXT(struct verdict_diagnostic, file),     RECORD_LINE(struct verdict_diagnostic, line),
    RECORD_LINE(struct verdict_diagnostic, column),   RECORD_BOOL(struct verdict_diagnostic, ptx_line),
    RECORD_TEXT(struct verdict_diagnostic, kernel),   RECORD_TEXT(struct verdict_diagnostic, hint),
};
static const struct record_type diagnostic_record = RECORD_TYPE(struct verdict_diagnostic, diagnostic_fields);

static const struct record_field resource_fields[] = {
    RECORD_TEXT(struct verdict_resources, kernel),
    RECORD_TEXT(struct verdict_resources, arch),
    RECORD_INTEGER(struct verdict_resources, registers),
    RECORD_INTEGER(struct verdict_resources, spill_store_bytes),
    RECORD_INTEGER(struct verdict_resources, spill_load_bytes),
    RECORD_INTEGER(struct verdict_resources, stack_bytes),
    RECORD_INTEGER(struct verdict_resources, shared_bytes),
    RECORD_INTEGER(struct verdict_resources, barriers),
};
static const struct record_type resource_record = RECORD_TYPE(struct verdict_resources, resource_fields);

static const struct record_field compile_fields[] = {
    RECORD_TRISTATE(struct verdict_compile, ok),
    RECORD_TEXT(struct verdict_compile, key),
    RECORD_TRISTATE(struct verdict_compile, cached),
    RECORD_NUMBER(struct verdict_compile, wall_ms),
    RECORD_TEXT(struct verdict_compile, summary),
    RECORD_ITEMS(struct verdict_compile, diagnostics, &diagnostic_record),
    RECORD_ITEMS(struct verdict_compile, resources, &resource_record),
    RECORD_TEXT(struct verdict_compile, log),
    RECORD_BOOL(struct verdict_compile, log_truncated),
};
static const struct record_type compile_record = RECORD_TYPE(struct verdict_compile, compile_fields);

static const struct record_field mismatch_fields[] = {
    RECORD_TEXT(struct verdict_mismatch, output),
    RECORD_INTEGERS(struct verdict_mismatch, index),
    RECORD_NUMBER(struct verdict_mismatch, expected),
    RECORD_NUMBER(struct verdict_mismatch, got),
};
static const struct record_type mismatch_record = RECORD_TYPE(struct verdict_mismatch, mismatch_fields);

static const struct record_field output_fields[] = {
    RECORD_TEXT(struct verdict_output, name),
    RECORD_TEXT(struct verdict_output, dtype),
    RECORD_INTEGERS(struct verdict_output, shape),
    RECORD_TRISTATE(struct verdict_output, ok),
    RECORD_COUNT(struct verdict_output, elements),
    RECORD_COUNT(struct verdict_output, mismatches),
    RECORD_COUNT(struct verdict_output, nan),
    RECORD_COUNT(struct verdict_output, inf),
    RECORD_COUNT(struct verdict_output, untouched),
    RECORD_NUMBER(struct verdict_output, max_abs),
    RECORD_NUMBER(struct verdict_output, max_rel),
    RECORD_NUMBER(struct verdict_output, error_norm),
    RECORD_NUMBER(struct verdict_output, library_error_norm),
    RECORD_OPTIONAL(struct verdict_output, first_mismatch, &mismatch_record),
    RECORD_TEXT(struct verdict_output, pattern),
};
static const struct record_type output_record = RECORD_TYPE(struct verdict_output, output_fields);

static const struct record_field correctness_fields[] = {
    RECORD_TEXT(struct verdict_correctness, rule),
    RECORD_NUMBER(struct verdict_correctness, atol),
    RECORD_NUMBER(struct verdict_correctness, rtol),
    RECORD_NUMBER(struct verdict_correctness, required_ratio),
    RECORD_NUMBER(struct verdict_correctness, matched_ratio),
    RECORD_NUMBER(struct verdict_correctness, max_abs),
    RECORD_NUMBER(struct verdict_correctness, max_rel),
    RECORD_COUNT(struct verdict_correctness, elements),
    RECORD_COUNT(struct verdict_correctness, mismatches),
    RECORD_OPTIONAL(struct verdict_correctness, first_mismatch, &mismatch_record),
    RECORD_ITEMS(struct verdict_correctness, outputs, &output_record),
    RECORD_TRISTATE(struct verdict_correctness, inputs_intact),
    RECORD_TRISTATE(struct verdict_correctness, guards_intact),
    RECORD_COUNT(struct verdict_correctness, checks),
};
static const struct record_type correctness_record = RECORD_TYPE(struct verdict_correctness, correctness_fields);

static const struct record_field performance_fields[] = {
    RECORD_NUMBER(struct verdict_performance, latency_ms),
    RECORD_NUMBER(struct verdict_performance, reference_latency_ms),
    RECORD_NUMBER(struct verdict_performance, speedup),
    RECORD_INTERVAL(struct verdict_performance, ci95),
    RECORD_COUNT(struct verdict_performance, n),
    RECORD_TEXT(struct verdict_performance, reference),
    RECORD_NUMBER(struct verdict_performance, tflops),
    RECORD_NUMBER(struct verdict_performance, bandwidth_gbs),
    RECORD_TEXT(struct verdict_performance, limiter),
};
static const struct record_type performance_record = RECORD_TYPE(struct verdict_performance, performance_fields);

static const struct record_field trial_fields[] = {
    RECORD_NUMBERS(struct verdict_trial, candidate_ms),
    RECORD_NUMBERS(struct verdict_trial, reference_ms),
    RECORD_NUMBER(struct verdict_trial, candidate_median_ms),
    RECORD_NUMBER(struct verdict_trial, reference_median_ms),
    RECORD_NUMBER(struct verdict_trial, sm_clock_mhz),
    RECORD_NUMBER(struct verdict_trial, temperature_c),
    RECORD_NUMBER(struct verdict_trial, power_w),
};
static const struct record_type trial_record = RECORD_TYPE(struct verdict_trial, trial_fields);

static const struct record_field audit_fields[] = {
    RECORD_TEXT(struct verdict_audit, result),      RECORD_TEXT(struct verdict_audit, explanation),
    RECORD_NUMBER(struct verdict_audit, device_ms), RECORD_NUMBER(struct verdict_audit, wall_ms),
    RECORD_COUNT(struct verdict_audit, launches),
};
static const struct record_type audit_record = RECORD_TYPE(struct verdict_audit, audit_fields);

static const struct record_field memo_fields[] = {
    RECORD_TRISTATE(struct verdict_memo_test, memoised),
    RECORD_NUMBER(struct verdict_memo_test, fresh_median_ms),
    RECORD_NUMBER(struct verdict_memo_test, repeated_median_ms),
    RECORD_NUMBER(struct verdict_memo_test, p_value),
    RECORD_TEXT(struct verdict_memo_test, explanation),
};
static const struct record_type memo_record = RECORD_TYPE(struct verdict_memo_test, memo_fields);

static const struct record_field timing_fields[] = {
    RECORD_TEXT(struct verdict_timing, clock),
    RECORD_TEXT(struct verdict_timing, l2_policy),
    RECORD_COUNT(struct verdict_timing, warmup),
    RECORD_COUNT(struct verdict_timing, iterations),
    RECORD_NUMBER(struct verdict_timing, pause_ms),
    RECORD_COUNT(struct verdict_timing, launches),
    RECORD_ITEMS(struct verdict_timing, trials, &trial_record),
    RECORD_NUMBER(struct verdict_timing, candidate_cv),
    RECORD_NUMBER(struct verdict_timing, reference_cv),
    RECORD_NUMBER(struct verdict_timing, drift),
    RECORD_COUNT(struct verdict_timing, outliers),
    RECORD_NUMBER(struct verdict_timing, sm_clock_min_mhz),
    RECORD_NUMBER(struct verdict_timing, sm_clock_max_mhz),
    RECORD_NUMBER(struct verdict_timing, temperature_max_c),
    RECORD_NUMBER(struct verdict_timing, power_max_w),
    RECORD_TEXT(struct verdict_timing, throttle),
    RECORD_NESTED(struct verdict_timing, audit, &audit_record),
    RECORD_NESTED(struct verdict_timing, memo, &memo_record),
};
static const struct record_type timing_record = RECORD_TYPE(struct verdict_timing, timing_fields);

static const struct record_field sanitizer_fields[] = {
    RECORD_BOOL(struct verdict_sanitizer, ran),       RECORD_TEXT(struct verdict_sanitizer, tool),
    RECORD_TRISTATE(struct verdict_sanitizer, clean), RECORD_COUNT(struct verdict_sanitizer, errors),
    RECORD_TEXT(struct verdict_sanitizer, reason),    RECORD_NUMBER(struct verdict_sanitizer, wall_ms),
};
static const struct record_type sanitizer_record = RECORD_TYPE(struct verdict_sanitizer, sanitizer_fields);

/* The name is the key of the enclosing object. */
static const struct record_field family_fields[] = {
    RECORD_BOOL(struct verdict_family, target),
    RECORD_AS("static", struct verdict_family, in_object, COUNT, struct count),
    RECORD_COUNT(struct verdict_family, warps),
    RECORD_COUNT(struct verdict_family, threads),
};
static const struct record_type family_record = RECORD_TYPE(struct verdict_family, family_fields);

static const struct record_field kernel_fields[] = {
    RECORD_TEXT(struct verdict_kernel, name),
    RECORD_COUNT(struct verdict_kernel, launches),
    RECORD_KEYED(struct verdict_kernel, families, &family_record),
};
static const struct record_type kernel_record = RECORD_TYPE(struct verdict_kernel, kernel_fields);

static const struct record_field target_fields[] = {
    RECORD_TEXT(struct verdict_target, family),
    RECORD_AS("static", struct verdict_target, in_object, COUNT_MAP, struct count_map),
    RECORD_ENUM(struct verdict_target, executed, executed_texts),
    RECORD_TEXT(struct verdict_target, reason),
    RECORD_KEYED(struct verdict_target, counts, &family_record),
    RECORD_ITEMS(struct verdict_target, kernels, &kernel_record),
    RECORD_COUNT(struct verdict_target, foreign),
    RECORD_NUMBER(struct verdict_target, mma_flops),
    RECORD_NUMBER(struct verdict_target, legacy_mma_flops),
    RECORD_NUMBER(struct verdict_target, required_flops),
    RECORD_NUMBER(struct verdict_target, tensor_share),
    RECORD_TEXT(struct verdict_target, tensor_share_reason),
    RECORD_TEXT(struct verdict_target, measured_with),
    RECORD_NUMBER(struct verdict_target, wall_ms),
    RECORD_TEXT(struct verdict_target, verified_with),
};
static const struct record_type target_record = RECORD_TYPE(struct verdict_target, target_fields);

static const struct record_field runner_fields[] = {
    RECORD_TEXT(struct verdict_runner, end),
    RECORD_COUNT(struct verdict_runner, exit_status),
    RECORD_COUNT(struct verdict_runner, signal),
    RECORD_NUMBER(struct verdict_runner, start_ms),
    RECORD_NUMBER(struct verdict_runner, hang_limit_ms),
    RECORD_TEXT(struct verdict_runner, output),
    RECORD_BOOL(struct verdict_runner, output_truncated),
};
static const struct record_type runner_record = RECORD_TYPE(struct verdict_runner, runner_fields);

static const struct record_field provenance_fields[] = {
    RECORD_TEXT(struct verdict_provenance, version),
    RECORD_TEXT(struct verdict_provenance, time),
    RECORD_TEXT(struct verdict_provenance, host),
    RECORD_TEXT(struct verdict_provenance, gpu),
    RECORD_TEXT(struct verdict_provenance, gpu_uuid),
    RECORD_TEXT(struct verdict_provenance, driver),
    RECORD_TEXT_MAP(struct verdict_provenance, tools),
    RECORD_TEXT(struct verdict_provenance, definition_sha256),
    RECORD_TEXT(struct verdict_provenance, workload_sha256),
    RECORD_TEXT(struct verdict_provenance, source_sha256),
    RECORD_TEXT(struct verdict_provenance, object_sha256),
    RECORD_TEXT(struct verdict_provenance, input_seed),
    RECORD_TEXT(struct verdict_provenance, order_seed),
    RECORD_TEXT(struct verdict_provenance, protocol),
    RECORD_TEXT(struct verdict_provenance, sandbox),
    RECORD_NUMBER(struct verdict_provenance, wall_ms),
    RECORD_COUNT_MAP(struct verdict_provenance, phases_us),
};
static const struct record_type provenance_record = RECORD_TYPE(struct verdict_provenance, provenance_fields);

static const struct record_field verdict_fields[] = {
    RECORD_ENUM(struct verdict, status, status_texts),
    RECORD_ENUM(struct verdict, blame, blame_texts),
    RECORD_TRISTATE(struct verdict, correct),
    RECORD_TEXT(struct verdict, summary),
    RECORD_NESTED(struct verdict, task, &task_record),
    RECORD_ITEMS(struct verdict, findings, &finding_record),
    RECORD_NESTED(struct verdict, compile, &compile_record),
    RECORD_NESTED(struct verdict, correctness, &correctness_record),
    RECORD_NESTED(struct verdict, performance, &performance_record),
    RECORD_NESTED(struct verdict, target, &target_record),
    RECORD_NESTED(struct verdict, sanitizer, &sanitizer_record),
    RECORD_NESTED(struct verdict, timing, &timing_record),
    RECORD_NESTED(struct verdict, runner, &runner_record),
    RECORD_NESTED(struct verdict, provenance, &provenance_record),
};
const struct record_type verdict_record = RECORD_TYPE(struct verdict, verdict_fields);

const char *verdict_status_text(enum verdict_status status)
{
    return (size_t)status < ARRAY_LEN(status_texts) ? status_texts[status] : "UNKNOWN";
}

const char *verdict_executed_text(enum verdict_executed executed)
{
    return (size_t)executed < ARRAY_LEN(executed_texts) ? executed_texts[executed] : "unknown";
}
