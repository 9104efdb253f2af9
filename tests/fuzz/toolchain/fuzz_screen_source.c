/* Source text, raw and as if it were preprocessed. */
#include <stdint.h>

#include "toolchain/screen_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct screen_policy policy = {0};

    for (int markers = 0; markers < 2; markers++) {
        AUTO_ARENA *arena = arena_new();
        struct screen_report report = {0};
        screen_text(arena, "kernel.cu", (const char *)data, size, markers, &policy, &report);
        json_object_put(screen_report_to_json(&report));
    }
    return 0;
}
