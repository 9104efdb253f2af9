/* Shared by the screen_*.c files. */
#ifndef PTXBENCH_TOOLCHAIN_SCREEN_INTERNAL_H
#define PTXBENCH_TOOLCHAIN_SCREEN_INTERNAL_H

#include "base/attributes.h"
#include "toolchain/screen.h"

/* Adds a finding unless the same code was found at the same place or about the same thing (`subject`, copied). */
void screen_add(struct arena *arena, struct screen_report *report, enum screen_code code, enum screen_severity severity,
                const char *file, int line, const char *format, ...) PRINTF_LIKE(7, 8);

/* Screens one text. `file` names it in findings; with `has_markers` line markers in it name the place instead, and
 * includes are not looked at (they are gone). */
void screen_text(struct arena *arena, const char *file, const char *text, size_t length, bool has_markers,
                 const struct screen_policy *policy, struct screen_report *report);

#endif
