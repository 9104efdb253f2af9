/* Views of a run as text: what `ptxbench inspect` prints, and what its pages show. */
#ifndef PTXBENCH_CLI_INSPECT_TEXT_H
#define PTXBENCH_CLI_INSPECT_TEXT_H

#include "agent/run_view.h"
#include "base/buffer.h"

/* What is shown of a turn. */
enum inspect_part { INSPECT_DIFF, INSPECT_CODE, INSPECT_VERDICT, INSPECT_FEEDBACK, INSPECT_ANSWER, INSPECT_PARTS };

const char *inspect_part_text(enum inspect_part part); /* "diff", "code", ... */
bool inspect_part_parse(const char *text, enum inspect_part *out);

/* The trajectories, one a line, with a heading; `lines` are summaries in the order of the plan. */
void inspect_write_list(struct buffer *out, const struct run_view *view, const struct run_view_trajectory *lines);

/* One line of that list, without newline; `width` of the column of names. */
void inspect_write_row(struct buffer *out, const char *name, int width, const struct trajectory *state);

/* Head of a trajectory: task, model, state, sums. */
void inspect_write_head(struct buffer *out, const struct run_view_trajectory *trajectory);

/* "turn 2 of 8: PASSED 0.91x, target instructions yes, 12.3k tokens", one line. */
void inspect_write_turn(struct buffer *out, const struct run_view_trajectory *trajectory, int turn);

/* A part of a turn. Whatever model and candidate wrote has "| ", "+", "-", " " or "@@" in front. */
void inspect_write_part(struct buffer *out, const struct run_view_trajectory *trajectory, int turn,
                        enum inspect_part part, int width, bool color);

#endif
