/* Byte pair encoding of one piece: the merge of the lowest rank first, the leftmost of equal ones; a heap, since a piece
 * may be a megabyte of blanks. */
#include <string.h>

#include "agent/tokens_internal.h"

enum { NOWHERE = UINT32_MAX };

static bool grow(void **memory, size_t *room, size_t wanted, size_t size, struct error *error)
{
    if (wanted <= *room)
        return true;
    size_t larger = wanted + wanted / 2 + 64;
    void *moved = reallocarray(*memory, larger, size);
    if (!moved)
        return error_set(error, ERROR_MEMORY, "out of memory");
    *memory = moved;
    *room = larger;
    return true;
}

static bool before(const struct merge_candidate *a, const struct merge_candidate *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->at < b->at;
}

static void swap(struct merge_candidate *a, struct merge_candidate *b)
{
    struct merge_candidate kept = *a;

    *a = *b;
    *b = kept;
}

static bool heap_push(struct merge_scratch *s, struct merge_candidate candidate, struct error *error)
{
    void *memory = s->heap;

    if (!grow(&memory, &s->heap_room, s->heap_count + 1, sizeof *s->heap, error))
        return false;
    s->heap = memory;
    size_t at = s->heap_count++;
    s->heap[at] = candidate;
    for (; at && before(&s->heap[at], &s->heap[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&s->heap[at], &s->heap[(at - 1) / 2]);
    return true;
}

static struct merge_candidate heap_pop(struct merge_scratch *s)
{
    struct merge_candidate top = s->heap[0];

    s->heap[0] = s->heap[--s->heap_count];
    for (size_t at = 0, child; (child = 2 * at + 1) < s->heap_count; at = child) {
        if (child + 1 < s->heap_count && before(&s->heap[child + 1], &s->heap[child]))
            child++;
        if (!before(&s->heap[child], &s->heap[at]))
            break;
        swap(&s->heap[at], &s->heap[child]);
    }
    return top;
}

/* Offers the pair that begins at symbol `at`. */
static bool offer(const struct tokenizer *tokenizer, struct merge_scratch *s, uint32_t at, struct error *error)
{
    if (at == NOWHERE || s->symbols[at].next == NOWHERE)
        return true;
    uint32_t left = s->symbols[at].id, right = s->symbols[s->symbols[at].next].id;
    const struct merge_slot *merge = merges_find(&tokenizer->merges, left, right);
    if (!merge)
        return true;
    return heap_push(s, (struct merge_candidate){merge->rank, at, merge->result, merge->pair}, error);
}

static bool merge_all(const struct tokenizer *tokenizer, struct merge_scratch *s, struct error *error)
{
    while (s->heap_count) {
        struct merge_candidate best = heap_pop(s);
        struct merge_symbol *left = &s->symbols[best.at];
        if (left->id == NO_TOKEN || left->next == NOWHERE)
            continue;
        struct merge_symbol *right = &s->symbols[left->next];
        if (((uint64_t)left->id << 32 | right->id) != best.pair)
            continue;
        right->id = NO_TOKEN;
        left->id = best.result;
        left->next = right->next;
        if (left->next != NOWHERE)
            s->symbols[left->next].previous = best.at;
        if (!offer(tokenizer, s, best.at, error) || !offer(tokenizer, s, left->previous, error))
            return false;
    }
    return true;
}

/* The whole piece as one token of the vocabulary, or NO_TOKEN. */
static uint32_t whole_piece(const struct tokenizer *tokenizer, const char *text, size_t length)
{
    enum { WHOLE_MAX = 256 };
    char characters[2 * WHOLE_MAX + 3];
    size_t used = 0;

    if (length > WHOLE_MAX)
        return NO_TOKEN;
    for (size_t i = 0; i < length; i++) {
        byte_character((unsigned char)text[i], characters + used);
        used += strlen(characters + used);
    }
    return vocabulary_find(&tokenizer->vocabulary, characters, used);
}

bool merge_piece(const struct tokenizer *tokenizer, struct merge_scratch *scratch, const char *text, size_t length,
                 token_take *take, void *context, int64_t *count, struct error *error)
{
    void *memory = scratch->symbols;
    uint32_t whole = tokenizer->ignore_merges && length ? whole_piece(tokenizer, text, length) : (uint32_t)NO_TOKEN;

    if (whole != NO_TOKEN || !length) {
        if (length && take)
            take(context, whole);
        *count += length != 0;
        return true;
    }
    if (!grow(&memory, &scratch->symbol_room, length, sizeof *scratch->symbols, error))
        return false;
    scratch->symbols = memory;
    scratch->heap_count = 0;
    for (size_t i = 0; i < length; i++) {
        uint32_t id = tokenizer->bytes[(unsigned char)text[i]];
        if (id == NO_TOKEN)
            return error_set(error, ERROR_UNSUPPORTED, "the vocabulary has no token for byte 0x%02x",
                             (unsigned)(unsigned char)text[i]);
        scratch->symbols[i] = (struct merge_symbol){id, (uint32_t)i - 1, i + 1 < length ? (uint32_t)i + 1 : NOWHERE};
    }
    scratch->symbols[0].previous = NOWHERE;
    for (uint32_t i = 0; i < length; i++)
        if (!offer(tokenizer, scratch, i, error))
            return false;
    if (!merge_all(tokenizer, scratch, error))
        return false;
    for (uint32_t i = 0; i != NOWHERE; i = scratch->symbols[i].next) {
        if (take)
            take(context, scratch->symbols[i].id);
        ++*count;
    }
    return true;
}

void merge_scratch_free(struct merge_scratch *scratch)
{
    free(scratch->symbols);
    free(scratch->heap);
    *scratch = (struct merge_scratch){0};
}
