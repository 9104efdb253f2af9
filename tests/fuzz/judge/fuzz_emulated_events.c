/* What a candidate can write in the place of an emulated device: any bytes; counts stay sums of what was said. */
#include <stdint.h>
#include <stdlib.h>

#include "judge/emulated_events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    struct emulated_events events;

    emulated_events_read(arena, (const char *)data, size, &events);
    if (events.findings.count > FINDING_LIST_MAX)
        abort();
    for (size_t i = 0; i < events.findings.count; i++)
        if (!events.findings.items[i].code || !events.findings.items[i].message || events.findings.items[i].count < 1)
            abort();
    return 0;
}
