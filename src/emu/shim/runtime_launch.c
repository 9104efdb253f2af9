/* Launches and what goes with a kernel: attributes and occupancy. */
#include "emu/shim/runtime.h"

enum { PENDING_MAX = 16 };

struct call {
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
};

/* <<<...>>> pushes a configuration, and the stub that it calls pops it. */
static _Thread_local struct {
    struct call calls[PENDING_MAX];
    unsigned count;
} pending;

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **parameters, size_t shared_bytes,
                               cudaStream_t stream);

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, void *stream)
{
    if (pending.count == PENDING_MAX)
        return 1;
    pending.calls[pending.count++] = (struct call){grid, block, shared_bytes, stream};
    return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
    if (!pending.count)
        return runtime_return(cudaErrorMissingConfiguration);
    const struct call *call = &pending.calls[--pending.count];
    *grid = call->grid;
    *block = call->block;
    *shared_bytes = call->shared_bytes;
    *(cudaStream_t *)stream = call->stream;
    return cudaSuccess;
}

/* One layout and one numbering of attributes in both APIs. */
static CUlaunchConfig driver_config(const cudaLaunchConfig_t *config)
{
    return (CUlaunchConfig){
        .gridDimX = config->gridDim.x,
        .gridDimY = config->gridDim.y,
        .gridDimZ = config->gridDim.z,
        .blockDimX = config->blockDim.x,
        .blockDimY = config->blockDim.y,
        .blockDimZ = config->blockDim.z,
        .sharedMemBytes = (unsigned)config->dynamicSmemBytes,
        .hStream = config->stream,
        .attrs = (CUlaunchAttribute *)config->attrs,
        .numAttrs = config->numAttrs,
    };
}

static cudaError_t launch(const void *symbol, const cudaLaunchConfig_t *config, void **parameters)
{
    struct shim_function *function;

    RUNTIME_ENTER(false);
    int code = runtime_function(symbol, &function);
    if (code)
        return runtime_return(code);
    if (config->dynamicSmemBytes > UINT32_MAX)
        return runtime_return(cudaErrorInvalidValue);
    const CUlaunchConfig same = driver_config(config);
    return runtime_return(shim_launch_config(&same, function, parameters, NULL));
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *symbol, void **parameters)
{
    return config ? launch(symbol, config, parameters) : runtime_return(cudaErrorInvalidConfiguration);
}
PER_THREAD(cudaLaunchKernelExC, _ptsz);

cudaError_t cudaLaunchKernel(const void *symbol, dim3 grid, dim3 block, void **parameters, size_t shared_bytes,
                             cudaStream_t stream)
{
    const cudaLaunchConfig_t config = {grid, block, shared_bytes, stream, NULL, 0};

    return launch(symbol, &config, parameters);
}
PER_THREAD(cudaLaunchKernel, _ptsz);

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **parameters, size_t shared_bytes,
                               cudaStream_t stream)
{
    return cudaLaunchKernel((const void *)kernel, grid, block, parameters, shared_bytes, stream);
}
PER_THREAD(__cudaLaunchKernel, _ptsz);

cudaError_t cudaLaunchCooperativeKernel(const void *symbol, dim3 grid, dim3 block, void **parameters,
                                        size_t shared_bytes, cudaStream_t stream)
{
    cudaLaunchAttribute cooperative = {.id = cudaLaunchAttributeCooperative, .val.cooperative = 1};
    const cudaLaunchConfig_t config = {grid, block, shared_bytes, stream, &cooperative, 1};

    return launch(symbol, &config, parameters);
}
PER_THREAD(cudaLaunchCooperativeKernel, _ptsz);

/* The CUfunction of a stub, for calls that go to the driver. */
static int driver_function(const void *symbol, CUfunction *out)
{
    struct shim_function *function;
    int code = runtime_enter(false);

    if (!code)
        code = runtime_function(symbol, &function);
    if (!code)
        *out = (CUfunction)function;
    return code;
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t *function, const void *symbol)
{
    return runtime_return(driver_function(symbol, function));
}

cudaError_t cudaGetKernel(cudaKernel_t *kernel, const void *symbol)
{
    return runtime_return(driver_function(symbol, (CUfunction *)kernel));
}

cudaError_t cudaFuncSetAttribute(const void *symbol, enum cudaFuncAttribute attribute, int value)
{
    CUfunction function;
    int code = driver_function(symbol, &function);

    return runtime_return(code ? code : (int)cuFuncSetAttribute(function, (CUfunction_attribute)attribute, value));
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value,
                                            int device)
{
    return device ? runtime_return(cudaErrorInvalidDevice)
                  : cudaFuncSetAttribute((const void *)kernel, attribute, value);
}

static int read_attribute(CUfunction function, CUfunction_attribute attribute)
{
    int value = 0;

    return cuFuncGetAttribute(&value, attribute, function) ? 0 : value;
}

cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *symbol)
{
    CUfunction function;
    int code = driver_function(symbol, &function);

    if (code)
        return runtime_return(code);
    *out = (struct cudaFuncAttributes){
        .sharedSizeBytes = (size_t)read_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .maxThreadsPerBlock = read_attribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .numRegs = read_attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS),
        .ptxVersion = read_attribute(function, CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .binaryVersion = read_attribute(function, CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .maxDynamicSharedSizeBytes = read_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
        .preferredShmemCarveout = read_attribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT),
        .clusterDimMustBeSet = read_attribute(function, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET),
        .requiredClusterWidth = read_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH),
        .requiredClusterHeight = read_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT),
        .requiredClusterDepth = read_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH),
        .nonPortableClusterSizeAllowed = read_attribute(function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED),
    };
    return cudaSuccess;
}

cudaError_t cudaFuncSetCacheConfig(const void *symbol, enum cudaFuncCache config)
{
    CUfunction function;

    (void)config;
    return runtime_return(driver_function(symbol, &function));
}

cudaError_t cudaFuncGetName(const char **name, const void *symbol)
{
    CUfunction function;
    int code = driver_function(symbol, &function);

    return runtime_return(code ? code : (int)cuFuncGetName(name, function));
}

cudaError_t cudaFuncGetParamInfo(const void *symbol, size_t index, size_t *offset, size_t *bytes)
{
    CUfunction function;
    int code = driver_function(symbol, &function);

    return runtime_return(code ? code : (int)cuFuncGetParamInfo(function, index, offset, bytes));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *symbol, int threads,
                                                                   size_t shared_bytes, unsigned flags)
{
    CUfunction function;
    int code = driver_function(symbol, &function);

    return runtime_return(code ? code
                               : (int)cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads,
                                                                                           shared_bytes, flags));
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *symbol, int threads,
                                                          size_t shared_bytes)
{
    return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, symbol, threads, shared_bytes, 0);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *bytes, const void *symbol, int blocks, int threads)
{
    enum { SHARED_MAX = 233472, RESERVED = 1024 };
    CUfunction function;
    int code = driver_function(symbol, &function);

    (void)threads;
    if (code || blocks <= 0)
        return runtime_return(code ? code : (int)cudaErrorInvalidValue);
    int shared = SHARED_MAX / blocks - RESERVED - read_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    *bytes = shared > 0 ? (size_t)shared : 0;
    return cudaSuccess;
}

cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *symbol, const cudaLaunchConfig_t *config)
{
    CUfunction function;
    int code = driver_function(symbol, &function);
    const CUlaunchConfig same = driver_config(config);

    return runtime_return(code ? code : (int)cuOccupancyMaxActiveClusters(clusters, function, &same));
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *symbol, const cudaLaunchConfig_t *config)
{
    CUfunction function;
    int code = driver_function(symbol, &function);
    const CUlaunchConfig same = driver_config(config);

    return runtime_return(code ? code : (int)cuOccupancyMaxPotentialClusterSize(size, function, &same));
}
