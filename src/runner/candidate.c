#define _GNU_SOURCE
#include "runner/candidate.h"

#include <dlfcn.h>
#include <ptxbench/candidate.h>
#include <string.h>
#include <tvm/ffi/c_api.h>

#include "base/arena.h"
#include "base/resource.h"
#include "device/dynamic.h"

typedef int (*c_entry)(const ptxbench_arg *, int, void *);

struct candidate {
    void *object;
    enum runner_binding binding;
    int ordinal;
    union {
        TVMFFISafeCallType tvm_ffi;
        c_entry c;
        void *symbol;
    } entry;
};

/* What of TVM-FFI reports errors; filled by candidate_preload_libraries. */
static struct {
    void *library;
    void (*move_raised)(TVMFFIObjectHandle *);
    int (*release)(TVMFFIObjectHandle);
} tvm_ffi;

static void preload_tvm_ffi(void)
{
    AUTO_ARENA *arena = arena_new();
    const char *own = getenv("PTXBENCH_TVM_FFI");
    const char *folder = own && *own ? own : resource_find(arena, "tvm_ffi");
    const char *path = folder ? arena_printf(arena, "%s/lib/libtvm_ffi.so", folder) : "libtvm_ffi.so";

    tvm_ffi.library = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (!tvm_ffi.library)
        return;
    *(void **)&tvm_ffi.move_raised = dlsym(tvm_ffi.library, "TVMFFIErrorMoveFromRaised");
    *(void **)&tvm_ffi.release = dlsym(tvm_ffi.library, "TVMFFIObjectDecRef");
}

bool candidate_preload_libraries(struct error *error)
{
    void *runtime;

    preload_tvm_ffi();
    return dynamic_open("libcudart.so.13", true,
                        "install CUDA 13's runtime (package cuda-cudart-13-0) or set PTXBENCH_CUDA_LIB to its folder",
                        &runtime, error);
}

bool candidate_load(const char *path, const char *entry, enum runner_binding binding, int ordinal,
                    struct candidate **out, struct error *error)
{
    if (binding == RUNNER_BINDING_TVM_FFI && !tvm_ffi.move_raised)
        return error_set(error, ERROR_UNSUPPORTED, "libtvm_ffi.so is not installed beside the runner");
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        return error_set(error, ERROR_INPUT, "the object does not load: %s", dlerror());
    void *symbol = dlsym(object, entry);
    if (!symbol) {
        (void)dlclose(object);
        return error_set(error, ERROR_INPUT, "the object does not export %s", entry);
    }
    struct candidate *candidate = calloc(1, sizeof *candidate);
    if (!candidate)
        return error_set(error, ERROR_MEMORY, "candidate: out of memory");
    *candidate = (struct candidate){.object = object, .binding = binding, .ordinal = ordinal, .entry.symbol = symbol};
    *out = candidate;
    return true;
}

static int call_c(const struct candidate *candidate, const struct candidate_argument *arguments, int count, char *text,
                  size_t text_bytes)
{
    ptxbench_arg values[CHANNEL_MAX_ARGUMENTS] = {0};

    for (int i = 0; i < count; i++) {
        const struct message_argument *spec = arguments[i].spec;
        bool scalar = spec->kind == ARGUMENT_SCALAR;
        values[i].data = scalar ? NULL : (void *)arguments[i].address;
        values[i].shape = spec->dims;
        values[i].rank = scalar ? -1 : spec->rank;
        values[i].dtype = spec->dtype;
        if (scalar && dtype_is_float((enum dtype)spec->dtype))
            values[i].scalar.real = spec->real;
        else if (scalar)
            values[i].scalar.integer = spec->integer;
    }
    int code = candidate->entry.c(values, count, NULL);
    if (code)
        (void)snprintf(text, text_bytes, "ptxbench_run returned %d", code);
    return code;
}

static void describe_raised(char *text, size_t text_bytes)
{
    TVMFFIObjectHandle raised = NULL;

    tvm_ffi.move_raised(&raised);
    if (!raised) {
        (void)snprintf(text, text_bytes, "the entry failed without an error object");
        return;
    }
    /* An error object is its header followed by the cell (tvm/ffi/c_api.h). */
    const TVMFFIErrorCell *cell = (const TVMFFIErrorCell *)((const char *)raised + sizeof(TVMFFIObject));
    (void)snprintf(text, text_bytes, "%.*s: %.*s", (int)cell->kind.size, cell->kind.data, (int)cell->message.size,
                   cell->message.data);
    (void)tvm_ffi.release(raised);
}

static void set_tensor(DLTensor *tensor, int64_t strides[TENSOR_MAX_RANK], const struct candidate_argument *argument,
                       int ordinal)
{
    const struct message_argument *spec = argument->spec;
    int bits = dtype_bits((enum dtype)spec->dtype);
    int64_t stride = 1;

    for (int d = spec->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= spec->dims[d];
    }
    *tensor = (DLTensor){
        .data = (void *)argument->address,
        .device = {.device_type = kDLCUDA, .device_id = ordinal},
        .ndim = spec->rank,
        .dtype = {.code = (uint8_t)dtype_dlpack_code((enum dtype)spec->dtype), .bits = (uint8_t)bits, .lanes = 1},
        .shape = (int64_t *)spec->dims,
        .strides = strides,
    };
}

static int call_tvm_ffi(const struct candidate *candidate, const struct candidate_argument *arguments, int count,
                        char *text, size_t text_bytes)
{
    TVMFFIAny values[CHANNEL_MAX_ARGUMENTS];
    DLTensor tensors[CHANNEL_MAX_ARGUMENTS];
    int64_t strides[CHANNEL_MAX_ARGUMENTS][TENSOR_MAX_RANK];
    TVMFFIAny result = {.type_index = kTVMFFINone};

    memset(values, 0, sizeof values);
    for (int i = 0; i < count; i++) {
        const struct message_argument *spec = arguments[i].spec;
        if (spec->kind != ARGUMENT_SCALAR) {
            set_tensor(&tensors[i], strides[i], &arguments[i], candidate->ordinal);
            values[i].type_index = kTVMFFIDLTensorPtr;
            values[i].v_ptr = &tensors[i];
        } else if (dtype_is_float((enum dtype)spec->dtype)) {
            values[i].type_index = kTVMFFIFloat;
            values[i].v_float64 = spec->real;
        } else {
            values[i].type_index = spec->dtype == DTYPE_BOOL ? kTVMFFIBool : kTVMFFIInt;
            values[i].v_int64 = spec->integer;
        }
    }
    int code = candidate->entry.tvm_ffi(NULL, values, count, &result);
    if (code)
        describe_raised(text, text_bytes);
    return code;
}

int candidate_call(struct candidate *candidate, const struct candidate_argument *arguments, int count, char *text,
                   size_t text_bytes)
{
    return candidate->binding == RUNNER_BINDING_C ? call_c(candidate, arguments, count, text, text_bytes)
                                                  : call_tvm_ffi(candidate, arguments, count, text, text_bytes);
}
