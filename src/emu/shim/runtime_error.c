#include "emu/shim/runtime.h"

static _Thread_local int last_error;

cudaError_t runtime_return(int code)
{
    if (code)
        last_error = code;
    return (cudaError_t)code;
}

/* A failed kernel stays the last error for ever; anything else is told once. */
cudaError_t cudaGetLastError(void)
{
    int sticky = shim_status(false);
    int code = sticky ? sticky : last_error;

    last_error = 0;
    return (cudaError_t)code;
}

cudaError_t cudaPeekAtLastError(void)
{
    int sticky = shim_status(false);

    return (cudaError_t)(sticky ? sticky : last_error);
}

const char *cudaGetErrorName(cudaError_t code)
{
    const char *name = shim_error_runtime_name((int)code);

    return name ? name : "unrecognized error code";
}

const char *cudaGetErrorString(cudaError_t code)
{
    const char *text = shim_error_text((int)code);

    return text && shim_error_runtime_name((int)code) ? text : "unrecognized error code";
}
