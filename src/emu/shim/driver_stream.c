#include "emu/shim/driver.h"

static struct shim_event *event_of(CUevent event)
{
    return (struct shim_event *)event;
}

static struct shim_stream *stream_of(CUstream stream)
{
    return (struct shim_stream *)stream;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority)
{
    DRIVER_ENTER(false);
    if (flags > CU_STREAM_NON_BLOCKING)
        return CUDA_ERROR_INVALID_VALUE;
    priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
    return (CUresult)shim_stream_new(flags, priority, (struct shim_stream **)stream);
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return cuStreamCreateWithPriority(stream, flags, 0);
}

CUresult cuStreamDestroy(CUstream stream)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_stream_free(stream_of(stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    DRIVER_ENTER(true);
    return (CUresult)shim_stream_query(stream_of(stream), NULL, NULL, NULL);
}

CUresult cuStreamQuery(CUstream stream)
{
    return cuStreamSynchronize(stream); /* nothing is ever pending */
}

CUresult cuStreamGetFlags(CUstream stream, unsigned *flags)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_stream_query(stream_of(stream), flags, NULL, NULL);
}

CUresult cuStreamGetPriority(CUstream stream, int *priority)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_stream_query(stream_of(stream), NULL, priority, NULL);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long *id)
{
    uint64_t value;

    DRIVER_ENTER(false);
    int code = shim_stream_query(stream_of(stream), NULL, NULL, &value);
    if (!code)
        *id = value;
    return (CUresult)code;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context)
{
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    return cuCtxGetCurrent(context);
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice *device)
{
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    *device = 0;
    return CUDA_SUCCESS;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    (void)flags;
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    return (CUresult)shim_event_query(event_of(event));
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count)
{
    (void)edges;
    if (id)
        *id = 0;
    if (graph)
        *graph = NULL;
    if (dependencies)
        *dependencies = NULL;
    if (count)
        *count = 0;
    return cuStreamIsCapturing(stream, status);
}

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute, const CUstreamAttrValue *value)
{
    (void)attribute; /* L2 windows and priorities concern speed alone */
    (void)value;
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    return CUDA_SUCCESS;
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *context)
{
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    function(context);
    return CUDA_SUCCESS;
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void *context, unsigned flags)
{
    (void)flags;
    DRIVER_ENTER(false);
    DRIVER_STREAM(stream);
    callback(stream, (CUresult)shim_status(true), context);
    return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    DRIVER_ENTER(false);
    if (flags & CU_EVENT_INTERPROCESS)
        return (CUresult)shim_unsupported("cuEventCreate with CU_EVENT_INTERPROCESS");
    return (CUresult)shim_event_new(flags, (struct shim_event **)event);
}

CUresult cuEventDestroy(CUevent event)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_event_free(event_of(event));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    DRIVER_ENTER(false);
    return (CUresult)shim_event_record(event_of(event), stream_of(stream));
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags)
{
    (void)flags;
    return cuEventRecord(event, stream);
}

CUresult cuEventSynchronize(CUevent event)
{
    DRIVER_ENTER(true);
    return (CUresult)shim_event_query(event_of(event));
}

CUresult cuEventQuery(CUevent event)
{
    return cuEventSynchronize(event);
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
    DRIVER_ENTER(true);
    return (CUresult)shim_event_elapsed(event_of(start), event_of(end), milliseconds);
}
