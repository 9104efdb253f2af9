/* From the driver's launch configuration and its attributes to a launch. */
#include "emu/shim/shim_internal.h"

static int take_attribute(const CUlaunchAttribute *attribute, struct shim_launch *launch, struct shim_event **event)
{
    switch (attribute->id) {
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        launch->cluster[0] = attribute->value.clusterDim.x;
        launch->cluster[1] = attribute->value.clusterDim.y;
        launch->cluster[2] = attribute->value.clusterDim.z;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        launch->cooperative = attribute->value.cooperative != 0;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
        *event = (struct shim_event *)attribute->value.programmaticEvent.event;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
        *event = (struct shim_event *)attribute->value.launchCompletionEvent.event;
        return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
        return CUDA_SUCCESS;
    default:
        return shim_refuse(CUDA_ERROR_NOT_SUPPORTED, "launch attribute %d is not emulated", (int)attribute->id);
    }
}

/* CU_LAUNCH_PARAM_BUFFER_POINTER p CU_LAUNCH_PARAM_BUFFER_SIZE &n CU_LAUNCH_PARAM_END */
static int take_extra(void **extra, struct shim_launch *launch)
{
    for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            launch->buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            launch->buffer_bytes = *(const size_t *)extra[1];
        else
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

int shim_launch_config(const struct CUlaunchConfig_st *config, struct shim_function *function, void **parameters,
                       void **extra)
{
    struct shim_launch launch = {
        .function = function,
        .grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
        .block = {config->blockDimX, config->blockDimY, config->blockDimZ},
        .shared_bytes = config->sharedMemBytes,
        .stream = (const struct shim_stream *)config->hStream,
        .parameters = parameters,
    };
    struct shim_event *event = NULL;
    int code;

    for (unsigned i = 0; i < config->numAttrs; i++)
        if ((code = take_attribute(&config->attrs[i], &launch, &event)))
            return code;
    if (extra && (parameters || (code = take_extra(extra, &launch))))
        return CUDA_ERROR_INVALID_VALUE;
    code = shim_launch(&launch);
    return code || !event ? code : shim_event_record(event, launch.stream);
}
