/*
 * reference_check OUT.json [TEXT]: the GPU references against naive fp32 kernels, and their speed.
 *
 * For each problem of the table (whose name contains TEXT): random normal inputs, the median of 20 runs by CUDA events,
 * each after a flush of twice the L2, then the check of what the last run wrote. One line per problem, all numbers in
 * OUT.json. Exit status 0 when every reference agrees. tests/gpu/torch_reference.py measures PyTorch the same way and
 * compares.
 */
#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "reference/reference.h"

enum { WARM_UP = 5, TIMED = 20, MAX_TENSORS = REFERENCE_MAX_INPUTS + REFERENCE_MAX_OUTPUTS };

#define GEMM(rows, columns, inner)                                                                                     \
    {                                                                                                                  \
        .kind = REFERENCE_GEMM, .dtype = DTYPE_BFLOAT16, .m = (rows), .n = (columns), .k = (inner)                     \
    }
#define MHA(direction, length, dim, mask, element)                                                                     \
    {                                                                                                                  \
        .kind = REFERENCE_MHA_##direction, .dtype = (element), .batch = 4, .heads = 48, .sequence = (length),          \
        .head_dim = (dim), .causal = (mask), .with_lse = true                                                          \
    }

static const struct reference_problem problems[] = {
    GEMM(8192, 7168, 5120),
    GEMM(70, 7168, 5120),
    GEMM(952, 5120, 17408),
    GEMM(8828, 256, 7168),
    MHA(FORWARD, 4096, 64, false, DTYPE_BFLOAT16),
    MHA(FORWARD, 4096, 64, true, DTYPE_BFLOAT16),
    MHA(FORWARD, 4096, 96, false, DTYPE_BFLOAT16),
    MHA(FORWARD, 4096, 96, true, DTYPE_BFLOAT16),
    MHA(FORWARD, 4096, 128, false, DTYPE_BFLOAT16),
    MHA(FORWARD, 4096, 128, true, DTYPE_BFLOAT16),
    MHA(FORWARD, 4096, 256, false, DTYPE_BFLOAT16),
    MHA(FORWARD, 4096, 256, true, DTYPE_BFLOAT16),
    MHA(FORWARD, 512, 128, false, DTYPE_BFLOAT16),
    MHA(FORWARD, 1024, 128, true, DTYPE_BFLOAT16),
    MHA(FORWARD, 1000, 128, true, DTYPE_BFLOAT16),
    MHA(FORWARD, 16384, 128, true, DTYPE_BFLOAT16),
    MHA(FORWARD, 4096, 128, false, DTYPE_FLOAT16),
    MHA(BACKWARD, 4096, 64, false, DTYPE_BFLOAT16),
    MHA(BACKWARD, 4096, 64, true, DTYPE_BFLOAT16),
    MHA(BACKWARD, 4096, 96, false, DTYPE_BFLOAT16),
    MHA(BACKWARD, 4096, 96, true, DTYPE_BFLOAT16),
    MHA(BACKWARD, 4096, 128, false, DTYPE_BFLOAT16),
    MHA(BACKWARD, 4096, 128, true, DTYPE_BFLOAT16),
    MHA(BACKWARD, 512, 128, false, DTYPE_BFLOAT16),
    MHA(BACKWARD, 1024, 128, true, DTYPE_BFLOAT16),
    MHA(BACKWARD, 1000, 128, true, DTYPE_BFLOAT16),
    MHA(BACKWARD, 16384, 128, true, DTYPE_BFLOAT16),
    MHA(BACKWARD, 4096, 128, true, DTYPE_FLOAT16),
};

/* Random normal 16-bit elements on the device that inputs are copied from; its odd length shifts repetitions. */
struct pool {
    CUdeviceptr bytes;
    size_t elements;
};

struct bench {
    const struct cuda_driver *driver;
    CUdevice device;
    CUstream stream;
    CUevent begin, end;
    CUdeviceptr flush;
    size_t flush_bytes;
    struct pool bfloat, half;
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15u;

    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

static uint16_t to_bfloat16(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    return (uint16_t)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/* Round towards zero and flush subnormals: good enough for test data. */
static uint16_t to_float16(float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    return (uint16_t)(magnitude < 0x38800000 ? sign : sign | (magnitude - 0x38000000) >> 13);
}

static bool make_pool(const struct bench *bench, uint16_t (*convert)(float), struct pool *pool, struct error *error)
{
    enum { TABLE = 65536 };
    AUTO_FREE uint16_t *table = malloc(TABLE * sizeof *table);
    uint64_t state = 1;

    pool->elements = 67108859;
    AUTO_FREE uint16_t *elements = malloc(pool->elements * sizeof *elements);
    if (!table || !elements)
        return error_set(error, ERROR_MEMORY, "reference_check: out of memory");
    for (int i = 0; i < TABLE; i++) {
        double u = ((double)(next_random(&state) >> 11) + 1) * 0x1p-53,
               v = (double)(next_random(&state) >> 11) * 0x1p-53;
        table[i] = convert((float)(sqrt(-2 * log(u)) * cos(6.283185307179586 * v)));
    }
    for (size_t i = 0; i < pool->elements; i++)
        elements[i] = table[next_random(&state) >> 48];
    CUDA_TRY(bench->driver, error, cuMemAlloc(&pool->bytes, pool->elements * sizeof *elements));
    CUDA_TRY(bench->driver, error,
             cuMemcpyHtoDAsync(pool->bytes, elements, pool->elements * sizeof *elements, bench->stream));
    CUDA_TRY(bench->driver, error, cuStreamSynchronize(bench->stream));
    return true;
}

static bool fill(const struct bench *bench, const struct tensor_shape *shape, int index, CUdeviceptr to,
                 struct error *error)
{
    const struct pool *pool = shape->dtype == DTYPE_FLOAT16 ? &bench->half : &bench->bfloat;
    size_t left = (size_t)tensor_elements(shape), at = (size_t)(index + 1) * 7654321 % pool->elements;

    while (left) {
        size_t piece = left < pool->elements - at ? left : pool->elements - at;
        CUDA_TRY(bench->driver, error, cuMemcpyDtoDAsync(to, pool->bytes + 2 * at, 2 * piece, bench->stream));
        to += 2 * piece;
        left -= piece;
        at = 0;
    }
    return true;
}

static bool open_bench(struct bench *bench, struct error *error)
{
    CUcontext context;
    int l2_bytes = 0;

    if (!cuda_driver_load(&bench->driver, error))
        return false;
    const struct cuda_driver *driver = bench->driver;
    CUDA_TRY(driver, error, cuDeviceGet(&bench->device, 0));
    CUDA_TRY(driver, error, cuDevicePrimaryCtxRetain(&context, bench->device));
    CUDA_TRY(driver, error, cuCtxSetCurrent(context));
    CUDA_TRY(driver, error, cuStreamCreate(&bench->stream, CU_STREAM_NON_BLOCKING));
    CUDA_TRY(driver, error, cuEventCreate(&bench->begin, CU_EVENT_DEFAULT));
    CUDA_TRY(driver, error, cuEventCreate(&bench->end, CU_EVENT_DEFAULT));
    CUDA_TRY(driver, error, cuDeviceGetAttribute(&l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, bench->device));
    bench->flush_bytes = 2 * (size_t)l2_bytes;
    CUDA_TRY(driver, error, cuMemAlloc(&bench->flush, bench->flush_bytes));
    return make_pool(bench, to_bfloat16, &bench->bfloat, error) && make_pool(bench, to_float16, &bench->half, error);
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static bool time_runs(const struct bench *bench, struct reference *reference, const CUdeviceptr *inputs,
                      const CUdeviceptr *outputs, double *median_us, struct error *error)
{
    double samples[TIMED];

    for (int i = -WARM_UP; i < TIMED; i++) {
        float milliseconds = 0;
        CUDA_TRY(bench->driver, error, cuMemsetD8Async(bench->flush, 0, bench->flush_bytes, bench->stream));
        CUDA_TRY(bench->driver, error, cuEventRecord(bench->begin, bench->stream));
        if (!reference_run(reference, inputs, outputs, bench->stream, error))
            return false;
        CUDA_TRY(bench->driver, error, cuEventRecord(bench->end, bench->stream));
        CUDA_TRY(bench->driver, error, cuEventSynchronize(bench->end));
        CUDA_TRY(bench->driver, error, cuEventElapsedTime(&milliseconds, bench->begin, bench->end));
        if (i >= 0)
            samples[i] = 1e3 * (double)milliseconds;
    }
    qsort(samples, TIMED, sizeof samples[0], compare_doubles);
    *median_us = (samples[TIMED / 2 - 1] + samples[TIMED / 2]) / 2;
    return true;
}

struct tensors {
    CUdeviceptr inputs[REFERENCE_MAX_INPUTS];
    CUdeviceptr outputs[REFERENCE_MAX_OUTPUTS];
};

static void free_tensors(const struct bench *bench, struct tensors *tensors)
{
    for (int i = 0; i < MAX_TENSORS; i++) {
        CUdeviceptr *at = i < REFERENCE_MAX_INPUTS ? &tensors->inputs[i] : &tensors->outputs[i - REFERENCE_MAX_INPUTS];
        if (*at)
            (void)bench->driver->cuMemFree(*at);
    }
}

/* Inputs of random normals, outputs of NaN patterns. */
static bool make_tensors(const struct bench *bench, const struct reference_problem *problem, struct tensors *tensors,
                         struct error *error)
{
    for (int i = 0; i < reference_input_count(problem); i++) {
        struct tensor_shape shape = reference_input_shape(problem, i);
        CUDA_TRY(bench->driver, error, cuMemAlloc(&tensors->inputs[i], (size_t)tensor_bytes(&shape)));
        if (shape.dtype != DTYPE_FLOAT32 && !fill(bench, &shape, i, tensors->inputs[i], error))
            return false;
    }
    for (int i = 0; i < reference_output_count(problem); i++) {
        struct tensor_shape shape = reference_output_shape(problem, i);
        size_t bytes = (size_t)tensor_bytes(&shape);
        CUDA_TRY(bench->driver, error, cuMemAlloc(&tensors->outputs[i], bytes));
        CUDA_TRY(bench->driver, error, cuMemsetD8Async(tensors->outputs[i], 0xff, bytes, bench->stream));
    }
    return true;
}

/* O and LSE of a backward problem come from the forward of the same Q, K, V. */
static bool derive_inputs(const struct bench *bench, const struct reference_problem *problem, struct tensors *tensors,
                          struct error *error)
{
    struct reference_problem forward = *problem;
    AUTO_REFERENCE *reference = NULL;
    const CUdeviceptr outputs[] = {tensors->inputs[3], tensors->inputs[5]};

    forward.kind = REFERENCE_MHA_FORWARD;
    forward.with_lse = true;
    if (!reference_open(bench->driver, &forward, &reference, error) ||
        !reference_run(reference, tensors->inputs, outputs, bench->stream, error))
        return false;
    CUDA_TRY(bench->driver, error, cuStreamSynchronize(bench->stream));
    return true;
}

static void report(const struct reference *reference, const struct reference_agreement *agreement, double open_ms,
                   double check_ms, double median_us, json_object *row)
{
    struct reference_identity identity = reference_identity(reference);
    double flops = reference_required_flops(reference_problem(reference));

    json_put_string(row, "reference", identity.name);
    json_put_string(row, "library", identity.library_path);
    json_put_string(row, "algorithm", identity.algorithm);
    json_put_u64(row, "workspace_bytes", identity.workspace_bytes);
    json_put_rounded(row, "open_ms", open_ms, 4);
    json_put_rounded(row, "check_ms", check_ms, 4);
    json_put_rounded(row, "median_us", median_us, 6);
    json_put_rounded(row, "tflops", flops / median_us * 1e-6, 4);
    printf("  %.1f us, %.0f TFLOP/s, open %.0f ms, check %.1f ms; %s, %s, %.1f MB;", median_us,
           flops / median_us * 1e-6, open_ms, check_ms, identity.name, identity.algorithm,
           (double)identity.workspace_bytes * 1e-6);
    for (int i = 0; i < agreement->count; i++) {
        const struct reference_agreement_entry *entry = &agreement->entries[i];
        char key[64];
        (void)snprintf(key, sizeof key, "error_norm_%s", entry->tensor);
        json_put_rounded(row, key, entry->error_norm, 4);
        printf(" %s %.2e (%lld rows)", entry->tensor, entry->error_norm, (long long)entry->rows);
    }
    printf("\n");
}

static bool measure(const struct bench *bench, const struct reference_problem *problem, struct tensors *tensors,
                    json_object *row, struct error *error)
{
    AUTO_REFERENCE *reference = NULL;
    struct reference_agreement agreement;
    double median_us = 0;

    if (!make_tensors(bench, problem, tensors, error))
        return false;
    if (problem->kind == REFERENCE_MHA_BACKWARD && !derive_inputs(bench, problem, tensors, error))
        return error_prefix(error, "forward for the inputs");
    int64_t start = clock_now_ns();
    if (!reference_open(bench->driver, problem, &reference, error))
        return false;
    int64_t opened = clock_now_ns();
    if (!time_runs(bench, reference, tensors->inputs, tensors->outputs, &median_us, error))
        return false;
    int64_t ran = clock_now_ns();
    bool agrees = reference_check(reference, tensors->inputs, tensors->outputs, 42, &agreement, error);
    int64_t checked = clock_now_ns();
    if (!agrees && !agreement.count)
        return false;
    report(reference, &agreement, (double)(opened - start) * 1e-6, (double)(checked - ran) * 1e-6, median_us, row);
    return agrees;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    struct error error;
    char name[128] = "";
    int measured = 0, failures = 0;

    if (argc != 2 && argc != 3) {
        fprintf(stderr, "usage: reference_check OUT.json [TEXT]\n");
        return 64;
    }
    if (!open_bench(&bench, &error)) {
        fprintf(stderr, "reference_check: %s\n", error.message);
        return 2;
    }
    (void)bench.driver->cuDeviceGetName(name, (int)sizeof name, bench.device);
    AUTO_JSON_OBJECT *document = json_object_new_object();
    json_object *rows = json_object_new_array();
    json_put_string(document, "device", name);
    json_put_i64(document, "driver_version", bench.driver->version);
    json_put_string(document, "timing", "median of 20 by CUDA events, L2 flushed before each");
    json_put(document, "problems", rows);
    printf("%s, driver API %d\n", name, bench.driver->version);
    for (size_t i = 0; i < ARRAY_LEN(problems); i++) {
        struct tensors tensors = {0};
        char text[128];
        reference_problem_text(&problems[i], text, sizeof text);
        if (argc == 3 && !strstr(text, argv[2]))
            continue;
        measured++;
        json_object *row = json_object_new_object();
        printf("%s\n", text);
        json_put_string(row, "problem", text);
        bool ok = measure(&bench, &problems[i], &tensors, row, &error);
        if (!ok) {
            failures++;
            json_put_string(row, "error", error.message);
            printf("  FAILED: %s\n", error.message);
        }
        json_put_bool(row, "agrees", ok);
        json_object_array_add(rows, row);
        free_tensors(&bench, &tensors);
        (void)fflush(stdout);
    }
    if (!json_write_file(document, argv[1], &error)) {
        fprintf(stderr, "reference_check: %s\n", error.message);
        return 2;
    }
    printf("%d problems, %d failed\n", measured, failures);
    return failures || !measured ? 1 : 0;
}
