/* Compiler output, and a PTX text whose lines it names: the input is split at the first NUL. */
#include <stdint.h>
#include <string.h>

#include "toolchain/diagnostics.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    const uint8_t *split = size ? memchr(data, 0, size) : NULL;
    size_t length = split ? (size_t)(split - data) : size;
    const struct diagnostics_paths paths = {
        .folder = "/tmp/work",
        .entry = "kernel.cu",
        .ptx = split ? (const char *)split + 1 : NULL,
        .ptx_length = split ? size - length - 1 : 0,
    };
    struct diagnostics out;

    diagnostics_parse(arena, (const char *)data, length, &paths, &out);
    json_object_put(diagnostics_to_json(&out));
    json_object_put(diagnostics_kernels_to_json(&out));
    return 0;
}
