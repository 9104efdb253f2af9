/* Reading a verdict: what is accepted is written again, read again, and summarised without trouble. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "judge/summary.h"
#include "judge/verdict.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct verdict *read_text(struct arena *arena, const char *text, size_t length)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct verdict *verdict = NULL;
    struct error error;

    if (!json_parse(text, length, "fuzz", 1, &document, &error) ||
        !verdict_from_json(json_root(document), arena, &verdict, &error))
        return NULL;
    return verdict;
}

static char *write_text(const struct verdict *verdict)
{
    AUTO_JSON_OBJECT *object = verdict_to_json(verdict);
    struct error error;
    char *text = NULL;

    if (!json_to_text(object, false, &text, &error))
        abort();
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_BUFFER summary = buffer_new(1 << 20);
    struct summary_options options = {.width = 72};
    struct verdict *verdict = read_text(arena, (const char *)data, size);
    struct verdict *again;
    struct error error;

    if (!verdict)
        return 0;
    AUTO_FREE char *first = write_text(verdict);
    again = read_text(arena, first, strlen(first));
    if (!again)
        abort();
    AUTO_FREE char *second = write_text(again);
    if (strcmp(first, second) != 0)
        abort();
    if (!verdict_check(verdict, &error) && error.code != ERROR_INTERNAL)
        abort();
    summary_write(&summary, verdict, &options);
    return 0;
}
