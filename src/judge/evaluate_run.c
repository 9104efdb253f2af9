/* The candidate in its runner: load, first call, and what every possible end means. */
#include <string.h>
#include <sys/syscall.h>

#include "base/clock.h"
#include "judge/worker_internal.h"

static const int64_t load_timeout_ns = 5LL * 1000000000;
static const int64_t least_hang_limit_ns = 1000000000;
enum { HANG_FACTOR = 200 };

/* CUDA errors that a candidate causes, and what they are called here. */
static const struct {
    CUresult result;
    enum finding_code code;
    const char *text;
} device_errors[] = {
    {CUDA_ERROR_ILLEGAL_ADDRESS, FINDING_ILLEGAL_ADDRESS, "a kernel accessed an address outside its memory"},
    {CUDA_ERROR_MISALIGNED_ADDRESS, FINDING_MISALIGNED_ADDRESS, "a kernel accessed a misaligned address"},
    {CUDA_ERROR_ILLEGAL_INSTRUCTION, FINDING_ILLEGAL_INSTRUCTION, "a kernel executed an illegal instruction"},
    {CUDA_ERROR_INVALID_PC, FINDING_ILLEGAL_INSTRUCTION, "a kernel jumped to an invalid address"},
    {CUDA_ERROR_INVALID_ADDRESS_SPACE, FINDING_ILLEGAL_ADDRESS, "a kernel used an address of the wrong space"},
    {CUDA_ERROR_HARDWARE_STACK_ERROR, FINDING_ILLEGAL_ADDRESS, "a kernel overflowed its stack"},
    {CUDA_ERROR_ASSERT, FINDING_DEVICE_TRAP, "an assertion failed in a kernel"},
    {CUDA_ERROR_LAUNCH_FAILED, FINDING_DEVICE_TRAP, "a kernel stopped with a trap or an unspecified failure"},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, FINDING_LAUNCH_FAILURE, "a launch asked for too many resources"},
    {CUDA_ERROR_INVALID_VALUE, FINDING_LAUNCH_FAILURE, "a launch had invalid parameters"},
    {CUDA_ERROR_LAUNCH_TIMEOUT, FINDING_KERNEL_HANG, "a kernel can not finish"},
    {CUDA_ERROR_OUT_OF_MEMORY, FINDING_DEVICE_MEMORY, "the candidate ran out of device memory"},
};

/* CUDA errors that no candidate causes. */
static bool is_device_trouble(int code)
{
    return code == CUDA_ERROR_ECC_UNCORRECTABLE || code == CUDA_ERROR_NVLINK_UNCORRECTABLE ||
           code == CUDA_ERROR_SYSTEM_NOT_READY || code == CUDA_ERROR_DEVICE_UNAVAILABLE ||
           code == CUDA_ERROR_CONTAINED || code == CUDA_ERROR_NO_DEVICE;
}

static void fail(struct evaluation_run *run, enum verdict_status status, enum finding_code code, const char *message)
{
    (void)finding_add(&run->verdict->findings, run->arena, code, "%s", message);
    verdict_set_status(run->verdict, run->arena, status, "%s", message);
    run->failed = true;
}

static void device_failure(struct evaluation_run *run, const struct message_failed *failed, const char *where)
{
    if (is_device_trouble(failed->code)) {
        struct error error;
        (void)error_set(&error, ERROR_DEVICE, "%s %s", failed->text, where);
        (void)evaluate_trouble(run, &error);
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(device_errors); i++)
        if (device_errors[i].result == (CUresult)failed->code) {
            fail(run, failed->code == CUDA_ERROR_LAUNCH_TIMEOUT ? VERDICT_TIMEOUT : VERDICT_RUNTIME_ERROR,
                 device_errors[i].code,
                 arena_printf(run->arena, "%s %s (%s)", device_errors[i].text, where, failed->text));
            return;
        }
    fail(run, VERDICT_RUNTIME_ERROR, FINDING_LAUNCH_FAILURE,
         arena_printf(run->arena, "CUDA error %s: %s", where, failed->text));
}

/* An entry that reported an error of its own. */
static void call_failure(struct evaluation_run *run, const struct message_failed *failed, const char *where)
{
    /* TVM-FFI checks arguments before the candidate's code runs: its texts begin with the kind of the error. */
    bool arity = strstr(failed->text, "Mismatched number of arguments") || strstr(failed->text, "arguments when");
    bool type = !arity && (!strncmp(failed->text, "TypeError", 9) || !strncmp(failed->text, "ValueError", 10));

    fail(run, VERDICT_RUNTIME_ERROR,
         arity  ? FINDING_WRONG_ARITY
         : type ? FINDING_WRONG_DTYPE
                : FINDING_ENTRY_FAILED,
         arena_printf(run->arena, "the entry failed %s: %s", where, failed->text));
}

static void forged_report(struct evaluation_run *run, const char *where)
{
    fail(run, VERDICT_RUNTIME_ERROR, FINDING_REPORT_FORGED,
         arena_printf(run->arena, "the runner sent something that is not in its protocol %s", where));
}

static void reported_failure(struct evaluation_run *run, const struct message_failed *failed, const char *where)
{
    struct error error;

    /* Its set-up is behind it: who claims that it failed wants the machine blamed. */
    if (run->is_loaded && (failed->stage == FAILURE_SETUP || failed->stage == FAILURE_LOAD)) {
        forged_report(run, where);
        return;
    }
    switch ((enum failure_stage)failed->stage) {
    case FAILURE_LOAD:
        fail(run, VERDICT_COMPILE_ERROR,
             strstr(failed->text, "does not export") ? FINDING_ENTRY_MISSING : FINDING_LOAD_FAILED, failed->text);
        return;
    case FAILURE_CALL:
        call_failure(run, failed, where);
        return;
    case FAILURE_DEVICE:
        device_failure(run, failed, where);
        return;
    case FAILURE_SETUP:
    case FAILURE_MEASURE:
    case FAILURE_STAGE_COUNT:
        break;
    }
    (void)error_set(&error, ERROR_DEVICE, "runner %s: %s", where, failed->text);
    (void)evaluate_trouble(run, &error);
}

static void process_end(struct evaluation_run *run, const struct process_end *end, const char *where)
{
    char text[128];
    enum finding_code code = end->signal == 6 ? FINDING_HOST_ABORT
                             : end->signal    ? FINDING_HOST_SIGNAL
                                              : FINDING_HOST_EXIT;

    process_end_text(end, text, sizeof text);
    fail(run, VERDICT_RUNTIME_ERROR, code, arena_printf(run->arena, "the candidate's process %s %s", text, where));
}

static const char *syscall_name(int number)
{
    switch (number) {
    case SYS_fork:
    case SYS_vfork:
    case SYS_clone:
        return "fork";
    case SYS_execve:
    case SYS_execveat:
        return "exec";
    case SYS_ptrace:
        return "ptrace";
    default:
        return "access to another process";
    }
}

static void hang(struct evaluation_run *run, int64_t waited_ns, const char *where)
{
    int utilization = nvml_read(run->worker->nvml).utilization;
    double seconds = (double)waited_ns * 1e-9;

    /* The worker's own kernels have long finished: what keeps the device busy is the candidate's. */
    if (utilization >= 0 && utilization < 20)
        fail(run, VERDICT_TIMEOUT, FINDING_HOST_HANG,
             arena_printf(run->arena, "the entry did not return within %.1f s %s while the device was idle", seconds,
                          where));
    else
        fail(run, VERDICT_TIMEOUT, FINDING_KERNEL_HANG,
             arena_printf(run->arena,
                          "a kernel did not finish within %.1f s %s (limit: 1 s or %d times the "
                          "reference)",
                          seconds, where, HANG_FACTOR));
}

void evaluate_outcome(struct evaluation_run *run, const struct runner_outcome *outcome, const char *where)
{
    switch (outcome->result) {
    case RUNNER_OK:
        return;
    case RUNNER_FAILED:
        reported_failure(run, &outcome->failed, where);
        return;
    case RUNNER_ENDED:
        process_end(run, &outcome->end, where);
        return;
    case RUNNER_HUNG:
        hang(run, outcome->wall_ns, where);
        return;
    case RUNNER_CLOSED:
        fail(run, VERDICT_RUNTIME_ERROR, FINDING_DESCRIPTORS_CLOSED,
             arena_printf(run->arena, "the candidate closed descriptors that it did not open %s", where));
        return;
    case RUNNER_VIOLATION:
        fail(run, VERDICT_RUNTIME_ERROR, FINDING_FORBIDDEN_SYSCALL,
             arena_printf(run->arena, "the candidate called %s (system call %d) %s", syscall_name(outcome->syscall),
                          outcome->syscall, where));
        return;
    case RUNNER_INVALID:
        forged_report(run, where);
        return;
    }
}

static struct message_load load_message(const struct evaluation_run *run)
{
    struct message_load load = {0};
    bool is_c = run->compile.binding == COMPILE_BINDING_C;

    workload_state_fill_load(run->state, &load);
    load.binding = is_c ? RUNNER_BINDING_C : RUNNER_BINDING_TVM_FFI;
    (void)snprintf(load.entry, sizeof load.entry, "%s%s", is_c ? "ptxbench_run" : "__tvm_ffi_",
                   is_c                         ? ""
                   : run->request->entry_symbol ? run->request->entry_symbol
                                                : "run");
    return load;
}

bool evaluate_load(struct evaluation_run *run)
{
    const struct message_ready *ready;
    struct message_load load = load_message(run);
    int descriptors[CHANNEL_MAX_DESCRIPTORS] = {run->object_fd, workload_state_inputs_fd(run->state),
                                                workload_state_outputs_fd(run->state)};
    struct error error;

    double reference_ns = workload_state_baseline_ms(run->state) * 1e6;
    run->hang_limit_ns = (int64_t)(reference_ns * HANG_FACTOR);
    if (run->hang_limit_ns < least_hang_limit_ns)
        run->hang_limit_ns = least_hang_limit_ns;
    run->rule = (struct compare_rule){
        .kind = run->tolerance.rule == TOLERANCE_FLASHINFER ? COMPARE_MAX_RULE : COMPARE_ALLCLOSE,
        .atol = (float)run->tolerance.atol,
        .rtol = (float)run->tolerance.rtol,
    };
    int64_t started_ns = clock_now_ns();
    if (!(run->runner ? runner_client_wait_ready(run->runner, &ready, &error)
                      : worker_take_runner(run->worker, &run->runner, &ready, &error)))
        return evaluate_trouble(run, &error);
    run->ready = *ready;
    struct runner_outcome outcome = runner_client_load(run->runner, &load, descriptors, load_timeout_ns);
    run->verdict->runner.start_ms = number_of((double)(clock_now_ns() - started_ns) * 1e-6);
    evaluate_outcome(run, &outcome, "while it was loaded");
    run->is_loaded = !run->failed;
    runner_client_suspend(run->runner);
    return !run->failed;
}

/* Did a crash come from writing to a read-only input? Ask a second runner that may write. */
static void diagnose_input_write(struct evaluation_run *run)
{
    struct message_load load = load_message(run);
    struct message_run request = {.count = 1};
    const struct message_ready *ready;
    struct runner_client *runner;
    struct error error;
    int descriptors[CHANNEL_MAX_DESCRIPTORS] = {run->object_fd, workload_state_inputs_fd(run->state),
                                                workload_state_outputs_fd(run->state)};
    int changed = -1;

    load.inputs_writable = true;
    if (!worker_take_runner(run->worker, &runner, &ready, &error))
        return;
    struct runner_outcome outcome = runner_client_load(runner, &load, descriptors, load_timeout_ns);
    if (outcome.result == RUNNER_OK)
        outcome = runner_client_run(runner, &request, run->hang_limit_ns, NULL, NULL, NULL);
    (void)worker_drop_runner(run->worker, runner, NULL);
    if (outcome.result == RUNNER_OK && workload_state_inputs_changed(run->state, 0, run->seeds[0], &changed, &error) &&
        changed >= 0) {
        run->verdict->correctness.inputs_intact = TRISTATE_NO;
        run->verdict->findings.count--; /* the illegal address, added last, was this write */
        const char *name = run->request->workload->definition->inputs[changed].name;
        fail(run, VERDICT_RUNTIME_ERROR, FINDING_INPUT_OVERWRITTEN,
             arena_printf(run->arena, "the candidate writes into its input %s, which is read-only", name));
    }
}

bool evaluate_first_call(struct evaluation_run *run)
{
    double reference_ms[WORKLOAD_MAX_SETS];
    struct message_run request = {.count = 1};
    struct error error;

    evaluate_progress(run, "checking the result");
    run->seeds[0] = run->request->seed;
    for (int i = 1; i < WORKLOAD_MAX_SETS; i++)
        run->seeds[i] = evaluate_draw(run);
    if (!workload_state_generate(run->state, run->seeds, workload_state_sets(run->state), reference_ms, &error) ||
        !workload_state_poison(run->state, 1, &error))
        return evaluate_trouble(run, &error);
    struct runner_outcome outcome = runner_client_run(run->runner, &request, run->hang_limit_ns, NULL, NULL, NULL);
    run->first_call_ns = outcome.wall_ns;
    evaluate_outcome(run, &outcome, "in the first call");
    if (finding_find(&run->verdict->findings, FINDING_ILLEGAL_ADDRESS))
        diagnose_input_write(run);
    if (run->failed)
        return false;
    runner_client_suspend(run->runner);
    run->verdict->correctness.inputs_intact = TRISTATE_YES;
    return evaluate_compare(run, request.items, 1, false);
}
