#include "emu/shim/runtime.h"

cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuStreamCreateWithPriority(stream, flags, priority));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuStreamDestroy(stream));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    RUNTIME_ENTER(true);
    return runtime_return((int)cuStreamSynchronize(stream));
}
PER_THREAD(cudaStreamSynchronize, _ptsz);

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    RUNTIME_ENTER(true);
    return runtime_return((int)cuStreamQuery(stream));
}
PER_THREAD(cudaStreamQuery, _ptsz);

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuStreamWaitEvent(stream, event, flags));
}
PER_THREAD(cudaStreamWaitEvent, _ptsz);

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuStreamGetFlags(stream, flags));
}
PER_THREAD(cudaStreamGetFlags, _ptsz);

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuStreamGetPriority(stream, priority));
}
PER_THREAD(cudaStreamGetPriority, _ptsz);

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuStreamGetId(stream, id));
}
PER_THREAD(cudaStreamGetId, _ptsz);

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuStreamGetDevice(stream, device));
}
PER_THREAD(cudaStreamGetDevice, _ptsz);

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuStreamIsCapturing(stream, (CUstreamCaptureStatus *)status));
}
PER_THREAD(cudaStreamIsCapturing, _ptsz);

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id,
                                     cudaGraph_t *graph, const cudaGraphNode_t **dependencies,
                                     const cudaGraphEdgeData **edges, size_t *count)
{
    RUNTIME_ENTER(false);
    if (id)
        *id = 0;
    if (edges)
        *edges = NULL;
    return runtime_return(
        (int)cuStreamGetCaptureInfo(stream, (CUstreamCaptureStatus *)status, NULL, graph, dependencies, NULL, count));
}
PER_THREAD(cudaStreamGetCaptureInfo, _ptsz);

cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    *mode = cudaStreamCaptureModeGlobal; /* nothing is ever captured */
    return cudaSuccess;
}

cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute, const cudaStreamAttrValue *value)
{
    (void)attribute; /* L2 windows and priorities concern speed alone */
    (void)value;
    RUNTIME_ENTER(false);
    RUNTIME_STREAM(stream);
    return cudaSuccess;
}
PER_THREAD(cudaStreamSetAttribute, _ptsz);

cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *address, size_t bytes, unsigned flags)
{
    (void)address;
    (void)bytes;
    (void)flags;
    RUNTIME_ENTER(false);
    RUNTIME_STREAM(stream);
    return cudaSuccess;
}
PER_THREAD(cudaStreamAttachMemAsync, _ptsz);

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *context)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuLaunchHostFunc(stream, function, context));
}
PER_THREAD(cudaLaunchHostFunc, _ptsz);

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback, void *context, unsigned flags)
{
    (void)flags;
    RUNTIME_ENTER(false);
    RUNTIME_STREAM(stream);
    callback(stream, (cudaError_t)shim_status(true), context);
    return cudaSuccess;
}
PER_THREAD(cudaStreamAddCallback, _ptsz);

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuEventCreate(event, flags));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuEventDestroy(event));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    RUNTIME_ENTER(false);
    return runtime_return((int)cuEventRecord(event, stream));
}
PER_THREAD(cudaEventRecord, _ptsz);

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    (void)flags;
    return cudaEventRecord(event, stream);
}
PER_THREAD(cudaEventRecordWithFlags, _ptsz);

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    RUNTIME_ENTER(true);
    return runtime_return((int)cuEventSynchronize(event));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
    RUNTIME_ENTER(true);
    return runtime_return((int)cuEventQuery(event));
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
    RUNTIME_ENTER(true);
    return runtime_return((int)cuEventElapsedTime(milliseconds, start, end));
}
