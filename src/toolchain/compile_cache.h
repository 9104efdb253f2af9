/*
 * Content-addressed store of compile results: ROOT/objects/KK/KEY/ with KEY the 64 hex digits of what was compiled.
 *
 * An entry is a folder that appears complete by one rename; files and folders are synced first. A process that loses
 * the race for a key uses the winner's entry. Safe between processes and threads. Trouble with the store (disk full,
 * permission) is ERROR_SYSTEM, never a verdict about a candidate.
 */
#ifndef PTXBENCH_TOOLCHAIN_COMPILE_CACHE_H
#define PTXBENCH_TOOLCHAIN_COMPILE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/* Size that compile_run keeps the store below. */
#define COMPILE_CACHE_DEFAULT_BYTES (20ull << 30)

/* Folder of the entry for `key` (in the arena), also when it does not exist. */
char *compile_cache_folder(struct arena *arena, const char *root, const char *key);

/* A private, empty folder in which to build an entry; new text in the arena. */
MUST_CHECK bool compile_cache_workspace(struct arena *arena, const char *root, char **folder, struct error *error);

/* Publishes `folder` (made by compile_cache_workspace or inside one) as the entry for `key`; afterwards it is gone
 * from its old place. Losing the race to another process is success. */
MUST_CHECK bool compile_cache_publish(const char *root, const char *key, const char *folder, struct error *error);

/* Removes an entry that turned out to be damaged; a missing one is fine. */
void compile_cache_discard(const char *root, const char *key);

/* Marks an entry as used now. */
void compile_cache_touch(const char *root, const char *key);

/*
 * Removes least recently used entries until the store holds at most `max_bytes`, and left-over workspaces older than
 * a day. Entries used within the last ten minutes stay. `*removed` may be NULL.
 */
MUST_CHECK bool compile_cache_trim(const char *root, uint64_t max_bytes, size_t *removed, struct error *error);

#endif
