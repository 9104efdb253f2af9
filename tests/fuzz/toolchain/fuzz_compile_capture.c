/* What a compilation leaves behind: make rules, preprocessed text, and text with our folders in it. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "toolchain/compile_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const folders[] = {"/w/source/", "/w/temporary/", NULL};
    AUTO_ARENA *arena = arena_new();
    const char *const *files;
    size_t count, length;

    compile_parse_dependencies(arena, (const char *)data, size, &files, &count);
    for (size_t i = 0; i < count; i++)
        if (!files[i][0])
            abort();
    (void)compile_own_lines(arena, (const char *)data, size, folders[0], &length);
    if (length > size + 1)
        abort();
    (void)compile_clean_text(arena, (const char *)data, size, folders);
    return 0;
}
