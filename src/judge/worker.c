#define _GNU_SOURCE
#include "judge/worker.h"

#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/resource.h"
#include "base/splitmix.h"
#include "judge/worker_internal.h"

bool worker_open(const struct worker_options *options, struct worker **out, struct error *error)
{
    struct worker *worker = calloc(1, sizeof *worker);

    if (!worker)
        return error_set(error, ERROR_MEMORY, "worker: out of memory");
    worker->arena = arena_new();
    worker->options = *options;
    worker->options.device = arena_strdup(worker->arena, options->device);
    worker->options.runner = options->runner ? arena_strdup(worker->arena, options->runner)
                                             : resource_find(worker->arena, "ptxbench-runner");
    if (!worker->options.warm_runners)
        worker->options.warm_runners = 2;
    if (worker->options.warm_runners > WORKER_MAX_RUNNERS)
        worker->options.warm_runners = WORKER_MAX_RUNNERS;
    if (!(worker->options.memory_share > 0))
        worker->options.memory_share = 0.5;
    if (worker->options.max_workloads < 1 || worker->options.max_workloads > WORKER_MAX_WORKLOADS)
        worker->options.max_workloads = 2;
    if (!toolchain_find(worker->arena, &worker->toolchain, error)) {
        worker_close(worker);
        return false;
    }
    *out = worker;
    return true;
}

void worker_close(struct worker *worker)
{
    if (!worker)
        return;
    worker_close(worker->explainer);
    for (int i = 0; i < worker->runner_count; i++)
        (void)runner_client_free(worker->runners[i], NULL);
    for (int i = 0; i < worker->stopped_count; i++)
        (void)runner_client_free(worker->stopped[i], NULL);
    for (int i = 0; i < worker->workload_count; i++)
        workload_state_close(worker->workloads[i]);
    nvml_close(worker->nvml);
    device_close(worker->device);
    arena_free(worker->arena);
    free(worker);
}

static bool start_runners(struct worker *worker, struct error *error)
{
    while (worker->runner_count < worker->options.warm_runners) {
        struct runner_client **slot = &worker->runners[worker->runner_count];
        if (!runner_client_start(worker->options.runner, worker->options.device, NULL, slot, error))
            return false;
        worker->runner_count++;
    }
    return true;
}

bool worker_open_device(struct worker *worker, struct error *error)
{
    if (worker->device)
        return true;
    if (!worker->options.runner) {
        (void)error_set(error, ERROR_NOT_FOUND, "ptxbench-runner: not found beside this program");
        return error_hint(error, "build it with 'make', or keep both programs of a bundle together");
    }
    if (worker_emulated(worker))
        return process_become_subreaper(error);
    /* The runners warm up while this process opens its own context. */
    if (!process_become_subreaper(error) || !start_runners(worker, error) ||
        !device_open(worker->options.device, &worker->device, error))
        return false;
    (void)prctl(PR_SET_TIMERSLACK, 1000UL); /* pauses of microseconds */
    worker->nvml = nvml_open(device_info(worker->device)->pci_bus_id);
    nvml_driver_version(worker->nvml, worker->driver_version, sizeof worker->driver_version);
    return true;
}

const char *worker_arch(const struct worker *worker)
{
    if (worker_emulated(worker))
        return worker_emulated(worker);
    return worker->device ? device_target(worker->device) : NULL;
}

/* Moves entry `index` to the front of the list. */
static void touch_workload(struct worker *worker, int index)
{
    struct workload_state *state = worker->workloads[index];

    memmove(&worker->workloads[1], &worker->workloads[0], (size_t)index * sizeof *worker->workloads);
    worker->workloads[0] = state;
}

bool worker_take_workload(struct worker *worker, const struct workload *workload, struct workload_state **out,
                          struct error *error)
{
    struct workload_state *state;

    for (int i = 0; i < worker->workload_count; i++) {
        const struct workload *known = workload_state_workload(worker->workloads[i]);
        if (!strcmp(known->uuid, workload->uuid) && !strcmp(known->definition->name, workload->definition->name)) {
            touch_workload(worker, i);
            *out = worker->workloads[0];
            return true;
        }
    }
    if (worker->workload_count == worker->options.max_workloads)
        workload_state_close(worker->workloads[--worker->workload_count]);
    if (!(worker_emulated(worker)
              ? workload_state_open_host(workload, &state, error)
              : workload_state_open(worker->device, workload, worker->options.memory_share, &state, error)))
        return false;
    worker->workloads[worker->workload_count++] = state;
    touch_workload(worker, worker->workload_count - 1);
    *out = state;
    return true;
}

bool worker_prepare(struct worker *worker, const struct workload *workload, struct error *error)
{
    struct workload_state *state;

    return worker_open_device(worker, error) && worker_take_workload(worker, workload, &state, error);
}

bool worker_take_runner(struct worker *worker, struct runner_client **out, const struct message_ready **ready,
                        struct error *error)
{
    if (!start_runners(worker, error))
        return false;
    struct runner_client *runner = worker->runners[0];
    memmove(&worker->runners[0], &worker->runners[1], (size_t)--worker->runner_count * sizeof *worker->runners);
    if (!runner_client_wait_ready(runner, ready, error) || !start_runners(worker, error)) {
        (void)runner_client_free(runner, NULL);
        return false;
    }
    *out = runner;
    return true;
}

/* Sees to the ends of stopped runners; waits at most `timeout_ns` for each. */
static void reap_stopped(struct worker *worker, int64_t timeout_ns)
{
    int left = 0;

    for (int i = 0; i < worker->stopped_count; i++)
        if (!runner_client_reap(worker->stopped[i], timeout_ns))
            worker->stopped[left++] = worker->stopped[i];
    worker->stopped_count = left;
}

/* Until a killed runner's context is torn down, its kernels may still write into shared memory, and its own memory is
 * taken: the next candidate must not pay for that. */
static bool settle(struct worker *worker, struct error *error)
{
    static const int64_t teardown_limit_ns = 10LL * 1000000000;

    reap_stopped(worker, teardown_limit_ns);
    if (!worker->stopped_count)
        return true;
    (void)error_set(error, ERROR_DEVICE, "%s: a killed runner is still there after %d s", worker->options.device,
                    (int)(teardown_limit_ns / 1000000000));
    return error_hint(error, "the driver holds it: check dmesg and nvidia-smi");
}

/* Makes room for one more stopped runner: waits for the oldest when there are too many. */
static void make_room(struct worker *worker)
{
    reap_stopped(worker, 0);
    if (worker->stopped_count < WORKER_MAX_RUNNERS)
        return;
    (void)runner_client_free(worker->stopped[0], NULL);
    memmove(&worker->stopped[0], &worker->stopped[1], (size_t)--worker->stopped_count * sizeof *worker->stopped);
}

static int list_runners(const struct worker *worker, pid_t *list, int count)
{
    for (int i = 0; i < worker->runner_count; i++)
        list[count++] = runner_client_pid(worker->runners[i]);
    for (int i = 0; i < worker->stopped_count; i++)
        list[count++] = runner_client_pid(worker->stopped[i]);
    return count;
}

bool worker_drop_runner(struct worker *worker, struct runner_client *runner, struct process_end *end)
{
    pid_t keep[4 * WORKER_MAX_RUNNERS];
    int count = 0;
    bool ended = runner_client_has_ended(runner);

    make_room(worker);
    if (ended) {
        (void)runner_client_free(runner, end);
    } else {
        runner_client_stop(runner);
        worker->stopped[worker->stopped_count++] = runner;
    }
    count = list_runners(worker, keep, count);
    if (worker->owner)
        count = list_runners(worker->owner, keep, count);
    if (worker->explainer)
        count = list_runners(worker->explainer, keep, count);
    (void)process_kill_orphans(keep, count);
    return ended;
}

void evaluate_phase(struct evaluation_run *run, const char *name)
{
    struct count_map *phases = &run->verdict->provenance.phases_us;
    const int64_t *before = count_map_get(phases, name);
    int64_t now_ns = clock_now_ns();

    count_map_set(phases, run->arena, name, (before ? *before : 0) + (now_ns - run->phase_started_ns) / 1000);
    run->phase_started_ns = now_ns;
}

uint64_t evaluate_draw(struct evaluation_run *run)
{
    return splitmix_next(&run->nonce);
}

bool evaluate_trouble(struct evaluation_run *run, const struct error *error)
{
    verdict_set_trouble(run->verdict, run->arena, error);
    run->failed = true;
    return false;
}

void evaluate_end_runner(struct evaluation_run *run)
{
    struct verdict_runner *record = &run->verdict->runner;
    struct process_end end = {0};
    char text[128];
    bool truncated;

    if (!run->runner)
        return;
    record->output = arena_strdup(run->arena, runner_client_output(run->runner, &truncated));
    record->output_truncated = truncated;
    bool ended = worker_drop_runner(run->worker, run->runner, &end);
    run->runner = NULL;
    if (ended)
        process_end_text(&end, text, sizeof text);
    record->end = ended ? arena_strdup(run->arena, text) : "stopped by the worker";
    if (ended && end.signal)
        record->signal = count_of(end.signal);
    else if (ended)
        record->exit_status = count_of(end.exit_status);
    record->hang_limit_ms = number_of((double)run->hang_limit_ns * 1e-6);
}

static void record_task(struct evaluation_run *run)
{
    struct verdict_task *task = &run->verdict->task;
    const struct workload *workload = run->request->workload;
    const struct definition *definition = workload->definition;

    task->definition = definition->name;
    task->op_type = definition->op_type;
    task->workload = workload->uuid;
    for (size_t i = 0; i < definition->axis_count; i++)
        count_map_set(&task->axes, run->arena, definition->axes[i].name, workload->axes[i]);
    task->device = run->worker->options.device;
    task->solution = run->request->solution;
}

/* SHA-256 of the one-line text of a tree. */
static const char *hash_json(struct arena *arena, struct json at)
{
    AUTO_FREE char *text = NULL;
    char digest[HASH_TEXT_BYTES];
    struct error error;

    if (!json_to_text(at.value, false, &text, &error))
        return NULL;
    hash_bytes(text, strlen(text), digest);
    return arena_strdup(arena, digest);
}

/* The reference algorithm, device and protocol, once they are known. */
static void record_provenance(struct evaluation_run *run)
{
    struct verdict_provenance *record = &run->verdict->provenance;
    struct worker *worker = run->worker;
    struct arena *arena = run->arena;
    char host[256] = "";

    record->version = run->worker->options.version;
    if (!gethostname(host, sizeof host - 1))
        record->host = arena_strdup(arena, host);
    record->definition_sha256 = hash_json(arena, run->request->workload->definition->source);
    record->workload_sha256 = hash_json(arena, run->request->workload->source);
    if (worker_emulated(worker)) {
        record->gpu = arena_printf(arena, "the emulator (%s)", worker_emulated(worker));
        record->protocol = "emulated: right or wrong, and which instructions run; not timed";
        record->sandbox = arena_strdup(arena, run->ready.sandbox);
        return;
    }
    record->protocol = "paper: 3 x (1 correctness + 10 warm-up + 50 timed), cold L2, fresh inputs per trial, every "
                       "output compared";
    if (worker->device) {
        const struct device_info *info = device_info(worker->device);
        record->gpu = arena_strdup(arena, info->name);
        record->gpu_uuid = arena_strdup(arena, info->uuid);
        record->driver = worker->driver_version[0] ? arena_strdup(arena, worker->driver_version) : NULL;
        text_map_set(&record->tools, arena, "cuda_driver_api",
                     arena_printf(arena, "%d.%d", info->driver_version / 1000, info->driver_version % 1000 / 10));
    }
    if (run->state) {
        struct reference_identity identity = workload_state_identity(run->state);
        struct reference_agreement agreement = workload_state_agreement(run->state);
        text_map_set(&record->tools, arena, "reference",
                     arena_printf(arena, "%s; %s", identity.name, identity.algorithm));
        for (int i = 0; i < agreement.count; i++)
            text_map_set(
                &record->tools, arena, arena_printf(arena, "reference_error_norm_%s", agreement.entries[i].tensor),
                arena_printf(arena, "%.3g against naive fp32, %lld of %lld rows", agreement.entries[i].error_norm,
                             (long long)agreement.entries[i].rows, (long long)agreement.entries[i].total_rows));
    }
    if (run->ready.cupti_version) {
        text_map_set(&record->tools, arena, "cupti", arena_printf(arena, "API %u", run->ready.cupti_version));
        record->sandbox = arena_strdup(arena, run->ready.sandbox);
    }
}

/* The device and the workload on it. */
static bool prepare(struct evaluation_run *run)
{
    struct error error;

    evaluate_progress(run, "preparing the device and the reference");
    if (worker_emulated(run->worker))
        return (worker_open_device(run->worker, &error) || evaluate_trouble(run, &error)) &&
               evaluate_prepare_emulated(run);
    bool ok = worker_open_device(run->worker, &error) && settle(run->worker, &error) &&
              worker_take_workload(run->worker, run->request->workload, &run->state, &error);
    evaluate_phase(run, "prepare");
    return ok || evaluate_trouble(run, &error);
}

static bool execute(struct evaluation_run *run)
{
    bool ok = evaluate_load(run);
    evaluate_phase(run, "load");
    if (!ok)
        return false;
    ok = evaluate_first_call(run);
    evaluate_phase(run, "first_call");
    if (!ok)
        return false;
    return evaluate_timing(run);
}

static void judge(struct evaluation_run *run)
{
    bool ok = evaluate_build(run);

    evaluate_phase(run, "build");
    if (!ok || !prepare(run))
        return;
    if (worker_emulated(run->worker)) {
        evaluate_emulated(run);
        return;
    }
    if (execute(run)) {
        evaluate_count(run);
        evaluate_phase(run, "count");
    }
    evaluate_end_runner(run);
    evaluate_phase(run, "stop");
    evaluate_sanitizer(run);
    evaluate_phase(run, "sanitizer");
    evaluate_target(run);
    evaluate_phase(run, "target");
    evaluate_explain(run);
    evaluate_phase(run, "explain");
}

struct verdict *worker_judge(struct worker *worker, const struct judge_request *request, struct arena *arena)
{
    struct evaluation_run run = {
        .worker = worker,
        .request = request,
        .arena = arena,
        .verdict = verdict_new(arena),
        .object_fd = -1,
        .tolerance = request->tolerance.required_ratio > 0 ? request->tolerance : tolerance_paper(),
    };
    int64_t started_ns = clock_now_ns();
    char time_text[32];
    struct error error;

    run.phase_started_ns = started_ns;
    if (getrandom(&run.nonce, sizeof run.nonce, 0) != sizeof run.nonce)
        run.nonce = (uint64_t)started_ns;
    run.verdict->provenance.input_seed = arena_printf(arena, "%#llx", (unsigned long long)request->seed);
    run.verdict->provenance.order_seed = arena_printf(arena, "%#llx", (unsigned long long)run.nonce);
    clock_utc_text(time_text);
    run.verdict->provenance.time = arena_strdup(arena, time_text);
    record_task(&run);
    judge(&run);
    evaluate_end_runner(&run);
    if (run.object_fd >= 0)
        (void)close(run.object_fd);
    record_provenance(&run);
    finding_sort(&run.verdict->findings);
    run.verdict->provenance.wall_ms = number_of((double)(clock_now_ns() - started_ns) * 1e-6);
    if (!verdict_check(run.verdict, &error))
        verdict_set_trouble(run.verdict, arena, &error);
    return run.verdict;
}
