/*
 * Ctrl-C, SIGTERM and SIGHUP for commands that have children to end and folders to remove.
 *
 * A command that calls interrupt_catch promises to look: process_run ends its child and fails, a wait for a runner ends,
 * and the command returns early, through its usual clean-up, to interrupt_finish. A second signal ends the process at
 * once. The state is process-wide, because signals are.
 */
#ifndef PTXBENCH_BASE_INTERRUPT_H
#define PTXBENCH_BASE_INTERRUPT_H

#include <stdbool.h>

/* From now on the first of these signals is only noted. Signals that are ignored (nohup) stay ignored. */
void interrupt_catch(void);

/* Whether one came. */
bool interrupt_requested(void);

/* Readable from the moment that one came, for poll; -1 before interrupt_catch. */
int interrupt_fd(void);

/* Ends the process by the signal that came, so that its parent sees what happened; returns when none came. */
void interrupt_finish(void);

#endif
