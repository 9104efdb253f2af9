/* State of the emulated device and what its files share. Everything here is called with the lock held. */
#ifndef PTXBENCH_EMU_SHIM_SHIM_INTERNAL_H
#define PTXBENCH_EMU_SHIM_SHIM_INTERNAL_H

#include <cuda.h>
#include <pthread.h>

#include "base/arena.h"
#include "emu/emulator.h"
#include "emu/shim/shim.h"
#include "emu/shim_options.h"

struct shim_range { /* memory that needs more than the emulator's table knows */
    uint64_t address, bytes;
    enum shim_memory_kind kind;
    bool owned; /* by the device: unmapped when freed */
    struct shim_range *next;
};

struct shim_physical { /* one memfd; a handle is its address */
    int fd;
    size_t bytes;
    unsigned references; /* handles given out and mappings */
    bool released;
    struct shim_physical *next;
};

struct shim_mapping {
    uint64_t address, bytes;
    struct shim_physical *physical;
    enum shim_rights rights;
    struct shim_mapping *next;
};

struct shim_reservation {
    uint64_t address, bytes;
    struct shim_reservation *next;
};

struct shim_kernel_count { /* statistics of one kernel */
    char *name;
    uint64_t launches, warp_instructions, clusters;
    uint64_t *opcode_warps; /* PTX_OP_COUNT */
    struct shim_kernel_count *next;
};

struct shim_state {
    struct shim_options options;
    struct arena *arena; /* of the process: names */
    struct emulator *emulator;
    struct emu_memory *memory;
    int start_code;
    bool started;
    int fault; /* code of the kernel that failed */
    bool fault_shown;
    uint64_t clock_ns;
    uint64_t next_stream_id;
    size_t host_bytes; /* in ranges and mappings that count against the device */
    struct shim_range *ranges;
    struct shim_physical *physicals;
    struct shim_mapping *mappings;
    struct shim_reservation *reservations;
    struct shim_stream *streams;
    struct shim_event *events;
    struct shim_module *modules;
    struct shim_kernel_count *counts;
    size_t findings_told; /* of the emulator's list */
    unsigned refusals;
};

/* The one device of the process, locked; started by shim_start. */
struct shim_state *shim_lock(void);
void shim_unlock(struct shim_state **state);
#define SHIM_LOCKED CLEANUP(shim_unlock) struct shim_state

/* shim_pointer_find and shim_refuse for those that hold the lock. */
void shim_find_locked(struct shim_state *state, const void *address, struct shim_pointer *out);
int shim_refuse_locked(struct shim_state *state, int code, const char *format, ...) PRINTF_LIKE(3, 4);

/* Mapped device memory is the host's, too, only while the device works: between these two. */
struct shim_state *shim_open_mappings(struct shim_state *state);
void shim_close_mappings(struct shim_state **state);
#define SHIM_DEVICE_WORK __attribute__((unused)) CLEANUP(shim_close_mappings) struct shim_state

int shim_stream_check(const struct shim_state *state, const struct shim_stream *stream);
/* The handle of a live function, or false. */
bool shim_function_known(const struct shim_state *state, const struct shim_function *function);

/* Tells the findings that are new since the last call. */
void shim_report_findings(struct shim_state *state);
/* Tells one fact that is no finding of the emulator: "api_misuse", "unsupported". */
void shim_report_fact(struct shim_state *state, const char *class_text, const char *code, const char *message);
/* A kernel begins, for whoever wants to know why nothing more is heard. */
void shim_report_start(struct shim_state *state, const char *kernel);
/* `grid_clusters`: of the whole grid, run or not. */
void shim_report_launch(struct shim_state *state, const char *kernel, uint64_t grid_clusters,
                        const struct emulator_report *report);
void shim_report_exit(struct shim_state *state);

/* Modules (shim_module.c). */
struct shim_module {
    struct emulator_module *module;
    struct shim_function *functions;
    struct shim_module *next;
};

struct shim_function {
    struct shim_module *owner;
    char *name;
    int entry;
    const struct ptx_function *ptx;
    uint32_t shared_bytes;
    uint32_t shared_optin_bytes;
    bool any_cluster_size;
    int preferred_carveout;
    struct shim_function *next;
};

#endif
