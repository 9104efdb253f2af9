/* Output of compute-sanitizer: the first byte picks the tool. Clean needs a summary line of the tool. */
#define _GNU_SOURCE /* memmem */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "judge/sanitizer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    struct sanitizer_report report;

    if (size == 0)
        return 0;
    sanitizer_parse(arena, (enum sanitizer_tool)(data[0] % 4), (const char *)data + 1, size - 1, &report);
    if (report.clean == TRISTATE_YES && !memmem(data, size, "SUMMARY: ", 9))
        abort();
    if ((report.clean == TRISTATE_UNKNOWN) != (report.reason != NULL))
        abort();
    for (size_t i = 0; i < report.findings.count; i++)
        if (!report.findings.items[i].message || strchr(report.findings.items[i].message, '\n'))
            abort();
    return 0;
}
