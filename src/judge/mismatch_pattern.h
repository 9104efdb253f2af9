/* Where the wrong elements of a matrix lie, in words: what tells a wrong tile from a race. Pure. */
#ifndef PTXBENCH_JUDGE_MISMATCH_PATTERN_H
#define PTXBENCH_JUDGE_MISMATCH_PATTERN_H

#include <stdint.h>

#include "base/arena.h"

/*
 * `counts[r * columns + c]`: wrong elements in the tile x tile square at (r, c) of a matrix of element_rows x
 * element_columns. Returns a phrase in the arena, for example "12 of 14336 64x64 tiles, rows 0-63, columns 128-895,
 * every element of them"; NULL when nothing is wrong.
 */
const char *mismatch_pattern(struct arena *arena, const uint32_t *counts, int64_t rows, int64_t columns,
                             int64_t element_rows, int64_t element_columns, int tile);

#endif
