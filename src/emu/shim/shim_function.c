/* What CUDA tells about a kernel and lets a program set: attributes, parameters, occupancy. */
#include "emu/shim/shim_internal.h"

static uint32_t thread_limit(const struct shim_state *state, const struct ptx_launch *launch)
{
    const uint32_t *dims = launch->required_threads[0] ? launch->required_threads : launch->max_threads;
    uint32_t limit = emulator_properties(state->emulator)->max_threads_per_block;
    uint64_t threads = (uint64_t)dims[0] * (dims[1] ? dims[1] : 1) * (dims[2] ? dims[2] : 1);

    return threads && threads < limit ? (uint32_t)threads : limit;
}

int shim_function_facts(struct shim_function *function, struct shim_function_facts *out)
{
    SHIM_LOCKED *state = shim_lock();

    if (!shim_function_known(state, function))
        return CUDA_ERROR_INVALID_HANDLE;
    const struct ptx_module *module = emulator_module_ptx(function->owner->module);
    const struct ptx_launch *launch = &function->ptx->launch;
    *out = (struct shim_function_facts){
        .name = function->name,
        .max_threads = thread_limit(state, launch),
        .shared_bytes = function->shared_bytes,
        .shared_optin_bytes = function->shared_optin_bytes,
        .cluster = {launch->cluster[0], launch->cluster[1], launch->cluster[2]},
        .parameter_count = function->ptx->parameter_count,
        .any_cluster_size = function->any_cluster_size,
        .ptx_version = (int)(module->version_major * 10 + module->version_minor),
        .preferred_carveout = function->preferred_carveout,
    };
    return CUDA_SUCCESS;
}

static int set_shared(struct shim_state *state, struct shim_function *function, int value)
{
    uint32_t limit = emulator_properties(state->emulator)->shared_per_block_optin;
    uint32_t most = function->shared_bytes < limit ? limit - function->shared_bytes : 0;

    if (value < 0 || (uint32_t)value > most)
        return shim_refuse_locked(
            state, CUDA_ERROR_INVALID_VALUE,
            "%s: %d bytes of dynamic shared memory asked for; the limit is %u with %u static bytes", function->name,
            value, most, function->shared_bytes);
    function->shared_optin_bytes = (uint32_t)value;
    return CUDA_SUCCESS;
}

int shim_function_set(struct shim_function *function, int attribute, int value)
{
    SHIM_LOCKED *state = shim_lock();

    if (!shim_function_known(state, function))
        return CUDA_ERROR_INVALID_HANDLE;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return set_shared(state, function, value);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->any_cluster_size = value != 0;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < -1 || value > 100)
            return CUDA_ERROR_INVALID_VALUE;
        function->preferred_carveout = value;
        return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE; /* the others are read-only */
    }
}

int shim_function_parameter(struct shim_function *function, size_t index, size_t *offset, size_t *bytes)
{
    SHIM_LOCKED *state = shim_lock();

    if (!shim_function_known(state, function))
        return CUDA_ERROR_INVALID_HANDLE;
    const struct ptx_module *module = emulator_module_ptx(function->owner->module);
    size_t at = 0;
    if (index >= function->ptx->parameter_count)
        return CUDA_ERROR_INVALID_VALUE;
    for (uint32_t i = 0; i <= index; i++) {
        const struct ptx_variable *parameter = &module->variables[function->ptx->first_parameter + i];
        size_t align = parameter->align ? parameter->align : 1;
        at = (at + align - 1) / align * align;
        *offset = at;
        *bytes = (size_t)parameter->bytes;
        at += (size_t)parameter->bytes;
    }
    return CUDA_SUCCESS;
}

int shim_occupancy(struct shim_function *function, uint32_t threads, size_t shared_bytes, int *blocks)
{
    enum { BLOCKS_MAX = 32, THREADS_MAX = 2048, SHARED_MAX = 233472, SHARED_RESERVED = 1024, SHARED_UNIT = 128 };
    SHIM_LOCKED *state = shim_lock();

    if (!shim_function_known(state, function))
        return CUDA_ERROR_INVALID_HANDLE;
    if (!threads || threads > thread_limit(state, &function->ptx->launch) ||
        shared_bytes > function->shared_optin_bytes) {
        *blocks = 0;
        return threads ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    }
    uint32_t by_threads = THREADS_MAX / ((threads + 31) / 32 * 32);
    size_t shared =
        (function->shared_bytes + shared_bytes + SHARED_RESERVED + SHARED_UNIT - 1) / SHARED_UNIT * SHARED_UNIT;
    uint32_t by_shared = (uint32_t)(SHARED_MAX / shared);
    uint32_t most = by_threads < by_shared ? by_threads : by_shared;
    *blocks = (int)(most < BLOCKS_MAX ? most : BLOCKS_MAX);
    return CUDA_SUCCESS;
}
