/*
 * The file of a trajectory's events: append-only JSON lines. A line counts once its newline is there; what a crash left
 * behind the last newline never happened and is cut off when the log is opened.
 */
#ifndef PTXBENCH_AGENT_EVENT_LOG_H
#define PTXBENCH_AGENT_EVENT_LOG_H

#include "agent/event.h"

/* Longest line: an answer of a model with everything that a judgement prints. */
enum { EVENT_LINE_MAX = 64 << 20 };

/* Called for each event in order; `event` and its texts live until the call returns. */
typedef bool event_visit(const struct event *event, void *context, struct error *error);

/* Reads a log. A missing file has no events. An unfinished last line is left out, any other broken line is an error
 * with file and line. Changes nothing. */
MUST_CHECK bool event_log_read(const char *path, event_visit *visit, void *context, struct error *error);

/* Cuts off an unfinished last line; `*repaired` tells whether there was one. A missing file is fine. */
MUST_CHECK bool event_log_repair(const char *path, bool *repaired, struct error *error);

/* Appends one event with a single write. It outlives this process whatever ends it; to outlive the machine it needs
 * event_log_sync. */
MUST_CHECK bool event_log_append(const char *path, const struct event *event, struct error *error);

/* Syncs every log below `folder` (open, a folder) to the disk, in one go: hundreds of single syncs would take seconds. */
MUST_CHECK bool event_log_sync(int folder, struct error *error);

#endif
