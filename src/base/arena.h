/*
 * Memory with one lifetime (an evaluation, a request, a report): allocate freely, release all at once.
 * Allocations are zeroed and aligned to 16 bytes. Out of memory aborts the process with a message: an arena
 * serves metadata of bounded size, never tensors. Not thread-safe.
 */
#ifndef PTXBENCH_BASE_ARENA_H
#define PTXBENCH_BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/attributes.h"

struct arena;

/* Returns a new arena; never NULL. */
struct arena *arena_new(void);

/* Releases everything allocated from it; accepts NULL. */
void arena_free(struct arena *arena);

/* Returns `size` zeroed bytes that live as long as the arena; never NULL, also for size 0. */
void *arena_alloc(struct arena *arena, size_t size) __attribute__((malloc, alloc_size(2)));

/* `count` zeroed objects; aborts when count * size overflows. */
void *arena_calloc(struct arena *arena, size_t count, size_t size) __attribute__((malloc, alloc_size(2, 3)));

/* Copies a text, or `length` bytes of it plus a terminator. NULL stays NULL for arena_strdup. */
char *arena_strdup(struct arena *arena, const char *text);
char *arena_strndup(struct arena *arena, const char *text, size_t length);

char *arena_printf(struct arena *arena, const char *format, ...) PRINTF_LIKE(2, 3);

static inline void cleanup_arena(struct arena **arena)
{
    arena_free(*arena);
}
#define AUTO_ARENA CLEANUP(cleanup_arena) struct arena

#endif
