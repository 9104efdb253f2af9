/* Landlock rules for children and runners. Used by process.c; the public face is process.h. */
#ifndef PTXBENCH_BASE_SANDBOX_H
#define PTXBENCH_BASE_SANDBOX_H

#include "base/process.h"

/* Highest Landlock ABI of the running kernel; 0 when it has none. */
int sandbox_landlock_abi(void);

/* Restricts the calling thread's file access; only system calls, so safe between fork and exec. Returns 0 or errno;
 * sets `*applied`. Paths that do not exist are skipped. */
int sandbox_restrict_files(const struct process_sandbox *sandbox, bool *applied);

#endif
