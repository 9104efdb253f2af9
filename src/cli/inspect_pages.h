/* Pages through a run on a terminal: keys move, what is seen is the text of inspect_text.h. */
#ifndef PTXBENCH_CLI_INSPECT_PAGES_H
#define PTXBENCH_CLI_INSPECT_PAGES_H

#include "agent/run_view.h"

/* Until the user leaves. `start`: index of the trajectory to begin with, or SIZE_MAX for the list. The terminal is as
 * before when it returns. */
MUST_CHECK bool inspect_pages(const struct run_view *view, size_t start, struct error *error);

#endif
