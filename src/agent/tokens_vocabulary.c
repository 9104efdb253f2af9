#include <string.h>

#include "agent/tokens_internal.h"

static uint64_t hash_text(const char *text, size_t length)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 29;
}

static uint64_t hash_pair(uint64_t pair)
{
    pair *= UINT64_C(0x9e3779b97f4a7c15);
    return pair ^ pair >> 32;
}

/* A power of two with at least half of the slots free. */
static size_t slots_for(size_t count)
{
    size_t slots = 16;

    while (slots < 2 * count)
        slots *= 2;
    return slots;
}

void vocabulary_new(struct arena *arena, struct vocabulary *vocabulary, size_t count)
{
    size_t slots = slots_for(count);

    *vocabulary =
        (struct vocabulary){.slots = arena_calloc(arena, slots, sizeof *vocabulary->slots), .mask = slots - 1};
}

static size_t vocabulary_slot(const struct vocabulary *vocabulary, const char *text, size_t length)
{
    size_t at = hash_text(text, length) & vocabulary->mask;

    while (vocabulary->slots[at].text &&
           (strncmp(vocabulary->slots[at].text, text, length) != 0 || vocabulary->slots[at].text[length]))
        at = (at + 1) & vocabulary->mask;
    return at;
}

bool vocabulary_add(struct vocabulary *vocabulary, const char *text, uint32_t id)
{
    size_t at = vocabulary_slot(vocabulary, text, strlen(text));

    if (vocabulary->slots[at].text)
        return false;
    vocabulary->slots[at] = (struct vocabulary_slot){text, id};
    vocabulary->count++;
    return true;
}

uint32_t vocabulary_find(const struct vocabulary *vocabulary, const char *text, size_t length)
{
    const struct vocabulary_slot *slot = &vocabulary->slots[vocabulary_slot(vocabulary, text, length)];

    return slot->text ? slot->id : (uint32_t)NO_TOKEN;
}

void merges_new(struct arena *arena, struct merges *merges, size_t count)
{
    size_t slots = slots_for(count);

    *merges = (struct merges){.slots = arena_calloc(arena, slots, sizeof *merges->slots), .mask = slots - 1};
    for (size_t i = 0; i < slots; i++)
        merges->slots[i].result = NO_TOKEN;
}

static size_t merges_slot(const struct merges *merges, uint64_t pair)
{
    size_t at = hash_pair(pair) & merges->mask;

    while (merges->slots[at].result != NO_TOKEN && merges->slots[at].pair != pair)
        at = (at + 1) & merges->mask;
    return at;
}

void merges_add(struct merges *merges, uint32_t left, uint32_t right, uint32_t rank, uint32_t result)
{
    uint64_t pair = (uint64_t)left << 32 | right;
    struct merge_slot *slot = &merges->slots[merges_slot(merges, pair)];

    if (slot->result != NO_TOKEN)
        return;
    *slot = (struct merge_slot){pair, rank, result};
    merges->count++;
}

const struct merge_slot *merges_find(const struct merges *merges, uint32_t left, uint32_t right)
{
    const struct merge_slot *slot = &merges->slots[merges_slot(merges, (uint64_t)left << 32 | right)];

    return slot->result == NO_TOKEN ? NULL : slot;
}

/* Printable bytes stand for themselves, the others for the characters from U+0100 on, in order. */
void byte_character(unsigned byte, char out[3])
{
    unsigned code = byte, next = 0x100;

    for (unsigned b = 0; b <= byte; b++) {
        bool printable = (b >= '!' && b <= '~') || (b >= 0xa1 && b <= 0xac) || b >= 0xae;
        if (b == byte)
            code = printable ? byte : next;
        next += !printable;
    }
    if (code < 0x80) {
        out[0] = (char)code;
        out[1] = 0;
    } else {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        out[2] = 0;
    }
}
