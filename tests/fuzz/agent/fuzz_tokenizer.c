/* Whatever is accepted as a tokenizer must encode its own file, and tell the same count with and without taking ids. */
#include <stdint.h>
#include <stdlib.h>

#include "agent/tokens.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void count_one(void *context, uint32_t id)
{
    (void)id;
    ++*(int64_t *)context;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_TOKENIZER *tokenizer = NULL;
    struct error error;
    int64_t taken = 0, counted, again;

    if (!tokenizer_parse((const char *)data, size, "fuzz", &tokenizer, &error))
        return 0;
    bool first = tokenizer_encode(tokenizer, (const char *)data, size, count_one, &taken, &counted, &error);
    bool second = tokenizer_encode(tokenizer, (const char *)data, size, NULL, NULL, &again, &error);
    if (first != second || (first && (taken != counted || counted != again || (size_t)counted > size + 1)))
        abort();
    return 0;
}
