/* Target instructions and memory checks: the steps that run the candidate under a tool. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <string.h>

#include "base/clock.h"
#include "base/resource.h"
#include "judge/ncu.h"
#include "judge/runner_environment.h"
#include "judge/sanitizer.h"
#include "judge/target.h"
#include "judge/worker_internal.h"

static const int64_t count_timeout_factor = 100; /* instrumented kernels are slower */

/* Copies the records of the runner's memory file. It is the candidate's process that wrote it: sizes are checked, and
 * that it is one, since a read from other files may block (only memory files have seals). */
static bool read_counts(struct evaluation_run *run, int fd, int32_t count)
{
    struct count_record record;

    if (fcntl(fd, F_GET_SEALS) < 0)
        return false;
    run->target_counts = arena_calloc(run->arena, (size_t)count + 1, sizeof *run->target_counts);
    for (int32_t i = 0; i < count; i++) {
        if (pread(fd, &record, sizeof record, (off_t)i * (off_t)sizeof record) != sizeof record)
            return false;
        record.function[sizeof record.function - 1] = '\0';
        run->target_counts[i] = (struct target_count){arena_strdup(run->arena, record.function), record.pc_offset,
                                                      record.warps, record.threads};
    }
    return true;
}

/* A wrong result of the instrumented call is no verdict on the candidate, but its counts are no evidence. */
static void check_counted_output(struct evaluation_run *run, struct run_item item)
{
    static const int only[] = {0};
    struct slot_comparison slot;
    struct error error;

    if (!workload_state_compare(run->state, &item, only, 1, &run->rule, false, &slot, &error))
        return;
    for (size_t i = 0; i < run->request->workload->definition->output_count; i++)
        if (slot.outputs[i].mismatches)
            run->undefined_reason = "its output was wrong under instrumentation";
}

void evaluate_count(struct evaluation_run *run)
{
    struct message_run request = {.flags = RUN_COUNT, .count = 1};
    int64_t timeout_ns = run->hang_limit_ns + count_timeout_factor * run->first_call_ns;
    struct error error;
    AUTO_CLOSE int fd = -1;

    if (!run->ready.counters_ok) {
        run->count_reason = arena_strdup(run->arena, run->ready.counters_text);
        return;
    }
    evaluate_progress(run, "counting target instructions");
    if (!workload_state_poison(run->state, 1, &error)) {
        run->count_reason = arena_strdup(run->arena, error.message);
        return;
    }
    int64_t started_ns = clock_now_ns();
    struct runner_outcome outcome = runner_client_run(run->runner, &request, timeout_ns, NULL, &run->counts, &fd);
    run->count_ns = clock_now_ns() - started_ns;
    if (outcome.result != RUNNER_OK)
        run->count_reason =
            outcome.result == RUNNER_HUNG ? "did not finish under instrumentation" : "failed under instrumentation";
    else if (!run->counts.ok)
        run->count_reason = arena_strdup(run->arena, run->counts.text);
    else if (!read_counts(run, fd, run->counts.count))
        run->count_reason = "the counters came back incomplete";
    else
        run->counted = true;
    if (run->counted)
        check_counted_output(run, request.items[0]);
}

const char *const *evaluate_standalone_command(struct evaluation_run *run)
{
    const struct workload *workload = run->request->workload;
    const struct definition *definition = workload->definition;
    size_t most = 20 + definition->input_count + definition->output_count;
    const char **argv = arena_calloc(run->arena, most, sizeof *argv);
    bool is_c = run->compile.binding == COMPILE_BINDING_C;
    size_t count = 0;

    argv[count++] = run->worker->options.runner;
    argv[count++] = "--quiet";
    argv[count++] = "--device";
    argv[count++] = run->worker->options.device;
    argv[count++] = "--object";
    argv[count++] = run->compile.object_path;
    argv[count++] = "--binding";
    argv[count++] = is_c ? "c" : "tvm-ffi";
    argv[count++] = "--entry";
    argv[count++] = is_c ? "ptxbench_run"
                         : arena_printf(run->arena, "__tvm_ffi_%s",
                                        run->request->entry_symbol ? run->request->entry_symbol : "run");
    for (size_t i = 0; i < definition->input_count + definition->output_count; i++) {
        bool is_input = i < definition->input_count;
        const struct tensor_spec *spec =
            is_input ? &definition->inputs[i] : &definition->outputs[i - definition->input_count];
        struct tensor_shape shape;
        struct error error;
        if (!workload_tensor_shape(workload, spec, &shape, &error))
            continue;
        char *text = arena_printf(run->arena, "%s:%s:", is_input ? "in" : "out", dtype_text(shape.dtype));
        for (int d = 0; d < shape.rank; d++)
            text = arena_printf(run->arena, "%s%s%lld", text, d ? "x" : "", (long long)shape.dims[d]);
        argv[count++] = text;
    }
    return argv;
}

/* Ends that a memory error could explain. */
static bool is_crash(const struct evaluation_run *run)
{
    static const enum finding_code crashes[] = {FINDING_ILLEGAL_ADDRESS, FINDING_MISALIGNED_ADDRESS,
                                                FINDING_ILLEGAL_INSTRUCTION, FINDING_DEVICE_TRAP,
                                                FINDING_LAUNCH_FAILURE};

    for (size_t i = 0; i < ARRAY_LEN(crashes); i++)
        if (finding_find(&run->verdict->findings, crashes[i]))
            return true;
    return false;
}

static bool wants_sanitizer(const struct evaluation_run *run)
{
    bool passed = run->verdict->status == VERDICT_PASSED;

    switch (run->request->sanitizer) {
    case SANITIZER_NEVER:
        return false;
    case SANITIZER_ALWAYS:
        return run->state != NULL && run->verdict->status != VERDICT_INFRA_ERROR &&
               run->verdict->status != VERDICT_TIMEOUT;
    case SANITIZER_AUTO:
        break;
    }
    return passed || is_crash(run);
}

void evaluate_sanitizer(struct evaluation_run *run)
{
    struct sanitizer_report report;
    struct error error;

    if (!wants_sanitizer(run))
        return;
    evaluate_progress(run, "checking memory accesses");
    struct sanitizer_request request = {
        .tool = SANITIZER_MEMCHECK,
        .program = resource_find_program(run->arena, "compute-sanitizer"),
        .argv = evaluate_standalone_command(run),
        .environment = runner_environment(run->arena),
        .witness = STANDALONE_WITNESS,
        .timeout_ns = 30LL * 1000000000,
    };
    if (!sanitizer_run(run->arena, &request, &report, &run->verdict->sanitizer, &error)) {
        (void)finding_add(&run->verdict->findings, run->arena, FINDING_TOOL_TROUBLE, "%s", error.message);
        return;
    }
    for (size_t i = 0; i < report.findings.count; i++)
        finding_merge(&run->verdict->findings, run->arena, &report.findings.items[i]);
    if (report.use_after_free)
        run->undefined_reason = "memory is used after it was freed: undefined behaviour";
    else if (report.clean == TRISTATE_NO)
        run->undefined_reason = "compute-sanitizer found an invalid access: undefined behaviour";
    /* As in the paper, an invalid access fails a candidate whose result is right. */
    if (run->verdict->status == VERDICT_PASSED && finding_blames_candidate(&run->verdict->findings))
        verdict_set_status(run->verdict, run->arena, VERDICT_RUNTIME_ERROR,
                           "correct by luck: compute-sanitizer found an invalid access");
}

/* A second opinion on the counts, when asked for. */
static void verify_with_ncu(struct evaluation_run *run)
{
    struct ncu_request request = {.program = resource_find_program(run->arena, "ncu"),
                                  .argv = evaluate_standalone_command(run),
                                  .environment = runner_environment(run->arena),
                                  .kernel_pattern = "^(?!ptxbench_).*"};
    struct count_map warps = {0}, threads = {0};
    struct ncu_report report;
    struct error error;

    evaluate_progress(run, "counting again with ncu");
    if (!ncu_run(run->arena, &request, &report, &error)) {
        (void)finding_add(&run->verdict->findings, run->arena, FINDING_TOOL_TROUBLE, "%s", error.message);
        return;
    }
    ncu_families(run->arena, &report, run->compile.arch, &warps, &threads);
    if (!target_verify(run->arena, &run->verdict->target, "ncu", &warps, &threads))
        (void)finding_add(&run->verdict->findings, run->arena, FINDING_TOOL_TROUBLE, "%s",
                          run->verdict->target.verified_with);
}

void evaluate_target(struct evaluation_run *run)
{
    const char *unmeasured = run->count_reason ? run->count_reason : "the candidate did not get that far";
    struct target_input input = {
        .sass = run->sass_known ? &run->sass : NULL,
        .sass_reason = run->sass_reason,
        .arch = run->compile.arch,
        .measured = run->counted,
        .unmeasured_reason = unmeasured,
        .measured_with = "cupti sass metrics",
        .counts = run->target_counts,
        .count_count = run->counted ? (size_t)run->counts.count : 0,
        .undefined_reason = run->undefined_reason,
        .required_flops =
            target_required_flops(run->verdict->task.definition, run->verdict->task.op_type, &run->verdict->task.axes),
    };

    target_judge(run->arena, &input, &run->verdict->target, &run->verdict->findings);
    if (run->count_ns)
        run->verdict->target.wall_ms = number_of((double)run->count_ns * 1e-6);
    if (run->request->verify_with_ncu && run->counted)
        verify_with_ncu(run);
    if (run->verdict->performance.latency_ms.known && input.required_flops.known)
        run->verdict->performance.tflops =
            number_of(input.required_flops.value / run->verdict->performance.latency_ms.value * 1e-9);
}
