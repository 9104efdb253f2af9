/* What the files of the driver look-alike share. */
#ifndef PTXBENCH_EMU_SHIM_DRIVER_H
#define PTXBENCH_EMU_SHIM_DRIVER_H

#include <cuda.h>

#include "base/attributes.h"
#include "emu/shim/shim.h"

/* Whether the calling thread may work on the device: CUDA_ERROR_NOT_INITIALIZED before cuInit, CUDA_ERROR_INVALID_CONTEXT
 * without a current context, and the code of a kernel that has failed (`waits`: see shim_status). */
MUST_CHECK CUresult driver_enter(bool waits);

/* Leaves the calling API function when it may not go on. */
#define DRIVER_ENTER(waits)                                                                                            \
    do {                                                                                                               \
        CUresult entered = driver_enter(waits);                                                                        \
        if (entered != CUDA_SUCCESS)                                                                                   \
            return entered;                                                                                            \
    } while (0)

#define DRIVER_STREAM(stream)                                                                                          \
    do {                                                                                                               \
        if (shim_stream_query((const struct shim_stream *)(stream), NULL, NULL, NULL))                                 \
            return CUDA_ERROR_INVALID_HANDLE;                                                                          \
    } while (0)

static inline void *driver_pointer(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

#endif
