/* Trials as in the paper, with inputs that change, every output compared, and two clocks. */
#include <math.h>
#include <string.h>

#include "judge/statistics.h"
#include "judge/task_problem.h"
#include "judge/worker_internal.h"

enum { REFERENCE_BEFORE = 4, REFERENCE_AFTER = 3, MAX_TRIALS = 16, MAX_TIMED = 1024 };
static const int64_t timing_budget_ns = 20LL * 1000000000; /* of all trials; slower candidates get fewer iterations */

/* What accumulates over the trials. */
struct timing {
    int warmup;
    int iterations;
    int64_t pause_ns;
    double fresh_ms[MAX_TIMED]; /* timed calls on inputs not seen before */
    size_t fresh_count;
    double repeated_ms[MAX_TIMED];
    size_t repeated_count;
    double device_ms; /* audited calls */
    double wall_ms;
    int64_t calls;
    int64_t kernels;
    int64_t throttle_mask;
};

/* Calls of one trial: which input set each uses. The first call and the warm-up use set 0 alone, so that every other
 * set is new to the candidate when a timed call meets it; the order is secret. */
static void plan_trial(struct evaluation_run *run, const struct timing *timing, int *sets)
{
    int count = workload_state_sets(run->state);

    for (int i = 0; i < 1 + timing->warmup; i++)
        sets[i] = 0;
    for (int i = 0; i < timing->iterations; i++)
        sets[1 + timing->warmup + i] = (int)(evaluate_draw(run) % (uint64_t)count);
}

static void record_clocks(struct evaluation_run *run, struct timing *timing, struct verdict_trial *trial, bool last)
{
    struct verdict_timing *record = &run->verdict->timing;
    struct nvml_sample sample = last ? nvml_read(run->worker->nvml) : nvml_read_clocks(run->worker->nvml);

    if (sample.sm_clock_mhz >= 0) {
        trial->sm_clock_mhz = number_of(sample.sm_clock_mhz);
        if (!record->sm_clock_min_mhz.known || sample.sm_clock_mhz < record->sm_clock_min_mhz.value)
            record->sm_clock_min_mhz = number_of(sample.sm_clock_mhz);
        if (!record->sm_clock_max_mhz.known || sample.sm_clock_mhz > record->sm_clock_max_mhz.value)
            record->sm_clock_max_mhz = number_of(sample.sm_clock_mhz);
    }
    if (sample.temperature_c >= 0) {
        trial->temperature_c = number_of(sample.temperature_c);
        if (!record->temperature_max_c.known || sample.temperature_c > record->temperature_max_c.value)
            record->temperature_max_c = number_of(sample.temperature_c);
    }
    if (sample.power_w >= 0) {
        trial->power_w = number_of(sample.power_w);
        if (!record->power_max_w.known || sample.power_w > record->power_max_w.value)
            record->power_max_w = number_of(sample.power_w);
    }
    if (sample.throttle_mask >= 0) {
        timing->throttle_mask |= sample.throttle_mask;
        record->throttle = "";
    }
}

/* New inputs and expected outputs; the reference's latencies are part of the trial. */
static bool begin_trial(struct evaluation_run *run, struct verdict_trial *trial)
{
    double *samples = arena_calloc(run->arena, REFERENCE_BEFORE + REFERENCE_AFTER, sizeof *samples);
    struct error error;

    for (int i = 0; i < WORKLOAD_MAX_SETS; i++)
        run->seeds[i] = evaluate_draw(run);
    if (!workload_state_generate(run->state, run->seeds, REFERENCE_BEFORE, samples, &error))
        return evaluate_trouble(run, &error);
    evaluate_phase(run, "reference");
    trial->reference_ms = (struct number_list){samples, REFERENCE_BEFORE};
    return true;
}

/* The reference once more behind the candidate's calls: clocks move while a trial lasts. */
static bool end_trial(struct evaluation_run *run, struct verdict_trial *trial)
{
    struct error error;

    if (!workload_state_time_reference(run->state, REFERENCE_AFTER, trial->reference_ms.items + REFERENCE_BEFORE,
                                       &error))
        return evaluate_trouble(run, &error);
    evaluate_phase(run, "reference");
    trial->reference_ms.count += REFERENCE_AFTER;
    return true;
}

/* Adds the times of one batch; `first` is the index of its first call in the trial. */
static bool add_times(struct evaluation_run *run, struct timing *timing, struct verdict_trial *trial,
                      const struct message_times *times, const struct run_item *items, int first, bool seen[])
{
    for (int i = 0; i < times->count; i++) {
        const struct activity_iteration *iteration = &times->iterations[i];
        double ms = (double)iteration->duration_ns * 1e-6;
        if (iteration->records < 1 || iteration->duration_ns <= 0) {
            (void)finding_add(&run->verdict->findings, run->arena, FINDING_NO_DEVICE_WORK,
                              "no kernel was recorded in call %d of a trial", first + i);
            verdict_set_status(run->verdict, run->arena, VERDICT_RUNTIME_ERROR,
                               "a timed call did no work on the device");
            run->failed = true;
            return false;
        }
        if (iteration->late) {
            (void)finding_add(&run->verdict->findings, run->arena, FINDING_LATE_WORK,
                              "call %d of a trial: %d kernels or copies did not wait for the call's stream", first + i,
                              iteration->late);
            verdict_set_status(run->verdict, run->arena, VERDICT_RUNTIME_ERROR,
                               "work outside the stream that the call was given");
            run->failed = true;
            return false;
        }
        timing->device_ms += ms;
        timing->calls++;
        timing->kernels += iteration->kernels;
        bool fresh = !seen[items[i].input_set];
        seen[items[i].input_set] = true;
        if (first + i < 1 + timing->warmup)
            continue;
        trial->candidate_ms.items[trial->candidate_ms.count++] = ms;
        if (fresh && timing->fresh_count < MAX_TIMED)
            timing->fresh_ms[timing->fresh_count++] = ms;
        else if (!fresh && timing->repeated_count < MAX_TIMED)
            timing->repeated_ms[timing->repeated_count++] = ms;
    }
    return true;
}

static int64_t batch_limit_ns(const struct evaluation_run *run, const struct timing *timing, int count)
{
    return run->hang_limit_ns + 4 * count * (run->first_call_ns + run->ready.iteration_ns + timing->pause_ns);
}

/* The calls [first, first + count) of a trial, as many as there are slots: poison, run, compare at once, then ask for
 * the times. */
static bool run_batch(struct evaluation_run *run, struct timing *timing, struct verdict_trial *trial, const int *sets,
                      int first, int count, bool seen[])
{
    struct message_run request = {.flags = RUN_FLUSH | RUN_TIME, .count = count, .pause_ns = timing->pause_ns};
    struct message_times times;
    struct error error;

    for (int i = 0; i < count; i++)
        request.items[i] = (struct run_item){sets[first + i], i};
    if (!workload_state_poison(run->state, count, &error))
        return evaluate_trouble(run, &error);
    struct runner_outcome outcome =
        runner_client_run(run->runner, &request, batch_limit_ns(run, timing, count), NULL, NULL, NULL);
    evaluate_phase(run, "timed_calls");
    evaluate_outcome(run, &outcome, "in a timed call");
    if (run->failed)
        return false;
    timing->wall_ms += (double)(outcome.wall_ns - count * workload_state_overhead_ns(run->state)) * 1e-6;
    bool ok = evaluate_compare(run, request.items, count, true);
    evaluate_phase(run, "compare");
    if (!ok)
        return false;
    outcome = runner_client_take_times(run->runner, &request, &times);
    evaluate_outcome(run, &outcome, "after the timed calls");
    runner_client_suspend(run->runner);
    return !run->failed && add_times(run, timing, trial, &times, request.items, first, seen);
}

static bool run_trial(struct evaluation_run *run, struct timing *timing, bool last)
{
    struct verdict_trial *trial = LIST_APPEND(run->arena, &run->verdict->timing.trials);
    int total = 1 + timing->warmup + timing->iterations;
    int *sets = arena_calloc(run->arena, (size_t)total, sizeof *sets);
    int slots = workload_state_slots(run->state);
    bool seen[WORKLOAD_MAX_SETS] = {false};

    trial->candidate_ms.items = arena_calloc(run->arena, (size_t)timing->iterations, sizeof(double));
    if (!begin_trial(run, trial))
        return false;
    plan_trial(run, timing, sets);
    for (int first = 0; first < total; first += slots)
        if (!run_batch(run, timing, trial, sets, first, total - first < slots ? total - first : slots, seen))
            return false;
    if (!end_trial(run, trial))
        return false;
    trial->candidate_median_ms = statistics_median(trial->candidate_ms.items, trial->candidate_ms.count);
    trial->reference_median_ms = statistics_median(trial->reference_ms.items, trial->reference_ms.count);
    record_clocks(run, timing, trial, last);
    evaluate_phase(run, "clocks");
    return true;
}

static int64_t choose_pause(const struct evaluation_run *run)
{
    static const int64_t most_ns = 2000000;
    int64_t quarter_ns = (int64_t)(workload_state_baseline_ms(run->state) * 0.25e6);

    if (run->request->pause_ns)
        return run->request->pause_ns > 0 ? run->request->pause_ns : 0;
    return quarter_ns < most_ns ? quarter_ns : most_ns;
}

/* A candidate far slower than its reference is timed less often, so that an answer comes in time. */
static void choose_iterations(const struct evaluation_run *run, int trials, struct timing *timing)
{
    const struct judge_request *request = run->request;
    int64_t call_ns = run->first_call_ns + run->ready.iteration_ns;

    timing->warmup = request->warmup ? request->warmup : 10;
    timing->iterations = request->iterations ? request->iterations : 50;
    while (timing->iterations > 5 && trials * (1 + timing->warmup + timing->iterations) * call_ns > timing_budget_ns) {
        timing->iterations = timing->iterations / 2 < 5 ? 5 : timing->iterations / 2;
        timing->warmup = timing->warmup / 2 < 1 ? 1 : timing->warmup / 2;
    }
}

static void judge_memo(struct evaluation_run *run, const struct timing *timing)
{
    struct verdict_memo_test *record = &run->verdict->timing.memo;
    struct statistics_memo memo = statistics_memo_test(run->arena, timing->fresh_ms, timing->fresh_count,
                                                       timing->repeated_ms, timing->repeated_count);

    *record = (struct verdict_memo_test){memo.memoised, memo.fresh_median_ms, memo.repeated_median_ms, memo.p_value,
                                         memo.explanation};
    if (memo.memoised != TRISTATE_YES)
        return;
    (void)finding_add(&run->verdict->findings, run->arena, FINDING_RESULT_MEMOISED, "%s", memo.explanation);
    verdict_set_status(run->verdict, run->arena, VERDICT_RUNTIME_ERROR, "results are replayed instead of computed");
    run->failed = true;
}

/* Whose clock counts: the candidate's process writes the device timestamps, the worker's clock it cannot reach. When
 * they differ beyond the tolerance, the worker's is reported. Returns wall time per call in ms, or 0 to keep CUPTI's. */
static double judge_clocks(struct evaluation_run *run, const struct timing *timing)
{
    struct audit_input input = {.device_ms = timing->device_ms, .wall_ms = timing->wall_ms, .calls = timing->calls};
    struct audit audit = statistics_audit(run->arena, &input);

    run->verdict->timing.audit = (struct verdict_audit){
        .result = audit.result == AUDIT_UNKNOWN ? NULL : audit_result_text(audit.result),
        .explanation = audit.explanation,
        .device_ms = number_of(timing->device_ms),
        .wall_ms = number_of(timing->wall_ms),
        .launches = count_of(timing->calls),
    };
    if (audit.result == AUDIT_FORGED) {
        (void)finding_add(&run->verdict->findings, run->arena, FINDING_TIMING_MISMATCH, "%s", audit.explanation);
        verdict_set_status(run->verdict, run->arena, VERDICT_RUNTIME_ERROR, "timestamps contradict the worker's clock");
        run->failed = true;
        return 0;
    }
    if (audit.result == AUDIT_CONSISTENT)
        return 0;
    double wall_ms = timing->wall_ms / (double)timing->calls;
    (void)finding_add(
        &run->verdict->findings, run->arena, FINDING_HOST_TIME,
        "a call takes %.4f ms by the worker's clock, %.4f ms by device timestamps; the worker's figure is "
        "reported",
        wall_ms, timing->device_ms / (double)timing->calls);
    run->verdict->timing.clock = "wall";
    return wall_ms;
}

/* Dense 16-bit tensor operations of one multiprocessor per clock (NVIDIA H100 and B200 white papers: 989 TFLOP/s at
 * 1.83 GHz with 132, 2250 TFLOP/s at 1.86 GHz with 148). */
static double peak_flops_per_clock(int major)
{
    return major == 9 ? 4096 : 8192;
}

/* The least time that the arithmetic and the traffic of the operation take on this device, in ms. */
static double hardware_floor_ms(const struct evaluation_run *run)
{
    const struct device_info *info = device_info(run->worker->device);
    struct reference_problem problem;
    struct error error;

    if (!task_problem(run->request->workload, &problem, &error) || info->max_clock_khz <= 0)
        return 0;
    double flops_per_s = peak_flops_per_clock(info->major) * info->multiprocessors * info->max_clock_khz * 1e3;
    double compute_ms = reference_required_flops(&problem) / flops_per_s * 1e3;
    double traffic_ms =
        info->memory_bytes_per_s > 0 ? reference_bytes_floor(&problem) / (double)info->memory_bytes_per_s * 1e3 : 0;
    return compute_ms > traffic_ms ? compute_ms : traffic_ms;
}

/* Refuses what cannot be: a candidate that computes the inputs it can see ahead, or replays results. */
static void judge_floor(struct evaluation_run *run)
{
    double floor_ms = hardware_floor_ms(run);
    double latency_ms = run->verdict->performance.latency_ms.value;

    if (!(latency_ms < 0.95 * floor_ms))
        return;
    (void)finding_add(&run->verdict->findings, run->arena, FINDING_FASTER_THAN_HARDWARE,
                      "%.4f ms, where the device needs %.4f ms at its peak rates", latency_ms, floor_ms);
    verdict_set_status(run->verdict, run->arena, VERDICT_RUNTIME_ERROR, "faster than the hardware allows");
    run->verdict->performance = (struct verdict_performance){0};
    run->failed = true;
}

static void record_performance(struct evaluation_run *run, const struct timing *timing, double wall_ms)
{
    const struct verdict_timing *trials = &run->verdict->timing;
    struct verdict_performance *record = &run->verdict->performance;
    struct statistics_trial samples[MAX_TRIALS];

    for (size_t i = 0; i < trials->trials.count; i++)
        samples[i] = (struct statistics_trial){
            trials->trials.items[i].candidate_ms.items, trials->trials.items[i].candidate_ms.count,
            trials->trials.items[i].reference_ms.items, trials->trials.items[i].reference_ms.count};
    struct statistics_speedup speedup =
        statistics_speedup(run->arena, samples, trials->trials.count, 0, run->request->seed);
    record->latency_ms = wall_ms > 0 ? number_of(wall_ms) : speedup.latency_ms;
    record->reference_latency_ms = speedup.reference_latency_ms;
    record->speedup = number_of(record->reference_latency_ms.value / record->latency_ms.value);
    if (!(wall_ms > 0))
        record->ci95 = speedup.ci95;
    record->n = speedup.n;
    record->reference = arena_strdup(run->arena, workload_state_identity(run->state).name);
    run->verdict->timing.candidate_cv = speedup.candidate_cv;
    run->verdict->timing.reference_cv = speedup.reference_cv;
    run->verdict->timing.drift = speedup.drift;
    run->verdict->timing.outliers = speedup.outliers;
    run->verdict->timing.launches = count_of((timing->kernels + timing->calls / 2) / timing->calls);
}

static void judge_conditions(struct evaluation_run *run, const struct timing *timing)
{
    struct verdict_timing *record = &run->verdict->timing;
    char text[256];

    if (record->throttle) {
        nvml_throttle_text(timing->throttle_mask, text, sizeof text);
        record->throttle = arena_strdup(run->arena, text);
        if (text[0])
            (void)finding_add(&run->verdict->findings, run->arena, FINDING_THROTTLED, "clocks were limited: %s", text);
    }
    if (record->drift.known && fabs(record->drift.value) > 0.03)
        (void)finding_add(&run->verdict->findings, run->arena, FINDING_CLOCK_DRIFT,
                          "the last trial's median differs from the first's by %.1f %%", 100 * record->drift.value);
}

bool evaluate_timing(struct evaluation_run *run)
{
    struct timing *timing = arena_alloc(run->arena, sizeof *timing);
    struct verdict_timing *record = &run->verdict->timing;
    int trials = run->request->trials ? run->request->trials : 3;

    if (trials > MAX_TRIALS)
        trials = MAX_TRIALS;
    choose_iterations(run, trials, timing);
    timing->pause_ns = choose_pause(run);
    workload_state_set_pause(run->state, timing->pause_ns);
    record->pause_ms = number_of((double)timing->pause_ns * 1e-6);
    evaluate_progress(run, "timing");
    record->clock = "cupti";
    record->l2_policy = "cold: twice its size written before every call";
    record->warmup = count_of(timing->warmup);
    record->iterations = count_of(timing->iterations);
    for (int i = 0; i < trials; i++)
        if (!run_trial(run, timing, i == trials - 1))
            return false;
    judge_memo(run, timing);
    double wall_ms = judge_clocks(run, timing);
    if (run->failed)
        return false;
    record_performance(run, timing, wall_ms);
    judge_conditions(run, timing);
    judge_floor(run);
    evaluate_phase(run, "statistics");
    if (run->failed)
        return false;
    verdict_set_status(run->verdict, run->arena, VERDICT_PASSED, "correct, %.3fx the reference",
                       run->verdict->performance.speedup.value);
    return true;
}
