#include <string.h>

#include "emu/shim/shim_internal.h"
#include "emu/tensor_map.h"

int shim_tensor_map_encode(void *map, const struct tensor_map_arguments *arguments)
{
    SHIM_LOCKED *state = shim_lock();
    struct shim_pointer found;
    struct error error;

    if (!map)
        return CUDA_ERROR_INVALID_VALUE;
    if (!tensor_map_encode_tiled(map, arguments, &error))
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE, "%s%s%s", error.message, error.hint[0] ? "; " : "",
                                  error.hint);
    shim_find_locked(state, (const void *)(uintptr_t)arguments->address, &found);
    if (found.kind == SHIM_UNKNOWN_MEMORY)
        (void)shim_refuse_locked(state, CUDA_SUCCESS,
                                 "cuTensorMapEncodeTiled: globalAddress 0x%llx is no device memory",
                                 (unsigned long long)arguments->address);
    return CUDA_SUCCESS;
}

int shim_tensor_map_replace_address(void *map, const void *address)
{
    SHIM_LOCKED *state = shim_lock();
    struct error error;

    if (!map)
        return CUDA_ERROR_INVALID_VALUE;
    if (!tensor_map_replace(map, TENSOR_MAP_FIELD_GLOBAL_ADDRESS, 0, (uint64_t)(uintptr_t)address, &error))
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE, "cuTensorMapReplaceAddress: %s", error.message);
    return CUDA_SUCCESS;
}
