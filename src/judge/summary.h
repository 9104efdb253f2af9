/*
 * A verdict for a person at a terminal: one line that says it all, then what matters most first.
 *
 * Text that a candidate produced (its output, its compiler log) is quoted with "| " in front of every line, so that it
 * can never pass for ours. Names and messages are printable by construction of the verdict; they are sanitised again.
 */
#ifndef PTXBENCH_JUDGE_SUMMARY_H
#define PTXBENCH_JUDGE_SUMMARY_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "judge/verdict.h"

struct summary_options {
    bool color;   /* ANSI colours */
    int width;    /* columns; 0: 100. Lines are cut or wrapped to it, at least 40. */
    int findings; /* most findings shown; 0: 8 */
    int quoted;   /* most lines of candidate text shown; 0: 12 */
};

/* "PASSED 0.91x (0.886 ms, reference 0.806 ms) gemm_n7168_k5120 on NVIDIA H200" in the arena, without colour. */
const char *summary_headline(struct arena *arena, const struct verdict *verdict);

/* The whole summary, lines ended by newline. */
void summary_write(struct buffer *out, const struct verdict *verdict, const struct summary_options *options);

#endif
