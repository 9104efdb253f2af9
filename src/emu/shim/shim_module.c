/* Modules: the PTX of an image, and the kernels and variables in it. */
#include <string.h>

#include "emu/shim/shim_internal.h"
#include "toolchain/fatbin.h"

#define WRAPPER_MAGIC 0x466243b1u   /* struct that nvcc puts around a fat binary: magic, version, pointer */
#define CONTAINER_MAGIC 0xBA55ED50u /* the fat binary */
#define ELF_MAGIC 0x464c457fu       /* a cubin */

struct fatbin_wrapper {
    uint32_t magic;
    uint32_t version;
    const void *data;
    const void *other;
};

static uint32_t arch_number(const struct shim_state *state)
{
    return (uint32_t)(emulator_properties(state->emulator)->major * 10 + emulator_properties(state->emulator)->minor);
}

/* PTX for this architecture, or for the newest older one, which the driver would compile too. */
static const struct fatbin_entry *choose_ptx(const struct fatbin *fatbin, uint32_t arch)
{
    const struct fatbin_entry *best = NULL;

    for (size_t i = 0; i < fatbin->count; i++) {
        const struct fatbin_entry *entry = &fatbin->entries[i];
        if (entry->kind == FATBIN_PTX && entry->bytes && entry->arch <= arch && (!best || entry->arch > best->arch))
            best = entry;
    }
    return best;
}

static int refuse_image(struct shim_state *state, const struct fatbin *fatbin)
{
    char found[256] = "";
    size_t used = 0;

    for (size_t i = 0; i < fatbin->count && used < sizeof found; i++) {
        const struct fatbin_entry *entry = &fatbin->entries[i];
        int n = snprintf(found + used, sizeof found - used, "%s%s for sm_%u%s%s", i ? ", " : "",
                         entry->kind == FATBIN_PTX     ? "PTX"
                         : entry->kind == FATBIN_CUBIN ? "machine code"
                                                       : "data",
                         entry->arch, entry->problem ? ": " : "", entry->problem ? entry->problem : "");
        used += n > 0 ? (size_t)n : 0;
    }
    return shim_refuse_locked(state, CUDA_ERROR_NO_BINARY_FOR_GPU,
                              "a module has no PTX that %s can run (it has %s); compile with "
                              "-gencode arch=compute_90a,code=[sm_90a,compute_90a]",
                              state->options.arch, found[0] ? found : "nothing");
}

static int load_ptx(struct shim_state *state, const char *text, size_t length, struct emulator_module **out)
{
    char name[32];
    struct error error;
    unsigned count = 1;

    for (const struct shim_module *at = state->modules; at; at = at->next)
        count++;
    (void)snprintf(name, sizeof name, "module %u", count);
    if (emulator_load(state->emulator, name, text, length, out, &error))
        return CUDA_SUCCESS;
    bool unsupported = error.code == ERROR_UNSUPPORTED;
    return shim_refuse_locked(state, unsupported ? CUDA_ERROR_NOT_SUPPORTED : CUDA_ERROR_INVALID_PTX, "loading PTX: %s",
                              error.message);
}

static int load_container(struct shim_state *state, const uint8_t *bytes, struct emulator_module **out)
{
    AUTO_ARENA *arena = arena_new();
    struct fatbin fatbin;
    struct error error;
    uint16_t header;
    uint64_t rest;

    memcpy(&header, bytes + 6, sizeof header);
    memcpy(&rest, bytes + 8, sizeof rest);
    if (rest > FATBIN_PAYLOAD_MAX || !fatbin_read_image(arena, bytes, header + (size_t)rest, &fatbin, &error))
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_IMAGE, "reading a fat binary: %s",
                                  rest > FATBIN_PAYLOAD_MAX ? "its size is impossible" : error.message);
    const struct fatbin_entry *ptx = choose_ptx(&fatbin, arch_number(state));
    return ptx ? load_ptx(state, (const char *)ptx->bytes, ptx->length, out) : refuse_image(state, &fatbin);
}

static int load_image(struct shim_state *state, const void *image, struct emulator_module **out)
{
    uint32_t magic;

    memcpy(&magic, image, sizeof magic);
    if (magic == WRAPPER_MAGIC)
        image = ((const struct fatbin_wrapper *)image)->data;
    if (!image)
        return CUDA_ERROR_INVALID_IMAGE;
    memcpy(&magic, image, sizeof magic);
    if (magic == CONTAINER_MAGIC)
        return load_container(state, image, out);
    if (magic == ELF_MAGIC)
        return shim_refuse_locked(state, CUDA_ERROR_NO_BINARY_FOR_GPU,
                                  "loading a module: machine code (a cubin) cannot be emulated; give PTX");
    return load_ptx(state, image, strlen(image), out);
}

int shim_module_load(const void *image, struct shim_module **out)
{
    SHIM_LOCKED *state = shim_lock();
    struct emulator_module *loaded;

    if (!image)
        return CUDA_ERROR_INVALID_VALUE;
    int code = load_image(state, image, &loaded);
    if (code)
        return code;
    struct shim_module *module = calloc(1, sizeof *module);
    if (!module) {
        emulator_unload(state->emulator, loaded);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *module = (struct shim_module){.module = loaded, .next = state->modules};
    state->modules = module;
    *out = module;
    return CUDA_SUCCESS;
}

static void free_functions(struct shim_module *module)
{
    while (module->functions) {
        struct shim_function *function = module->functions;
        module->functions = function->next;
        free(function->name);
        free(function);
    }
}

int shim_module_unload(struct shim_module *module)
{
    SHIM_LOCKED *state = shim_lock();

    for (struct shim_module **slot = &state->modules; *slot; slot = &(*slot)->next) {
        if (*slot != module)
            continue;
        *slot = module->next;
        emulator_unload(state->emulator, module->module);
        free_functions(module);
        free(module);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_HANDLE;
}

static bool module_known(const struct shim_state *state, const struct shim_module *module)
{
    for (const struct shim_module *at = state->modules; at; at = at->next)
        if (at == module)
            return true;
    return false;
}

bool shim_function_known(const struct shim_state *state, const struct shim_function *function)
{
    for (const struct shim_module *module = state->modules; module; module = module->next)
        for (const struct shim_function *at = module->functions; at; at = at->next)
            if (at == function)
                return true;
    return false;
}

static const struct ptx_function *find_ptx(const struct ptx_module *module, const char *name)
{
    for (uint32_t i = 0; i < module->function_count; i++)
        if (module->functions[i].is_entry && !strcmp(module->functions[i].name, name))
            return &module->functions[i];
    return NULL;
}

/* Static shared memory: variables of the kernel, and those of the module that its code names. */
static uint32_t static_shared_bytes(const struct ptx_module *module, const struct ptx_function *function)
{
    uint64_t bytes = 0;

    for (uint32_t v = 0; v < module->variable_count; v++) {
        const struct ptx_variable *variable = &module->variables[v];
        if (variable->space != PTX_SPACE_SHARED || variable->unsized)
            continue;
        bool uses = variable->function != PTX_NONE && &module->functions[variable->function] == function;
        for (uint32_t i = 0; !uses && variable->function == PTX_NONE && i < function->operand_count; i++)
            uses = function->operands[i].kind == PTX_OPERAND_VARIABLE && function->operands[i].value == v;
        uint64_t align = variable->align ? variable->align : 1;
        if (uses)
            bytes = (bytes + align - 1) / align * align + variable->bytes;
    }
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static struct shim_function *new_function(struct shim_state *state, struct shim_module *module, const char *name,
                                          int entry)
{
    const struct ptx_module *ptx = emulator_module_ptx(module->module);
    const struct ptx_function *found = find_ptx(ptx, name);
    struct shim_function *function = calloc(1, sizeof *function);
    char *copy = strdup(name);

    if (!function || !copy || !found) {
        free(function);
        free(copy);
        return NULL;
    }
    *function = (struct shim_function){.owner = module, .name = copy, .entry = entry, .ptx = found};
    function->shared_bytes = static_shared_bytes(ptx, found);
    uint32_t limit = emulator_properties(state->emulator)->shared_per_block;
    function->shared_optin_bytes = function->shared_bytes < limit ? limit - function->shared_bytes : 0;
    function->preferred_carveout = -1;
    function->next = module->functions;
    module->functions = function;
    return function;
}

int shim_module_function(struct shim_module *module, const char *name, struct shim_function **out)
{
    SHIM_LOCKED *state = shim_lock();

    if (!module_known(state, module))
        return CUDA_ERROR_INVALID_HANDLE;
    for (struct shim_function *at = module->functions; at; at = at->next) {
        if (!strcmp(at->name, name)) {
            *out = at;
            return CUDA_SUCCESS;
        }
    }
    int entry = emulator_find_entry(module->module, name);
    if (entry < 0)
        return CUDA_ERROR_NOT_FOUND;
    *out = new_function(state, module, name, entry);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

int shim_module_variable(struct shim_module *module, const char *name, void **address, size_t *bytes)
{
    SHIM_LOCKED *state = shim_lock();

    if (!module_known(state, module))
        return CUDA_ERROR_INVALID_HANDLE;
    return emulator_find_variable(module->module, name, address, bytes) ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
