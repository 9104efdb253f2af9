/*
 * What an emulated device tells of a candidate's run: the JSON lines of docs/formats/emulator.md as findings, counts and
 * facts. Everything in them may be forged by the candidate, as the counters of a GPU may. Pure.
 */
#ifndef PTXBENCH_JUDGE_EMULATED_EVENTS_H
#define PTXBENCH_JUDGE_EMULATED_EVENTS_H

#include "judge/finding.h"
#include "judge/target.h"

struct emulated_events {
    struct finding_list findings;
    const char *running;     /* kernel that began and did not end; NULL: none */
    const char *unsupported; /* what the emulator lacks, in its words; NULL: nothing */
    bool failed;             /* a launch did not complete */
    bool depends_on_missing; /* of clusters that did not run, something was needed */
    uint64_t launches;
    uint64_t clusters;      /* that ran, */
    uint64_t grid_clusters; /* of so many */
    struct target_sums sums;
};

/* Reads the lines; a torn last one and strangers are left out. Texts go to
 * the arena. */
void emulated_events_read(struct arena *arena, const char *text, size_t length, struct emulated_events *out);

#endif
