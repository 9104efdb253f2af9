/* One kernel launch: the checks that CUDA makes, the parameter buffer, the run, and the code of a failure. */
#include "emu/shim/shim_launch.h"

#include <stdlib.h>
#include <string.h>

#include "base/splitmix.h"
#include "emu/shim/shim_internal.h"

enum { CLOCK_STEP_NS = 1000, PARAMETERS_MAX = 32764, SAMPLE_WORK = 15000000 /* about half a second */ };

/* What CUDA answers when a kernel ends with this finding. */
static int code_of_finding(enum emu_code code)
{
    switch (code) {
    case EMU_MISALIGNED:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case EMU_DEADLOCK:
    case EMU_BUDGET:
    case EMU_BARRIER_COUNT:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case EMU_TRAP:
        return CUDA_ERROR_LAUNCH_FAILED;
    case EMU_TENSOR_MAP:
    case EMU_BAD_INSTRUCTION:
    case EMU_DIVERGENT_ALIGNED:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    default:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    }
}

int shim_fault_code(enum emulator_outcome outcome, const struct emu_findings *findings)
{
    switch (outcome) {
    case EMULATOR_COMPLETED:
        return CUDA_SUCCESS;
    case EMULATOR_DEADLOCKED:
    case EMULATOR_OUT_OF_BUDGET:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case EMULATOR_UNSUPPORTED:
        return CUDA_ERROR_NOT_SUPPORTED;
    case EMULATOR_FAULTED:
        break;
    }
    for (size_t i = emu_findings_count(findings); i-- > 0;) {
        enum emu_code code = emu_findings_at(findings, i)->code;
        if (emu_code_class(code) == EMU_ERROR)
            return code_of_finding(code);
    }
    return CUDA_ERROR_LAUNCH_FAILED;
}

static uint64_t product(const uint32_t dims[3])
{
    return (uint64_t)dims[0] * dims[1] * dims[2];
}

static int check_cluster(const struct shim_launch_limits *limits, const struct shim_launch *launch, const char **why)
{
    for (int i = 0; i < 3; i++) {
        if (limits->cluster[i] && launch->cluster[i] != limits->cluster[i]) {
            *why = "the cluster differs from the one that the kernel was compiled for";
            return CUDA_ERROR_INVALID_VALUE;
        }
        if (launch->grid[i] % launch->cluster[i]) {
            *why = "the grid is no multiple of the cluster";
            return CUDA_ERROR_INVALID_CLUSTER_SIZE;
        }
    }
    if (product(launch->cluster) > limits->max_cluster) {
        *why = "the cluster has too many blocks; more than 8 need the non-portable attribute";
        return CUDA_ERROR_INVALID_CLUSTER_SIZE;
    }
    return CUDA_SUCCESS;
}

int shim_launch_check(const struct shim_launch_limits *limits, const struct shim_launch *launch, const char **why)
{
    static const uint32_t grid_max[3] = {2147483647, 65535, 65535};
    static const uint32_t block_max[3] = {1024, 1024, 64};

    for (int i = 0; i < 3; i++) {
        if (!launch->grid[i] || !launch->block[i] || launch->grid[i] > grid_max[i] || launch->block[i] > block_max[i]) {
            *why = "a dimension of the grid or block is 0 or too large";
            return SHIM_INVALID_CONFIGURATION;
        }
    }
    if (product(launch->block) > limits->device_threads) {
        *why = "the block has more than 1024 threads";
        return SHIM_INVALID_CONFIGURATION;
    }
    if (product(launch->block) > limits->max_threads) {
        *why = "the block has more threads than the kernel was compiled for (__launch_bounds__)";
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    }
    if (launch->shared_bytes > limits->shared_bytes) {
        *why = "it asks for more dynamic shared memory than allowed; raise "
               "cudaFuncAttributeMaxDynamicSharedMemorySize with cudaFuncSetAttribute";
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (launch->cooperative && product(launch->grid) > limits->resident_blocks) {
        *why = "a cooperative grid must be resident at once, and this one is too large";
        return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
    }
    return check_cluster(limits, launch, why);
}

/* Lays the parameters out in `buffer`. Returns the size, or SIZE_MAX when they do not fit. */
static size_t pack_parameters(const struct shim_function *function, void *const *values, uint8_t *buffer, size_t limit)
{
    const struct ptx_module *module = emulator_module_ptx(function->owner->module);
    size_t at = 0;

    for (uint32_t i = 0; i < function->ptx->parameter_count; i++) {
        const struct ptx_variable *parameter = &module->variables[function->ptx->first_parameter + i];
        size_t align = parameter->align ? parameter->align : 1;
        at = (at + align - 1) / align * align;
        if (at > limit || parameter->bytes > limit - at)
            return SIZE_MAX;
        memcpy(buffer + at, values[i], (size_t)parameter->bytes);
        at += (size_t)parameter->bytes;
    }
    return at;
}

/* The first and the last cluster, where edges lie, and others from anywhere, the same in every run. NULL: all run. */
static uint64_t *choose_sample(const struct shim_state *state, struct arena *arena, uint64_t clusters, bool cooperative,
                               size_t *count)
{
    uint64_t wanted = state->options.sample, random = clusters;
    size_t used = 0;

    *count = (size_t)wanted;
    if (!wanted || clusters <= wanted || cooperative)
        return NULL;
    uint64_t *sample = arena_calloc(arena, *count, sizeof *sample);
    while (used < wanted) {
        uint64_t next = used == 0 ? 0 : used == 1 ? clusters - 1 : splitmix_next(&random) % clusters;
        bool known = false;
        for (size_t i = 0; i < used; i++)
            known |= sample[i] == next;
        if (!known)
            sample[used++] = next;
    }
    return sample;
}

static int run(struct shim_state *state, const struct shim_launch *launch, const void *parameters, size_t bytes)
{
    AUTO_ARENA *arena = arena_new();
    struct emulator_report report = {0};
    struct error error;
    uint64_t clusters = product(launch->grid) / product(launch->cluster);
    size_t sample_count;
    const uint64_t *sample = choose_sample(state, arena, clusters, launch->cooperative, &sample_count);
    const struct emulator_launch wanted = {
        .sample = sample,
        .sample_count = sample_count,
        .sample_work = SAMPLE_WORK,
        .module = launch->function->owner->module,
        .entry = launch->function->entry,
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .cluster = {launch->cluster[0], launch->cluster[1], launch->cluster[2]},
        .shared_bytes = launch->shared_bytes,
        .parameters = parameters,
        .parameter_bytes = bytes,
    };

    SHIM_DEVICE_WORK *work = shim_open_mappings(state);
    shim_report_start(state, launch->function->name);
    if (!emulator_launch(state->emulator, &wanted, state->options.budget, arena, &report, &error))
        return shim_refuse_locked(state,
                                  error.code == ERROR_INPUT         ? CUDA_ERROR_INVALID_VALUE
                                  : error.code == ERROR_UNSUPPORTED ? CUDA_ERROR_NOT_SUPPORTED
                                                                    : CUDA_ERROR_OUT_OF_MEMORY,
                                  "launch of %s: %s", launch->function->name, error.message);
    state->clock_ns += CLOCK_STEP_NS + report.warp_instructions;
    state->fault = shim_fault_code(report.outcome, emulator_findings(state->emulator));
    shim_report_launch(state, launch->function->name, clusters, &report);
    if (report.outcome != EMULATOR_UNSUPPORTED)
        return CUDA_SUCCESS;
    state->fault_shown = true; /* known before anything has run */
    return state->fault;
}

static struct shim_launch_limits limits_of(const struct shim_state *state, const struct shim_function *function,
                                           int resident)
{
    const struct emulator_properties *device = emulator_properties(state->emulator);
    const struct ptx_launch *compiled = &function->ptx->launch;
    const uint32_t *dims = compiled->required_threads[0] ? compiled->required_threads : compiled->max_threads;
    uint64_t threads = (uint64_t)dims[0] * (dims[1] ? dims[1] : 1) * (dims[2] ? dims[2] : 1);

    return (struct shim_launch_limits){
        .device_threads = device->max_threads_per_block,
        .max_threads = threads ? threads : device->max_threads_per_block,
        .shared_bytes = function->shared_optin_bytes,
        .max_cluster = function->any_cluster_size ? 16 : device->max_cluster,
        .cluster = {compiled->cluster[0], compiled->cluster[1], compiled->cluster[2]},
        .resident_blocks = (uint64_t)resident * (uint64_t)device->multiprocessors,
    };
}

static void complete_cluster(struct shim_launch *launch, const struct ptx_launch *compiled)
{
    for (int i = 0; i < 3; i++) {
        if (!launch->cluster[i])
            launch->cluster[i] = compiled->cluster[i] ? compiled->cluster[i] : 1;
    }
}

static int launch_locked(struct shim_state *state, const struct shim_launch *wanted, int resident)
{
    struct shim_launch launch = *wanted;
    uint8_t buffer[PARAMETERS_MAX];
    const char *why;

    if (!shim_function_known(state, launch.function) || shim_stream_check(state, launch.stream))
        return CUDA_ERROR_INVALID_HANDLE;
    complete_cluster(&launch, &launch.function->ptx->launch);
    const struct shim_launch_limits limits = limits_of(state, launch.function, resident);
    int code = shim_launch_check(&limits, &launch, &why);
    if (code)
        return shim_refuse_locked(state, code, "launch of %s <<<(%u,%u,%u), (%u,%u,%u), %u>>>: %s",
                                  launch.function->name, launch.grid[0], launch.grid[1], launch.grid[2],
                                  launch.block[0], launch.block[1], launch.block[2], launch.shared_bytes, why);
    if (state->fault)
        return CUDA_SUCCESS; /* enqueued behind a kernel that failed: never runs */
    if (launch.buffer)
        return run(state, &launch, launch.buffer, launch.buffer_bytes);
    if (launch.function->ptx->parameter_count && !launch.parameters)
        return CUDA_ERROR_INVALID_VALUE;
    size_t bytes = pack_parameters(launch.function, launch.parameters, buffer, sizeof buffer);
    return bytes == SIZE_MAX ? CUDA_ERROR_INVALID_VALUE : run(state, &launch, buffer, bytes);
}

int shim_launch(const struct shim_launch *launch)
{
    int resident = 0;

    if (launch->cooperative) {
        uint64_t threads = product(launch->block);
        int code = threads > UINT32_MAX
                       ? CUDA_ERROR_INVALID_VALUE
                       : shim_occupancy(launch->function, (uint32_t)threads, launch->shared_bytes, &resident);
        if (code)
            return code;
    }
    SHIM_LOCKED *state = shim_lock();
    return launch_locked(state, launch, resident);
}
