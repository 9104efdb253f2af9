/* A set of byte strings, each with a small number: equal strings have equal numbers, 0, 1, 2, ... in order of arrival.
 * Not thread-safe. */
#ifndef PTXBENCH_REPORT_INTERN_H
#define PTXBENCH_REPORT_INTERN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

struct intern {
    struct arena *arena; /* borrowed; holds the strings */
    const char **items;  /* NUL-terminated copies */
    uint32_t *lengths;
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* number + 1; 0 is free */
    size_t slot_count;
};

struct intern intern_new(struct arena *arena);
void intern_free(struct intern *intern);

/* Number of `length` bytes, added when new. Aborts when out of memory, as an arena does. */
uint32_t intern_bytes(struct intern *intern, const void *bytes, size_t length);
uint32_t intern_text(struct intern *intern, const char *text);

#endif
