/* An object or a bare fat binary. */
#include <stdint.h>

#include "toolchain/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    volatile uint8_t sum = 0;
    struct fatbin out;
    struct error error;

    if (!fatbin_read_object(arena, data, size, &out, &error) && !fatbin_read_image(arena, data, size, &out, &error))
        return 0;
    for (size_t i = 0; i < out.count; i++)
        for (size_t j = 0; out.entries[i].bytes && j < out.entries[i].length; j++)
            sum = (uint8_t)(sum + out.entries[i].bytes[j]);
    return 0;
}
