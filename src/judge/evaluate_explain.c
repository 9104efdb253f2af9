/* Why a candidate has failed on a GPU: the emulator runs it too, for at most 20 s, and its findings join the verdict. */
#include <string.h>

#include "judge/worker_internal.h"

static const int64_t explain_limit_ns = 20LL * 1000000000;
enum { EXPLAIN_SAMPLE = 2 };

/* What the emulator sees again: kernels that crash, hang or compute something wrong at once. */
static bool is_explainable(const struct evaluation_run *run)
{
    static const enum finding_code others[] = {
        FINDING_TIMED_OUTPUT_WRONG, FINDING_HOST_HANG,         FINDING_HOST_EXIT, FINDING_HOST_ABORT,
        FINDING_HOST_SIGNAL,        FINDING_FORBIDDEN_SYSCALL, FINDING_LATE_WORK, FINDING_REPORT_FORGED};
    enum verdict_status status = run->verdict->status;

    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (finding_find(&run->verdict->findings, others[i]))
            return false;
    return status == VERDICT_TIMEOUT || status == VERDICT_INCORRECT_NUMERICAL || status == VERDICT_RUNTIME_ERROR;
}

static bool open_explainer(struct worker *worker, struct error *error)
{
    struct worker_options options = worker->options;

    if (worker->explainer)
        return true;
    options.device = "emu:sm_90a";
    options.sample = EXPLAIN_SAMPLE;
    options.max_workloads = 1;
    if (!worker_open(&options, &worker->explainer, error))
        return false;
    worker->explainer->owner = worker;
    return true;
}

/* Keeps what the emulator itself has found; how the run ended there is no news. */
static void take_findings(struct evaluation_run *run, const struct verdict *emulated)
{
    bool found = false;

    for (size_t i = 0; i < emulated->findings.count; i++) {
        if (emulated->findings.items[i].stage != STAGE_EMULATOR)
            continue;
        finding_merge(&run->verdict->findings, run->arena, &emulated->findings.items[i]);
        found = true;
    }
    if (emulated->status == VERDICT_INFRA_ERROR)
        (void)finding_add(&run->verdict->findings, run->arena, FINDING_TOOL_TROUBLE, "no explanation: %s",
                          emulated->summary);
    if (!found && emulated->status == VERDICT_PASSED)
        (void)finding_add(&run->verdict->findings, run->arena, FINDING_EMULATOR_SILENT, "%s", emulated->summary);
}

void evaluate_explain(struct evaluation_run *run)
{
    struct judge_request request = *run->request;
    struct error error;

    if (request.no_explanation || !is_explainable(run) || strcmp(run->compile.arch, "sm_90a") != 0)
        return;
    evaluate_progress(run, "asking the emulator why");
    if (!open_explainer(run->worker, &error)) {
        (void)finding_add(&run->verdict->findings, run->arena, FINDING_TOOL_TROUBLE, "%s", error.message);
        return;
    }
    request.emulation_limit_ns = explain_limit_ns;
    request.progress = NULL;
    take_findings(run, worker_judge(run->worker->explainer, &request, run->arena));
}
