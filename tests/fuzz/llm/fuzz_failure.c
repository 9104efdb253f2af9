/* Bodies of failed responses: the first byte picks the status. The same bytes also serve as a Retry-After value. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "llm/failure.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int statuses[] = {200, 400, 401, 402, 403, 404, 408, 413, 418, 429, 500, 503, 529, 599};
    AUTO_ARENA *arena = arena_new();

    if (!size)
        return 0;
    struct failure failure = failure_none();
    failure_from_body((const char *)data + 1, size - 1, statuses[data[0] % ARRAY_LEN(statuses)], &failure);
    if (failure.kind == FAILURE_NONE || !*failure.message || strchr(failure.message, '\n'))
        abort();
    if (failure.retry_after_ns < -1 || failure.retry_after_ns > 864000 * INT64_C(1000000000))
        abort();
    int64_t wait = failure_retry_after(arena_strndup(arena, (const char *)data + 1, size - 1), 1700000000);
    if (wait < -1 || wait > 864000 * INT64_C(1000000000))
        abort();
    return 0;
}
