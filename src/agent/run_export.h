/* A trajectory in formats of others, and as answers for the `replay` provider. */
#ifndef PTXBENCH_AGENT_RUN_EXPORT_H
#define PTXBENCH_AGENT_RUN_EXPORT_H

#include "agent/run_view.h"

/* mini-swe-agent's trajectory format 1.1: info, and messages system, user, then assistant and user for each turn, exit.
 * The caller owns it. Holds no credential: there is none in a run. */
json_object *run_export_mini(const struct run_view *view, const struct run_view_trajectory *trajectory);

/* One line (docs/formats/model.md, replay) for each turn's answer. The caller owns it. */
json_object *run_export_answer(const struct run_view_trajectory *trajectory, int turn);

#endif
