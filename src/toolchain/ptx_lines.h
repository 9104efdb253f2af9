/* Source positions of the lines of a PTX text, from its .loc and .file directives. Untrusted text; pure. */
#ifndef PTXBENCH_TOOLCHAIN_PTX_LINES_H
#define PTXBENCH_TOOLCHAIN_PTX_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

struct ptx_lines;

/* Indexes the text (borrowed during the call). Returns a new index in the arena; NULL when there are no .loc lines. */
struct ptx_lines *ptx_lines_new(struct arena *arena, const char *text, size_t length);

/* Source position that holds at a line (1-based) of the PTX. `*file` is as written in .file. */
bool ptx_lines_find(const struct ptx_lines *lines, int ptx_line, const char **file, int *line, int *column);

#endif
