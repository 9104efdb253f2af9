/* What nvdisasm prints. */
#include <stdint.h>

#include "toolchain/sass.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    struct sass_report out = {.arch = "sm_90a"};
    struct error error;
    const char *unknown;

    if (!sass_parse_listing(arena, (const char *)data, size, 0, &out, &error))
        return 0;
    for (size_t i = 0; i < out.count; i++)
        for (size_t j = 0; j < out.functions[i].count; j++) {
            const struct sass_instruction *at = &out.functions[i].instructions[j];
            (void)sass_opcode_at(&out, out.functions[i].name, at->offset);
            (void)sass_family(at->opcode, "sm_90a");
            (void)sass_mma_work(at->opcode, &unknown);
        }
    return 0;
}
