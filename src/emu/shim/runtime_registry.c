/*
 * What nvcc's generated code tells the runtime before main, or when a library is opened: fat binaries, and which host
 * stub or variable stands for which kernel or device variable of them. A module is loaded when one of them is used.
 */
#include <pthread.h>
#include <string.h>

#include "emu/shim/runtime.h"

struct image {
    const void *wrapper;
    struct shim_module *module;
    int load_code;
    bool loaded;
    struct image *next;
};

struct kernel {
    struct image *image;
    const void *stub;
    char *name;
    struct shim_function *function; /* NULL: not resolved yet */
    struct kernel *next;
};

struct variable {
    struct image *image;
    const void *host;
    void **managed; /* pointer that host code goes through, or NULL */
    char *name;
    struct variable *next;
};

/* One registry a process, as the generated code has no handle to pass. */
static struct {
    pthread_mutex_t lock;
    struct image *images;
    struct kernel *kernels;
    struct variable *variables;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void unlock(bool *locked)
{
    (void)locked;
    (void)pthread_mutex_unlock(&registry.lock);
}

#define REGISTRY_LOCKED CLEANUP(unlock) bool locked = !pthread_mutex_lock(&registry.lock)

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_function, const char *name, int thread_limit,
                            void *tid, void *bid, void *block, void *grid, int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern, size_t bytes,
                       int is_constant, int is_global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int is_extern, size_t bytes,
                              int is_constant, int is_global);
void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes);
void __cudaRegisterUnifiedTable(void **handle, void *table);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub);

static void *require(void *memory)
{
    if (memory)
        return memory;
    (void)fputs("ptxbench emulator: out of memory while a program registers its kernels\n", stderr);
    abort();
}

void **__cudaRegisterFatBinary(void *wrapper)
{
    REGISTRY_LOCKED;
    struct image *image = require(calloc(1, sizeof *image));

    (void)locked;
    image->wrapper = wrapper;
    image->next = registry.images;
    registry.images = image;
    return (void **)image;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaRegisterFunction(void **handle, const char *stub, char *device_function, const char *name, int thread_limit,
                            void *tid, void *bid, void *block, void *grid, int *warp_size)
{
    REGISTRY_LOCKED;
    struct kernel *kernel = require(calloc(1, sizeof *kernel));

    (void)locked;
    (void)device_function;
    (void)thread_limit;
    (void)tid;
    (void)bid;
    (void)block;
    (void)grid;
    (void)warp_size;
    *kernel = (struct kernel){(struct image *)handle, stub, require(strdup(name)), NULL, registry.kernels};
    registry.kernels = kernel;
}

static void add_variable(void **handle, const void *host, void **managed, const char *name)
{
    REGISTRY_LOCKED;
    struct variable *variable = require(calloc(1, sizeof *variable));

    (void)locked;
    *variable = (struct variable){(struct image *)handle, host, managed, require(strdup(name)), registry.variables};
    registry.variables = variable;
}

void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int is_extern, size_t bytes,
                       int is_constant, int is_global)
{
    (void)device;
    (void)is_extern;
    (void)bytes;
    (void)is_constant;
    (void)is_global;
    add_variable(handle, host, NULL, name);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int is_extern, size_t bytes,
                              int is_constant, int is_global)
{
    (void)device;
    (void)is_extern;
    (void)bytes;
    (void)is_constant;
    (void)is_global;
    add_variable(handle, host, host, name);
}

void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t bytes)
{
    (void)handle;
    (void)host;
    (void)bytes;
    (void)shim_refuse(cudaErrorNotSupported, "__cudaRegisterHostVar (%s) is not emulated", name);
}

void __cudaRegisterUnifiedTable(void **handle, void *table)
{
    (void)handle;
    (void)table;
}

static int load_image(struct image *image)
{
    if (!image->loaded) {
        image->loaded = true;
        image->load_code = shim_module_load(image->wrapper, &image->module);
    }
    return image->load_code;
}

/* Called before the first use of a managed variable: gives host code the addresses. */
char __cudaInitModule(void **handle)
{
    struct image *image = (struct image *)handle;
    size_t bytes;

    if (runtime_enter(false))
        return 0;
    REGISTRY_LOCKED;
    (void)locked;
    if (load_image(image))
        return 0;
    for (struct variable *at = registry.variables; at; at = at->next)
        if (at->image == image && at->managed && shim_module_variable(image->module, at->name, at->managed, &bytes))
            return 0;
    return 1;
}

static void drop_kernels(const struct image *image)
{
    for (struct kernel **slot = &registry.kernels; *slot;) {
        struct kernel *kernel = *slot;
        if (kernel->image != image) {
            slot = &kernel->next;
            continue;
        }
        *slot = kernel->next;
        free(kernel->name);
        free(kernel);
    }
}

static void drop_variables(const struct image *image)
{
    for (struct variable **slot = &registry.variables; *slot;) {
        struct variable *variable = *slot;
        if (variable->image != image) {
            slot = &variable->next;
            continue;
        }
        *slot = variable->next;
        free(variable->name);
        free(variable);
    }
}

void __cudaUnregisterFatBinary(void **handle)
{
    REGISTRY_LOCKED;
    struct image *image = (struct image *)handle;

    (void)locked;
    for (struct image **slot = &registry.images; *slot; slot = &(*slot)->next) {
        if (*slot != image)
            continue;
        *slot = image->next;
        drop_kernels(image);
        drop_variables(image);
        if (image->module && shim_module_unload(image->module))
            (void)fputs("ptxbench emulator: a module was unloaded twice\n", stderr);
        free(image);
        return;
    }
}

static struct kernel *find_kernel(const void *symbol)
{
    for (struct kernel *at = registry.kernels; at; at = at->next)
        if (at->stub == symbol || (const void *)at == symbol)
            return at;
    return NULL;
}

/* A handle for launches alone: resolved at the launch, so that errors come from there. */
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *stub)
{
    REGISTRY_LOCKED;

    (void)locked;
    *kernel = (cudaKernel_t)find_kernel(stub);
    return *kernel ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

int runtime_function(const void *symbol, struct shim_function **out)
{
    struct shim_function_facts facts;
    REGISTRY_LOCKED;
    struct kernel *kernel = find_kernel(symbol);

    (void)locked;
    if (!kernel) {
        *out = (struct shim_function *)(uintptr_t)symbol;
        return symbol && !shim_function_facts(*out, &facts) ? cudaSuccess : cudaErrorInvalidDeviceFunction;
    }
    if (!kernel->function) {
        int code = load_image(kernel->image);
        if (!code && shim_module_function(kernel->image->module, kernel->name, &kernel->function))
            code = shim_refuse(cudaErrorInvalidDeviceFunction, "the program's PTX lacks the kernel %s", kernel->name);
        if (code)
            return code;
    }
    *out = kernel->function;
    return cudaSuccess;
}

int runtime_variable(const void *symbol, void **address, size_t *bytes)
{
    REGISTRY_LOCKED;

    (void)locked;
    for (struct variable *at = registry.variables; at; at = at->next) {
        if (at->host != symbol && !(at->managed && *at->managed == symbol))
            continue;
        int code = load_image(at->image);
        if (code)
            return code;
        return shim_module_variable(at->image->module, at->name, address, bytes) ? cudaErrorInvalidSymbol : cudaSuccess;
    }
    return cudaErrorInvalidSymbol;
}
