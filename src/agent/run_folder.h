/*
 * The folder of a run (docs/formats/run.md):
 *
 *     run.json                         configuration and plan
 *     prompts/SHA256.txt               texts that trajectories begin with, each once
 *     trajectories/NAME/events.jsonl   the log; everything below it is derived from it
 *     trajectories/NAME/trajectory.json, turn_N/kernel.cu, turn_N/verdict.json
 *     turns.jsonl                      what `ptxbench report` reads; derived
 *     scratch/                         temporary files of workers, emptied at each start
 *
 * Derived files are complete or absent, but not synced: after a crash of the machine, resuming writes them again.
 */
#ifndef PTXBENCH_AGENT_RUN_FOLDER_H
#define PTXBENCH_AGENT_RUN_FOLDER_H

#include "agent/plan.h"

#define RUN_SCHEMA "ptxbench.run.v1"

struct run_folder {
    struct arena *arena; /* borrowed */
    const char *path;
    int lock; /* -1: not locked */
};

/* Takes the folder for one process: makes it when `create`, else it must hold a run. A second process is refused. */
MUST_CHECK bool run_folder_open(struct arena *arena, const char *path, bool create, struct run_folder *out,
                                struct error *error);
void run_folder_close(struct run_folder *folder);

/* Whether a path looks like a run: it holds run.json. */
bool run_folder_is_run(const char *path);

/* run.json. Reading checks the schema; `*names` are those of the plan, NULL-terminated. */
MUST_CHECK bool run_folder_write_plan(const struct run_folder *folder, const struct run_config *config,
                                      const struct plan *plan, const char *version, struct error *error);
MUST_CHECK bool run_folder_read_plan(struct arena *arena, const char *path, struct run_config *config,
                                     const char ***names, struct error *error);

/* Stores a text under its hash, once. */
MUST_CHECK bool run_folder_put_prompt(const struct run_folder *folder, const char *text, char sha256[65],
                                      struct error *error);
MUST_CHECK bool run_folder_get_prompt(struct arena *arena, const char *folder, const char *sha256, const char **text,
                                      struct error *error);

char *run_folder_log(struct arena *arena, const char *folder, const char *name); /* events.jsonl */

/* A file of a trajectory, "turn_3/kernel.cu", without syncing. */
MUST_CHECK bool run_folder_put_file(const struct run_folder *folder, const char *name, const char *file,
                                    const char *bytes, size_t length, struct error *error);

#endif
