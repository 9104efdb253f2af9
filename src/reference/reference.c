#include "reference/reference.h"

#include "reference/cublaslt.h"
#include "reference/cudnn_sdpa.h"
#include "reference/naive_check.h"

/* kernels/naive_reference.cu, embedded by the build */
extern const unsigned char naive_reference_fatbin[];

struct reference {
    const struct cuda_driver *driver;
    struct reference_problem problem;
    struct cublaslt_matmul *matmul; /* GEMM */
    struct cudnn_sdpa *sdpa;        /* attention */
    CUmodule naive;                 /* NULL until the first check */
};

static bool validate(const struct reference_problem *problem, struct error *error)
{
    const int64_t largest_dim = (int64_t)1 << 24, largest_tensor = (int64_t)1 << 38;
    const int64_t gemm[] = {problem->m, problem->n, problem->k};
    const int64_t attention[] = {problem->batch, problem->heads, problem->sequence, problem->head_dim};
    bool is_gemm = problem->kind == REFERENCE_GEMM;
    const int64_t *sizes = is_gemm ? gemm : attention;
    char text[128];

    reference_problem_text(problem, text, sizeof text);
    if (problem->dtype != DTYPE_BFLOAT16 && problem->dtype != DTYPE_FLOAT16)
        return error_set(error, ERROR_UNSUPPORTED, "%s: no reference for this dtype (bfloat16 and float16 have one)",
                         text);
    for (size_t i = 0; i < (is_gemm ? ARRAY_LEN(gemm) : ARRAY_LEN(attention)); i++)
        if (sizes[i] < 1 || sizes[i] > largest_dim)
            return error_set(error, ERROR_INPUT, "%s: every size must be 1 to %lld", text, (long long)largest_dim);
    if (!is_gemm && problem->head_dim > NAIVE_MAX_HEAD_DIM)
        return error_set(error, ERROR_UNSUPPORTED, "%s: head dims above %d have no reference", text,
                         NAIVE_MAX_HEAD_DIM);

    /* dims are at most 2^24, so products of two cannot overflow; the double catches the rest */
    for (int i = 0; i < reference_input_count(problem) + reference_output_count(problem); i++) {
        int inputs = reference_input_count(problem);
        struct tensor_shape shape =
            i < inputs ? reference_input_shape(problem, i) : reference_output_shape(problem, i - inputs);
        double elements = 1;
        for (int d = 0; d < shape.rank; d++)
            elements *= (double)shape.dims[d];
        if (elements > (double)largest_tensor)
            return error_set(error, ERROR_INPUT, "%s: a tensor has more than %lld elements", text,
                             (long long)largest_tensor);
    }
    return true;
}

bool reference_open(const struct cuda_driver *driver, const struct reference_problem *problem, struct reference **out,
                    struct error *error)
{
    if (!validate(problem, error))
        return false;
    struct reference *reference = calloc(1, sizeof *reference);
    if (!reference)
        return error_set(error, ERROR_MEMORY, "reference: out of memory");
    reference->driver = driver;
    reference->problem = *problem;
    bool ok = problem->kind == REFERENCE_GEMM ? cublaslt_matmul_open(driver, problem, &reference->matmul, error)
                                              : cudnn_sdpa_open(driver, problem, &reference->sdpa, error);
    if (!ok) {
        reference_close(reference);
        return false;
    }
    *out = reference;
    return true;
}

struct reference_identity reference_identity(const struct reference *reference)
{
    return reference->matmul ? cublaslt_matmul_identity(reference->matmul) : cudnn_sdpa_identity(reference->sdpa);
}

const struct reference_problem *reference_problem(const struct reference *reference)
{
    return &reference->problem;
}

static bool check_alignment(const struct reference *reference, const CUdeviceptr *pointers, int count,
                            const char *(*name)(const struct reference_problem *, int), struct error *error)
{
    for (int i = 0; i < count; i++)
        if (!pointers[i] || pointers[i] % REFERENCE_POINTER_ALIGNMENT)
            return error_set(error, ERROR_INTERNAL, "reference: %s is at 0x%llx, not a multiple of %d bytes",
                             name(&reference->problem, i), (unsigned long long)pointers[i],
                             REFERENCE_POINTER_ALIGNMENT);
    return true;
}

bool reference_run(struct reference *reference, const CUdeviceptr *inputs, const CUdeviceptr *outputs, CUstream stream,
                   struct error *error)
{
    const struct reference_problem *problem = &reference->problem;

    if (!check_alignment(reference, inputs, reference_input_count(problem), reference_input_name, error) ||
        !check_alignment(reference, outputs, reference_output_count(problem), reference_output_name, error))
        return false;
    if (reference->matmul)
        return cublaslt_matmul_run(reference->matmul, inputs[0], inputs[1], outputs[0], stream, error);
    return cudnn_sdpa_run(reference->sdpa, inputs, outputs, stream, error);
}

bool reference_check(struct reference *reference, const CUdeviceptr *inputs, const CUdeviceptr *outputs, uint64_t seed,
                     struct reference_agreement *agreement, struct error *error)
{
    agreement->count = 0;
    if (!reference->naive)
        CUDA_TRY(reference->driver, error, cuModuleLoadData(&reference->naive, naive_reference_fatbin));
    return naive_check(reference->driver, reference->naive, &reference->problem, inputs, outputs, seed, agreement,
                       error);
}

void reference_close(struct reference *reference)
{
    if (!reference)
        return;
    cublaslt_matmul_close(reference->matmul);
    cudnn_sdpa_close(reference->sdpa);
    if (reference->naive)
        (void)reference->driver->cuModuleUnload(reference->naive);
    free(reference);
}
