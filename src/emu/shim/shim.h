/*
 * The emulated CUDA device of a process: what libcuda.so.1 and libcudart.so.13 stand on. It lives in libptxemu.so, once a
 * process, whichever of the two libraries the program talks to.
 *
 * Functions return a CUresult as int; the runtime's cudaError_t has the same values. Every function is thread-safe: one
 * lock holds the device. Work is done when it is enqueued, in that order, and streams do not run concurrently. What went
 * wrong is explained on standard error and in the findings file (shim_report.h); the code is what CUDA would return.
 *
 * After a kernel has failed, the device is lost for the rest of the process, as a CUDA context is: see shim_status.
 */
#ifndef PTXBENCH_EMU_SHIM_SHIM_H
#define PTXBENCH_EMU_SHIM_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attributes.h"

/* Creates the device at the first call. 0, or CUDA_ERROR_NO_DEVICE when the options are wrong (told once). */
MUST_CHECK int shim_start(void);

/* The code of the kernel that failed, or 0. A launch is asynchronous in CUDA, so its failure shows at the next call that
 * waits (`waits`), and from then on at every call. */
int shim_status(bool waits);

/* Nanoseconds of the device's clock. It is no measure of speed: 1 us for every operation and 1 ns for every warp
 * instruction, so that differences are positive, grow with the work, and are the same in every run. */
uint64_t shim_clock_ns(void);

/* CUdevice_attribute. False for one that is not known. */
bool shim_device_attribute(int attribute, int *out);
const char *shim_device_name(void);

/*
 * Memory. Device pointers are host pointers; kernels and copies may touch only what is in the table.
 */
struct shim_pointer {
    int kind; /* enum shim_memory_kind */
    uint64_t base;
    uint64_t bytes;
    uint64_t id;
    bool writable;
};
enum shim_memory_kind { SHIM_UNKNOWN_MEMORY, SHIM_DEVICE_MEMORY, SHIM_PINNED_MEMORY, SHIM_MANAGED_MEMORY };

MUST_CHECK int shim_allocate(size_t bytes, enum shim_memory_kind kind, void **out);
MUST_CHECK int shim_free(void *address, enum shim_memory_kind kind, bool in_stream_order);
/* Lets kernels read (and write) memory that the program owns. */
MUST_CHECK int shim_host_register(void *address, size_t bytes, bool writable);
MUST_CHECK int shim_host_unregister(void *address);
void shim_memory_info(size_t *free_bytes, size_t *total_bytes);
/* Which memory an address lies in; SHIM_UNKNOWN_MEMORY: ordinary host memory, or none. */
void shim_pointer_find(const void *address, struct shim_pointer *out);

enum shim_side { SHIM_HOST, SHIM_DEVICE, SHIM_EITHER /* found out by the address */ };

struct shim_copy {
    void *to;
    const void *from;
    enum shim_side to_side, from_side;
    size_t width, height; /* bytes, rows */
    size_t to_pitch, from_pitch;
};
/* `call` is the API function for messages. Rows may overlap. CUDA_ERROR_INVALID_VALUE when a row leaves its memory. */
MUST_CHECK int shim_copy(const char *call, const struct shim_copy *copy);
/* Fills `height` rows of `count` elements of `element_bytes` (1, 2, 4) with the low bytes of `value`. */
MUST_CHECK int shim_fill(const char *call, void *to, size_t pitch, uint32_t value, size_t element_bytes, size_t count,
                         size_t height);

/*
 * Virtual memory management: a memfd for every physical allocation, shared between processes by its descriptor.
 */
enum { SHIM_PAGE_BYTES = 2 << 20 }; /* granularity, as the H100's */
enum shim_rights { SHIM_NO_ACCESS = 0, SHIM_READ = 1, SHIM_READ_WRITE = 3 };

MUST_CHECK int shim_physical_new(size_t bytes, uint64_t *handle);
MUST_CHECK int shim_physical_import(int fd, uint64_t *handle); /* duplicates fd */
MUST_CHECK int shim_physical_export(uint64_t handle, int *fd); /* the caller's */
MUST_CHECK int shim_physical_retain(const void *address, uint64_t *handle);
MUST_CHECK int shim_physical_release(uint64_t handle); /* mappings keep the memory */
MUST_CHECK int shim_reserve(size_t bytes, size_t alignment, void *wish, void **out);
MUST_CHECK int shim_unreserve(void *address, size_t bytes);
MUST_CHECK int shim_map(void *address, size_t bytes, size_t offset, uint64_t handle);
MUST_CHECK int shim_unmap(void *address, size_t bytes);
MUST_CHECK int shim_set_access(void *address, size_t bytes, enum shim_rights rights);
MUST_CHECK int shim_get_access(const void *address, enum shim_rights *rights);

/*
 * Streams and events. NULL and the handles 1 (legacy) and 2 (per thread) are default streams.
 */
struct shim_stream;
struct shim_event;

MUST_CHECK int shim_stream_new(unsigned flags, int priority, struct shim_stream **out);
MUST_CHECK int shim_stream_free(struct shim_stream *stream);
/* 0, or CUDA_ERROR_INVALID_HANDLE. Outputs may be NULL. */
MUST_CHECK int shim_stream_query(const struct shim_stream *stream, unsigned *flags, int *priority, uint64_t *id);
MUST_CHECK int shim_event_new(unsigned flags, struct shim_event **out);
MUST_CHECK int shim_event_free(struct shim_event *event);
MUST_CHECK int shim_event_record(struct shim_event *event, const struct shim_stream *stream);
MUST_CHECK int shim_event_query(const struct shim_event *event);
/* CUDA_ERROR_INVALID_HANDLE for an event that is not recorded or has no timing. */
MUST_CHECK int shim_event_elapsed(const struct shim_event *start, const struct shim_event *end, float *milliseconds);

/*
 * Modules and kernels.
 */
struct shim_module;
struct shim_function;

/* PTX text, a fat binary, or the wrapper that nvcc puts around one. Borrows nothing afterwards. An image without PTX for
 * the device is CUDA_ERROR_NO_BINARY_FOR_GPU; PTX that does not parse CUDA_ERROR_INVALID_PTX. */
MUST_CHECK int shim_module_load(const void *image, struct shim_module **out);
MUST_CHECK int shim_module_unload(struct shim_module *module);
MUST_CHECK int shim_module_function(struct shim_module *module, const char *name, struct shim_function **out);
MUST_CHECK int shim_module_variable(struct shim_module *module, const char *name, void **address, size_t *bytes);

struct shim_function_facts {
    const char *name; /* mangled; borrowed from the module */
    uint32_t max_threads;
    uint32_t shared_bytes;       /* static */
    uint32_t shared_optin_bytes; /* most dynamic bytes that a launch may ask for */
    uint32_t cluster[3];         /* required; 0: none */
    uint32_t parameter_count;
    bool any_cluster_size; /* the non-portable attribute */
    int ptx_version;       /* 90 */
    int preferred_carveout;
};
MUST_CHECK int shim_function_facts(struct shim_function *function, struct shim_function_facts *out);
/* CUfunction_attribute; those that make no difference here are accepted. */
MUST_CHECK int shim_function_set(struct shim_function *function, int attribute, int value);
/* Byte offset and size of a parameter in the parameter buffer. */
MUST_CHECK int shim_function_parameter(struct shim_function *function, size_t index, size_t *offset, size_t *bytes);

struct shim_launch {
    struct shim_function *function;
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* 0, 0, 0: what the kernel requires */
    uint32_t shared_bytes;
    bool cooperative;
    const struct shim_stream *stream;
    void *const *parameters; /* pointers to the values; or NULL, then: */
    const void *buffer;      /* all of them as laid out in memory */
    size_t buffer_bytes;
};

/* As the runtime: 9 (invalid configuration) for impossible dimensions. A kernel that fails returns 0 here. */
MUST_CHECK int shim_launch(const struct shim_launch *launch);

/* The same from the driver's launch configuration. Attributes that only concern speed are ignored; programmatic launches run
 * one behind the other; events of a launch are recorded; unknown attributes are CUDA_ERROR_NOT_SUPPORTED. */
struct CUlaunchConfig_st;
MUST_CHECK int shim_launch_config(const struct CUlaunchConfig_st *config, struct shim_function *function,
                                  void **parameters, void **extra);

/* Resident blocks per multiprocessor by threads and shared memory (registers are not known to the emulator). */
MUST_CHECK int shim_occupancy(struct shim_function *function, uint32_t threads, size_t shared_bytes, int *blocks);

/*
 * Tensor maps: the arguments of cuTensorMapEncodeTiled in `tensor_map_arguments` (emu/tensor_map.h).
 */
struct tensor_map_arguments;
MUST_CHECK int shim_tensor_map_encode(void *map, const struct tensor_map_arguments *arguments);
MUST_CHECK int shim_tensor_map_replace_address(void *map, const void *address);

/* Tells that the API function is not emulated. Returns CUDA_ERROR_NOT_SUPPORTED. */
enum { SHIM_NOT_SUPPORTED = 801 };
int shim_unsupported(const char *function);

/* Explains a refused call ("cudaMemcpy: ..."); returns `code`. */
int shim_refuse(int code, const char *format, ...) PRINTF_LIKE(2, 3);

/* Names and text of an error code: "CUDA_ERROR_ILLEGAL_ADDRESS", "cudaErrorIllegalAddress"; NULL when not known. */
const char *shim_error_driver_name(int code);
const char *shim_error_runtime_name(int code);
const char *shim_error_text(int code);

#endif
