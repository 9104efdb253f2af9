/* Differences between two texts, line by line, in the unified format. Pure. */
#ifndef PTXBENCH_AGENT_LINE_DIFF_H
#define PTXBENCH_AGENT_LINE_DIFF_H

#include "base/buffer.h"

/*
 * Appends hunks of changed lines (" ", "-", "+" in front) with `context` unchanged lines around them. Nothing for equal
 * texts. The shortest script (Myers) as long as it takes at most LINE_DIFF_CHANGES_MAX changed lines; of texts that differ
 * in more, everything between the common beginning and end is replaced.
 */
enum { LINE_DIFF_CHANGES_MAX = 2000 };

void line_diff(const char *before, const char *after, int context, struct buffer *out);

#endif
