/* Templates of any text: filled whole, or an error with file and line. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/prompt_template.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct template_value values[] = {{"a", "value"}, {"b", ""}, {"c", NULL}};
    AUTO_ARENA *arena = arena_new();
    struct error error;
    const char *out = NULL;

    if (template_fill(arena, "t", arena_strndup(arena, (const char *)data, size), values, 3, &out, &error)) {
        if (!out || strstr(out, "{{"))
            abort();
    } else if (strncmp(error.message, "t:", 2) != 0) {
        abort();
    }
    return 0;
}
