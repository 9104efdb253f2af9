#define _GNU_SOURCE
#include <string.h>

#include "llm/call.h"

enum { SECRET_MIN = 12 };

void call_redact(const struct chat_call *call, char *text, size_t *length)
{
    static const char mark[] = "[key]";
    size_t key_length = call->key ? strlen(call->key) : 0;

    if (key_length < SECRET_MIN)
        return;
    char *from = text, *to = text, *end = text + *length, *hit;
    while ((hit = memmem(from, (size_t)(end - from), call->key, key_length))) {
        size_t kept = (size_t)(hit - from);
        memmove(to, from, kept);
        memcpy(to + kept, mark, sizeof mark - 1);
        to += kept + sizeof mark - 1;
        from = hit + key_length;
    }
    if (from == text)
        return;
    memmove(to, from, (size_t)(end - from));
    to += end - from;
    *to = 0;
    *length = (size_t)(to - text);
}
