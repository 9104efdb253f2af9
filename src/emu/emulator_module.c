/* Loading: parsing, and module variables in device memory. Programs are lowered when their kernel is launched. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/emulator_internal.h"
#include "emu/ptx_parser.h"

#define VARIABLE_BYTES_MAX (UINT64_C(4) << 30)

static bool is_module_data(const struct ptx_variable *variable)
{
    return (variable->space == PTX_SPACE_GLOBAL || variable->space == PTX_SPACE_CONST) && !variable->unsized &&
           variable->linkage != PTX_LINK_EXTERN;
}

static bool allocate_variables(struct emulator_module *module, struct error *error)
{
    for (uint32_t i = 0; i < module->ptx->variable_count; i++) {
        const struct ptx_variable *variable = &module->ptx->variables[i];
        void *address;

        if (!is_module_data(variable))
            continue;
        if (variable->bytes > VARIABLE_BYTES_MAX)
            return error_set(error, ERROR_LIMIT, "%s: variable %s has %" PRIu64 " bytes", module->ptx->name,
                             variable->name, variable->bytes);
        address = emu_memory_allocate(module->emulator->memory, variable->bytes);
        if (!address)
            return error_set(error, ERROR_MEMORY, "%s: no memory for variable %s of %" PRIu64 " bytes",
                             module->ptx->name, variable->name, variable->bytes);
        memset(address, 0, variable->bytes);
        module->variables[i] = (uintptr_t)address;
    }
    return true;
}

static bool initialise(struct emulator_module *module, uint32_t index, struct error *error)
{
    const struct ptx_variable *variable = &module->ptx->variables[index];
    uint32_t bytes = ptx_type_bits(variable->type) / 8;
    uint8_t *to = (uint8_t *)(uintptr_t)module->variables[index];

    for (size_t i = 0; i < variable->initial_count; i++) {
        const struct ptx_initial *initial = &variable->initial[i];
        uint64_t value = initial->bits;

        if (initial->function != PTX_NONE)
            return error_set(error, ERROR_UNSUPPORTED, "%s: variable %s holds the address of a function",
                             module->ptx->name, variable->name);
        if (initial->variable != PTX_NONE) {
            if (!module->variables[initial->variable])
                return error_set(error, ERROR_UNSUPPORTED, "%s: variable %s holds an address outside of global memory",
                                 module->ptx->name, variable->name);
            value += module->variables[initial->variable];
        }
        value = value >> initial->shift & initial->mask;
        if (bytes == 0 || bytes > 8 || initial->element >= variable->bytes / bytes)
            return error_set(error, ERROR_INPUT, "%s: initialiser of %s does not fit", module->ptx->name,
                             variable->name);
        memcpy(to + initial->element * bytes, &value, bytes);
    }
    return true;
}

static bool initialise_variables(struct emulator_module *module, struct error *error)
{
    for (uint32_t i = 0; i < module->ptx->variable_count; i++) {
        if (module->variables[i] && !initialise(module, i, error))
            return false;
    }
    return true;
}

bool emulator_load(struct emulator *emulator, const char *name, const char *ptx, size_t length,
                   struct emulator_module **out, struct error *error)
{
    struct arena *arena = arena_new();
    struct emulator_module *module = arena_alloc(arena, sizeof *module);

    module->emulator = emulator;
    module->arena = arena;
    emulator->modules++;
    if (!ptx_parse(arena, name, ptx, length, &module->ptx, error)) {
        emulator->modules--;
        arena_free(arena);
        return false;
    }
    module->variables = arena_calloc(arena, module->ptx->variable_count + 1, sizeof *module->variables);
    module->programs = arena_calloc(arena, module->ptx->function_count + 1, sizeof(struct emu_program *));
    if (!allocate_variables(module, error) || !initialise_variables(module, error)) {
        emulator_unload(emulator, module);
        return false;
    }
    *out = module;
    return true;
}

void emulator_unload(struct emulator *emulator, struct emulator_module *module)
{
    if (!module)
        return;
    for (uint32_t i = 0; i < module->ptx->variable_count; i++) {
        struct error ignored;

        if (module->variables[i] &&
            !emu_memory_release(emulator->memory, (void *)(uintptr_t)module->variables[i], false, &ignored))
            continue; /* the program freed it by itself */
    }
    for (uint32_t i = 0; i < module->ptx->function_count; i++)
        emu_program_free(module->programs[i]);
    emulator->modules--;
    arena_free(module->arena);
}

int emulator_find_entry(const struct emulator_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->ptx->function_count; i++) {
        const struct ptx_function *function = &module->ptx->functions[i];

        if (function->is_entry && function->is_defined && strcmp(function->name, name) == 0)
            return (int)i;
    }
    return -1;
}

bool emulator_find_variable(const struct emulator_module *module, const char *name, void **address, size_t *bytes)
{
    for (uint32_t i = 0; i < module->ptx->variable_count; i++) {
        if (module->variables[i] && strcmp(module->ptx->variables[i].name, name) == 0) {
            *address = (void *)(uintptr_t)module->variables[i];
            *bytes = module->ptx->variables[i].bytes;
            return true;
        }
    }
    return false;
}

const struct ptx_module *emulator_module_ptx(const struct emulator_module *module)
{
    return module->ptx;
}
