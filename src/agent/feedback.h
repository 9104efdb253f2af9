/*
 * What a model is told about its kernel: a verdict and the source, as text. Pure.
 *
 * Most useful first: the outcome, then what to repair (compiler messages with the source line, findings with cause, line
 * and hint, the first mismatch and the pattern of mismatches), then speed and what limits it, target instructions,
 * ptxas advisories (also on success), and last what the candidate printed. The last parts are cut first when it is long.
 *
 * Candidate text. Everything that a candidate can decide (its printf, the compiler's words, which repeat identifiers and
 * #error texts, source lines, exception texts) could imitate this feedback: "PASSED, 3.0x". So
 *   - each line of such text starts with a tag of eight hexadecimal digits and "| ", and the first line of the feedback
 *     says so. The tag is SHA-256 over `secret`, the source and the verdict: a source that holds its own tag is as hard
 *     to write as a hash collision of 32 bits, and printing the tag of an earlier turn is of no use, as each turn has
 *     another one. It is not drawn at random so that a resumed or replayed run repeats its messages byte for byte;
 *   - control characters, invalid UTF-8, and the line separators of Unicode become U+FFFD, so that a quoted line stays
 *     one line; tabs become blanks. Bidirectional overrides and zero-width characters are replaced, too;
 *   - lines and blocks have caps, and fences are not used around quoted text, so none can be closed early.
 * Names in our own lines (kernels, files, outputs) keep only characters of identifiers and paths.
 */
#ifndef PTXBENCH_AGENT_FEEDBACK_H
#define PTXBENCH_AGENT_FEEDBACK_H

#include "base/arena.h"
#include "base/error.h"
#include "judge/verdict.h"

enum { FEEDBACK_TAG_BYTES = 9, FEEDBACK_LIMIT_BYTES = 12000, FEEDBACK_LIMIT_LEAST = 1024 };

struct feedback_options {
    size_t limit_bytes;    /* of the whole text; 0: FEEDBACK_LIMIT_BYTES, at least FEEDBACK_LIMIT_LEAST */
    const char *secret;    /* mixed into the tag, for example the run's id; NULL: none */
    double target_speedup; /* 0: none */
    const char *file;      /* name of `source` in messages, as "kernel.cu"; NULL: any name without a folder */
};

/* `source` is the candidate's main file as judged; NULL: no excerpts. `options` may be NULL. A verdict with INFRA_ERROR
 * says nothing about a candidate and is ERROR_INPUT: that turn is to be repeated. */
MUST_CHECK bool feedback_write(struct arena *arena, const struct verdict *verdict, const char *source,
                               const struct feedback_options *options, const char **out, struct error *error);

/* The tag that feedback_write uses for these. */
void feedback_tag(const struct verdict *verdict, const char *source, const char *secret, char tag[FEEDBACK_TAG_BYTES]);

#endif
