/*
 * One evaluation on an emulated device: the candidate runs in a runner of its own under two legal orders of events, each
 * time against inputs of the CPU reference. Of a large grid only some clusters run, unless they turn out to need the
 * others.
 */
#include <string.h>

#include "base/clock.h"
#include "base/interrupt.h"
#include "judge/emulated_events.h"
#include "judge/emulated_size.h"
#include "judge/worker_internal.h"
#include "reference/cpu_reference.h"

static const int64_t host_limit_ns = 5LL * 1000000000; /* of the candidate's own code */
static const int64_t run_limit_ns = 60LL * 1000000000; /* with its kernels */
static const int64_t all_runs_limit_ns = 180LL * 1000000000;
enum { EVENTS_LIMIT = 64 << 20, SAMPLED_BUDGET = 300000000 /* warp instructions, some ten seconds */ };

/* Orders that the hardware may choose too. The first is the most lenient one. */
static const struct {
    const char *text;
    const char *words;
} schedules[] = {
    {"", "copies land at once"},
    {"completion=late,reverse", "copies land as late as allowed, the last warp first"},
};

/* What the runs of one candidate have shown. */
struct emulation {
    struct evaluation_run *run;
    uint64_t sample;         /* 0: the whole grid runs */
    size_t earlier_findings; /* of the build */
    int64_t deadline_ns;
    bool out_of_time;
    struct emulated_events events; /* of the last run */
};

/* Starts a runner with this schedule, and loads the candidate. */
static bool load(struct emulation *emulation, const char *schedule)
{
    struct evaluation_run *run = emulation->run;
    struct runner_emulation settings = {
        .sample = emulation->sample,
        .budget = emulation->sample ? SAMPLED_BUDGET : 0,
        .schedule = schedule,
    };
    struct error error;

    if (!runner_client_start(run->worker->options.runner, run->worker->options.device, &settings, &run->runner, &error))
        return evaluate_trouble(run, &error);
    run->is_loaded = false; /* by this runner */
    bool ok = evaluate_load(run);
    run->hang_limit_ns = run_limit_ns;
    return ok;
}

/* Reads what the device has told so far. False when that was too much. */
static bool read_events(struct emulation *emulation)
{
    AUTO_BUFFER text = buffer_new(EVENTS_LIMIT);

    bool complete = runner_client_take_events(emulation->run->runner, &text);
    emulated_events_read(emulation->run->arena, text.data, text.length, &emulation->events);
    return complete;
}

/* Runs the candidate's entry once. Kernels take long here; host code does not. */
static struct runner_outcome call_entry(struct emulation *emulation)
{
    static const struct message_run request = {.count = 1};
    struct runner_client *runner = emulation->run->runner;
    int64_t left_ns = emulation->deadline_ns - clock_now_ns();
    int64_t kernels_ns = (left_ns < run_limit_ns ? left_ns : run_limit_ns) - host_limit_ns;

    if (kernels_ns < 0) {
        emulation->out_of_time = true;
        return (struct runner_outcome){.result = RUNNER_HUNG};
    }
    struct runner_outcome outcome = runner_client_run(runner, &request, host_limit_ns, NULL, NULL, NULL);
    if (outcome.result != RUNNER_HUNG || interrupt_requested())
        return outcome;
    (void)read_events(emulation);
    return emulation->events.running ? runner_client_wait_done(runner, kernels_ns) : outcome;
}

static void add_findings(struct emulation *emulation)
{
    struct evaluation_run *run = emulation->run;

    for (size_t i = 0; i < emulation->events.findings.count; i++)
        finding_merge(&run->verdict->findings, run->arena, &emulation->events.findings.items[i]);
}

/* The emulator is at fault when it lacks something or is too slow; then nothing is said of the candidate. */
static bool emulator_failed(struct emulation *emulation, const struct runner_outcome *outcome)
{
    const struct emulated_events *events = &emulation->events;
    struct error error;

    if (outcome->result == RUNNER_OK)
        return false;
    if (events->unsupported) {
        (void)error_set(&error, ERROR_TOOL, "the emulator lacks something: %s", events->unsupported);
        (void)error_hint(&error, "judge it on a GPU; 'ptxbench emu --census' lists what of a kernel is not emulated");
    } else if (outcome->result == RUNNER_HUNG && (events->running || emulation->out_of_time)) {
        (void)error_set(&error, ERROR_TOOL, "%s: the emulator has not come to its end in time",
                        events->running ? events->running : "all calls");
        (void)error_hint(&error, "let fewer clusters run (--sample), take a smaller workload, or judge it on a GPU");
    } else {
        return false;
    }
    (void)evaluate_trouble(emulation->run, &error);
    return true;
}

/* The emulator's first error says more than the CUDA error that it led to, its first hazard than wrong elements. */
static void explain_status(struct evaluation_run *run, const struct emulated_events *events, enum finding_class class)
{
    for (size_t i = 0; i < events->findings.count; i++) {
        const struct finding *finding = &events->findings.items[i];
        if (finding->class != class)
            continue;
        if (class == FINDING_CLASS_HAZARD)
            verdict_set_status(run->verdict, run->arena, run->verdict->status, "%s; %s at %s:%d: %s",
                               run->verdict->summary, finding->code, finding->file ? finding->file : "?", finding->line,
                               finding->message);
        else if (finding->file)
            verdict_set_status(run->verdict, run->arena, run->verdict->status, "%s at %s:%d: %s", finding->code,
                               finding->file, finding->line, finding->message);
        else
            verdict_set_status(run->verdict, run->arena, run->verdict->status, "%s: %s", finding->code,
                               finding->message);
        return;
    }
}

/* Failures that the emulator sees more sharply than a GPU tells them. Returns whether it was one. */
static bool sharp_failure(struct emulation *emulation, const struct runner_outcome *outcome)
{
    struct evaluation_run *run = emulation->run;
    enum finding_code code = FINDING_HOST_HANG;
    const char *message = NULL;

    if (outcome->result == RUNNER_HUNG)
        message = arena_printf(run->arena, "the entry did not return within %d s, and no kernel was running",
                               (int)(host_limit_ns / 1000000000));
    for (size_t i = 0; i < emulation->events.findings.count; i++)
        if (!strcmp(emulation->events.findings.items[i].code, "read_only_write")) {
            code = FINDING_INPUT_OVERWRITTEN;
            message = "the candidate writes into an input, which is read-only";
            run->verdict->correctness.inputs_intact = TRISTATE_NO;
        }
    if (!message)
        return false;
    (void)finding_add(&run->verdict->findings, run->arena, code, "%s", message);
    verdict_set_status(run->verdict, run->arena, code == FINDING_HOST_HANG ? VERDICT_TIMEOUT : VERDICT_RUNTIME_ERROR,
                       "%s", message);
    run->failed = true;
    return true;
}

/* Whether the last call says nothing, since it needed clusters that did not run. */
static bool says_nothing(const struct emulation *emulation)
{
    return emulation->sample && emulation->events.depends_on_missing;
}

/* Runs the candidate once on poisoned outputs. Returns whether its outputs can be compared. */
static bool call(struct emulation *emulation)
{
    struct evaluation_run *run = emulation->run;
    struct error error;

    if (!workload_state_poison(run->state, 1, &error))
        return evaluate_trouble(run, &error);
    struct runner_outcome outcome = call_entry(emulation);
    bool complete = read_events(emulation);
    if (emulator_failed(emulation, &outcome))
        return false;
    if (says_nothing(emulation))
        return true;
    add_findings(emulation);
    if (!sharp_failure(emulation, &outcome))
        evaluate_outcome(run, &outcome, "in the call");
    if (run->failed) {
        explain_status(run, &emulation->events, FINDING_CLASS_ERROR);
        return false;
    }
    if (!complete) {
        (void)error_set(&error, ERROR_TOOL, "the emulator told more than %d MiB", EVENTS_LIMIT >> 20);
        return evaluate_trouble(run, &error);
    }
    run->verdict->correctness.inputs_intact = TRISTATE_YES;
    workload_state_set_sampled(run->state, emulation->events.clusters < emulation->events.grid_clusters);
    return true;
}

static bool compare(struct emulation *emulation, bool again)
{
    static const struct run_item item = {0};

    evaluate_phase(emulation->run, "first_call");
    bool ok = says_nothing(emulation) || evaluate_compare(emulation->run, &item, 1, again);
    evaluate_phase(emulation->run, "compare");
    return ok;
}

/* The same pointers with other inputs: whoever keeps results is found out. */
static bool call_again(struct emulation *emulation)
{
    struct evaluation_run *run = emulation->run;
    double unused[1];
    struct error error;

    run->seeds[0]++;
    if (!workload_state_generate(run->state, run->seeds, 0, unused, &error))
        return evaluate_trouble(run, &error);
    evaluate_phase(run, "prepare");
    return call(emulation) && compare(emulation, true);
}

/* One order of events. The first one sees two sets of inputs. Returns whether to go on. */
static bool attempt(struct emulation *emulation, size_t schedule)
{
    struct evaluation_run *run = emulation->run;

    evaluate_progress(run, schedule ? "emulating, copies late" : "emulating");
    bool ok = load(emulation, schedules[schedule].text) && call(emulation) && compare(emulation, false) &&
              (schedule || says_nothing(emulation) || call_again(emulation));
    evaluate_end_runner(run);
    if (!ok && schedule && run->verdict->status == VERDICT_INCORRECT_NUMERICAL)
        verdict_set_status(run->verdict, run->arena, run->verdict->status,
                           "right when %s, wrong when %s, which a GPU may do, too: a missing wait", schedules[0].words,
                           schedules[schedule].words);
    if (!ok && run->verdict->status == VERDICT_INCORRECT_NUMERICAL)
        explain_status(run, &emulation->events, FINDING_CLASS_HAZARD);
    return ok;
}

static void judge_target(struct emulation *emulation, bool measured)
{
    struct evaluation_run *run = emulation->run;
    const struct workload *workload = workload_state_workload(run->state);
    struct count_map axes = {0};
    const struct emulated_events *events = &emulation->events;
    struct target_input input = {
        .sass = run->sass_known ? &run->sass : NULL,
        .sass_reason = run->sass_reason,
        .arch = run->compile.arch,
        .measured = measured,
        .unmeasured_reason = "the candidate did not get that far",
        .measured_with = arena_printf(run->arena, "PTX emulator, %llu of %llu clusters%s",
                                      (unsigned long long)events->clusters, (unsigned long long)events->grid_clusters,
                                      events->clusters < events->grid_clusters ? ", scaled" : ""),
        .sums = measured ? &events->sums : NULL,
    };

    for (size_t i = 0; i < workload->definition->axis_count; i++)
        count_map_set(&axes, run->arena, workload->definition->axes[i].name, workload->axes[i]);
    input.required_flops = target_required_flops(run->verdict->task.definition, run->verdict->task.op_type, &axes);
    target_judge(run->arena, &input, &run->verdict->target, &run->verdict->findings);
}

static void pass(struct emulation *emulation)
{
    struct evaluation_run *run = emulation->run;
    const struct emulated_events *events = &emulation->events;

    if (finding_blames_candidate(&run->verdict->findings)) {
        verdict_set_status(run->verdict, run->arena, VERDICT_RUNTIME_ERROR, "correct by luck");
        explain_status(run, events, FINDING_CLASS_ERROR);
        return;
    }
    verdict_set_status(
        run->verdict, run->arena, VERDICT_PASSED,
        "emulated: no defect found under %d schedules%s%s, %llu of %llu clusters, %lld elements compared",
        (int)ARRAY_LEN(schedules), run->own_state ? " with " : "", run->own_state ? run->own_sizes : "",
        (unsigned long long)events->clusters, (unsigned long long)events->grid_clusters,
        (long long)run->verdict->correctness.elements.value);
}

/* Takes the task at other sizes. */
static bool take_sizes(struct evaluation_run *run, const char *sizes)
{
    struct workload *workload;
    struct error error;

    workload_state_close(run->own_state);
    run->own_state = NULL;
    run->own_sizes = sizes;
    if (!workload_resize(run->request->workload, sizes, run->arena, &workload, &error) ||
        !workload_state_open_host(workload, &run->own_state, &error))
        return evaluate_trouble(run, &error);
    run->state = run->own_state;
    return true;
}

static bool fill_inputs(struct evaluation_run *run)
{
    double unused[1];
    struct error error;

    run->seeds[0] = run->request->seed;
    bool ok = workload_state_generate(run->state, run->seeds, 0, unused, &error);
    evaluate_phase(run, "prepare");
    return ok || evaluate_trouble(run, &error);
}

static bool attempt_all(struct emulation *emulation)
{
    if (!fill_inputs(emulation->run))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(schedules); i++) {
        if (!attempt(emulation, i))
            return false;
        if (says_nothing(emulation))
            return true;
    }
    return true;
}

bool evaluate_prepare_emulated(struct evaluation_run *run)
{
    const struct workload *task = run->request->workload;
    const char *sizes = emulated_fitting_sizes(run->arena, task, EMULATED_MEMORY_MAX);
    struct error error;

    if (sizes ? workload_state_is_derivable(task) && take_sizes(run, sizes)
              : worker_take_workload(run->worker, task, &run->state, &error))
        return true;
    if (run->failed)
        return false;
    if (!sizes && (error.code != ERROR_UNSUPPORTED || cpu_reference_classify(task->definition) == CPU_OTHER))
        return evaluate_trouble(run, &error);
    return take_sizes(run, emulated_small_sizes(task));
}

/* A failure at the small size. An entry that refuses it has said nothing about the task's. */
static void judge_small_failure(struct emulation *emulation)
{
    struct evaluation_run *run = emulation->run;
    const char *sizes = run->own_sizes;
    struct error error;

    if (!finding_find(&run->verdict->findings, FINDING_ENTRY_FAILED)) {
        verdict_set_status(run->verdict, run->arena, run->verdict->status, "with %s: %s", sizes, run->verdict->summary);
        return;
    }
    (void)error_set(&error, ERROR_TOOL,
                    "a part of the grid is not enough to judge this candidate, and with %s, where all of it could run, "
                    "%s",
                    sizes, run->verdict->summary);
    (void)error_hint(&error, "let the entry accept all sizes of the definition's variable axes, or judge it on a GPU");
    run->verdict->findings.count = emulation->earlier_findings;
    (void)evaluate_trouble(run, &error);
}

/* Whether the whole grid can run. */
static bool is_small(const struct evaluation_run *run)
{
    return run->own_state && !strcmp(run->own_sizes, emulated_small_sizes(run->request->workload));
}

void evaluate_emulated(struct evaluation_run *run)
{
    struct emulation emulation = {
        .run = run,
        .sample = is_small(run) ? 0 : run->worker->options.sample,
        .earlier_findings = run->verdict->findings.count,
        .deadline_ns =
            clock_now_ns() + (run->request->emulation_limit_ns ? run->request->emulation_limit_ns : all_runs_limit_ns)};
    bool ok = attempt_all(&emulation);

    if (ok && says_nothing(&emulation)) {
        run->verdict->findings.count = emulation.earlier_findings;
        emulation.sample = 0;
        ok = take_sizes(run, emulated_small_sizes(run->request->workload)) && attempt_all(&emulation);
    }
    if (ok)
        pass(&emulation);
    else if (run->own_state && run->verdict->status != VERDICT_INFRA_ERROR)
        judge_small_failure(&emulation);
    judge_target(&emulation, ok || run->verdict->status == VERDICT_INCORRECT_NUMERICAL);
    workload_state_close(run->own_state);
    run->own_state = NULL;
    evaluate_phase(run, "target");
}
