#include "emu/address_space.h"

#include <errno.h>
#include <sys/mman.h>

#define REGION_BYTES ((size_t)EMU_SHARED_WINDOW + (size_t)EMU_LOCAL_WINDOW)
#define REGION_FIRST                                                                                                   \
    UINT64_C(0x300000000000) /* far from programs, their heaps, and the allocator of AddressSanitizer */
enum { REGION_TRIES = 256 };

bool emu_space_reserve(struct emu_space *space, struct error *error)
{
    for (uint64_t i = 0; i < REGION_TRIES; i++) {
        void *wanted = (void *)(uintptr_t)(REGION_FIRST + (i << 32));
        void *got = mmap(wanted, REGION_BYTES, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

        if (got == wanted) {
            space->base = (uintptr_t)got;
            return true;
        }
        if (got != MAP_FAILED)
            (void)munmap(got, REGION_BYTES); /* a kernel that does not know the flag */
        else if (errno != EEXIST)
            return error_system(error, errno, "reserve %zu MiB of addresses for shared and local memory",
                                REGION_BYTES >> 20);
    }
    return error_set(error, ERROR_SYSTEM, "no free addresses for the windows of shared and local memory");
}

void emu_space_release(struct emu_space *space)
{
    if (space->base)
        (void)munmap((void *)(uintptr_t)space->base, REGION_BYTES);
    space->base = 0;
}
