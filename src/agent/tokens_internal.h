/* Inside of the token counter: vocabulary and merges (tokens_vocabulary.c), pieces of text (tokens_split.c), merging
 * (tokens_merge.c), the JSON file (tokens_read.c). */
#ifndef PTXBENCH_AGENT_TOKENS_INTERNAL_H
#define PTXBENCH_AGENT_TOKENS_INTERNAL_H

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "agent/tokens.h"
#include "base/arena.h"

enum { SPLITS_MAX = 8, NO_TOKEN = UINT32_MAX };

/* Texts to ids: open addressing, `mask` + 1 slots. Texts are in byte-level characters and belong to the arena. */
struct vocabulary {
    struct vocabulary_slot {
        const char *text; /* NULL: free */
        uint32_t id;
    } * slots;
    size_t mask, count;
};

/* Pairs of ids to the rank of their merge and what they become. */
struct merges {
    struct merge_slot {
        uint64_t pair;         /* left << 32 | right */
        uint32_t rank, result; /* result NO_TOKEN: free */
    } * slots;
    size_t mask, count;
};

/* One step of the pre-tokenizer: each piece is cut at what the pattern matches. */
struct split {
    pcre2_code *pattern;
    bool remove; /* matches are dropped; otherwise they are pieces of their own */
};

struct added_token {
    const char *text;
    size_t length;
    uint32_t id;
};

struct tokenizer {
    struct arena *arena;
    struct vocabulary vocabulary;
    struct merges merges;
    struct split splits[SPLITS_MAX];
    size_t split_count;
    struct added_token *added; /* longest first */
    size_t added_count;
    uint32_t bytes[256]; /* byte -> id of its character, or NO_TOKEN */
    bool ignore_merges;  /* a piece that is a token is not taken apart */
    bool needs_nfc;
    bool prefix_space;
};

void vocabulary_new(struct arena *arena, struct vocabulary *vocabulary, size_t count);
/* False: the text is there already. The text is borrowed. */
bool vocabulary_add(struct vocabulary *vocabulary, const char *text, uint32_t id);
uint32_t vocabulary_find(const struct vocabulary *vocabulary, const char *text, size_t length);

void merges_new(struct arena *arena, struct merges *merges, size_t count);
/* A pair that is there already keeps its rank. */
void merges_add(struct merges *merges, uint32_t left, uint32_t right, uint32_t rank, uint32_t result);
const struct merge_slot *merges_find(const struct merges *merges, uint32_t left, uint32_t right);

/* The character that stands for a byte in byte-level vocabularies, as UTF-8 (at most 2 bytes and a terminator). */
void byte_character(unsigned byte, char out[3]);

/* Adds a step. ERROR_UNSUPPORTED when the pattern is not understood. */
MUST_CHECK bool split_add(struct tokenizer *tokenizer, const char *pattern, bool remove, struct error *error);

/* GPT-2's pattern, which a ByteLevel pre-tokenizer with use_regex applies. */
extern const char split_gpt2[];

/* Calls `take` for each piece of text, in order. The text is valid UTF-8. */
typedef bool piece_take(void *context, const char *text, size_t length, struct error *error);
MUST_CHECK bool split_apply(const struct tokenizer *tokenizer, const char *text, size_t length, piece_take *take,
                            void *context, struct error *error);

/* Tokens of one piece. Scratch memory grows and is reused. */
struct merge_scratch {
    struct merge_symbol {
        uint32_t id;
        uint32_t previous, next; /* indices; UINT32_MAX: none */
    } * symbols;
    struct merge_candidate {
        uint32_t rank, at, result;
        uint64_t pair; /* stale when the symbols there are others by now */
    } * heap;
    size_t symbol_room, heap_room, heap_count;
};

MUST_CHECK bool merge_piece(const struct tokenizer *tokenizer, struct merge_scratch *scratch, const char *text,
                            size_t length, token_take *take, void *context, int64_t *count, struct error *error);
void merge_scratch_free(struct merge_scratch *scratch);

#endif
