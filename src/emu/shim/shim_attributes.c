/* Device attributes: what an H100 SXM answers (CUDA 13.0), except where the emulator's own properties say otherwise. */
#include "emu/shim/shim_internal.h"

/* CU_DEVICE_ATTRIBUTE_..., value. Textures and surfaces are not emulated: their limits are 0, as are missing rows. */
#define ATTRIBUTES(X)                                                                                                  \
    X(MAX_BLOCK_DIM_X, 1024)                                                                                           \
    X(MAX_BLOCK_DIM_Y, 1024)                                                                                           \
    X(MAX_BLOCK_DIM_Z, 64)                                                                                             \
    X(MAX_GRID_DIM_X, 2147483647)                                                                                      \
    X(MAX_GRID_DIM_Y, 65535)                                                                                           \
    X(MAX_GRID_DIM_Z, 65535)                                                                                           \
    X(TOTAL_CONSTANT_MEMORY, 65536)                                                                                    \
    X(WARP_SIZE, 32)                                                                                                   \
    X(MAX_PITCH, 2147483647)                                                                                           \
    X(CLOCK_RATE, 1980000)                                                                                             \
    X(TEXTURE_ALIGNMENT, 512)                                                                                          \
    X(TEXTURE_PITCH_ALIGNMENT, 32)                                                                                     \
    X(SURFACE_ALIGNMENT, 512)                                                                                          \
    X(GPU_OVERLAP, 1)                                                                                                  \
    X(CAN_MAP_HOST_MEMORY, 1)                                                                                          \
    X(CONCURRENT_KERNELS, 1)                                                                                           \
    X(ECC_ENABLED, 1)                                                                                                  \
    X(MEMORY_CLOCK_RATE, 2619000)                                                                                      \
    X(GLOBAL_MEMORY_BUS_WIDTH, 5120)                                                                                   \
    X(L2_CACHE_SIZE, 52428800)                                                                                         \
    X(MAX_THREADS_PER_MULTIPROCESSOR, 2048)                                                                            \
    X(ASYNC_ENGINE_COUNT, 3)                                                                                           \
    X(UNIFIED_ADDRESSING, 1)                                                                                           \
    X(STREAM_PRIORITIES_SUPPORTED, 1)                                                                                  \
    X(GLOBAL_L1_CACHE_SUPPORTED, 1)                                                                                    \
    X(LOCAL_L1_CACHE_SUPPORTED, 1)                                                                                     \
    X(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472)                                                                    \
    X(MAX_REGISTERS_PER_MULTIPROCESSOR, 65536)                                                                         \
    X(MANAGED_MEMORY, 1)                                                                                               \
    X(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2)                                                                        \
    X(CONCURRENT_MANAGED_ACCESS, 1)                                                                                    \
    X(COMPUTE_PREEMPTION_SUPPORTED, 1)                                                                                 \
    X(CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1)                                                                      \
    X(COOPERATIVE_LAUNCH, 1)                                                                                           \
    X(HOST_REGISTER_SUPPORTED, 1)                                                                                      \
    X(VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1)                                                                          \
    X(HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1)                                                                  \
    X(MAX_BLOCKS_PER_MULTIPROCESSOR, 32)                                                                               \
    X(MAX_PERSISTING_L2_CACHE_SIZE, 32768000)                                                                          \
    X(MAX_ACCESS_POLICY_WINDOW_SIZE, 134217728)                                                                        \
    X(RESERVED_SHARED_MEMORY_PER_BLOCK, 1024)                                                                          \
    X(READ_ONLY_HOST_REGISTER_SUPPORTED, 1)                                                                            \
    X(MEMORY_POOLS_SUPPORTED, 1)                                                                                       \
    X(CLUSTER_LAUNCH, 1)                                                                                               \
    X(MEM_SYNC_DOMAIN_COUNT, 4)                                                                                        \
    X(TENSOR_MAP_ACCESS_SUPPORTED, 1)                                                                                  \
    X(UNIFIED_FUNCTION_POINTERS, 0)                                                                                    \
    X(NUMA_ID, -1)                                                                                                     \
    X(HOST_NUMA_ID, -1)

static bool constant_attribute(int attribute, int *out)
{
    switch (attribute) {
#define X(name, value)                                                                                                 \
    case CU_DEVICE_ATTRIBUTE_##name:                                                                                   \
        *out = value;                                                                                                  \
        return true;
        ATTRIBUTES(X)
#undef X
    default:
        return false;
    }
}

bool shim_device_attribute(int attribute, int *out)
{
    SHIM_LOCKED *state = shim_lock();
    const struct emulator_properties *device = emulator_properties(state->emulator);

    *out = 0;
    if (attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
        return false;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *out = device->major;
        return true;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *out = device->minor;
        return true;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *out = device->multiprocessors;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        *out = (int)device->max_threads_per_block;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
        *out = (int)device->shared_per_block;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
        *out = (int)device->shared_per_block_optin;
        return true;
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
        *out = (int)device->registers_per_block;
        return true;
    default:
        (void)constant_attribute(attribute, out);
        return true;
    }
}
