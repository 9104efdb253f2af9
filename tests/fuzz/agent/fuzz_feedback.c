/* Feedback of any verdict: in its limit, printable, and no line of the candidate stands without its mark. The first line of
 * the input is the source, the rest the verdict. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/feedback.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_JSON_DOCUMENT *document = NULL;
    struct feedback_options options = {.limit_bytes = 3000, .target_speedup = 1.2};
    const char *text = (const char *)data;
    const char *newline = memchr(data, '\n', size);
    size_t first = newline ? (size_t)(newline - text) : 0;
    struct verdict *verdict = NULL;
    struct error error;
    const char *out;

    if (!json_parse(text + first, size - first, "fuzz", 1, &document, &error) ||
        !verdict_from_json(json_root(document), arena, &verdict, &error))
        return 0;
    if (!feedback_write(arena, verdict, arena_strndup(arena, text, first), &options, &out, &error)) {
        if (verdict->status != VERDICT_INFRA_ERROR)
            abort();
        return 0;
    }
    if (strlen(out) > 3000 || out[strlen(out) - 1] != '\n')
        abort();
    for (const char *at = out; *at; at++)
        if ((*at != '\n' && (unsigned char)*at < 0x20) || *at == 0x7f)
            abort();
    return 0;
}
