#include "reference/cudnn_sdpa.h"

#include <math.h>
#include <string.h>

#include "device/dynamic.h"
#include "reference/cudnn_graph.h"
#include "reference/cudnn_sdpa_graph.h"

enum {
    MAX_CONFIGS = 16,
    CACHED_PACKS = 8,                  /* pointer sets; a worker rotates a handful of input sets */
    FIRST_VERSION_THAT_ZEROES = 90600, /* zeroes the dQ accumulator itself */
    FIRST_VERSION_WITH_OWN_SOFTMAX = 92100,
};

/* Device addresses by sdpa_tensor; 0 where the problem has no such tensor. */
struct tensor_addresses {
    CUdeviceptr of[SDPA_TENSOR_LIMIT];
};

struct cached_pack {
    struct tensor_addresses addresses;
    dnn_descriptor pack; /* NULL: free slot */
};

struct cudnn_sdpa {
    const struct cuda_driver *driver;
    const struct cudnn_api *api;
    struct reference_problem problem;
    dnn_handle handle;
    CUstream stream; /* of the handle */
    struct cudnn_graph graph;
    dnn_descriptor configs[MAX_CONFIGS]; /* owned by the graph */
    int config_count;
    int config_index; /* of the plan */
    dnn_descriptor plan;
    bool has_run;

    CUdeviceptr memory; /* workspace of the plan, row scratch, accumulator */
    size_t memory_bytes;
    CUdeviceptr row_scratch; /* float32 [B,H,S]: row sums of the backward, or the LSE that nobody wants */
    CUdeviceptr accumulator; /* float32 [B,H,S,D]: of dQ */

    float scale, one, masked; /* read by cuDNN at every execution */
    struct cached_pack packs[CACHED_PACKS];
    int next_pack; /* slot to replace */
    char name[64];
    char algorithm[64];
};

static size_t aligned(size_t bytes)
{
    return (bytes + REFERENCE_POINTER_ALIGNMENT - 1) / REFERENCE_POINTER_ALIGNMENT * REFERENCE_POINTER_ALIGNMENT;
}

static void drop_packs(struct cudnn_sdpa *sdpa)
{
    for (int i = 0; i < CACHED_PACKS; i++)
        if (sdpa->packs[i].pack)
            (void)sdpa->api->cudnnBackendDestroyDescriptor(sdpa->packs[i].pack);
    memset(sdpa->packs, 0, sizeof sdpa->packs);
}

static void drop_plan(struct cudnn_sdpa *sdpa)
{
    drop_packs(sdpa);
    if (sdpa->plan)
        (void)sdpa->api->cudnnBackendDestroyDescriptor(sdpa->plan);
    if (sdpa->memory)
        (void)sdpa->driver->cuMemFree(sdpa->memory);
    sdpa->plan = NULL;
    sdpa->memory = 0;
    sdpa->memory_bytes = 0;
}

/* Makes the plan of one configuration; the status of the first call that failed. */
static int make_plan(struct cudnn_sdpa *sdpa, dnn_descriptor config, int64_t *workspace_bytes)
{
    const struct cudnn_api *api = sdpa->api;
    int64_t count = 0;
    int status = api->cudnnBackendCreateDescriptor(DNN_EXECUTION_PLAN, &sdpa->plan);

    if (status == DNN_SUCCESS)
        status = api->cudnnBackendSetAttribute(sdpa->plan, DNN_ATTR_EXECUTION_PLAN_HANDLE, DNN_TYPE_HANDLE, 1,
                                               &sdpa->handle);
    if (status == DNN_SUCCESS)
        status = api->cudnnBackendSetAttribute(sdpa->plan, DNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
                                               DNN_TYPE_BACKEND_DESCRIPTOR, 1, &config);
    if (status == DNN_SUCCESS)
        status = api->cudnnBackendFinalize(sdpa->plan);
    if (status == DNN_SUCCESS)
        status = api->cudnnBackendGetAttribute(sdpa->plan, DNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, DNN_TYPE_INT64, 1,
                                               &count, workspace_bytes);
    return status;
}

static bool allocate(struct cudnn_sdpa *sdpa, int64_t workspace_bytes, struct error *error)
{
    const struct reference_problem *problem = &sdpa->problem;
    size_t queries = (size_t)(problem->batch * problem->heads * problem->sequence);
    bool backward = problem->kind == REFERENCE_MHA_BACKWARD;
    size_t workspace = aligned((size_t)workspace_bytes);
    size_t row_scratch = backward || !problem->with_lse ? aligned(queries * sizeof(float)) : 0;
    size_t accumulator = backward ? queries * (size_t)problem->head_dim * sizeof(float) : 0;
    size_t total = workspace + row_scratch + accumulator;

    if (!total)
        return true;
    CUDA_TRY(sdpa->driver, error, cuMemAlloc(&sdpa->memory, total));
    sdpa->memory_bytes = total;
    sdpa->row_scratch = sdpa->memory + workspace;
    sdpa->accumulator = sdpa->row_scratch + row_scratch;
    /* scratch starts as NaN, so that reference_check notices a library that expects zeros from us */
    CUDA_TRY(sdpa->driver, error, cuMemsetD8Async(sdpa->memory, 0xff, total, NULL));
    CUDA_TRY(sdpa->driver, error, cuStreamSynchronize(NULL));
    return true;
}

static bool refuse(const struct cudnn_sdpa *sdpa, struct error *error)
{
    char text[128];

    reference_problem_text(&sdpa->problem, text, sizeof text);
    (void)error_prefix(error, "%s: %s", sdpa->name, text);
    if (error->code != ERROR_UNSUPPORTED)
        return false;
    if (sdpa->api->version >= FIRST_VERSION_WITH_OWN_SOFTMAX)
        return error_hint(error, "cuDNN 9.21 and newer may refuse this form of the attention graph: install 9.20 or "
                                 "older (pip install nvidia-cudnn-cu13==9.20.*)");
    return error_hint(error, "cuDNN's fused attention takes head dims that are multiples of 8, up to 256 forward and "
                             "128 backward on Hopper; choose another workload");
}

/* Takes the first configuration at or after `index` that finalizes. */
static bool take_config(struct cudnn_sdpa *sdpa, int index, struct error *error)
{
    int64_t workspace_bytes = 0;
    int status = DNN_SUCCESS;

    drop_plan(sdpa);
    for (; index < sdpa->config_count; index++) {
        status = make_plan(sdpa, sdpa->configs[index], &workspace_bytes);
        if (status == DNN_SUCCESS)
            break;
        (void)cudnn_error(sdpa->api, status, "cuDNN: execution plan", error);
        drop_plan(sdpa);
    }
    if (!sdpa->plan)
        return refuse(sdpa, error);
    sdpa->config_index = index;
    (void)snprintf(sdpa->algorithm, sizeof sdpa->algorithm, "engine %lld, configuration %d of %d",
                   (long long)cudnn_graph_engine_index(&sdpa->graph, sdpa->configs[index]), index, sdpa->config_count);
    return allocate(sdpa, workspace_bytes, error);
}

static bool prepare(struct cudnn_sdpa *sdpa, struct error *error)
{
    if (!cudnn_load(&sdpa->api, error))
        return false;
    cudnn_graph_init(&sdpa->graph, sdpa->api);
    size_t version = sdpa->api->version;
    (void)snprintf(sdpa->name, sizeof sdpa->name, "cuDNN %zu.%zu.%zu sdpa %s", version / 10000, version / 100 % 100,
                   version % 100, sdpa->problem.kind == REFERENCE_MHA_BACKWARD ? "backward" : "forward");
    int status = sdpa->api->cudnnCreate(&sdpa->handle);
    if (status != DNN_SUCCESS)
        return cudnn_error(sdpa->api, status, "cudnnCreate", error);
    cudnn_sdpa_describe(&sdpa->graph, &sdpa->problem);
    if (!cudnn_graph_configs(&sdpa->graph, sdpa->handle, NULL, sdpa->configs, MAX_CONFIGS, &sdpa->config_count, error))
        return refuse(sdpa, error);
    return take_config(sdpa, 0, error);
}

bool cudnn_sdpa_open(const struct cuda_driver *driver, const struct reference_problem *problem, struct cudnn_sdpa **out,
                     struct error *error)
{
    struct cudnn_sdpa *sdpa = calloc(1, sizeof *sdpa);

    if (!sdpa)
        return error_set(error, ERROR_MEMORY, "cuDNN plan: out of memory");
    sdpa->driver = driver;
    sdpa->problem = *problem;
    sdpa->scale = 1.0f / sqrtf((float)problem->head_dim);
    sdpa->one = 1;
    sdpa->masked = -INFINITY;
    if (!prepare(sdpa, error)) {
        cudnn_sdpa_close(sdpa);
        return false;
    }
    *out = sdpa;
    return true;
}

struct reference_identity cudnn_sdpa_identity(const struct cudnn_sdpa *sdpa)
{
    return (struct reference_identity){
        .name = sdpa->name,
        .library_path = dynamic_path_of((const void *)sdpa->api->cudnnBackendExecute),
        .algorithm = sdpa->algorithm,
        .workspace_bytes = sdpa->memory_bytes,
    };
}

static bool make_pack(struct cudnn_sdpa *sdpa, const struct tensor_addresses *addresses, dnn_descriptor *out,
                      struct error *error)
{
    const struct cudnn_api *api = sdpa->api;
    int64_t ids[SDPA_TENSOR_LIMIT];
    void *pointers[SDPA_TENSOR_LIMIT];
    void *workspace = (void *)sdpa->memory;
    int count = cudnn_sdpa_tensors(&sdpa->problem, ids);

    for (int i = 0; i < count; i++)
        pointers[i] = ids[i] == SDPA_SCALE    ? &sdpa->scale
                      : ids[i] == SDPA_ONE    ? &sdpa->one
                      : ids[i] == SDPA_MASKED ? &sdpa->masked
                                              : (void *)addresses->of[ids[i]];

    int status = api->cudnnBackendCreateDescriptor(DNN_VARIANT_PACK, out);
    if (status == DNN_SUCCESS)
        status = api->cudnnBackendSetAttribute(*out, DNN_ATTR_VARIANT_PACK_UNIQUE_IDS, DNN_TYPE_INT64, count, ids);
    if (status == DNN_SUCCESS)
        status = api->cudnnBackendSetAttribute(*out, DNN_ATTR_VARIANT_PACK_DATA_POINTERS, DNN_TYPE_VOID_PTR, count,
                                               pointers);
    if (status == DNN_SUCCESS)
        status = api->cudnnBackendSetAttribute(*out, DNN_ATTR_VARIANT_PACK_WORKSPACE, DNN_TYPE_VOID_PTR, 1, &workspace);
    if (status == DNN_SUCCESS)
        status = api->cudnnBackendFinalize(*out);
    if (status == DNN_SUCCESS)
        return true;
    (void)cudnn_error(api, status, "cuDNN: variant pack", error);
    if (*out)
        (void)api->cudnnBackendDestroyDescriptor(*out);
    *out = NULL;
    return false;
}

/* The pack for these addresses, from the cache or new in the slot that was filled longest ago. */
static bool find_pack(struct cudnn_sdpa *sdpa, const struct tensor_addresses *addresses, dnn_descriptor *out,
                      struct error *error)
{
    for (int i = 0; i < CACHED_PACKS; i++)
        if (sdpa->packs[i].pack && !memcmp(&sdpa->packs[i].addresses, addresses, sizeof *addresses)) {
            *out = sdpa->packs[i].pack;
            return true;
        }
    if (!make_pack(sdpa, addresses, out, error))
        return false;
    struct cached_pack *slot = &sdpa->packs[sdpa->next_pack];
    sdpa->next_pack = (sdpa->next_pack + 1) % CACHED_PACKS;
    if (slot->pack)
        (void)sdpa->api->cudnnBackendDestroyDescriptor(slot->pack);
    *slot = (struct cached_pack){.addresses = *addresses, .pack = *out};
    return true;
}

static void name_addresses(const struct cudnn_sdpa *sdpa, const CUdeviceptr *inputs, const CUdeviceptr *outputs,
                           struct tensor_addresses *addresses)
{
    static const enum sdpa_tensor backward_inputs[] = {SDPA_Q, SDPA_K, SDPA_V, SDPA_O, SDPA_D_O, SDPA_LSE};
    static const enum sdpa_tensor backward_outputs[] = {SDPA_DQ, SDPA_DK, SDPA_DV};
    static const enum sdpa_tensor forward_outputs[] = {SDPA_O, SDPA_LSE};
    bool backward = sdpa->problem.kind == REFERENCE_MHA_BACKWARD;

    memset(addresses, 0, sizeof *addresses);
    for (int i = 0; i < reference_input_count(&sdpa->problem); i++)
        addresses->of[backward_inputs[i]] = inputs[i]; /* the forward's inputs are the first three */
    for (int i = 0; i < reference_output_count(&sdpa->problem); i++)
        addresses->of[backward ? backward_outputs[i] : forward_outputs[i]] = outputs[i];
    if (backward) {
        addresses->of[SDPA_ROW_SUMS] = sdpa->row_scratch;
        addresses->of[SDPA_ACCUMULATOR] = sdpa->accumulator;
    } else if (!sdpa->problem.with_lse) {
        addresses->of[SDPA_LSE] = sdpa->row_scratch;
    }
}

static bool execute(struct cudnn_sdpa *sdpa, const CUdeviceptr *inputs, const CUdeviceptr *outputs, CUstream stream,
                    struct error *error)
{
    const struct reference_problem *problem = &sdpa->problem;
    struct tensor_addresses addresses;
    dnn_descriptor pack = NULL;

    name_addresses(sdpa, inputs, outputs, &addresses);
    if (!find_pack(sdpa, &addresses, &pack, error))
        return false;
    if (problem->kind == REFERENCE_MHA_BACKWARD && sdpa->api->version < FIRST_VERSION_THAT_ZEROES) {
        size_t elements = (size_t)(problem->batch * problem->heads * problem->sequence * problem->head_dim);
        CUDA_TRY(sdpa->driver, error, cuMemsetD32Async(sdpa->accumulator, 0, elements, stream));
    }
    int status = sdpa->api->cudnnBackendExecute(sdpa->handle, sdpa->plan, pack);
    return status == DNN_SUCCESS || cudnn_error(sdpa->api, status, "cuDNN: execute", error);
}

bool cudnn_sdpa_run(struct cudnn_sdpa *sdpa, const CUdeviceptr *inputs, const CUdeviceptr *outputs, CUstream stream,
                    struct error *error)
{
    if (stream != sdpa->stream) {
        int status = sdpa->api->cudnnSetStream(sdpa->handle, stream);
        if (status != DNN_SUCCESS)
            return cudnn_error(sdpa->api, status, "cudnnSetStream", error);
        sdpa->stream = stream;
    }
    bool ok = execute(sdpa, inputs, outputs, stream, error);
    while (!ok && !sdpa->has_run && sdpa->config_index + 1 < sdpa->config_count) {
        if (!take_config(sdpa, sdpa->config_index + 1, error))
            return false;
        ok = execute(sdpa, inputs, outputs, stream, error);
    }
    sdpa->has_run |= ok;
    return ok || refuse(sdpa, error);
}

void cudnn_sdpa_close(struct cudnn_sdpa *sdpa)
{
    if (!sdpa)
        return;
    if (sdpa->api) {
        drop_plan(sdpa);
        cudnn_graph_free(&sdpa->graph);
        if (sdpa->handle)
            (void)sdpa->api->cudnnDestroy(sdpa->handle);
    }
    free(sdpa);
}
