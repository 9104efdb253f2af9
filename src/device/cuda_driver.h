/*
 * The CUDA driver API by dlopen: every program starts without a GPU, and the emulator's look-alike library can take
 * the driver's place. $PTXBENCH_LIBCUDA names another library.
 *
 * Facts: CUDA driver API reference, CUDA 13.0.
 */
#ifndef PTXBENCH_DEVICE_CUDA_DRIVER_H
#define PTXBENCH_DEVICE_CUDA_DRIVER_H

#include <cuda.h>

#include "base/error.h"

#define CUDA_DRIVER_FUNCTIONS(X)                                                                                       \
    X(cuInit)                                                                                                          \
    X(cuDriverGetVersion)                                                                                              \
    X(cuGetErrorName)                                                                                                  \
    X(cuGetErrorString)                                                                                                \
    X(cuDeviceGetCount)                                                                                                \
    X(cuDeviceGet)                                                                                                     \
    X(cuDeviceGetName)                                                                                                 \
    X(cuDeviceGetUuid)                                                                                                 \
    X(cuDeviceGetAttribute)                                                                                            \
    X(cuDeviceTotalMem)                                                                                                \
    X(cuDeviceGetPCIBusId)                                                                                             \
    X(cuDevicePrimaryCtxRetain)                                                                                        \
    X(cuDevicePrimaryCtxRelease)                                                                                       \
    X(cuCtxSetCurrent)                                                                                                 \
    X(cuCtxGetCurrent)                                                                                                 \
    X(cuCtxSynchronize)                                                                                                \
    X(cuCtxResetPersistingL2Cache)                                                                                     \
    X(cuStreamCreate)                                                                                                  \
    X(cuStreamSynchronize)                                                                                             \
    X(cuStreamDestroy)                                                                                                 \
    X(cuEventCreate)                                                                                                   \
    X(cuEventRecord)                                                                                                   \
    X(cuEventSynchronize)                                                                                              \
    X(cuEventElapsedTime)                                                                                              \
    X(cuEventDestroy)                                                                                                  \
    X(cuMemAlloc)                                                                                                      \
    X(cuMemFree)                                                                                                       \
    X(cuMemGetInfo)                                                                                                    \
    X(cuMemHostAlloc)                                                                                                  \
    X(cuMemFreeHost)                                                                                                   \
    X(cuMemcpyHtoDAsync)                                                                                               \
    X(cuMemcpyDtoH)                                                                                                    \
    X(cuMemcpyDtoDAsync)                                                                                               \
    X(cuMemcpyDtoHAsync)                                                                                               \
    X(cuMemsetD8Async)                                                                                                 \
    X(cuMemsetD16Async)                                                                                                \
    X(cuMemsetD32Async)                                                                                                \
    X(cuMemCreate)                                                                                                     \
    X(cuMemRelease)                                                                                                    \
    X(cuMemAddressReserve)                                                                                             \
    X(cuMemAddressFree)                                                                                                \
    X(cuMemMap)                                                                                                        \
    X(cuMemUnmap)                                                                                                      \
    X(cuMemSetAccess)                                                                                                  \
    X(cuMemGetAllocationGranularity)                                                                                   \
    X(cuMemExportToShareableHandle)                                                                                    \
    X(cuMemImportFromShareableHandle)                                                                                  \
    X(cuModuleLoadData)                                                                                                \
    X(cuModuleUnload)                                                                                                  \
    X(cuModuleGetFunction)                                                                                             \
    X(cuModuleGetGlobal)                                                                                               \
    X(cuFuncSetAttribute)                                                                                              \
    X(cuLaunchKernel)

struct cuda_driver {
    void *library;
    int version; /* 13000 for 13.0 */
#define X(name) __typeof__(name) *name;
    CUDA_DRIVER_FUNCTIONS(X)
#undef X
};

/* Loads the driver and calls cuInit(0), once per process; later calls return the same table. ERROR_UNSUPPORTED with a
 * hint when there is no driver or no device. Not thread-safe at the first call. */
MUST_CHECK bool cuda_driver_load(const struct cuda_driver **driver, struct error *error);

/* "CUDA_ERROR_ILLEGAL_ADDRESS" for a result; never NULL. */
const char *cuda_result_name(const struct cuda_driver *driver, CUresult result);

/* Fills ERROR_DEVICE "what: CUDA_ERROR_X (text)". Returns false. */
bool cuda_error(const struct cuda_driver *driver, struct error *error, CUresult result, const char *what);

/* Calls a driver function; on failure fills `error` and leaves the enclosing bool function with false. */
#define CUDA_TRY(driver, error, call)                                                                                  \
    do {                                                                                                               \
        CUresult cuda_try_result = (driver)->call;                                                                     \
        if (cuda_try_result != CUDA_SUCCESS)                                                                           \
            return cuda_error((driver), (error), cuda_try_result, #call);                                              \
    } while (0)

#endif
