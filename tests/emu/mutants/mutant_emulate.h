/* A mutant on the emulator: its first run, in a fixed list of schedules, that says something about it. */
#ifndef PTXBENCH_TESTS_MUTANT_EMULATE_H
#define PTXBENCH_TESTS_MUTANT_EMULATE_H

#include "emu/emulator.h"
#include "mutant.h"

struct mutant_outcome {
    bool named;                     /* the root cause is the finding that the table asks for, with its line */
    bool found;                     /* any error or hazard */
    bool wrong;                     /* the result of some schedule, or a launch that failed */
    size_t eager_wrong, late_wrong; /* wrong elements when everything lands at once, and as late as possible */
    bool completed;                 /* both of these runs */
    char root[1024];                /* "code at file:line (caller): message" of the root cause; empty: none */
};

MUST_CHECK bool mutant_emulate(const struct mutant *mutant, const struct buffer *source, const struct buffer *ptx,
                               const struct mutant_work *work, struct mutant_outcome *outcome, struct error *error);

#endif
