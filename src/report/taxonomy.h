/*
 * What became of a turn: one outcome each, from the fields of the verdict (status, blame, finding codes), never from
 * text. Published labels map onto the same outcomes. docs/metrics.md has the table in words.
 */
#ifndef PTXBENCH_REPORT_TAXONOMY_H
#define PTXBENCH_REPORT_TAXONOMY_H

#include <stdbool.h>
#include <stdint.h>

#include "judge/verdict.h"

/* enumerator, key in data, words. The order is that of a turn's life, and of columns in tables. */
#define TURN_OUTCOMES(X)                                                                                               \
    X(OUTCOME_CORRECT_TARGET, "correct_target", "correct, target instructions")                                        \
    X(OUTCOME_CORRECT_PLAIN, "correct_plain", "correct, no target instructions")                                       \
    X(OUTCOME_CORRECT_UNKNOWN, "correct_unknown", "correct, target instructions unknown")                              \
    X(OUTCOME_NUMERICAL, "numerical", "wrong numbers")                                                                 \
    X(OUTCOME_SHAPE_DTYPE, "shape_dtype", "wrong shape or type")                                                       \
    X(OUTCOME_HANG, "hang", "hang")                                                                                    \
    X(OUTCOME_RUNTIME, "runtime", "runtime error")                                                                     \
    X(OUTCOME_BANNED_LIBRARY, "banned_library", "banned library")                                                      \
    X(OUTCOME_SCREENING, "screening", "against the rules")                                                             \
    X(OUTCOME_COMPILE, "compile", "compile error")                                                                     \
    X(OUTCOME_EXTRACTION, "extraction", "no code in the answer")                                                       \
    X(OUTCOME_OTHER, "other", "other error")                                                                           \
    X(OUTCOME_INFRASTRUCTURE, "infrastructure", "infrastructure")

enum turn_outcome {
#define X(name, key, words) name,
    TURN_OUTCOMES(X)
#undef X
        OUTCOME_COUNT
};

const char *outcome_key(enum turn_outcome outcome);
const char *outcome_words(enum turn_outcome outcome);
bool outcome_parse(const char *key, enum turn_outcome *out);

/* Of a verdict. A finding against the candidate refines its status (a COMPILE_ERROR with banned_library is
 * OUTCOME_BANNED_LIBRARY); blame other than the candidate's is OUTCOME_INFRASTRUCTURE. */
enum turn_outcome outcome_of_verdict(const struct verdict *verdict);

/* Of a FlashInfer-Trace status, which knows nothing of target instructions. */
enum turn_outcome outcome_of_evaluation(enum evaluation_status status);

/* Of a published label ("Kernel Execution Timeout"). "Correct" splits by `target`. False for an unknown label. */
bool outcome_of_label(const char *label, enum tristate target, enum turn_outcome *out);

static inline bool outcome_is_correct(enum turn_outcome outcome)
{
    return outcome <= OUTCOME_CORRECT_UNKNOWN;
}

#endif
