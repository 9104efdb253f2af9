/*
 * The words of a kernel that ranking compares: identifiers, PTX instructions and numbers outside of comments, lower case,
 * without single letters. What is inside strings counts, since inline PTX is there. Pure.
 */
#ifndef PTXBENCH_AGENT_NOTES_TOKENS_H
#define PTXBENCH_AGENT_NOTES_TOKENS_H

#include "base/arena.h"

/* Words with a blank between them, in the arena. */
const char *notes_tokens(struct arena *arena, const char *source);

/* An FTS5 query that matches texts with any of the words: each distinct word once, in quotes, the `most` rarest-looking
 * (longest) ones. "" for no words. */
const char *notes_match_query(struct arena *arena, const char *tokens, size_t most);

#endif
