/* Memory of the device: allocation, pinned and managed memory, copies and fills, all checked against the table. */
#include <string.h>
#include <sys/mman.h>

#include "emu/shim/shim_internal.h"

enum { CLOCK_STEP_NS = 1000 };

static struct shim_range *range_at(struct shim_state *state, const void *address)
{
    for (struct shim_range *range = state->ranges; range; range = range->next)
        if ((uint64_t)(uintptr_t)address - range->address < range->bytes)
            return range;
    return NULL;
}

static bool range_add(struct shim_state *state, void *address, size_t bytes, enum shim_memory_kind kind, bool owned)
{
    struct shim_range *range = malloc(sizeof *range);

    if (!range)
        return false;
    *range = (struct shim_range){(uint64_t)(uintptr_t)address, bytes, kind, owned, state->ranges};
    state->ranges = range;
    return true;
}

static void range_remove(struct shim_state *state, struct shim_range *range)
{
    struct shim_range **slot = &state->ranges;

    while (*slot != range)
        slot = &(*slot)->next;
    *slot = range->next;
    free(range);
}

static size_t used_bytes(const struct shim_state *state)
{
    return emu_memory_live_bytes(state->memory);
}

/* Pinned memory: the program's pages, which kernels may use too. Zeroed, as fresh pages are. */
static int allocate_pinned(struct shim_state *state, size_t bytes, void **out)
{
    struct error error;
    void *address = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (address == MAP_FAILED)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (!emu_memory_register(state->memory, address, bytes, true, &error) ||
        !range_add(state, address, bytes, SHIM_PINNED_MEMORY, true)) {
        (void)munmap(address, bytes);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = address;
    return CUDA_SUCCESS;
}

int shim_allocate(size_t bytes, enum shim_memory_kind kind, void **out)
{
    SHIM_LOCKED *state = shim_lock();

    *out = NULL;
    if (!bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (bytes > state->options.memory_bytes || used_bytes(state) > state->options.memory_bytes - bytes)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (kind == SHIM_PINNED_MEMORY)
        return allocate_pinned(state, bytes, out);
    *out = emu_memory_allocate(state->memory, bytes);
    if (!*out)
        return CUDA_ERROR_OUT_OF_MEMORY;
    if (kind == SHIM_MANAGED_MEMORY && !range_add(state, *out, bytes, kind, false))
        return CUDA_ERROR_OUT_OF_MEMORY;
    return CUDA_SUCCESS;
}

int shim_free(void *address, enum shim_memory_kind kind, bool in_stream_order)
{
    SHIM_LOCKED *state = shim_lock();
    struct shim_range *range = range_at(state, address);
    bool pinned = range && range->kind == SHIM_PINNED_MEMORY;
    struct error error;

    if (!address)
        return CUDA_SUCCESS;
    if (pinned != (kind == SHIM_PINNED_MEMORY))
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE, "free of %p: it is %s", address,
                                  pinned ? "pinned host memory" : "not pinned host memory");
    if (pinned && (!range->owned || range->address != (uint64_t)(uintptr_t)address))
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE, "free of %p: it is not the start of an allocation",
                                  address);
    if (!emu_memory_release(state->memory, address, in_stream_order, &error))
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE, "%s", error.message);
    if (pinned)
        (void)munmap(address, (size_t)range->bytes);
    if (range)
        range_remove(state, range);
    return CUDA_SUCCESS;
}

int shim_host_register(void *address, size_t bytes, bool writable)
{
    SHIM_LOCKED *state = shim_lock();
    struct error error;

    if (!address || !bytes)
        return CUDA_ERROR_INVALID_VALUE;
    if (!emu_memory_register(state->memory, address, bytes, writable, &error))
        return shim_refuse_locked(state, CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "registering host memory: %s",
                                  error.message);
    return range_add(state, address, bytes, SHIM_PINNED_MEMORY, false) ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

int shim_host_unregister(void *address)
{
    SHIM_LOCKED *state = shim_lock();
    struct shim_range *range = range_at(state, address);
    struct error error;

    if (!range || range->owned || range->kind != SHIM_PINNED_MEMORY ||
        !emu_memory_release(state->memory, address, false, &error))
        return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
    range_remove(state, range);
    return CUDA_SUCCESS;
}

void shim_memory_info(size_t *free_bytes, size_t *total_bytes)
{
    SHIM_LOCKED *state = shim_lock();
    size_t used = used_bytes(state);
    size_t total = (size_t)state->options.memory_bytes;

    *total_bytes = total;
    *free_bytes = used < total ? total - used : 0;
}

void shim_find_locked(struct shim_state *state, const void *address, struct shim_pointer *out)
{
    struct emu_allocation found;
    const struct shim_range *range = range_at(state, address);

    *out = (struct shim_pointer){0};
    if (!emu_memory_find(state->memory, (uint64_t)(uintptr_t)address, &found) || !found.live)
        return;
    *out = (struct shim_pointer){
        .kind = range ? (int)range->kind : SHIM_DEVICE_MEMORY,
        .base = found.address,
        .bytes = found.bytes,
        .id = found.id,
        .writable = found.writable,
    };
}

void shim_pointer_find(const void *address, struct shim_pointer *out)
{
    SHIM_LOCKED *state = shim_lock();

    shim_find_locked(state, address, out);
}

static const char *fault_text(enum emu_access_fault fault)
{
    switch (fault) {
    case EMU_ACCESS_OK:
        return "is fine";
    case EMU_ACCESS_UNKNOWN:
        return "is no device memory";
    case EMU_ACCESS_OUT_OF_BOUNDS:
        return "leaves its allocation";
    case EMU_ACCESS_FREED:
        return "is freed memory";
    case EMU_ACCESS_FREED_IN_STREAM:
        return "is memory that cudaFreeAsync has freed";
    case EMU_ACCESS_READ_ONLY:
        return "is mapped read-only";
    }
    return "is not accessible";
}

/* Whether `bytes` at `address` may be accessed; ordinary host memory is the program's own business. */
static int check_side(struct shim_state *state, const char *call, const char *role, const void *address, size_t bytes,
                      enum shim_side side, bool write)
{
    struct emu_allocation nearest = {0};
    struct shim_pointer found;
    size_t hint = 0;

    if (side != SHIM_DEVICE) {
        shim_find_locked(state, address, &found);
        if (found.kind == SHIM_UNKNOWN_MEMORY)
            return CUDA_SUCCESS;
    }
    enum emu_access_fault fault =
        emu_memory_check(state->memory, (uint64_t)(uintptr_t)address, bytes, write, &hint, &nearest);
    if (fault == EMU_ACCESS_OK)
        return CUDA_SUCCESS;
    if (nearest.bytes)
        return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE,
                                  "%s: %s %p (%zu bytes) %s: allocation %llu of %llu bytes at 0x%llx", call, role,
                                  address, bytes, fault_text(fault), (unsigned long long)nearest.id,
                                  (unsigned long long)nearest.bytes, (unsigned long long)nearest.address);
    return shim_refuse_locked(state, CUDA_ERROR_INVALID_VALUE, "%s: %s %p (%zu bytes) %s", call, role, address, bytes,
                              fault_text(fault));
}

int shim_copy(const char *call, const struct shim_copy *copy)
{
    SHIM_LOCKED *state = shim_lock();
    int code;

    if (!copy->width || !copy->height)
        return CUDA_SUCCESS;
    if (!copy->to || !copy->from ||
        (copy->height > 1 && (copy->to_pitch < copy->width || copy->from_pitch < copy->width)))
        return CUDA_ERROR_INVALID_VALUE;
    size_t to_bytes = (copy->height - 1) * copy->to_pitch + copy->width;
    size_t from_bytes = (copy->height - 1) * copy->from_pitch + copy->width;
    if ((code = check_side(state, call, "destination", copy->to, to_bytes, copy->to_side, true)) ||
        (code = check_side(state, call, "source", copy->from, from_bytes, copy->from_side, false)))
        return code;
    if (state->fault)
        return CUDA_SUCCESS; /* a lost device does no work; whoever waits is told */
    SHIM_DEVICE_WORK *work = shim_open_mappings(state);
    for (size_t row = 0; row < copy->height; row++)
        memmove((char *)copy->to + row * copy->to_pitch, (const char *)copy->from + row * copy->from_pitch,
                copy->width);
    state->clock_ns += CLOCK_STEP_NS;
    return CUDA_SUCCESS;
}

static void fill_row(char *row, uint32_t value, size_t element_bytes, size_t count)
{
    if (element_bytes == 1) {
        memset(row, (int)(value & 0xff), count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        memcpy(row + i * element_bytes, &value, element_bytes); /* little endian: the low bytes come first */
}

int shim_fill(const char *call, void *to, size_t pitch, uint32_t value, size_t element_bytes, size_t count,
              size_t height)
{
    SHIM_LOCKED *state = shim_lock();
    size_t width;

    if (!count || !height)
        return CUDA_SUCCESS;
    if (__builtin_mul_overflow(count, element_bytes, &width) || (height > 1 && pitch < width) ||
        (uintptr_t)to % element_bytes)
        return CUDA_ERROR_INVALID_VALUE;
    int code = check_side(state, call, "destination", to, (height - 1) * pitch + width, SHIM_DEVICE, true);
    if (code || state->fault)
        return code;
    SHIM_DEVICE_WORK *work = shim_open_mappings(state);
    for (size_t row = 0; row < height; row++)
        fill_row((char *)to + row * pitch, value, element_bytes, count);
    state->clock_ns += CLOCK_STEP_NS;
    return CUDA_SUCCESS;
}
