/*
 * Names in a pack: which functions its ```cuda blocks define, whether kernels call them, and whether its prose names
 * something that is not there. Words, not C++: good for the style of the packs, where a function is defined as
 * "DEVICE type name(" or "inline type name(".
 */
#ifndef PTXBENCH_AGENT_PACK_NAMES_H
#define PTXBENCH_AGENT_PACK_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/buffer.h"

struct pack_names;

/* Appends the ```cuda blocks of a pack's text, in order, to `code` (NULL: only counts). Returns their number. */
size_t pack_blocks_collect(const char *text, struct buffer *code);

/* Reads the definitions in the blocks of a pack's text. Everything belongs to the arena. */
struct pack_names *pack_names_new(struct arena *arena, const char *text);

/* A kernel that may call the functions; call it before pack_names_unused. */
void pack_names_add_kernel(struct pack_names *names, const char *source);

/* Functions defined. */
size_t pack_names_count(const struct pack_names *names);

/* Functions that no kernel calls, neither directly nor through another function that a kernel calls. */
size_t pack_names_unused(struct pack_names *names, const char ***list);

/* Names with an underscore that the text outside of ```cuda blocks puts in `code` or calls in a ```text block, and that
 * neither the blocks nor CUDA nor PTX know. Words with a "." or ":" beside them are PTX. */
size_t pack_names_undeclared(struct pack_names *names, const char *text, const char ***list);

#endif
