/* Words of any text, and the query made of them. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/notes_tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    const char *tokens = notes_tokens(arena, arena_strndup(arena, (const char *)data, size));
    const char *query = notes_match_query(arena, tokens, 50);

    if (strpbrk(tokens, "\"*()\n") || strpbrk(query, "*()\n"))
        abort();
    return 0;
}
