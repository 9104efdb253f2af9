#include "reference/naive_check.h"

#include <math.h>

enum {
    GEMM_SAMPLES = 128,
    ATTENTION_SAMPLES = 1024, /* at a sequence of ATTENTION_SAMPLES_SEQUENCE; fewer for longer ones */
    ATTENTION_SAMPLES_SEQUENCE = 4096,
    ATTENTION_MIN_SAMPLES = 256,
};

static const double tensor_limit = 1e-2, lse_limit = 1e-5;

/* One check in flight: where the kernels put their sums. */
struct check {
    const struct cuda_driver *driver;
    CUmodule module;
    const struct reference_problem *problem;
    CUdeviceptr sums;        /* [outputs][parts] */
    int64_t parts;           /* per output */
    struct naive_sums *host; /* as `sums` */
};

double naive_error_norm(const struct naive_sums *parts, int64_t count)
{
    double error = 0, naive = 0;

    for (int64_t i = 0; i < count; i++) {
        error += parts[i].squared_error;
        naive += parts[i].squared_naive;
    }
    if (!isfinite(error) || !isfinite(naive))
        return NAN;
    return error == 0 ? 0 : sqrt(error / naive);
}

bool naive_judge(const struct reference_agreement *agreement, const char *what, struct error *error)
{
    for (int i = 0; i < agreement->count; i++) {
        const struct reference_agreement_entry *entry = &agreement->entries[i];
        if (entry->error_norm <= entry->limit) /* false for NaN */
            continue;
        (void)error_set(error, ERROR_DEVICE,
                        "%s: %s disagrees with naive fp32 arithmetic: relative error norm %.3g, limit %.0e", what,
                        entry->tensor, entry->error_norm, entry->limit);
        return error_hint(error, "do not use this library on this machine as a reference: install another version, and "
                                 "check the GPU's health (nvidia-smi -q -d ECC,ROW_REMAPPER)");
    }
    return true;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t attention_samples(const struct reference_problem *problem)
{
    int64_t rows = problem->batch * problem->heads * problem->sequence;
    int64_t samples = (int64_t)ATTENTION_SAMPLES * ATTENTION_SAMPLES_SEQUENCE / problem->sequence;

    samples = samples > ATTENTION_SAMPLES ? ATTENTION_SAMPLES : samples;
    samples = samples < ATTENTION_MIN_SAMPLES ? ATTENTION_MIN_SAMPLES : samples;
    return smaller(samples, rows);
}

static bool launch(const struct check *check, const char *kernel, unsigned blocks, unsigned slices, void *arguments,
                   struct error *error)
{
    char name[64];
    CUfunction function;

    (void)snprintf(name, sizeof name, "%s_%s", kernel, check->problem->dtype == DTYPE_FLOAT16 ? "fp16" : "bf16");
    CUDA_TRY(check->driver, error, cuModuleGetFunction(&function, check->module, name));
    CUDA_TRY(check->driver, error,
             cuLaunchKernel(function, blocks, slices, 1, NAIVE_THREADS, 1, 1, 0, NULL, (void *[]){arguments}, NULL));
    return true;
}

/* Address of the sums of output `index`. */
static uint64_t sums_of(const struct check *check, int index)
{
    return check->sums + (uint64_t)(index * check->parts) * sizeof(struct naive_sums);
}

static bool launch_gemm(const struct check *check, const CUdeviceptr *inputs, const CUdeviceptr *outputs,
                        struct naive_sampling sampling, struct error *error)
{
    struct naive_gemm arguments = {
        .a = inputs[0],
        .b = inputs[1],
        .c = outputs[0],
        .sums = sums_of(check, 0),
        .n = check->problem->n,
        .k = check->problem->k,
        .sampling = sampling,
    };

    return launch(check, "naive_gemm", (unsigned)sampling.samples, NAIVE_GEMM_SLICES, &arguments, error);
}

static bool launch_attention(const struct check *check, const CUdeviceptr *inputs, const CUdeviceptr *outputs,
                             struct naive_sampling sampling, struct error *error)
{
    const struct reference_problem *problem = check->problem;
    unsigned blocks = (unsigned)sampling.samples;
    struct naive_attention arguments = {
        .q = inputs[0],
        .k = inputs[1],
        .v = inputs[2],
        .sequence = problem->sequence,
        .head_dim = (int32_t)problem->head_dim,
        .causal = problem->causal,
        .scale = 1.0f / sqrtf((float)problem->head_dim),
        .sampling = sampling,
    };

    if (problem->kind == REFERENCE_MHA_FORWARD) {
        arguments.o = outputs[0];
        arguments.sums[0] = sums_of(check, 0);
        if (problem->with_lse) {
            arguments.lse = outputs[1];
            arguments.sums[1] = sums_of(check, 1);
        }
        return launch(check, "naive_forward", blocks, 1, &arguments, error);
    }
    arguments.o = inputs[3];
    arguments.d_o = inputs[4];
    arguments.lse = inputs[5];
    arguments.dq = outputs[0];
    arguments.dk = outputs[1];
    arguments.dv = outputs[2];
    arguments.sums[0] = sums_of(check, 0);
    if (!launch(check, "naive_backward_query", blocks, 1, &arguments, error))
        return false;
    arguments.sums[0] = sums_of(check, 1);
    arguments.sums[1] = sums_of(check, 2);
    return launch(check, "naive_backward_key", blocks, 1, &arguments, error);
}

static bool run_kernels(const struct check *check, const CUdeviceptr *inputs, const CUdeviceptr *outputs,
                        struct naive_sampling sampling, struct error *error)
{
    size_t bytes = (size_t)(check->parts * reference_output_count(check->problem)) * sizeof(struct naive_sums);

    /* the library may have run on a stream that the default stream does not wait for */
    CUDA_TRY(check->driver, error, cuCtxSynchronize());
    if (check->problem->kind == REFERENCE_GEMM) {
        if (!launch_gemm(check, inputs, outputs, sampling, error))
            return false;
    } else if (!launch_attention(check, inputs, outputs, sampling, error)) {
        return false;
    }
    CUDA_TRY(check->driver, error, cuMemcpyDtoH(check->host, check->sums, bytes));
    return true;
}

static void fill_agreement(const struct check *check, struct naive_sampling sampling,
                           struct reference_agreement *agreement)
{
    agreement->count = reference_output_count(check->problem);
    for (int i = 0; i < agreement->count; i++) {
        struct tensor_shape shape = reference_output_shape(check->problem, i);
        agreement->entries[i] = (struct reference_agreement_entry){
            .tensor = reference_output_name(check->problem, i),
            .error_norm = naive_error_norm(check->host + i * check->parts, check->parts),
            .limit = shape.dtype == DTYPE_FLOAT32 ? lse_limit : tensor_limit,
            .rows = sampling.samples,
            .total_rows = sampling.rows,
        };
    }
}

bool naive_check(const struct cuda_driver *driver, CUmodule module, const struct reference_problem *problem,
                 const CUdeviceptr *inputs, const CUdeviceptr *outputs, uint64_t seed,
                 struct reference_agreement *agreement, struct error *error)
{
    bool gemm = problem->kind == REFERENCE_GEMM;
    struct naive_sampling sampling = {
        .seed = seed,
        .rows = gemm ? problem->m : problem->batch * problem->heads * problem->sequence,
        .samples = gemm ? smaller(GEMM_SAMPLES, problem->m) : attention_samples(problem),
    };
    int64_t parts = gemm ? sampling.samples * NAIVE_GEMM_SLICES : sampling.samples;
    size_t count = (size_t)(parts * reference_output_count(problem));
    AUTO_FREE struct naive_sums *host = calloc(count, sizeof *host);
    struct check check = {.driver = driver, .module = module, .problem = problem, .parts = parts, .host = host};

    agreement->count = 0;
    if (!host)
        return error_set(error, ERROR_MEMORY, "reference check: out of memory");
    CUDA_TRY(driver, error, cuMemAlloc(&check.sums, count * sizeof *host));
    bool ok = run_kernels(&check, inputs, outputs, sampling, error);
    (void)driver->cuMemFree(check.sums);
    if (!ok)
        return error_prefix(error, "reference check");
    fill_agreement(&check, sampling, agreement);

    char what[128];
    reference_problem_text(problem, what, sizeof what);
    return naive_judge(agreement, what, error);
}
