/*
 * Virtual memory management. Physical memory is a memfd, so that its descriptor carries it to another process; a mapping
 * is a shared mapping of it, with the rights that cuMemSetAccess gave, both for the host's pages and in the emulator's
 * table. Rights are those of a mapping: whoever holds the descriptor may map it again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "emu/shim/shim_internal.h"

static struct shim_physical *physical_of(const struct shim_state *state, uint64_t handle)
{
    for (struct shim_physical *at = state->physicals; at; at = at->next)
        if ((uint64_t)(uintptr_t)at == handle && !at->released)
            return at;
    return NULL;
}

static void physical_drop(struct shim_state *state, struct shim_physical *physical)
{
    struct shim_physical **slot = &state->physicals;

    if (--physical->references)
        return;
    while (*slot != physical)
        slot = &(*slot)->next;
    *slot = physical->next;
    (void)close(physical->fd);
    free(physical);
}

/* Takes fd. */
static int physical_add(struct shim_state *state, int fd, size_t bytes, uint64_t *handle)
{
    struct shim_physical *physical = malloc(sizeof *physical);

    if (!physical) {
        (void)close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *physical = (struct shim_physical){.fd = fd, .bytes = bytes, .references = 1, .next = state->physicals};
    state->physicals = physical;
    *handle = (uint64_t)(uintptr_t)physical;
    return CUDA_SUCCESS;
}

int shim_physical_new(size_t bytes, uint64_t *handle)
{
    SHIM_LOCKED *state = shim_lock();

    if (!bytes || bytes % SHIM_PAGE_BYTES)
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE, "cuMemCreate: %zu bytes is no multiple of 2 MiB",
                                  bytes);
    if (bytes > state->options.memory_bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    int fd = memfd_create("ptxbench-emulator", MFD_CLOEXEC);
    if (fd < 0)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (ftruncate(fd, (off_t)bytes)) {
        (void)close(fd);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    return physical_add(state, fd, bytes, handle);
}

int shim_physical_import(int fd, uint64_t *handle)
{
    SHIM_LOCKED *state = shim_lock();
    struct stat facts;

    if (fstat(fd, &facts) || !S_ISREG(facts.st_mode) || facts.st_size <= 0 || facts.st_size % SHIM_PAGE_BYTES)
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE,
                                  "cuMemImportFromShareableHandle: descriptor %d is no memory of the emulator", fd);
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (own < 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    return physical_add(state, own, (size_t)facts.st_size, handle);
}

int shim_physical_export(uint64_t handle, int *fd)
{
    SHIM_LOCKED *state = shim_lock();
    const struct shim_physical *physical = physical_of(state, handle);

    if (!physical)
        return CUDA_ERROR_INVALID_VALUE;
    *fd = fcntl(physical->fd, F_DUPFD_CLOEXEC, 3);
    return *fd < 0 ? CUDA_ERROR_OPERATING_SYSTEM : CUDA_SUCCESS;
}

static struct shim_mapping *mapping_at(const struct shim_state *state, const void *address)
{
    for (struct shim_mapping *at = state->mappings; at; at = at->next)
        if ((uint64_t)(uintptr_t)address - at->address < at->bytes)
            return at;
    return NULL;
}

int shim_physical_retain(const void *address, uint64_t *handle)
{
    SHIM_LOCKED *state = shim_lock();
    const struct shim_mapping *mapping = mapping_at(state, address);

    if (!mapping)
        return CUDA_ERROR_INVALID_VALUE;
    mapping->physical->references++;
    mapping->physical->released = false;
    *handle = (uint64_t)(uintptr_t)mapping->physical;
    return CUDA_SUCCESS;
}

/* A handle that was retained twice is released twice; the flag only hides it once no handle is left. */
int shim_physical_release(uint64_t handle)
{
    SHIM_LOCKED *state = shim_lock();
    struct shim_physical *physical = physical_of(state, handle);
    unsigned mapped = 0;

    if (!physical)
        return CUDA_ERROR_INVALID_VALUE;
    for (const struct shim_mapping *at = state->mappings; at; at = at->next)
        mapped += at->physical == physical;
    physical->released = physical->references - 1 == mapped;
    physical_drop(state, physical);
    return CUDA_SUCCESS;
}

int shim_reserve(size_t bytes, size_t alignment, void *wish, void **out)
{
    SHIM_LOCKED *state = shim_lock();
    size_t align = alignment > SHIM_PAGE_BYTES ? alignment : SHIM_PAGE_BYTES;
    size_t total;

    if (!bytes || bytes % SHIM_PAGE_BYTES || (align & (align - 1)) || __builtin_add_overflow(bytes, align, &total))
        return CUDA_ERROR_INVALID_VALUE;
    (void)wish; /* a hint */
    char *raw = mmap(NULL, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    char *aligned = (char *)(((uintptr_t)raw + align - 1) & ~(uintptr_t)(align - 1));
    size_t before = (size_t)(aligned - raw);
    size_t behind = align - before;
    if (before)
        (void)munmap(raw, before);
    if (behind)
        (void)munmap(aligned + bytes, behind);
    struct shim_reservation *reservation = malloc(sizeof *reservation);
    if (!reservation) {
        (void)munmap(aligned, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *reservation = (struct shim_reservation){(uint64_t)(uintptr_t)aligned, bytes, state->reservations};
    state->reservations = reservation;
    *out = aligned;
    return CUDA_SUCCESS;
}

static bool overlaps(const struct shim_mapping *mapping, uint64_t address, uint64_t bytes)
{
    return mapping->address < address + bytes && address < mapping->address + mapping->bytes;
}

static bool is_mapped(const struct shim_state *state, uint64_t address, uint64_t bytes)
{
    for (const struct shim_mapping *at = state->mappings; at; at = at->next)
        if (overlaps(at, address, bytes))
            return true;
    return false;
}

int shim_unreserve(void *address, size_t bytes)
{
    SHIM_LOCKED *state = shim_lock();
    uint64_t start = (uint64_t)(uintptr_t)address;

    for (struct shim_reservation **slot = &state->reservations; *slot; slot = &(*slot)->next) {
        struct shim_reservation *found = *slot;
        if (found->address != start || found->bytes != bytes)
            continue;
        if (is_mapped(state, start, bytes))
            break;
        *slot = found->next;
        free(found);
        (void)munmap(address, bytes);
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
}

static bool is_reserved(const struct shim_state *state, uint64_t address, uint64_t bytes)
{
    for (const struct shim_reservation *at = state->reservations; at; at = at->next)
        if (address >= at->address && bytes <= at->bytes && address - at->address <= at->bytes - bytes)
            return true;
    return false;
}

int shim_map(void *address, size_t bytes, size_t offset, uint64_t handle)
{
    SHIM_LOCKED *state = shim_lock();
    struct shim_physical *physical = physical_of(state, handle);
    uint64_t start = (uint64_t)(uintptr_t)address;

    if (!physical || !bytes || (start | bytes | offset) % SHIM_PAGE_BYTES || bytes > physical->bytes ||
        offset > physical->bytes - bytes || !is_reserved(state, start, bytes) || is_mapped(state, start, bytes))
        return CUDA_ERROR_INVALID_VALUE;
    struct shim_mapping *mapping = malloc(sizeof *mapping);
    if (!mapping)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (mmap(address, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->fd, (off_t)offset) == MAP_FAILED) {
        free(mapping);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *mapping = (struct shim_mapping){start, bytes, physical, SHIM_NO_ACCESS, state->mappings};
    physical->references++;
    state->mappings = mapping;
    return CUDA_SUCCESS;
}

static int protection_of(enum shim_rights rights)
{
    return rights == SHIM_READ_WRITE ? PROT_READ | PROT_WRITE : rights == SHIM_READ ? PROT_READ : PROT_NONE;
}

static void protect_all(const struct shim_state *state, bool open)
{
    for (const struct shim_mapping *at = state->mappings; at && state->options.guard; at = at->next)
        (void)mprotect((void *)(uintptr_t)at->address, (size_t)at->bytes, open ? protection_of(at->rights) : PROT_NONE);
}

struct shim_state *shim_open_mappings(struct shim_state *state)
{
    protect_all(state, true);
    return state;
}

void shim_close_mappings(struct shim_state **state)
{
    protect_all(*state, false);
}

/* Gives a mapping its rights, on the host's pages and in the emulator's table. */
static int apply_rights(struct shim_state *state, struct shim_mapping *mapping, enum shim_rights rights)
{
    void *address = (void *)(uintptr_t)mapping->address;
    struct error error;

    if (mprotect(address, (size_t)mapping->bytes, protection_of(rights)))
        return errno == EACCES ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_OPERATING_SYSTEM;
    if (state->options.guard)
        (void)mprotect(address, (size_t)mapping->bytes, PROT_NONE);
    if (mapping->rights != SHIM_NO_ACCESS && !emu_memory_release(state->memory, address, false, &error))
        return CUDA_ERROR_UNKNOWN;
    mapping->rights = SHIM_NO_ACCESS;
    if (rights != SHIM_NO_ACCESS &&
        !emu_memory_register(state->memory, address, (size_t)mapping->bytes, rights == SHIM_READ_WRITE, &error))
        return CUDA_ERROR_OUT_OF_MEMORY;
    mapping->rights = rights;
    return CUDA_SUCCESS;
}

int shim_set_access(void *address, size_t bytes, enum shim_rights rights)
{
    SHIM_LOCKED *state = shim_lock();
    uint64_t start = (uint64_t)(uintptr_t)address;
    uint64_t covered = 0;

    for (struct shim_mapping *at = state->mappings; at; at = at->next)
        if (at->address >= start && at->address + at->bytes <= start + bytes)
            covered += at->bytes;
    if (!bytes || covered != bytes)
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE,
                                  "cuMemSetAccess: %zu bytes at %p are not whole mappings", bytes, address);
    for (struct shim_mapping *at = state->mappings; at; at = at->next) {
        if (at->address < start || at->address + at->bytes > start + bytes)
            continue;
        int code = apply_rights(state, at, rights);
        if (code)
            return code;
    }
    return CUDA_SUCCESS;
}

int shim_get_access(const void *address, enum shim_rights *rights)
{
    SHIM_LOCKED *state = shim_lock();
    const struct shim_mapping *mapping = mapping_at(state, address);

    if (!mapping)
        return CUDA_ERROR_INVALID_VALUE;
    *rights = mapping->rights;
    return CUDA_SUCCESS;
}

static int unmap_one(struct shim_state *state, struct shim_mapping **slot)
{
    struct shim_mapping *mapping = *slot;
    void *address = (void *)(uintptr_t)mapping->address;
    int code = apply_rights(state, mapping, SHIM_NO_ACCESS);

    if (code)
        return code;
    if (mmap(address, (size_t)mapping->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        return CUDA_ERROR_OPERATING_SYSTEM;
    *slot = mapping->next;
    physical_drop(state, mapping->physical);
    free(mapping);
    return CUDA_SUCCESS;
}

int shim_unmap(void *address, size_t bytes)
{
    SHIM_LOCKED *state = shim_lock();
    uint64_t start = (uint64_t)(uintptr_t)address;
    uint64_t unmapped = 0;

    for (struct shim_mapping **slot = &state->mappings; *slot;) {
        const struct shim_mapping *mapping = *slot;
        if (mapping->address < start || mapping->address + mapping->bytes > start + bytes) {
            slot = &(*slot)->next;
            continue;
        }
        uint64_t size = mapping->bytes;
        int code = unmap_one(state, slot);
        if (code)
            return code;
        unmapped += size;
    }
    return unmapped == bytes ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
