/*
 * Memory of the emulated device: host memory behind an allocation table. Addresses are host addresses. Fresh memory is
 * filled with 0xff bytes (NaN in every float type).
 *
 * Freed allocations are remembered (the last 4096), so that a use after free is told from a wild address. "Stream-ordered"
 * frees (cudaFreeAsync) mark an allocation as freed in stream order: kernels launched later may not touch it.
 */
#ifndef PTXBENCH_EMU_MEMORY_H
#define PTXBENCH_EMU_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct emu_memory;

struct emu_memory *emu_memory_new(void);
void emu_memory_free(struct emu_memory *memory);

/* Allocates `bytes` aligned to 256 (512 MiB and more: to 2 MiB). NULL when out of memory. */
void *emu_memory_allocate(struct emu_memory *memory, size_t bytes);

/* Registers memory that belongs to somebody else (a shared mapping); `writable` as mapped. */
MUST_CHECK bool emu_memory_register(struct emu_memory *memory, void *address, size_t bytes, bool writable,
                                    struct error *error);

/* Frees or unregisters; `in_stream_order`: freed by cudaFreeAsync. ERROR_INPUT for an address that is not the start of a
 * live allocation, naming what it is instead (freed, inside another, unknown). */
MUST_CHECK bool emu_memory_release(struct emu_memory *memory, void *address, bool in_stream_order, struct error *error);

enum emu_access_fault {
    EMU_ACCESS_OK,
    EMU_ACCESS_UNKNOWN,       /* no allocation near */
    EMU_ACCESS_OUT_OF_BOUNDS, /* behind or before the nearest allocation */
    EMU_ACCESS_FREED,
    EMU_ACCESS_FREED_IN_STREAM,
    EMU_ACCESS_READ_ONLY
};

struct emu_allocation {
    uint64_t address;
    uint64_t bytes;
    uint64_t id; /* 1, 2, ... in order of allocation */
    bool live;
    bool writable;
    bool freed_in_stream;
    bool incomplete; /* written by a launch of which only some clusters ran */
};

/* A launch begins; `sampled`: only some of its clusters will run. Accesses that emu_memory_check allows count as its. */
void emu_memory_begin_launch(struct emu_memory *memory, bool sampled);

void emu_memory_end_launch(struct emu_memory *memory);

/* Whether a launch has read memory that a sampled launch, also itself, writes: then its result says nothing, because
 * what the clusters left out would have written is missing. */
bool emu_memory_depends_on_missing(const struct emu_memory *memory);
/* Somebody waits for memory to change, which a cluster that was left out might do. */
void emu_memory_assume_missing(struct emu_memory *memory);
/* All memory counts as whole again. */
void emu_memory_forget(struct emu_memory *memory);

/* Checks [address, address + bytes). Fast for repeated accesses to the same allocation (one-entry cache in `hint`, which
 * the caller zeroes once). On a fault `*nearest` (may be NULL) is the allocation that a message should name. */
enum emu_access_fault emu_memory_check(struct emu_memory *memory, uint64_t address, uint64_t bytes, bool write,
                                       size_t *hint, struct emu_allocation *nearest);

/* Allocation that holds the address; false when none does. */
bool emu_memory_find(const struct emu_memory *memory, uint64_t address, struct emu_allocation *out);

size_t emu_memory_live_bytes(const struct emu_memory *memory);

#endif
