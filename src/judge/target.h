/*
 * Target instructions (paper, appendix A.2 and table 5): what the object holds and what really ran, joined into
 * never / no / yes / unknown(reason), raw counts, and the share of the required arithmetic that the tensor cores did.
 */
#ifndef PTXBENCH_JUDGE_TARGET_H
#define PTXBENCH_JUDGE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "judge/verdict.h"
#include "toolchain/sass.h"

/* What one instruction of one function did in the instrumented call (CUPTI SASS metrics smsp__sass_inst_executed and
 * smsp__sass_thread_inst_executed_pred_on, or ncu's inst_executed and thread_inst_executed_true). */
struct target_count {
    const char *function; /* mangled */
    uint32_t offset;      /* bytes from the start of the function */
    uint64_t warps;       /* warp executions */
    uint64_t threads;     /* thread executions with the predicate on */
};

/* Executed with a lane that its predicate let through; scaled to the whole grid when a part of it ran. */
struct target_sums {
    double warps[SASS_FAMILY_COUNT];
    double target_flops;
    double legacy_flops;
    bool scaled; /* only a part ran */
};

struct target_input {
    const struct sass_report *sass; /* NULL: the object was not inspected */
    const char *sass_reason;        /* why not */
    const char *arch;               /* "sm_90a", "sm_100a" */

    bool measured;                 /* a counting run completed */
    const char *unmeasured_reason; /* why not: "no SASS metrics on this driver", "crashed under instrumentation" */
    const char *measured_with;
    const struct target_count *counts;
    size_t count_count;
    const struct target_sums *sums; /* instead of counts: NULL or, of an emulated device, what families did */

    /* Anything that makes the counting run no evidence: its output was wrong, two runs differ, or the sanitizer found
     * undefined behaviour such as a use after free. NULL: nothing. */
    const char *undefined_reason;

    struct number required_flops;
};

/* Fills `out` and adds findings (target_absent, target_not_executed, tensor_share_low, tool_trouble). Counts of
 * functions that the object does not hold are ignored and counted in `foreign`: they belong to the harness. */
void target_judge(struct arena *arena, const struct target_input *input, struct verdict_target *out,
                  struct finding_list *findings);

/* "hopper" for sm_90*, "blackwell" for sm_100* and sm_103*; NULL otherwise. */
const char *target_family_of_arch(const char *arch);

/*
 * Floating-point operations that the definition's mathematics needs, as the field counts them: GEMM 2MNK; attention
 * forward 4BHD times query-key pairs (S*S, causal S(S+1)/2); backward 2.5 times that. Unknown for operations that are
 * not in the table or lack an axis. A fused multiply-add is 2; softmax and scaling are not counted.
 */
struct number target_required_flops(const char *definition, const char *op_type, const struct count_map *axes);

/* Compares the families' warp and thread counts with a second tool's (ncu) and sets `verified_with` to "TOOL: agrees"
 * or to what differs. Returns whether they agree. */
bool target_verify(struct arena *arena, struct verdict_target *target, const char *tool, const struct count_map *warps,
                   const struct count_map *threads);

#endif
