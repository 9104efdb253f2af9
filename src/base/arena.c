#include "base/arena.h"

#include <stdint.h>
#include <string.h>

/* Blocks double from the first size to the last: one JSON line has an arena, and so has a whole report. */
enum { FIRST_BLOCK_BYTES = 1024, BLOCK_BYTES = 64 * 1024, ALIGNMENT = 16 };

struct block {
    struct block *next;
    size_t used;
    size_t size;
    _Alignas(ALIGNMENT) char bytes[];
};

struct arena {
    struct block *blocks; /* newest first */
};

static void *allocate_or_die(size_t size)
{
    void *memory = calloc(1, size);

    if (!memory) {
        (void)fprintf(stderr, "ptxbench: out of memory (%zu bytes)\n", size);
        abort();
    }
    return memory;
}

struct arena *arena_new(void)
{
    return allocate_or_die(sizeof(struct arena));
}

void arena_free(struct arena *arena)
{
    if (!arena)
        return;
    for (struct block *block = arena->blocks; block;) {
        struct block *next = block->next;
        free(block);
        block = next;
    }
    free(arena);
}

void *arena_alloc(struct arena *arena, size_t size)
{
    size_t rounded = (size + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    struct block *block = arena->blocks;

    if (rounded < size)
        rounded = SIZE_MAX / 2; /* overflow: let the allocation fail */
    if (!block || block->size - block->used < rounded) {
        size_t usual = !block ? FIRST_BLOCK_BYTES : block->size < BLOCK_BYTES / 2 ? 2 * block->size : BLOCK_BYTES;
        size_t bytes = rounded > usual ? rounded : usual;
        block = allocate_or_die(sizeof *block + bytes);
        block->size = bytes;
        block->next = arena->blocks;
        arena->blocks = block;
    }
    void *memory = block->bytes + block->used;
    block->used += rounded;
    return memory;
}

void *arena_calloc(struct arena *arena, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes))
        bytes = SIZE_MAX;
    return arena_alloc(arena, bytes);
}

char *arena_strndup(struct arena *arena, const char *text, size_t length)
{
    char *copy = arena_alloc(arena, length + 1);

    memcpy(copy, text, length);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return text ? arena_strndup(arena, text, strlen(text)) : NULL;
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (length < 0)
        return arena_strdup(arena, "");
    char *text = arena_alloc(arena, (size_t)length + 1);
    va_start(args, format);
    (void)vsnprintf(text, (size_t)length + 1, format, args);
    va_end(args);
    return text;
}
