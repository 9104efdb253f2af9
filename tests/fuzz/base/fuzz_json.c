/* Whatever is accepted must be written back to a text that is accepted and written the same again. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_JSON_DOCUMENT *first = NULL;
    AUTO_JSON_DOCUMENT *second = NULL;
    AUTO_FREE char *once = NULL;
    AUTO_FREE char *twice = NULL;
    struct error error;

    if (!json_parse((const char *)data, size, "fuzz", 1, &first, &error))
        return 0;
    struct json at = json_root(first);
    while (json_length(at) > 0) {
        const char *key;
        at = json_kind_of(at) == JSON_ARRAY ? json_at(at, json_length(at) - 1)
                                            : json_entry(at, json_length(at) - 1, &key);
    }
    (void)json_error(at, &error, "somewhere");
    if (!json_to_text(json_root(first).value, size % 2, &once, &error) ||
        !json_parse(once, strlen(once), "again", 1, &second, &error) ||
        !json_to_text(json_root(second).value, size % 2, &twice, &error) || strcmp(once, twice) != 0)
        abort();
    return 0;
}
