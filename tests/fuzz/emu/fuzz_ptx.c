/* PTX text: whatever parses must also be counted, cut into blocks, and printed so that it reads back the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "emu/ptx_census.h"
#include "emu/ptx_flow.h"
#include "emu/ptx_parser.h"
#include "emu/ptx_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(struct arena *arena, const struct ptx_module *module, struct buffer *out)
{
    *out = buffer_new((size_t)256 << 20);
    ptx_print_module(arena, module, out);
    if (out->dropped)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER first = buffer_new(0);
    AUTO_BUFFER second = buffer_new(0);
    const struct ptx_module *module, *again;
    struct error error;

    if (!ptx_parse(arena, "input", (const char *)data, size, &module, &error))
        return 0;
    json_object_put(ptx_census_to_json(ptx_census_new(arena, module)));
    for (uint32_t i = 0; i < module->function_count; i++) {
        const struct ptx_flow *flow = ptx_flow_new(arena, module, &module->functions[i]);
        for (uint32_t j = 0; j < module->functions[i].instruction_count; j++)
            (void)ptx_flow_reconvergence(flow, j);
    }
    print(arena, module, &first);
    if (!ptx_parse(arena, "printed", first.data, first.length, &again, &error)) {
        (void)fprintf(stderr, "%s\n%s\n", error.message, first.data);
        abort();
    }
    print(arena, again, &second);
    if (first.length != second.length || memcmp(first.data, second.data, first.length)) {
        (void)fprintf(stderr, "%s\n--- differs from ---\n%s\n", first.data, second.data);
        abort();
    }
    return 0;
}
