/*
 * A CUDA device as its worker sees it: one primary context, one stream, the project's own kernels, and memory that can
 * be shared with runners. All functions must be called from the thread that opened the device.
 *
 * Element counts are elements, sizes are bytes, times are nanoseconds unless a name says otherwise.
 */
#ifndef PTXBENCH_DEVICE_DEVICE_H
#define PTXBENCH_DEVICE_DEVICE_H

#include <stdint.h>

#include "base/error.h"
#include "device/compare_stats.h"
#include "device/cuda_driver.h"
#include "trace/dtype.h"

struct device;

struct device_info {
    char name[128]; /* "NVIDIA H200" */
    char uuid[41];  /* "GPU-xxxxxxxx-..." */
    char pci_bus_id[32];
    int ordinal;
    int major, minor; /* compute capability */
    int multiprocessors;
    int64_t l2_bytes;
    int max_clock_khz;          /* of the multiprocessors; 0: unknown */
    int64_t memory_bytes_per_s; /* theoretical; 0: unknown */
    int64_t memory_bytes;
    int driver_version; /* 13000 for CUDA 13.0 */
};

/* Opens "cuda:N", or "emu:sm_90a" in a process that has loaded the emulator's libraries. Returns a new device whose
 * context is current in the calling thread. */
MUST_CHECK bool device_open(const char *name, struct device **device, struct error *error);
void device_close(struct device *device); /* accepts NULL */

/* Whether a text has the form "cuda:N" or is an emulated device. */
bool device_name_is_valid(const char *name);

/* "cuda:N" of the first GPU that can run tasks, or "emu:sm_90a" when there is none. Static. */
const char *device_default_name(void);

/* The architecture of an emulated device ("sm_90a" of "emu:sm_90a"), or NULL. Borrows. */
const char *device_emulated_arch(const char *name);

const struct device_info *device_info(const struct device *device);
const struct cuda_driver *device_driver(const struct device *device);
CUstream device_stream(const struct device *device);

/* "sm_90a" or "sm_100a" for the device; NULL for other architectures. */
const char *device_target(const struct device *device);

/* Waits for the stream. */
MUST_CHECK bool device_synchronize(struct device *device, struct error *error);

MUST_CHECK bool device_free_bytes(struct device *device, int64_t *bytes, struct error *error);

/* Private memory of the worker. */
MUST_CHECK bool device_allocate(struct device *device, int64_t bytes, CUdeviceptr *out, struct error *error);
void device_release(struct device *device, CUdeviceptr address); /* accepts 0 */

MUST_CHECK bool device_read(struct device *device, void *host, CUdeviceptr from, int64_t bytes, struct error *error);
MUST_CHECK bool device_write(struct device *device, CUdeviceptr to, const void *host, int64_t bytes,
                             struct error *error);

/*
 * The operations below are enqueued on the device's stream and return at once.
 */

/* Element i becomes table_of(dtype)[random_bits(stream_of(seed, tensor_index), i) >> 48] (src/trace/random.h): the
 * same bytes on every device. */
MUST_CHECK bool device_fill_random(struct device *device, CUdeviceptr to, enum dtype dtype, int64_t count,
                                   uint64_t seed, int tensor_index, struct error *error);

/* Every byte becomes COMPARE_POISON_BYTE. */
MUST_CHECK bool device_poison(struct device *device, CUdeviceptr to, int64_t bytes, struct error *error);

/* Compares `count` elements; adds to `stats` (device memory that device_reset_stats prepared). */
MUST_CHECK bool device_compare(struct device *device, CUdeviceptr got, CUdeviceptr expected, enum dtype dtype,
                               int64_t count, const struct compare_rule *rule, CUdeviceptr stats, struct error *error);

/* The same mismatches, NaN and untouched elements among them, and the largest absolute error, without relative errors
 * and sums of squares: about twice as fast. */
MUST_CHECK bool device_check(struct device *device, CUdeviceptr got, CUdeviceptr expected, enum dtype dtype,
                             int64_t count, const struct compare_rule *rule, CUdeviceptr stats, struct error *error);
MUST_CHECK bool device_reset_stats(struct device *device, CUdeviceptr stats, int count, struct error *error);

/* Mismatches per COMPARE_TILE x COMPARE_TILE tile of a [rows, columns] matrix, added to zeroed uint32 `tiles`. */
MUST_CHECK bool device_count_tiles(struct device *device, CUdeviceptr got, CUdeviceptr expected, enum dtype dtype,
                                   int64_t rows, int64_t columns, const struct compare_rule *rule, CUdeviceptr tiles,
                                   struct error *error);

/* Adds the number of bytes that differ from the poison pattern to the uint64 at `touched`. */
MUST_CHECK bool device_count_touched(struct device *device, CUdeviceptr bytes, int64_t count, CUdeviceptr touched,
                                     struct error *error);

/* Evicts the L2 cache (writes twice its size). */
MUST_CHECK bool device_flush_l2(struct device *device, struct error *error);

/* Enqueues the marker kernel behind a call on the default stream, where candidates work. */
MUST_CHECK bool device_mark_call_end(struct device *device, struct error *error);

/*
 * Memory that a runner maps too: one physical allocation, exported as a file descriptor.
 */
struct shared_memory {
    CUdeviceptr address; /* mapping of this process */
    int64_t bytes;       /* mapped size: a multiple of the allocation granularity */
    int fd;              /* owned by the exporter until device_share_free; -1 in an importer */
    CUmemGenericAllocationHandle handle;
};

MUST_CHECK bool device_share_new(struct device *device, int64_t bytes, struct shared_memory *out, struct error *error);

/* Maps what a worker exported; `fd` stays the caller's. */
MUST_CHECK bool device_share_import(struct device *device, int fd, int64_t bytes, bool writable,
                                    struct shared_memory *out, struct error *error);
void device_share_free(struct device *device, struct shared_memory *memory);

#endif
