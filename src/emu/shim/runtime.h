/* What the files of the runtime look-alike share. The runtime stands on the driver look-alike, as NVIDIA's does. */
#ifndef PTXBENCH_EMU_SHIM_RUNTIME_H
#define PTXBENCH_EMU_SHIM_RUNTIME_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "base/attributes.h"
#include "emu/shim/shim.h"

/* Initialises the driver and gives the calling thread the primary context, once each. Then shim_status. */
MUST_CHECK int runtime_enter(bool waits);

/* Remembers a failure as the thread's last error. Returns the code. */
cudaError_t runtime_return(int code);

#define RUNTIME_ENTER(waits)                                                                                           \
    do {                                                                                                               \
        int entered = runtime_enter(waits);                                                                            \
        if (entered)                                                                                                   \
            return runtime_return(entered);                                                                            \
    } while (0)

#define RUNTIME_STREAM(stream)                                                                                         \
    do {                                                                                                               \
        if (shim_stream_query((const struct shim_stream *)(stream), NULL, NULL, NULL))                                 \
            return runtime_return(cudaErrorInvalidResourceHandle);                                                     \
    } while (0)

/* The names under which code compiled with --default-stream per-thread calls the same function. */
#define PER_THREAD(name, suffix) extern __typeof__(name) name##suffix __attribute__((alias(#name)))

/* The kernel of a host stub, of a cudaKernel_t or of a cudaFunction_t; loads its module at the first use. */
MUST_CHECK int runtime_function(const void *symbol, struct shim_function **out);

/* Address and size of the device variable that a host variable stands for. */
MUST_CHECK int runtime_variable(const void *symbol, void **address, size_t *bytes);

#endif
