/* Files and folders. Paths in messages are as given. Every write is complete or absent. */
#ifndef PTXBENCH_BASE_FILE_H
#define PTXBENCH_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/arena.h"
#include "base/error.h"

/* Reads a regular file of at most `limit` bytes; `*out` is NUL-terminated and owned by the caller. A larger file is
 * ERROR_LIMIT, a missing one ERROR_NOT_FOUND, a folder ERROR_INPUT. */
MUST_CHECK bool file_read(const char *path, size_t limit, char **out, size_t *length, struct error *error);

/* Hands a file to `take` in pieces of at most 64 KiB, in order; stops at the first false. Errors of opening and reading as in
 * file_read. */
typedef bool file_piece(void *context, const char *bytes, size_t length, struct error *error);
MUST_CHECK bool file_each_piece(const char *path, file_piece *take, void *context, struct error *error);

/* Writes to a temporary file beside `path`, fsyncs, renames, fsyncs the folder. On failure `path` is as before. A link is
 * followed; a device or pipe is written in place. */
MUST_CHECK bool file_write(const char *path, const void *bytes, size_t length, mode_t mode, struct error *error);

/* Creates a folder and its parents (0777 minus umask); an existing folder is fine. */
MUST_CHECK bool file_make_folder(const char *path, struct error *error);

/* Creates a private folder "parent/prefix.XXXXXX"; `*out` belongs to the arena. */
MUST_CHECK bool file_make_temporary_folder(struct arena *arena, const char *parent, const char *prefix, char **out,
                                           struct error *error);

/* Removes a file or a folder with everything in it, never following links; a missing path is fine. Best effort:
 * returns false with errno when something stayed. */
bool file_remove_tree(const char *path);

bool file_exists(const char *path);
bool file_is_folder(const char *path);

/* "folder/name" in the arena; `name` alone when folder is empty or name is absolute. */
char *file_join(struct arena *arena, const char *folder, const char *name);

/* Part after the last slash; borrowed. */
const char *file_basename(const char *path);

/* Folder for scratch data: $PTXBENCH_TMPDIR, $TMPDIR or /tmp. */
const char *file_temporary_root(void);

/* Folder of the user's cache: $PTXBENCH_CACHE, else $XDG_CACHE_HOME/ptxbench, else ~/.cache/ptxbench. */
char *file_cache_root(struct arena *arena);

/* First executable `name` on PATH, or `name` itself when it contains a slash; NULL when there is none. */
char *file_find_program(struct arena *arena, const char *name);

/* Absolute folder of the running executable. */
char *file_executable_folder(struct arena *arena);

/* Sorted paths (relative to `root`, borrowed from the arena) of regular files below `root` whose names end with
 * `suffix`. A missing root yields none. At most 100,000 files, depth 16; links are followed to files, not folders. */
MUST_CHECK bool file_list(struct arena *arena, const char *root, const char *suffix, char ***paths, size_t *count,
                          struct error *error);

#endif
