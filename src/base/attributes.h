/* Compiler attributes used throughout, and cleanup helpers for locals. */
#ifndef PTXBENCH_BASE_ATTRIBUTES_H
#define PTXBENCH_BASE_ATTRIBUTES_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(format_index, first_arg) __attribute__((format(printf, format_index, first_arg)))
#define CLEANUP(function) __attribute__((cleanup(function)))
#define ARRAY_LEN(array) (sizeof(array) / sizeof((array)[0]))

/* `AUTO_FREE char *text = ...;` frees at the end of the scope. */
static inline void cleanup_free(void *pointer)
{
    free(*(void **)pointer);
}
#define AUTO_FREE CLEANUP(cleanup_free)

/* `AUTO_CLOSE int fd = open(...);` closes a descriptor >= 0 at the end of the scope. */
static inline void cleanup_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
}
#define AUTO_CLOSE CLEANUP(cleanup_close)

static inline void cleanup_fclose(FILE **file)
{
    if (*file)
        (void)fclose(*file);
}
#define AUTO_FCLOSE CLEANUP(cleanup_fclose)

/* Hands a cleaned-up pointer to the caller: `return steal(&text);`. */
static inline void *steal_pointer(void *pointer_to_pointer)
{
    void **slot = pointer_to_pointer;
    void *value = *slot;

    *slot = NULL;
    return value;
}
#define steal(slot) ((__typeof__(*(slot)))steal_pointer(slot))

static inline int steal_fd(int *fd)
{
    int value = *fd;

    *fd = -1;
    return value;
}

#endif
