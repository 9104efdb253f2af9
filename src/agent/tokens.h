/*
 * Counts the tokens of a text with a Hugging Face tokenizer.json: byte-level BPE, as GPT-2, Llama 3, Qwen and SmolLM
 * have it. What this reader does not know (another model, normaliser, pre-tokenizer or pattern) is refused by name and
 * never guessed. Special tokens count as one token where they stand in the text; nothing is added around it.
 */
#ifndef PTXBENCH_AGENT_TOKENS_H
#define PTXBENCH_AGENT_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct tokenizer;

enum { TOKENIZER_BYTES_MAX = 64 << 20, TOKENIZER_VOCABULARY_MAX = 2 << 20 };

/* Reads a file of at most TOKENIZER_BYTES_MAX bytes. Returns a new tokenizer. ERROR_INPUT: malformed;
 * ERROR_UNSUPPORTED: a kind of tokenizer that is not implemented, with the member that says so. */
MUST_CHECK bool tokenizer_read(const char *path, struct tokenizer **tokenizer, struct error *error);

/* The same from memory; `name` is for messages. */
MUST_CHECK bool tokenizer_parse(const char *text, size_t length, const char *name, struct tokenizer **tokenizer,
                                struct error *error);

void tokenizer_free(struct tokenizer *tokenizer); /* accepts NULL */

size_t tokenizer_vocabulary(const struct tokenizer *tokenizer);

/* Called for each token, in order. */
typedef void token_take(void *context, uint32_t id);

/* Tokens of `length` bytes of valid UTF-8 (other bytes are ERROR_INPUT). `take` may be NULL. Thread-safe for one
 * tokenizer. */
MUST_CHECK bool tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length, token_take *take,
                                 void *context, int64_t *count, struct error *error);

/* An estimate without a tokenizer, from bytes alone: docs/formats/pack.md says how well it holds for packs. */
int64_t tokens_estimate(const char *text, size_t length);

static inline void cleanup_tokenizer(struct tokenizer **tokenizer)
{
    tokenizer_free(*tokenizer);
}
#define AUTO_TOKENIZER CLEANUP(cleanup_tokenizer) struct tokenizer

#endif
