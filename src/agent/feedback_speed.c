/* Speed and what limits it, target instructions, sanitizer. */
#include <inttypes.h>
#include <string.h>

#include "agent/feedback_internal.h"

/* Dense bf16 tensor throughput and memory bandwidth as NVIDIA's data sheets state them (H100 SXM, H200 SXM, B200 SXM). */
static const struct peak {
    const char *gpu; /* part of the device's name */
    double tflops;
    double gbs;
} peaks[] = {
    {"H200", 989, 4800},
    {"H100", 989, 3350},
    {"B200", 2250, 8000},
};

static const struct peak *peak_of(const struct verdict *verdict)
{
    for (size_t i = 0; verdict->provenance.gpu && i < ARRAY_LEN(peaks); i++)
        if (strstr(verdict->provenance.gpu, peaks[i].gpu))
            return &peaks[i];
    return NULL;
}

static bool has_advisory(const struct verdict *verdict, const char *prefix)
{
    for (size_t i = 0; i < verdict->compile.diagnostics.count; i++) {
        const struct verdict_diagnostic *at = &verdict->compile.diagnostics.items[i];
        if (at->code && !strncmp(at->code, prefix, strlen(prefix)))
            return true;
    }
    return false;
}

static int64_t spilled_bytes(const struct verdict *verdict)
{
    int64_t bytes = 0;

    for (size_t i = 0; i < verdict->compile.resources.count; i++)
        bytes += verdict->compile.resources.items[i].spill_store_bytes +
                 verdict->compile.resources.items[i].spill_load_bytes;
    return bytes;
}

/* Reasons in the order of their weight. */
static void put_limits(struct report *report, double compute_share, double traffic_share)
{
    const struct verdict *verdict = report->verdict;
    struct buffer *out = report->out;

    if (verdict->performance.limiter) {
        (void)buffer_append_text(out, "- measured limit: ");
        (void)buffer_append_sanitized(out, verdict->performance.limiter, strcspn(verdict->performance.limiter, "\n"));
        (void)buffer_append_text(out, "\n");
    }
    if (finding_find(&verdict->findings, FINDING_HOST_TIME))
        (void)buffer_append_text(out, "- the host: allocations, tensor maps or attributes are made in every call\n");
    if (verdict->target.tensor_share.known && verdict->target.tensor_share.value < 0.5)
        (void)buffer_printf(
            out,
            "- only %.0f %% of the required arithmetic ran in target instructions; the rest cannot reach "
            "the tensor cores' speed\n",
            100 * verdict->target.tensor_share.value);
    if (verdict->target.tensor_share.known && verdict->target.tensor_share.value > 1.25)
        (void)buffer_printf(
            out, "- the tensor cores did %.2f times the required arithmetic: skip tiles that are masked in full\n",
            verdict->target.tensor_share.value);
    if (has_advisory(verdict, "C75"))
        (void)buffer_append_text(out, "- wgmma or setmaxnreg does not work as written; see the compiler remarks\n");
    if (spilled_bytes(verdict))
        (void)buffer_printf(out, "- %" PRId64 " bytes of registers are spilled; see the resources\n",
                            spilled_bytes(verdict));
    if (compute_share > 0.75 && compute_share >= traffic_share)
        (void)buffer_append_text(out, "- it is close to the tensor cores' peak: what is left lies in the prologue, the "
                                      "epilogue and the last wave\n");
    else if (traffic_share > 0.75)
        (void)buffer_append_text(out, "- it is close to the memory's bandwidth\n");
    else if (compute_share > 0 && traffic_share > 0)
        (void)buffer_append_text(
            out, "- neither arithmetic nor memory is near its peak, so it waits: more stages in flight, a "
                 "producer warp that runs ahead, larger tiles, and no barrier that all warps meet at in "
                 "the inner loop\n");
}

void feedback_speed(struct report *report)
{
    const struct verdict_performance *speed = &report->verdict->performance;
    const struct peak *peak = peak_of(report->verdict);
    double compute_share = peak && speed->tflops.known ? speed->tflops.value / peak->tflops : 0;
    double traffic_share = peak && speed->bandwidth_gbs.known ? speed->bandwidth_gbs.value / peak->gbs : 0;
    double goal = report->options->target_speedup;
    char name[128];

    if (!speed->latency_ms.known)
        return;
    (void)buffer_printf(report->out, "\n## Speed\n\n%.4g ms", speed->latency_ms.value);
    if (speed->speedup.known)
        (void)buffer_printf(report->out, ", %.3f times the speed of the library (%s, %.4g ms)", speed->speedup.value,
                            speed->reference ? safe_name(report, name, speed->reference) : "reference",
                            speed->reference_latency_ms.value);
    if (speed->ci95.known)
        (void)buffer_printf(report->out, ", 95 %% interval %.3f to %.3f", speed->ci95.low, speed->ci95.high);
    (void)buffer_append_text(report->out, ".");
    if (goal > 0 && speed->speedup.known)
        (void)buffer_printf(report->out, " The goal is %g: %s.", goal,
                            speed->speedup.value >= goal ? "reached" : "not reached yet");
    (void)buffer_append_text(report->out, "\n");
    if (compute_share > 0)
        (void)buffer_printf(report->out, "%.0f TFLOP/s of %.0f that the tensor cores can do (%.0f %%)",
                            speed->tflops.value, peak->tflops, 100 * compute_share);
    if (traffic_share > 0)
        (void)buffer_printf(report->out, "%s%.0f GB/s of required traffic, of %.0f (%.0f %%)",
                            compute_share > 0 ? "; " : "", speed->bandwidth_gbs.value, peak->gbs, 100 * traffic_share);
    (void)buffer_append_text(report->out,
                             compute_share > 0 || traffic_share > 0 ? ".\nWhat limits it:\n" : "What limits it:\n");
    put_limits(report, compute_share, traffic_share);
}

static bool runs_legacy_mma(const struct verdict *verdict)
{
    for (size_t i = 0; i < verdict->target.counts.count; i++) {
        const struct verdict_family *family = &verdict->target.counts.items[i];
        if (family->name && !strcmp(family->name, "legacy_mma"))
            return (family->warps.known && family->warps.value > 0) ||
                   (family->in_object.known && family->in_object.value > 0);
    }
    return false;
}

static const char *advice_for(const struct verdict *verdict)
{
    bool blackwell = verdict->target.family && !strcmp(verdict->target.family, "blackwell");

    if (verdict->target.executed == EXECUTED_NO)
        return "They are in the object but no thread executed one: is the kernel with them launched, and is the branch "
               "taken?";
    if (blackwell)
        return "Use tcgen05.mma with accumulators in tensor memory, fed from shared memory that TMA fills.";
    return "Use wgmma.mma_async on tiles that TMA (cp.async.bulk.tensor) loads into shared memory.";
}

void feedback_target(struct report *report)
{
    const struct verdict *verdict = report->verdict;
    const struct verdict_target *target = &verdict->target;
    struct buffer *out = report->out;

    if (target->family) {
        char name[128];
        (void)buffer_printf(out, "\n## Target instructions (%s)\n\nexecuted: %s",
                            safe_name(report, name, target->family), verdict_executed_text(target->executed));
        for (size_t i = 0; i < target->counts.count; i++) {
            const struct verdict_family *at = &target->counts.items[i];
            if (at->target && at->in_object.known)
                (void)buffer_printf(out, "; %s: %" PRId64 " in the object", safe_name(report, name, at->name),
                                    at->in_object.value);
            if (at->target && at->warps.known)
                (void)buffer_printf(out, ", executed %" PRId64 " times by a warp", at->warps.value);
        }
        if (target->tensor_share.known)
            (void)buffer_printf(out, "; they did %.0f %% of the required arithmetic", 100 * target->tensor_share.value);
        (void)buffer_append_text(out, "\n");
        if (target->executed == EXECUTED_NEVER || target->executed == EXECUTED_NO)
            (void)buffer_printf(out, "%s\n", advice_for(verdict));
        if (target->executed != EXECUTED_YES && runs_legacy_mma(verdict))
            (void)buffer_append_text(
                out, "mma.sync is there, but it is the older path: it does not count, and it reaches only "
                     "part of the tensor cores' speed on this architecture.\n");
    }
    if (verdict->sanitizer.ran && verdict->sanitizer.clean == TRISTATE_YES)
        (void)buffer_append_text(out, "\nSanitizer: no invalid access was found.\n");
    else if (verdict->sanitizer.ran && verdict->sanitizer.clean == TRISTATE_NO)
        (void)buffer_printf(out, "\nSanitizer: %" PRId64 " errors; those in your kernel are among the findings.\n",
                            verdict->sanitizer.errors.value);
}
