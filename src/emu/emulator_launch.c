/* A launch: what the CUDA runtime would check, then the grid. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emulator_internal.h"
#include "emu/machine_new.h"

#define BUDGET_DEFAULT (UINT64_C(1) << 36)
static const uint32_t grid_max[3] = {0x7fffffff, 65535, 65535};
static const uint32_t block_max[3] = {1024, 1024, 64};

static bool check_dimensions(const struct emulator *emulator, const struct emulator_launch *launch,
                             const struct ptx_function *kernel, struct error *error)
{
    static const char axes[] = "xyz";
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t ctas = (uint64_t)launch->cluster[0] * launch->cluster[1] * launch->cluster[2];

    for (int axis = 0; axis < 3; axis++) {
        if (launch->grid[axis] == 0 || launch->grid[axis] > grid_max[axis])
            return error_set(error, ERROR_INPUT, "launch %s: grid.%c is %u, allowed are 1 to %u", kernel->name,
                             axes[axis], launch->grid[axis], grid_max[axis]);
        if (launch->block[axis] == 0 || launch->block[axis] > block_max[axis])
            return error_set(error, ERROR_INPUT, "launch %s: block.%c is %u, allowed are 1 to %u", kernel->name,
                             axes[axis], launch->block[axis], block_max[axis]);
        if (launch->cluster[axis] == 0 || launch->grid[axis] % launch->cluster[axis])
            return error_set(error, ERROR_INPUT, "launch %s: grid.%c is %u, no multiple of the cluster's %u",
                             kernel->name, axes[axis], launch->grid[axis], launch->cluster[axis]);
        if (kernel->launch.required_threads[0] &&
            launch->block[axis] != (kernel->launch.required_threads[axis] ? kernel->launch.required_threads[axis] : 1))
            return error_set(error, ERROR_INPUT, "launch %s: block.%c is %u, but the kernel requires %u (.reqntid)",
                             kernel->name, axes[axis], launch->block[axis], kernel->launch.required_threads[axis]);
    }

    uint64_t most = emulator->properties.max_threads_per_block;

    if (kernel->launch.max_threads[0]) {
        most = kernel->launch.max_threads[0];
        for (int axis = 1; axis < 3; axis++)
            most *= kernel->launch.max_threads[axis] ? kernel->launch.max_threads[axis] : 1;
    }
    if (threads > most)
        return error_set(error, ERROR_INPUT, "launch %s: %" PRIu64 " threads per block, allowed are %" PRIu64,
                         kernel->name, threads, most);
    if (ctas > EMU_CLUSTER_MAX)
        return error_set(error, ERROR_INPUT, "launch %s: clusters of %" PRIu64 " CTAs, allowed are %d", kernel->name,
                         ctas, (int)EMU_CLUSTER_MAX);
    for (int axis = 0; axis < 3 && kernel->launch.cluster[0]; axis++) {
        uint32_t required = kernel->launch.cluster[axis] ? kernel->launch.cluster[axis] : 1;

        if (launch->cluster[axis] != required)
            return error_set(error, ERROR_INPUT,
                             "launch %s: cluster.%c is %u, but the kernel requires %u (.reqnctapercluster)",
                             kernel->name, axes[axis], launch->cluster[axis], required);
    }
    return true;
}

static bool check_sample(const struct emulator_launch *launch, const struct ptx_function *kernel, struct error *error)
{
    uint64_t clusters = 1;

    for (int axis = 0; axis < 3; axis++)
        clusters *= launch->grid[axis] / launch->cluster[axis];
    for (size_t i = 0; launch->sample && i < launch->sample_count; i++) {
        if (launch->sample[i] >= clusters)
            return error_set(error, ERROR_INPUT, "launch %s: sample names cluster %" PRIu64 " of %" PRIu64,
                             kernel->name, launch->sample[i], clusters);
    }
    return true;
}

static uint32_t parameter_bytes(const struct ptx_module *module, const struct ptx_function *kernel)
{
    uint64_t end = 0;

    for (uint32_t i = 0; i < kernel->parameter_count; i++) {
        const struct ptx_variable *variable = &module->variables[kernel->first_parameter + i];
        uint64_t align = variable->align ? variable->align : 1;

        end = ((end + align - 1) & ~(align - 1)) + variable->bytes;
    }
    return (uint32_t)end; /* lowering has bounded it */
}

/* Static shared variables, then the dynamic part: aligned as the hardware does it, moved by the schedule. */
static bool place_shared(struct emu_grid *grid, const struct ptx_function *kernel, struct error *error)
{
    const struct emu_program *program = grid->program;
    const struct emulator_properties *properties = emulator_properties(grid->emulator);
    uint32_t align = program->dynamic_align > 1024 ? program->dynamic_align : 1024;
    uint32_t end = program->static_shared_end;
    uint64_t used = (uint64_t)(end - EMU_SHARED_RESERVED) + grid->launch->shared_bytes;

    if (used > properties->shared_per_block_optin)
        return error_set(error, ERROR_INPUT,
                         "launch %s: %" PRIu64 " bytes of shared memory (%u static, %u dynamic), allowed are %u",
                         kernel->name, used, end - EMU_SHARED_RESERVED, grid->launch->shared_bytes,
                         properties->shared_per_block_optin);
    grid->dynamic_base = (end + align - 1) & ~(align - 1);
    grid->dynamic_base += (grid->schedule.shared_shift + program->dynamic_align - 1) & ~(program->dynamic_align - 1);
    grid->shared_bytes = grid->dynamic_base + grid->launch->shared_bytes;
    if (!program->uses_dynamic_shared && !grid->launch->shared_bytes)
        grid->shared_bytes = end;
    return true;
}

static bool lower(const struct emulator_launch *launch, struct emu_program **out, struct error *error)
{
    /* The cache of programs is the module's own business: a launch does not change what it means. */
    struct emulator_module *module = (struct emulator_module *)(uintptr_t)launch->module;
    struct emu_program **program = &module->programs[launch->entry];
    struct emu_globals globals = {.address = module->variables};

    if (!*program &&
        !emu_program_new(module->ptx, (uint32_t)launch->entry, &globals, &module->emulator->space, program, error))
        return false;
    *out = *program;
    return true;
}

static void print(void *context, const char *text, size_t length)
{
    struct emulator *emulator = context;

    (void)buffer_append_sanitized(&emulator->printed, text, length);
}

static void count_opcodes(const struct emu_grid *grid, struct emulator_report *report, struct arena *arena)
{
    report->opcode_warps = arena_calloc(arena, PTX_OP_COUNT, sizeof *report->opcode_warps);
    for (uint32_t i = 0; i < grid->program->op_count; i++) {
        const struct emu_op *op = &grid->program->ops[i];

        if (op->first && op->opcode < PTX_OP_COUNT)
            report->opcode_warps[op->opcode] += grid->op_executions[i];
        if (!op->first)
            continue;
        report->warp_instructions += grid->op_executions[i];
        target_count_add(&report->targets, grid->program->functions[op->function].ptx, emu_op_ptx(grid->program, op),
                         grid->op_executions[i]);
    }
}

static bool run(struct emu_grid *grid, struct arena *arena, struct emulator_report *report, struct error *error)
{
    const struct emulator_launch *launch = grid->launch;
    size_t registered = grid->parameter_bytes ? grid->parameter_bytes : 1;

    grid->op_executions = calloc(grid->program->op_count + 1, sizeof *grid->op_executions);
    grid->parameters = aligned_alloc(256, (registered + 255) & ~(size_t)255);
    if (!grid->op_executions || !grid->parameters)
        return error_set(error, ERROR_MEMORY, "launch: out of memory");
    memset(grid->parameters, 0, registered);
    memcpy(grid->parameters, launch->parameters, grid->parameter_bytes);
    if (!emu_memory_register(grid->memory, grid->parameters, registered, false, error))
        return false;

    emu_memory_begin_launch(grid->memory, launch->sample != NULL);
    bool ok = emu_grid_run(grid, report);
    struct error ignored;

    emu_memory_end_launch(grid->memory);
    report->depends_on_missing = emu_memory_depends_on_missing(grid->memory);

    if (!emu_memory_release(grid->memory, grid->parameters, false, &ignored))
        ok = false;
    count_opcodes(grid, report, arena);
    return ok || error_set(error, ERROR_MEMORY, "launch: out of memory for CTAs");
}

static bool check_parameters(const struct emulator_launch *launch, const struct ptx_module *ptx,
                             const struct ptx_function *kernel, struct error *error)
{
    uint32_t wanted = parameter_bytes(ptx, kernel);

    if (launch->parameter_bytes < wanted)
        return error_set(error, ERROR_INPUT, "launch %s: %zu bytes of parameters, the kernel takes %u", kernel->name,
                         launch->parameter_bytes, wanted);
    return true;
}

bool emulator_launch(struct emulator *emulator, const struct emulator_launch *launch, uint64_t budget,
                     struct arena *arena, struct emulator_report *report, struct error *error)
{
    const struct ptx_module *ptx = launch->module->ptx;
    struct emu_program *program;

    *report = (struct emulator_report){0};
    if (launch->entry < 0 || (uint32_t)launch->entry >= ptx->function_count || !ptx->functions[launch->entry].is_entry)
        return error_set(error, ERROR_INPUT, "launch: %s has no entry number %d", ptx->name, launch->entry);

    const struct ptx_function *kernel = &ptx->functions[launch->entry];

    if (!check_dimensions(emulator, launch, kernel, error) || !check_sample(launch, kernel, error) ||
        !lower(launch, &program, error))
        return false;
    buffer_reset(&emulator->printed);
    if (program->unsupported) {
        report->outcome = EMULATOR_UNSUPPORTED;
        report->unsupported = arena_strdup(arena, program->unsupported);
        report->opcode_warps = arena_calloc(arena, PTX_OP_COUNT, sizeof *report->opcode_warps);
        return true;
    }
    if (!check_parameters(launch, ptx, kernel, error))
        return false;

    struct emu_grid grid = {.emulator = emulator,
                            .memory = emulator->memory,
                            .findings = emulator->findings,
                            .program = program,
                            .launch = launch,
                            .schedule = emulator->schedule,
                            .space = &emulator->space,
                            .parameter_bytes = parameter_bytes(ptx, kernel),
                            .cluster_ctas = launch->cluster[0] * launch->cluster[1] * launch->cluster[2],
                            .budget = budget ? budget : BUDGET_DEFAULT,
                            .print = print,
                            .print_context = emulator};

    bool ok = place_shared(&grid, kernel, error) && run(&grid, arena, report, error);

    free(grid.op_executions);
    free(grid.parameters);
    return ok;
}
