#include "emu/memory.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FREED_MAX = 4096 };
#define HUGE_BYTES (UINT64_C(512) << 20)
#define NEAR_BYTES (UINT64_C(1) << 20) /* a fault this close to an allocation is blamed on it */

struct entry {
    struct emu_allocation public;
    bool owned;
    uint64_t last_read; /* launch */
};

struct emu_memory {
    struct entry *live; /* sorted by address */
    size_t count, capacity;
    struct emu_allocation freed[FREED_MAX]; /* ring */
    size_t freed_count;
    uint64_t next_id;
    size_t live_bytes;
    uint64_t launch; /* counts from 1 */
    bool sampled;
    bool depends_on_missing;
};

struct emu_memory *emu_memory_new(void)
{
    struct emu_memory *memory = calloc(1, sizeof *memory);

    if (memory)
        memory->next_id = 1;
    return memory;
}

void emu_memory_free(struct emu_memory *memory)
{
    if (!memory)
        return;
    for (size_t i = 0; i < memory->count; i++) {
        if (memory->live[i].owned)
            free((void *)(uintptr_t)memory->live[i].public.address);
    }
    free(memory->live);
    free(memory);
}

/* Index of the first live allocation that starts behind `address`. */
static size_t find_behind(const struct emu_memory *memory, uint64_t address)
{
    size_t low = 0, high = memory->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (memory->live[middle].public.address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool contains(const struct emu_allocation *allocation, uint64_t address, uint64_t bytes)
{
    uint64_t offset = address - allocation->address;

    return offset <= allocation->bytes && bytes <= allocation->bytes - offset;
}

static bool insert(struct emu_memory *memory, uint64_t address, size_t bytes, bool writable, bool owned)
{
    if (memory->count == memory->capacity) {
        size_t capacity = memory->capacity ? memory->capacity * 2 : 64;
        struct entry *live = realloc(memory->live, capacity * sizeof *live);

        if (!live)
            return false;
        memory->live = live;
        memory->capacity = capacity;
    }

    size_t at = find_behind(memory, address);

    memmove(&memory->live[at + 1], &memory->live[at], (memory->count - at) * sizeof *memory->live);
    memory->live[at] = (struct entry){
        .public = {.address = address, .bytes = bytes, .id = memory->next_id++, .live = true, .writable = writable},
        .owned = owned};
    memory->count++;
    memory->live_bytes += bytes;
    return true;
}

void *emu_memory_allocate(struct emu_memory *memory, size_t bytes)
{
    size_t align = bytes >= HUGE_BYTES ? (size_t)2 << 20 : 256;
    void *address = NULL;

    if (posix_memalign(&address, align, bytes ? bytes : 1))
        return NULL;
    memset(address, 0xff, bytes);
    if (!insert(memory, (uintptr_t)address, bytes, true, true)) {
        free(address);
        return NULL;
    }
    return address;
}

bool emu_memory_register(struct emu_memory *memory, void *address, size_t bytes, bool writable, struct error *error)
{
    uint64_t start = (uintptr_t)address;
    size_t at = find_behind(memory, start);
    bool before = at > 0 && memory->live[at - 1].public.address + memory->live[at - 1].public.bytes > start;
    bool behind = at < memory->count && memory->live[at].public.address - start < bytes;

    if (before || behind)
        return error_set(error, ERROR_INPUT, "register %zu bytes at %p: they overlap allocation %" PRIu64, bytes,
                         address, memory->live[before ? at - 1 : at].public.id);
    if (!insert(memory, start, bytes, writable, false))
        return error_set(error, ERROR_MEMORY, "register %zu bytes: out of memory", bytes);
    return true;
}

static const struct emu_allocation *find_freed(const struct emu_memory *memory, uint64_t address)
{
    size_t kept = memory->freed_count < FREED_MAX ? memory->freed_count : FREED_MAX;

    for (size_t i = 0; i < kept; i++) {
        const struct emu_allocation *freed = &memory->freed[(memory->freed_count - 1 - i) % FREED_MAX];

        if (address - freed->address < freed->bytes || address == freed->address)
            return freed;
    }
    return NULL;
}

static bool refuse_release(const struct emu_memory *memory, uint64_t address, size_t behind, struct error *error)
{
    const struct emu_allocation *freed = find_freed(memory, address);

    if (behind > 0 && contains(&memory->live[behind - 1].public, address, 1)) {
        const struct emu_allocation *inside = &memory->live[behind - 1].public;

        return error_set(error, ERROR_INPUT,
                         "free 0x%" PRIx64 ": it lies inside allocation %" PRIu64 ", which starts at 0x%" PRIx64,
                         address, inside->id, inside->address);
    }
    if (freed)
        return error_set(error, ERROR_INPUT, "free 0x%" PRIx64 ": allocation %" PRIu64 " has been freed already",
                         address, freed->id);
    return error_set(error, ERROR_INPUT, "free 0x%" PRIx64 ": no allocation is known there", address);
}

bool emu_memory_release(struct emu_memory *memory, void *address, bool in_stream_order, struct error *error)
{
    uint64_t start = (uintptr_t)address;
    size_t behind = find_behind(memory, start);

    if (behind == 0 || memory->live[behind - 1].public.address != start)
        return refuse_release(memory, start, behind, error);

    struct entry gone = memory->live[behind - 1];

    memmove(&memory->live[behind - 1], &memory->live[behind], (memory->count - behind) * sizeof *memory->live);
    memory->count--;
    memory->live_bytes -= gone.public.bytes;
    gone.public.live = false;
    gone.public.freed_in_stream = in_stream_order;
    memory->freed[memory->freed_count++ % FREED_MAX] = gone.public;
    if (gone.owned)
        free(address);
    return true;
}

/* The allocation that an address missed by least. */
static const struct emu_allocation *find_nearest(const struct emu_memory *memory, uint64_t address, size_t behind)
{
    const struct emu_allocation *below = behind > 0 ? &memory->live[behind - 1].public : NULL;
    const struct emu_allocation *above = behind < memory->count ? &memory->live[behind].public : NULL;
    uint64_t past = below ? address - (below->address + below->bytes) : UINT64_MAX;
    uint64_t short_of = above ? above->address - address : UINT64_MAX;

    if (below && contains(below, address, 0))
        return below;
    if (past <= short_of)
        return past <= NEAR_BYTES ? below : NULL;
    return short_of <= NEAR_BYTES ? above : NULL;
}

static enum emu_access_fault explain(const struct emu_memory *memory, uint64_t address, size_t behind,
                                     struct emu_allocation *nearest)
{
    const struct emu_allocation *freed = find_freed(memory, address);
    const struct emu_allocation *near = find_nearest(memory, address, behind);

    if (near && contains(near, address, 0))
        freed = NULL; /* it begins inside a live one */
    if (freed) {
        *nearest = *freed;
        return freed->freed_in_stream ? EMU_ACCESS_FREED_IN_STREAM : EMU_ACCESS_FREED;
    }
    if (!near)
        return EMU_ACCESS_UNKNOWN;
    *nearest = *near;
    return EMU_ACCESS_OUT_OF_BOUNDS;
}

void emu_memory_begin_launch(struct emu_memory *memory, bool sampled)
{
    memory->launch++;
    memory->sampled = sampled;
}

void emu_memory_end_launch(struct emu_memory *memory)
{
    memory->sampled = false;
}

bool emu_memory_depends_on_missing(const struct emu_memory *memory)
{
    return memory->depends_on_missing;
}

void emu_memory_assume_missing(struct emu_memory *memory)
{
    memory->depends_on_missing |= memory->sampled;
}

void emu_memory_forget(struct emu_memory *memory)
{
    memory->depends_on_missing = false;
    for (size_t i = 0; i < memory->count; i++)
        memory->live[i].public.incomplete = false;
}

/* Reads and writes of one sampled launch meet in either order: a cluster may wait for a flag that another one sets. */
static void note_access(struct emu_memory *memory, struct entry *entry, bool write)
{
    if (write && memory->sampled) {
        entry->public.incomplete = true;
        memory->depends_on_missing |= entry->last_read == memory->launch;
    } else if (!write) {
        entry->last_read = memory->launch;
        memory->depends_on_missing |= entry->public.incomplete;
    }
}

enum emu_access_fault emu_memory_check(struct emu_memory *memory, uint64_t address, uint64_t bytes, bool write,
                                       size_t *hint, struct emu_allocation *nearest)
{
    struct emu_allocation unused;

    if (!nearest)
        nearest = &unused;
    *nearest = (struct emu_allocation){0};
    if (*hint >= memory->count || !contains(&memory->live[*hint].public, address, bytes)) {
        size_t behind = find_behind(memory, address);

        if (behind == 0 || !contains(&memory->live[behind - 1].public, address, bytes))
            return explain(memory, address, behind, nearest);
        *hint = behind - 1;
    }
    *nearest = memory->live[*hint].public;
    if (write && !nearest->writable)
        return EMU_ACCESS_READ_ONLY;
    note_access(memory, &memory->live[*hint], write);
    return EMU_ACCESS_OK;
}

bool emu_memory_find(const struct emu_memory *memory, uint64_t address, struct emu_allocation *out)
{
    size_t behind = find_behind(memory, address);

    if (behind == 0 || !contains(&memory->live[behind - 1].public, address, 1))
        return false;
    *out = memory->live[behind - 1].public;
    return true;
}

size_t emu_memory_live_bytes(const struct emu_memory *memory)
{
    return memory->live_bytes;
}
