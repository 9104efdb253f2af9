/* Modules, libraries, functions and launches of the driver API. A library is a module, and a kernel a function. */
#include "emu/shim/driver.h"

#include "base/file.h"
#include "emu/shim/shim_launch.h"

#define FILE_BYTES_MAX (512u << 20)

static struct shim_function *function_of(CUfunction function)
{
    return (struct shim_function *)function;
}

static CUresult load(const void *image, struct shim_module **out)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_module_load(image, out);
}

static CUresult load_file(const char *path, struct shim_module **out)
{
    AUTO_FREE char *bytes = NULL;
    struct error error;
    size_t length;

    if (!path || !file_read(path, FILE_BYTES_MAX, &bytes, &length, &error))
        return CUDA_ERROR_FILE_NOT_FOUND;
    return length < 16 ? CUDA_ERROR_INVALID_IMAGE : load(bytes, out);
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    return load(image, (struct shim_module **)module);
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count, CUjit_option *options, void **values)
{
    (void)count; /* options of a compiler that does not run */
    (void)options;
    (void)values;
    return load(image, (struct shim_module **)module);
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *image)
{
    return load(image, (struct shim_module **)module);
}

CUresult cuModuleLoad(CUmodule *module, const char *path)
{
    return load_file(path, (struct shim_module **)module);
}

CUresult cuModuleUnload(CUmodule module)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_module_unload((struct shim_module *)module);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_module_function((struct shim_module *)module, name, (struct shim_function **)function);
}

CUresult cuModuleGetGlobal(CUdeviceptr *address, size_t *bytes, CUmodule module, const char *name)
{
    void *found;
    size_t size;

    DRIVER_ENTER(false);
    int code = shim_module_variable((struct shim_module *)module, name, &found, &size);
    if (code)
        return (CUresult)code;
    if (address)
        *address = (uintptr_t)found;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *options, void **values, unsigned count,
                           CUlibraryOption *library_options, void **library_values, unsigned library_count)
{
    (void)options;
    (void)values;
    (void)count;
    (void)library_options;
    (void)library_values;
    (void)library_count;
    return load(image, (struct shim_module **)library);
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *path, CUjit_option *options, void **values,
                               unsigned count, CUlibraryOption *library_options, void **library_values,
                               unsigned library_count)
{
    (void)options;
    (void)values;
    (void)count;
    (void)library_options;
    (void)library_values;
    (void)library_count;
    return load_file(path, (struct shim_module **)library);
}

CUresult cuLibraryUnload(CUlibrary library)
{
    return cuModuleUnload((CUmodule)library);
}

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name)
{
    return cuModuleGetFunction((CUfunction *)kernel, (CUmodule)library, name);
}

CUresult cuLibraryGetModule(CUmodule *module, CUlibrary library)
{
    *module = (CUmodule)library;
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library, const char *name)
{
    return cuModuleGetGlobal(address, bytes, (CUmodule)library, name);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
    *function = (CUfunction)kernel;
    return CUDA_SUCCESS;
}

CUresult cuKernelGetAttribute(int *value, CUfunction_attribute attribute, CUkernel kernel, CUdevice device)
{
    return device ? CUDA_ERROR_INVALID_DEVICE : cuFuncGetAttribute(value, attribute, (CUfunction)kernel);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel, CUdevice device)
{
    return device ? CUDA_ERROR_INVALID_DEVICE : cuFuncSetAttribute((CUfunction)kernel, attribute, value);
}

CUresult cuKernelGetName(const char **name, CUkernel kernel)
{
    return cuFuncGetName(name, (CUfunction)kernel);
}

CUresult cuFuncGetName(const char **name, CUfunction function)
{
    struct shim_function_facts facts;
    int code = shim_function_facts(function_of(function), &facts);

    if (!code)
        *name = facts.name;
    return (CUresult)code;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_function_set(function_of(function), (int)attribute, value);
}

static int attribute_of(const struct shim_function_facts *facts, CUfunction_attribute attribute)
{
    enum { REGISTERS_GUESS = 32 }; /* PTX has no register allocation */

    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return (int)facts->max_threads;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return (int)facts->shared_bytes;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return REGISTERS_GUESS;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return facts->ptx_version;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return (int)facts->shared_optin_bytes;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return facts->preferred_carveout;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        return facts->cluster[0] != 0;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        return (int)facts->cluster[0];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        return (int)facts->cluster[1];
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return (int)facts->cluster[2];
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        return facts->any_cluster_size;
    default:
        return 0; /* constant and local memory, cache mode: not known */
    }
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
    struct shim_function_facts facts;

    DRIVER_ENTER(false);
    if ((int)attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
        return CUDA_ERROR_INVALID_VALUE;
    int code = shim_function_facts(function_of(function), &facts);
    if (!code)
        *value = attribute_of(&facts, attribute);
    return (CUresult)code;
}

CUresult cuFuncSetCacheConfig(CUfunction function, CUfunc_cache config)
{
    struct shim_function_facts facts;

    (void)config;
    DRIVER_ENTER(false);
    return (CUresult)shim_function_facts(function_of(function), &facts);
}

CUresult cuFuncGetParamInfo(CUfunction function, size_t index, size_t *offset, size_t *bytes)
{
    size_t size;
    int code = shim_function_parameter(function_of(function), index, offset, &size);

    if (!code && bytes)
        *bytes = size;
    return (CUresult)code;
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t *offset, size_t *bytes)
{
    return cuFuncGetParamInfo((CUfunction)kernel, index, offset, bytes);
}

static CUresult launch(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    DRIVER_ENTER(false);
    int code = shim_launch_config(config, function_of(function), parameters, extra);
    return code == SHIM_INVALID_CONFIGURATION ? CUDA_ERROR_INVALID_VALUE : (CUresult)code;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra)
{
    return launch(config, function, parameters, extra);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void **parameters,
                        void **extra)
{
    const CUlaunchConfig config = {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, NULL, 0};

    return launch(&config, function, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void **parameters)
{
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1};
    const CUlaunchConfig config = {grid_x,  grid_y,       grid_z, block_x,      block_y,
                                   block_z, shared_bytes, stream, &cooperative, 1};

    return launch(&config, function, parameters, NULL);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int threads,
                                                              size_t shared_bytes, unsigned flags)
{
    (void)flags;
    DRIVER_ENTER(false);
    if (threads <= 0)
        return CUDA_ERROR_INVALID_VALUE;
    return (CUresult)shim_occupancy(function_of(function), (uint32_t)threads, shared_bytes, blocks);
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads, size_t shared_bytes)
{
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, threads, shared_bytes, 0);
}

/* Blocks of the cluster share an SM or not; how a real device's GPCs cut clusters off is not modelled. */
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function, const CUlaunchConfig *config)
{
    unsigned size = 1;
    int blocks, multiprocessors;

    for (unsigned i = 0; i < config->numAttrs; i++)
        if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
            size = config->attrs[i].value.clusterDim.x * config->attrs[i].value.clusterDim.y *
                   config->attrs[i].value.clusterDim.z;
    unsigned threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    CUresult code =
        cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, (int)threads, config->sharedMemBytes);
    if (code || !size || !shim_device_attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors))
        return code ? code : CUDA_ERROR_INVALID_VALUE;
    *clusters = blocks * multiprocessors / (int)size;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *size, CUfunction function, const CUlaunchConfig *config)
{
    struct shim_function_facts facts;

    (void)config;
    DRIVER_ENTER(false);
    int code = shim_function_facts(function_of(function), &facts);
    if (!code)
        *size = facts.any_cluster_size ? 16 : 8;
    return (CUresult)code;
}
