#include <pthread.h>
#include <string.h>

#include "emu/shim/runtime.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int start_code;
static CUcontext primary;

static void start(void)
{
    start_code = (int)cuInit(0);
    if (!start_code)
        start_code = (int)cuDevicePrimaryCtxRetain(&primary, 0);
}

int runtime_enter(bool waits)
{
    CUcontext current = NULL;

    (void)pthread_once(&once, start);
    if (start_code)
        return start_code;
    if (cuCtxGetCurrent(&current) || !current) {
        CUresult code = cuCtxSetCurrent(primary);
        if (code)
            return (int)code;
    }
    return shim_status(waits);
}

cudaError_t cudaGetDeviceCount(int *count)
{
    RUNTIME_ENTER(false);
    *count = 1;
    return cudaSuccess;
}

cudaError_t cudaGetDevice(int *device)
{
    RUNTIME_ENTER(false);
    *device = 0;
    return cudaSuccess;
}

static cudaError_t check_device(int device)
{
    RUNTIME_ENTER(false);
    return device ? runtime_return(cudaErrorInvalidDevice) : cudaSuccess;
}

cudaError_t cudaSetDevice(int device)
{
    return check_device(device);
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags;
    (void)flags;
    return check_device(device);
}

cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *wanted)
{
    (void)wanted;
    return cudaGetDevice(device);
}

cudaError_t cudaSetValidDevices(int *devices, int count)
{
    return check_device(count > 0 ? devices[0] : 0);
}

cudaError_t cudaSetDeviceFlags(unsigned flags)
{
    (void)flags; /* how to wait makes no difference here */
    return check_device(0);
}

cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    *flags = cudaDeviceScheduleAuto | cudaDeviceMapHost;
    return check_device(0);
}

cudaError_t cudaDeviceSynchronize(void)
{
    RUNTIME_ENTER(true);
    return cudaSuccess;
}

/* The device of the emulator lives as long as the process. */
cudaError_t cudaDeviceReset(void)
{
    RUNTIME_ENTER(true);
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = CUDA_VERSION;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = CUDART_VERSION;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    cudaError_t code = check_device(device);

    if (code)
        return code;
    return shim_device_attribute((int)attribute, value) ? cudaSuccess : runtime_return(cudaErrorInvalidValue);
}

static int attribute(CUdevice_attribute which)
{
    int value;

    return shim_device_attribute((int)which, &value) ? value : 0;
}

/* Members whose attribute has the obvious name: member, CU_DEVICE_ATTRIBUTE_... */
#define PROPERTIES(X)                                                                                                  \
    X(regsPerBlock, MAX_REGISTERS_PER_BLOCK)                                                                           \
    X(warpSize, WARP_SIZE)                                                                                             \
    X(maxThreadsPerBlock, MAX_THREADS_PER_BLOCK)                                                                       \
    X(maxThreadsDim[0], MAX_BLOCK_DIM_X)                                                                               \
    X(maxThreadsDim[1], MAX_BLOCK_DIM_Y)                                                                               \
    X(maxThreadsDim[2], MAX_BLOCK_DIM_Z)                                                                               \
    X(maxGridSize[0], MAX_GRID_DIM_X)                                                                                  \
    X(maxGridSize[1], MAX_GRID_DIM_Y)                                                                                  \
    X(maxGridSize[2], MAX_GRID_DIM_Z)                                                                                  \
    X(major, COMPUTE_CAPABILITY_MAJOR)                                                                                 \
    X(minor, COMPUTE_CAPABILITY_MINOR)                                                                                 \
    X(multiProcessorCount, MULTIPROCESSOR_COUNT)                                                                       \
    X(canMapHostMemory, CAN_MAP_HOST_MEMORY)                                                                           \
    X(concurrentKernels, CONCURRENT_KERNELS)                                                                           \
    X(ECCEnabled, ECC_ENABLED)                                                                                         \
    X(asyncEngineCount, ASYNC_ENGINE_COUNT)                                                                            \
    X(unifiedAddressing, UNIFIED_ADDRESSING)                                                                           \
    X(memoryBusWidth, GLOBAL_MEMORY_BUS_WIDTH)                                                                         \
    X(l2CacheSize, L2_CACHE_SIZE)                                                                                      \
    X(persistingL2CacheMaxSize, MAX_PERSISTING_L2_CACHE_SIZE)                                                          \
    X(maxThreadsPerMultiProcessor, MAX_THREADS_PER_MULTIPROCESSOR)                                                     \
    X(streamPrioritiesSupported, STREAM_PRIORITIES_SUPPORTED)                                                          \
    X(globalL1CacheSupported, GLOBAL_L1_CACHE_SUPPORTED)                                                               \
    X(localL1CacheSupported, LOCAL_L1_CACHE_SUPPORTED)                                                                 \
    X(regsPerMultiprocessor, MAX_REGISTERS_PER_MULTIPROCESSOR)                                                         \
    X(managedMemory, MANAGED_MEMORY)                                                                                   \
    X(concurrentManagedAccess, CONCURRENT_MANAGED_ACCESS)                                                              \
    X(computePreemptionSupported, COMPUTE_PREEMPTION_SUPPORTED)                                                        \
    X(canUseHostPointerForRegisteredMem, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM)                                      \
    X(cooperativeLaunch, COOPERATIVE_LAUNCH)                                                                           \
    X(maxBlocksPerMultiProcessor, MAX_BLOCKS_PER_MULTIPROCESSOR)                                                       \
    X(accessPolicyMaxWindowSize, MAX_ACCESS_POLICY_WINDOW_SIZE)                                                        \
    X(hostRegisterSupported, HOST_REGISTER_SUPPORTED)                                                                  \
    X(hostRegisterReadOnlySupported, READ_ONLY_HOST_REGISTER_SUPPORTED)                                                \
    X(memoryPoolsSupported, MEMORY_POOLS_SUPPORTED)                                                                    \
    X(clusterLaunch, CLUSTER_LAUNCH)                                                                                   \
    X(deviceNumaId, NUMA_ID)                                                                                           \
    X(hostNumaId, HOST_NUMA_ID)

#define SIZE_PROPERTIES(X)                                                                                             \
    X(sharedMemPerBlock, MAX_SHARED_MEMORY_PER_BLOCK)                                                                  \
    X(sharedMemPerBlockOptin, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)                                                       \
    X(sharedMemPerMultiprocessor, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)                                                \
    X(reservedSharedMemPerBlock, RESERVED_SHARED_MEMORY_PER_BLOCK)                                                     \
    X(totalConstMem, TOTAL_CONSTANT_MEMORY)                                                                            \
    X(memPitch, MAX_PITCH)                                                                                             \
    X(textureAlignment, TEXTURE_ALIGNMENT)                                                                             \
    X(texturePitchAlignment, TEXTURE_PITCH_ALIGNMENT)                                                                  \
    X(surfaceAlignment, SURFACE_ALIGNMENT)

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *properties, int device)
{
    cudaError_t code = check_device(device);
    size_t unused;

    if (code)
        return code;
    *properties = (struct cudaDeviceProp){0};
    (void)snprintf(properties->name, sizeof properties->name, "%s", shim_device_name());
    (void)cuDeviceGetUuid((CUuuid *)&properties->uuid, 0);
    shim_memory_info(&unused, &properties->totalGlobalMem);
#define X(member, which) properties->member = attribute(CU_DEVICE_ATTRIBUTE_##which);
    PROPERTIES(X)
#undef X
#define X(member, which) properties->member = (size_t)attribute(CU_DEVICE_ATTRIBUTE_##which);
    SIZE_PROPERTIES(X)
#undef X
    return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char *id, int length, int device)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuDeviceGetPCIBusId(id, length, device));
}

cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuDeviceGetByPCIBusId(device, id));
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    *can = 0;
    return check_device(device | peer);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuCtxGetStreamPriorityRange(least, greatest));
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuCtxSetLimit((CUlimit)limit, value));
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuCtxGetLimit(value, (CUlimit)limit));
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    (void)config;
    return check_device(0);
}

cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    *config = cudaFuncCachePreferNone;
    return check_device(0);
}

cudaError_t cudaCtxResetPersistingL2Cache(void)
{
    return check_device(0);
}

cudaError_t cudaProfilerStart(void);
cudaError_t cudaProfilerStop(void);

cudaError_t cudaProfilerStart(void)
{
    return check_device(0);
}

cudaError_t cudaProfilerStop(void)
{
    return check_device(0);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                             unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;

    RUNTIME_ENTER(false);
    CUresult code = cuGetProcAddress(name, function, (int)version, flags, &found);
    if (status)
        *status = (enum cudaDriverEntryPointQueryResult)found;
    return code == CUDA_ERROR_NOT_FOUND && status ? cudaSuccess : runtime_return((int)code);
}
PER_THREAD(cudaGetDriverEntryPointByVersion, _ptsz);

/* Deprecated in CUDA 13, and still called. */
cudaError_t cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                                    enum cudaDriverEntryPointQueryResult *status)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDA_VERSION, flags, status);
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **function, unsigned long long flags,
                                         enum cudaDriverEntryPointQueryResult *status);

cudaError_t cudaGetDriverEntryPoint_ptsz(const char *name, void **function, unsigned long long flags,
                                         enum cudaDriverEntryPointQueryResult *status)
{
    return cudaGetDriverEntryPointByVersion(name, function, CUDA_VERSION, flags, status);
}
