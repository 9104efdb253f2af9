/* A built object. */
#include <stdint.h>

#include "toolchain/screen.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    struct screen_report report = {0};
    struct error error;

    if (screen_object(arena, data, size, &report, &error))
        json_object_put(screen_report_to_json(&report));
    return 0;
}
