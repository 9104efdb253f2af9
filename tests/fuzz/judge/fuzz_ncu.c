/* ncu's source page: any bytes; counts are never negative, sums never overflow. */
#include <stdint.h>
#include <stdlib.h>

#include "judge/ncu.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    struct ncu_report report;
    struct count_map warps = {0};
    struct count_map threads = {0};
    struct error error;

    if (!ncu_parse(arena, (const char *)data, size, &report, &error)) {
        if (error.code != ERROR_TOOL)
            abort();
        return 0;
    }
    for (size_t i = 0; i < report.count; i++)
        if (!report.items[i].opcode || report.items[i].warps < 0 || report.items[i].threads < 0)
            abort();
    ncu_families(arena, &report, "sm_90a", &warps, &threads);
    for (size_t i = 0; i < warps.count; i++)
        if (warps.items[i].count < 0)
            abort();
    return 0;
}
