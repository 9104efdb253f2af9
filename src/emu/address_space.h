/*
 * Where the windows of shared and local memory lie among generic addresses. They are reserved in the host's address space
 * (no access), so that no host allocation, and so no global address, is ever inside. Source: PTX ISA, Generic Addressing.
 *
 * The region starts at a multiple of 4 GiB: the low 32 bits of a generic shared address are its .shared address, which
 * some kernels rely upon.
 */
#ifndef PTXBENCH_EMU_ADDRESS_SPACE_H
#define PTXBENCH_EMU_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum {
    EMU_LANES = 32,
    EMU_BARRIERS = 16,
    EMU_CTA_SHIFT = 24, /* a .shared address is rank << 24 | offset */
    EMU_CLUSTER_MAX = 16,
    EMU_SHARED_RESERVED = 1024, /* the system's part at the start of shared memory */
    EMU_SHARED_WINDOW = EMU_CLUSTER_MAX << EMU_CTA_SHIFT,
    EMU_LOCAL_WINDOW = 1 << 28
};

struct emu_space {
    uint64_t base; /* of the shared window; that of local memory follows */
};

MUST_CHECK bool emu_space_reserve(struct emu_space *space, struct error *error);
void emu_space_release(struct emu_space *space); /* accepts an empty one */

static inline bool emu_is_shared(const struct emu_space *space, uint64_t address)
{
    return address - space->base < EMU_SHARED_WINDOW;
}
static inline bool emu_is_local(const struct emu_space *space, uint64_t address)
{
    return address - space->base - EMU_SHARED_WINDOW < EMU_LOCAL_WINDOW;
}
static inline uint64_t emu_shared_to_generic(const struct emu_space *space, uint64_t address)
{
    return space->base + (uint32_t)address;
}
static inline uint64_t emu_local_to_generic(const struct emu_space *space, uint64_t address)
{
    return space->base + EMU_SHARED_WINDOW + (uint32_t)address;
}

#endif
