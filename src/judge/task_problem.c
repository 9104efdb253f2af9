#include "judge/task_problem.h"

#include "reference/cpu_reference.h"

static int64_t dim(const struct workload *workload, const struct tensor_spec *spec, int index)
{
    return workload->axes[spec->axes[index]];
}

bool task_problem(const struct workload *workload, struct reference_problem *out, struct error *error)
{
    const struct definition *definition = workload->definition;
    const struct tensor_spec *first = definition->inputs;
    enum cpu_operation operation = cpu_reference_classify(definition);

    *out = (struct reference_problem){.dtype = first->dtype};
    if (operation == CPU_OTHER) {
        (void)error_set(error, ERROR_UNSUPPORTED, "%s: no reference operator for this definition", definition->name);
        return error_hint(error, "supported: gemm (A, B to C), attention forward (Q, K, V to O, LSE) and backward, in "
                                 "bfloat16");
    }
    if (operation == CPU_GEMM) {
        out->kind = REFERENCE_GEMM;
        out->m = dim(workload, first, 0);
        out->n = dim(workload, &definition->inputs[1], 0);
        out->k = dim(workload, first, 1);
        return true;
    }
    out->kind = operation == CPU_MHA_FORWARD ? REFERENCE_MHA_FORWARD : REFERENCE_MHA_BACKWARD;
    out->batch = dim(workload, first, 0);
    out->heads = dim(workload, first, 1);
    out->sequence = dim(workload, first, 2);
    out->head_dim = dim(workload, first, 3);
    out->causal = cpu_reference_is_causal(definition);
    out->with_lse = true;
    return true;
}

struct reference_problem task_forward_problem(const struct reference_problem *backward)
{
    struct reference_problem forward = *backward;

    forward.kind = REFERENCE_MHA_FORWARD;
    forward.with_lse = true;
    return forward;
}
