/* Checked access to the memory spaces for one lane. */
#include <inttypes.h>

#include "emu/hazard.h"
#include "emu/lanes.h"
#include "emu/machine.h"

bool emu_shared_is_written(const struct emu_cta *cta, uint32_t offset, uint32_t bytes)
{
    uint64_t missing = 0;

    while (bytes) {
        uint32_t bit = offset % 64;
        uint32_t here = bytes < 64 - bit ? bytes : 64 - bit;
        uint64_t ones = (here == 64 ? UINT64_MAX : (UINT64_C(1) << here) - 1) << bit;

        missing |= ~cta->shared_written[offset / 64] & ones;
        offset += here;
        bytes -= here;
        for (; bytes >= 64 && !missing; bytes -= 64, offset += 64)
            missing = ~cta->shared_written[offset / 64];
        if (missing)
            return false;
    }
    return true;
}

void emu_shared_mark(struct emu_cta *cta, uint32_t offset, uint32_t bytes)
{
    while (bytes) {
        uint32_t bit = offset % 64;
        uint32_t here = bytes < 64 - bit ? bytes : 64 - bit;
        uint64_t ones = here == 64 ? UINT64_MAX : (UINT64_C(1) << here) - 1;

        cta->shared_written[offset / 64] |= ones << bit;
        offset += here;
        bytes -= here;
    }
}

/* All bytes at once when they lie in one word of the bitmap: the common case. */
static bool is_written_fast(const struct emu_cta *cta, uint32_t offset, uint32_t bytes)
{
    uint32_t bit = offset % 64;

    if (bit + bytes > 64 || bytes == 64)
        return emu_shared_is_written(cta, offset, bytes);

    uint64_t ones = ((UINT64_C(1) << bytes) - 1) << bit;
    return (cta->shared_written[offset / 64] & ones) == ones;
}

static bool check_alignment(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                            uint32_t align, const char *space)
{
    if (!(address & (align - 1)))
        return true;
    (void)emu_report(warp, op, lane, EMU_MISALIGNED, "%s address 0x%" PRIx64 " of %u bytes is not a multiple of %u",
                     space, address, bytes, align);
    return false;
}

static struct emu_cta *find_owner(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address,
                                  bool any_cta)
{
    struct emu_cluster *cluster = warp->cta->cluster;
    uint64_t rank = address >> EMU_CTA_SHIFT;

    if (rank == warp->cta->rank)
        return warp->cta;
    if (any_cta && rank < cluster->cta_count)
        return &cluster->ctas[rank];
    if (rank < cluster->cta_count)
        (void)emu_report(warp, op, lane, EMU_SHARED_OUT_OF_BOUNDS,
                         "shared address 0x%" PRIx64 " belongs to CTA %" PRIu64
                         " of the cluster, but the instruction accesses its own CTA (%u) only",
                         address, rank, warp->cta->rank);
    else
        (void)emu_report(warp, op, lane, EMU_SHARED_OUT_OF_BOUNDS,
                         "shared address 0x%" PRIx64 " is outside of the cluster of %u CTAs", address,
                         cluster->cta_count);
    return NULL;
}

static uint8_t *refuse_shared(struct emu_warp *warp, const struct emu_op *op, int lane, uint32_t offset, uint32_t bytes)
{
    const struct emu_grid *grid = emu_grid_of(warp);
    uint32_t dynamic = grid->launch->shared_bytes;

    if (offset < EMU_SHARED_RESERVED)
        (void)emu_report(warp, op, lane, EMU_SHARED_OUT_OF_BOUNDS,
                         "shared offset 0x%x is below 0x%x, where the kernel's shared memory begins", offset,
                         (unsigned)EMU_SHARED_RESERVED);
    else
        (void)emu_report(
            warp, op, lane, EMU_SHARED_OUT_OF_BOUNDS,
            "shared offset 0x%x: %u bytes end %u bytes behind the CTA's shared memory (0x%x-0x%x, of which %u "
            "bytes are dynamic)",
            offset, bytes, offset + bytes - grid->shared_bytes, (unsigned)EMU_SHARED_RESERVED, grid->shared_bytes,
            dynamic);
    return NULL;
}

uint8_t *emu_shared_bytes(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                          uint32_t align, bool write, bool any_cta, struct emu_cta **owner)
{
    struct emu_cta *cta = warp->cta;
    uint32_t offset = (uint32_t)address & ((1u << EMU_CTA_SHIFT) - 1);

    if (address >> EMU_CTA_SHIFT != cta->rank) {
        cta = find_owner(warp, op, lane, address, any_cta);
        if (!cta)
            return NULL;
    }
    if (offset < EMU_SHARED_RESERVED || offset + bytes > cta->shared_bytes)
        return refuse_shared(warp, op, lane, offset, bytes);
    if (!check_alignment(warp, op, lane, address, bytes, align, "shared"))
        return NULL;
    if (write)
        emu_shared_mark(cta, offset, bytes);
    else if (!is_written_fast(cta, offset, bytes))
        (void)emu_report(warp, op, lane, EMU_UNINITIALISED_SHARED,
                         "%u bytes at shared offset 0x%x of CTA (%u,%u,%u) are read but were never written", bytes,
                         offset, cta->id[0], cta->id[1], cta->id[2]);
    if (owner)
        *owner = cta;
    if (cta->cluster->hazards)
        hazard_access(warp, op, lane, cta, offset, bytes, write);
    return cta->shared + offset;
}

static uint8_t *refuse_global(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address,
                              uint32_t bytes, bool write, enum emu_access_fault fault,
                              const struct emu_allocation *near)
{
    const char *access = write ? "write" : "read";
    uint64_t end = near->address + near->bytes;

    switch (fault) {
    case EMU_ACCESS_FREED:
    case EMU_ACCESS_FREED_IN_STREAM:
        (void)emu_report(warp, op, lane, EMU_USE_AFTER_FREE,
                         "%s of %u bytes at 0x%" PRIx64 ": offset %" PRIu64 " of allocation %" PRIu64 " (%" PRIu64
                         " bytes), which has been freed%s",
                         access, bytes, address, address - near->address, near->id, near->bytes,
                         fault == EMU_ACCESS_FREED_IN_STREAM ? " in stream order before this kernel" : "");
        break;
    case EMU_ACCESS_READ_ONLY:
        (void)emu_report(warp, op, lane, EMU_READ_ONLY,
                         "write of %u bytes at 0x%" PRIx64 ": offset %" PRIu64 " of allocation %" PRIu64
                         ", which is read-only",
                         bytes, address, address - near->address, near->id);
        break;
    case EMU_ACCESS_OUT_OF_BOUNDS:
        if (address < near->address)
            (void)emu_report(warp, op, lane, EMU_GLOBAL_OUT_OF_BOUNDS,
                             "%s of %u bytes at 0x%" PRIx64 ": %" PRIu64 " bytes before allocation %" PRIu64
                             " (%" PRIu64 " bytes)",
                             access, bytes, address, near->address - address, near->id, near->bytes);
        else
            (void)emu_report(warp, op, lane, EMU_GLOBAL_OUT_OF_BOUNDS,
                             "%s of %u bytes at 0x%" PRIx64 ": %" PRIu64 " bytes behind the end of allocation %" PRIu64
                             " (%" PRIu64 " bytes)",
                             access, bytes, address, address + bytes - end, near->id, near->bytes);
        break;
    default:
        (void)emu_report(warp, op, lane, EMU_GLOBAL_OUT_OF_BOUNDS,
                         "%s of %u bytes at 0x%" PRIx64 ": no allocation near", access, bytes, address);
        break;
    }
    return NULL;
}

uint8_t *emu_global_bytes(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                          uint32_t align, bool write)
{
    uint64_t offset = address - warp->window_low;

    if (offset >= warp->window_bytes || bytes > warp->window_bytes - offset ||
        !(write ? warp->window_written : warp->window_read)) {
        bool known = warp->window_bytes && offset < warp->window_bytes;

        struct emu_allocation near;
        enum emu_access_fault fault =
            emu_memory_check(emu_grid_of(warp)->memory, address, bytes, write, &warp->hint, &near);

        if (fault != EMU_ACCESS_OK)
            return refuse_global(warp, op, lane, address, bytes, write, fault, &near);
        warp->window_low = near.address;
        warp->window_bytes = near.bytes;
        warp->window_written = write || (known && warp->window_written);
        warp->window_read = !write || (known && warp->window_read);
    }
    if (!check_alignment(warp, op, lane, address, bytes, align, "global"))
        return NULL;
    return (uint8_t *)(uintptr_t)address;
}

uint8_t *emu_local_bytes(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                         uint32_t align)
{
    if (address >= warp->local_bytes || bytes > warp->local_bytes - address) {
        (void)emu_report(warp, op, lane, EMU_LOCAL_OUT_OF_BOUNDS,
                         "local offset 0x%" PRIx64 ": %u bytes end behind the thread's %u bytes", address, bytes,
                         warp->local_bytes);
        return NULL;
    }
    if (!check_alignment(warp, op, lane, address, bytes, align, "local"))
        return NULL;
    return warp->local + (size_t)lane * warp->local_bytes + address;
}

uint8_t *emu_generic_bytes(struct emu_warp *warp, const struct emu_op *op, int lane, uint64_t address, uint32_t bytes,
                           uint32_t align, bool write)
{
    const struct emu_space *space = emu_grid_of(warp)->space;

    if (emu_is_shared(space, address))
        return emu_shared_bytes(warp, op, lane, address - space->base, bytes, align, write, true, NULL);
    if (emu_is_local(space, address))
        return emu_local_bytes(warp, op, lane, address - space->base - EMU_SHARED_WINDOW, bytes, align);
    return emu_global_bytes(warp, op, lane, address, bytes, align, write);
}
