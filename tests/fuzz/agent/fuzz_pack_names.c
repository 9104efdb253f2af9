/* Names in any text: no crash, and the unused are among the defined. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/pack_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    const char **list;
    const char *text = arena_strndup(arena, (const char *)data, size);
    struct pack_names *names = pack_names_new(arena, text);

    pack_names_add_kernel(names, text);
    if (pack_names_unused(names, &list) > pack_names_count(names))
        abort();
    (void)pack_names_undeclared(names, text, &list);
    return 0;
}
