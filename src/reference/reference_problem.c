/* What a problem is: its tensors, its work, its text. No library, no device. */
#include "reference/reference.h"

static const char *const gemm_inputs[] = {"A", "B"}, *const gemm_outputs[] = {"C"};
static const char *const forward_inputs[] = {"Q", "K", "V"}, *const forward_outputs[] = {"O", "LSE"};
static const char *const backward_inputs[] = {"Q", "K", "V", "O", "dO", "LSE"};
static const char *const backward_outputs[] = {"dQ", "dK", "dV"};

int reference_input_count(const struct reference_problem *problem)
{
    static const int counts[] = {[REFERENCE_GEMM] = 2, [REFERENCE_MHA_FORWARD] = 3, [REFERENCE_MHA_BACKWARD] = 6};

    return counts[problem->kind];
}

int reference_output_count(const struct reference_problem *problem)
{
    switch (problem->kind) {
    case REFERENCE_GEMM:
        return 1;
    case REFERENCE_MHA_FORWARD:
        return problem->with_lse ? 2 : 1;
    case REFERENCE_MHA_BACKWARD:
        break;
    }
    return 3;
}

const char *reference_input_name(const struct reference_problem *problem, int index)
{
    static const char *const *const names[] = {
        [REFERENCE_GEMM] = gemm_inputs,
        [REFERENCE_MHA_FORWARD] = forward_inputs,
        [REFERENCE_MHA_BACKWARD] = backward_inputs,
    };

    return names[problem->kind][index];
}

const char *reference_output_name(const struct reference_problem *problem, int index)
{
    static const char *const *const names[] = {
        [REFERENCE_GEMM] = gemm_outputs,
        [REFERENCE_MHA_FORWARD] = forward_outputs,
        [REFERENCE_MHA_BACKWARD] = backward_outputs,
    };

    return names[problem->kind][index];
}

static struct tensor_shape matrix(const struct reference_problem *problem, int64_t rows, int64_t columns)
{
    return (struct tensor_shape){.dtype = problem->dtype, .rank = 2, .dims = {rows, columns}};
}

static struct tensor_shape attention_tensor(const struct reference_problem *problem, bool is_lse)
{
    struct tensor_shape shape = {
        .dtype = is_lse ? DTYPE_FLOAT32 : problem->dtype,
        .rank = is_lse ? 3 : 4,
        .dims = {problem->batch, problem->heads, problem->sequence, is_lse ? 0 : problem->head_dim},
    };

    return shape;
}

struct tensor_shape reference_input_shape(const struct reference_problem *problem, int index)
{
    if (problem->kind == REFERENCE_GEMM)
        return index == 0 ? matrix(problem, problem->m, problem->k) : matrix(problem, problem->n, problem->k);
    return attention_tensor(problem, problem->kind == REFERENCE_MHA_BACKWARD && index == 5);
}

struct tensor_shape reference_output_shape(const struct reference_problem *problem, int index)
{
    if (problem->kind == REFERENCE_GEMM)
        return matrix(problem, problem->m, problem->n);
    return attention_tensor(problem, problem->kind == REFERENCE_MHA_FORWARD && index == 1);
}

void reference_problem_text(const struct reference_problem *problem, char *out, size_t size)
{
    if (problem->kind == REFERENCE_GEMM)
        (void)snprintf(out, size, "gemm m%lld n%lld k%lld %s", (long long)problem->m, (long long)problem->n,
                       (long long)problem->k, dtype_text(problem->dtype));
    else
        (void)snprintf(out, size, "%s b%lld h%lld s%lld d%lld%s %s",
                       problem->kind == REFERENCE_MHA_FORWARD ? "mha_forward" : "mha_backward",
                       (long long)problem->batch, (long long)problem->heads, (long long)problem->sequence,
                       (long long)problem->head_dim, problem->causal ? " causal" : "", dtype_text(problem->dtype));
}

double reference_required_flops(const struct reference_problem *problem)
{
    if (problem->kind == REFERENCE_GEMM)
        return 2.0 * (double)problem->m * (double)problem->n * (double)problem->k;
    /* one [S,D] x [D,S] or [S,S] x [S,D] product per head; two of them forward, five backward */
    double product = 2.0 * (double)problem->batch * (double)problem->heads * (double)problem->sequence *
                     (double)problem->sequence * (double)problem->head_dim;
    double products = problem->kind == REFERENCE_MHA_FORWARD ? 2 : 5;

    return product * products / (problem->causal ? 2 : 1);
}

double reference_bytes_floor(const struct reference_problem *problem)
{
    double bytes = 0;

    for (int i = 0; i < reference_input_count(problem); i++) {
        struct tensor_shape shape = reference_input_shape(problem, i);
        bytes += (double)tensor_bytes(&shape);
    }
    for (int i = 0; i < reference_output_count(problem); i++) {
        struct tensor_shape shape = reference_output_shape(problem, i);
        bytes += (double)tensor_bytes(&shape);
    }
    return bytes;
}
