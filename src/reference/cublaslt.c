#include "reference/cublaslt.h"

#include "device/dynamic.h"
#include "reference/cublaslt_api.h"

enum { REQUESTED_ALGORITHMS = 8 };
static const size_t workspace_limit = (size_t)32 << 20;

struct cublaslt_matmul {
    const struct cuda_driver *driver;
    const struct cublaslt_api *api;
    lt_handle handle;
    lt_descriptor description;
    lt_descriptor a, b, c; /* layouts */
    struct lt_heuristic chosen;
    CUdeviceptr workspace; /* 0 when the algorithm needs none */
    char name[64];
    char algorithm[128];
};

static bool load_api(const struct cublaslt_api **out, struct error *error)
{
    static struct cublaslt_api api;
    static bool ready;
    void *library;

    if (!ready) {
        if (!dynamic_open("libcublasLt.so.13", false,
                          "install cuBLAS 13 (CUDA toolkit, or pip install nvidia-cublas) or set PTXBENCH_CUDA_LIB to "
                          "its folder",
                          &library, error))
            return false;
#define X(function, result, parameters)                                                                                \
    if (!dynamic_symbol(library, #function, (void **)&api.function, error))                                            \
        return error_prefix(error, "libcublasLt.so.13");
        CUBLASLT_FUNCTIONS(X)
#undef X
        ready = true;
    }
    *out = &api;
    return true;
}

static bool lt_failed(const struct cublaslt_matmul *matmul, int status, const char *what, struct error *error)
{
    return error_set(error, status == LT_NOT_SUPPORTED ? ERROR_UNSUPPORTED : ERROR_DEVICE, "%s: %s: %s", matmul->name,
                     what, matmul->api->cublasLtGetStatusString(status));
}

#define LT_TRY(matmul, error, call)                                                                                    \
    do {                                                                                                               \
        int lt_try_status = (matmul)->api->call;                                                                       \
        if (lt_try_status != LT_SUCCESS)                                                                               \
            return lt_failed((matmul), lt_try_status, #call, (error));                                                 \
    } while (0)

/* cuBLASLt is column-major, so it is asked for C^T[N,M] = B[N,K] * A^T[K,M]: B and A as stored are K-by-N and K-by-M
 * matrices of pitch K, of which the first is transposed. */
static bool describe(struct cublaslt_matmul *matmul, const struct reference_problem *problem, struct error *error)
{
    int type = problem->dtype == DTYPE_FLOAT16 ? LT_TYPE_16F : LT_TYPE_16BF;
    uint64_t m = (uint64_t)problem->m, n = (uint64_t)problem->n, k = (uint64_t)problem->k;
    int32_t transpose = LT_OPERATION_T, plain = LT_OPERATION_N;

    LT_TRY(matmul, error, cublasLtMatmulDescCreate(&matmul->description, LT_COMPUTE_32F, LT_TYPE_32F));
    LT_TRY(matmul, error,
           cublasLtMatmulDescSetAttribute(matmul->description, LT_DESC_TRANSA, &transpose, sizeof transpose));
    LT_TRY(matmul, error, cublasLtMatmulDescSetAttribute(matmul->description, LT_DESC_TRANSB, &plain, sizeof plain));
    LT_TRY(matmul, error, cublasLtMatrixLayoutCreate(&matmul->b, type, k, n, problem->k));
    LT_TRY(matmul, error, cublasLtMatrixLayoutCreate(&matmul->a, type, k, m, problem->k));
    LT_TRY(matmul, error, cublasLtMatrixLayoutCreate(&matmul->c, type, n, m, problem->n));
    return true;
}

static uint32_t config_value(const struct cublaslt_matmul *matmul, int attribute)
{
    uint32_t value = 0;
    size_t written = 0;

    /* the cluster shape is 16 bits wide, the others are 32 */
    if (matmul->api->cublasLtMatmulAlgoConfigGetAttribute(&matmul->chosen.algorithm, attribute, &value, sizeof value,
                                                          &written) == LT_SUCCESS)
        return value;
    uint16_t narrow = 0;
    if (matmul->api->cublasLtMatmulAlgoConfigGetAttribute(&matmul->chosen.algorithm, attribute, &narrow, sizeof narrow,
                                                          &written) == LT_SUCCESS)
        return narrow;
    return 0;
}

static bool choose(struct cublaslt_matmul *matmul, struct error *error)
{
    struct lt_heuristic results[REQUESTED_ALGORITHMS] = {0};
    lt_descriptor preference = NULL;
    int returned = 0;

    LT_TRY(matmul, error, cublasLtMatmulPreferenceCreate(&preference));
    int status = matmul->api->cublasLtMatmulPreferenceSetAttribute(preference, LT_PREFERENCE_MAX_WORKSPACE_BYTES,
                                                                   &workspace_limit, sizeof workspace_limit);
    if (status == LT_SUCCESS)
        status = matmul->api->cublasLtMatmulAlgoGetHeuristic(matmul->handle, matmul->description, matmul->b, matmul->a,
                                                             matmul->c, matmul->c, preference, REQUESTED_ALGORITHMS,
                                                             results, &returned);
    (void)matmul->api->cublasLtMatmulPreferenceDestroy(preference);
    if (status != LT_SUCCESS)
        return lt_failed(matmul, status, "algorithm heuristics", error);
    if (returned < 1 || results[0].status != LT_SUCCESS)
        return error_set(error, ERROR_UNSUPPORTED, "%s: no algorithm for this problem", matmul->name);

    matmul->chosen = results[0];
    (void)snprintf(matmul->algorithm, sizeof matmul->algorithm,
                   "heuristic 0 of %d: algorithm %u, tile id %u, stages id %u, cluster id %u, split-k %u", returned,
                   config_value(matmul, LT_CONFIG_ID), config_value(matmul, LT_CONFIG_TILE_ID),
                   config_value(matmul, LT_CONFIG_STAGES_ID), config_value(matmul, LT_CONFIG_CLUSTER_SHAPE_ID),
                   config_value(matmul, LT_CONFIG_SPLITK_NUM));
    return true;
}

static bool prepare(struct cublaslt_matmul *matmul, const struct reference_problem *problem, struct error *error)
{
    if (!load_api(&matmul->api, error))
        return false;
    size_t version = matmul->api->cublasLtGetVersion();
    (void)snprintf(matmul->name, sizeof matmul->name, "cuBLASLt %zu.%zu.%zu", version / 10000, version / 100 % 100,
                   version % 100);
    LT_TRY(matmul, error, cublasLtCreate(&matmul->handle));
    if (!describe(matmul, problem, error) || !choose(matmul, error))
        return false;
    if (matmul->chosen.workspace_bytes)
        CUDA_TRY(matmul->driver, error, cuMemAlloc(&matmul->workspace, matmul->chosen.workspace_bytes));
    return true;
}

bool cublaslt_matmul_open(const struct cuda_driver *driver, const struct reference_problem *problem,
                          struct cublaslt_matmul **out, struct error *error)
{
    struct cublaslt_matmul *matmul = calloc(1, sizeof *matmul);

    if (!matmul)
        return error_set(error, ERROR_MEMORY, "cuBLASLt plan: out of memory");
    matmul->driver = driver;
    if (!prepare(matmul, problem, error)) {
        cublaslt_matmul_close(matmul);
        return false;
    }
    *out = matmul;
    return true;
}

struct reference_identity cublaslt_matmul_identity(const struct cublaslt_matmul *matmul)
{
    return (struct reference_identity){
        .name = matmul->name,
        .library_path = dynamic_path_of((const void *)matmul->api->cublasLtMatmul),
        .algorithm = matmul->algorithm,
        .workspace_bytes = matmul->chosen.workspace_bytes,
    };
}

bool cublaslt_matmul_run(struct cublaslt_matmul *matmul, CUdeviceptr a, CUdeviceptr b, CUdeviceptr c, CUstream stream,
                         struct error *error)
{
    static const float one = 1, zero = 0;
    void *output = (void *)c;

    LT_TRY(matmul, error,
           cublasLtMatmul(matmul->handle, matmul->description, &one, (const void *)b, matmul->b, (const void *)a,
                          matmul->a, &zero, output, matmul->c, output, matmul->c, &matmul->chosen.algorithm,
                          (void *)matmul->workspace, matmul->chosen.workspace_bytes, stream));
    return true;
}

void cublaslt_matmul_close(struct cublaslt_matmul *matmul)
{
    if (!matmul)
        return;
    if (matmul->workspace)
        (void)matmul->driver->cuMemFree(matmul->workspace);
    for (int i = 0; i < 3; i++) {
        lt_descriptor layout = (lt_descriptor[]){matmul->a, matmul->b, matmul->c}[i];
        if (layout)
            (void)matmul->api->cublasLtMatrixLayoutDestroy(layout);
    }
    if (matmul->description)
        (void)matmul->api->cublasLtMatmulDescDestroy(matmul->description);
    if (matmul->handle)
        (void)matmul->api->cublasLtDestroy(matmul->handle);
    free(matmul);
}
