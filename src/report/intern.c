#include "report/intern.h"

#include <stdlib.h>
#include <string.h>

#include "base/attributes.h"

struct intern intern_new(struct arena *arena)
{
    return (struct intern){.arena = arena};
}

void intern_free(struct intern *intern)
{
    free(intern->items);
    free(intern->lengths);
    free(intern->slots);
    *intern = (struct intern){.arena = intern->arena};
}

static uint64_t hash_of(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t hash = 0xcbf29ce484222325u;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * 0x100000001b3u;
    return hash ^ (hash >> 29);
}

static void *resize(void *old, size_t count, size_t size)
{
    void *grown = reallocarray(old, count, size);

    if (!grown) {
        (void)fputs("ptxbench: out of memory\n", stderr);
        abort();
    }
    return grown;
}

static uint32_t *find_slot(const struct intern *intern, const void *bytes, size_t length)
{
    size_t mask = intern->slot_count - 1;

    for (size_t at = (size_t)hash_of(bytes, length) & mask;; at = (at + 1) & mask) {
        uint32_t item = intern->slots[at];
        if (!item || (intern->lengths[item - 1] == length && !memcmp(intern->items[item - 1], bytes, length)))
            return &intern->slots[at];
    }
}

static void grow_slots(struct intern *intern)
{
    size_t count = intern->slot_count ? intern->slot_count * 2 : 64;

    free(intern->slots);
    intern->slots = resize(NULL, count, sizeof *intern->slots);
    memset(intern->slots, 0, count * sizeof *intern->slots);
    intern->slot_count = count;
    for (uint32_t i = 0; i < intern->count; i++)
        *find_slot(intern, intern->items[i], intern->lengths[i]) = i + 1;
}

uint32_t intern_bytes(struct intern *intern, const void *bytes, size_t length)
{
    uint32_t *slot;

    if (2 * ((size_t)intern->count + 1) > intern->slot_count)
        grow_slots(intern);
    slot = find_slot(intern, bytes, length);
    if (*slot)
        return *slot - 1;
    if (intern->count == intern->capacity) {
        intern->capacity = intern->capacity ? intern->capacity * 2 : 64;
        intern->items = resize(intern->items, intern->capacity, sizeof *intern->items);
        intern->lengths = resize(intern->lengths, intern->capacity, sizeof *intern->lengths);
    }
    intern->items[intern->count] = arena_strndup(intern->arena, bytes, length);
    intern->lengths[intern->count] = (uint32_t)length;
    *slot = ++intern->count;
    return *slot - 1;
}

uint32_t intern_text(struct intern *intern, const char *text)
{
    return intern_bytes(intern, text, strlen(text));
}
