/* Results of the toolchain layer, taken into a verdict. Texts are borrowed from the toolchain's arena. */
#ifndef PTXBENCH_JUDGE_VERDICT_TOOLCHAIN_H
#define PTXBENCH_JUDGE_VERDICT_TOOLCHAIN_H

#include "base/arena.h"
#include "judge/verdict.h"
#include "toolchain/compile.h"
#include "toolchain/screen.h"

/* Fills verdict->compile, arch and binding of the task, tools of the provenance, and findings: the compiler's errors
 * (at most 20), advisories, spills, time-out and limits. Does not set the status. */
void verdict_take_compile(struct verdict *verdict, struct arena *arena, const struct compile_result *result);

/* Offences become banned_library or foreign_code findings, notes become notes. Returns whether there is an offence. */
bool verdict_take_screen(struct verdict *verdict, struct arena *arena, const struct screen_report *report);

#endif
