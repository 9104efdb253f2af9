/*
 * tests/data/mutants/sm_90a.json: for each mutant how many elements of the result are wrong, on the emulator (layout
 * mutants) and on a GPU.
 *
 *     {"format": "ptxbench.mutants.v1", "device": null or "NVIDIA H200",
 *      "mutants": {NAME: {"elements": 131072, "layout": true, "emulator": 63554 or null,
 *                         "gpu": null (not run) or 63554 or "CUDA_ERROR_LAUNCH_FAILED" or "timeout"}}}
 */
#ifndef PTXBENCH_TESTS_MUTANT_COUNTS_H
#define PTXBENCH_TESTS_MUTANT_COUNTS_H

#include "base/json.h"
#include "mutant.h"

/* The file, or an empty one when there is none. The caller frees it. NULL: malformed. */
json_object *mutant_counts_read(const char *path, struct error *error);

void mutant_counts_set_emulator(json_object *counts, const struct mutant *mutant, size_t wrong);
void mutant_counts_set_gpu(json_object *counts, const struct mutant *mutant, size_t wrong, const char *failure);
void mutant_counts_set_device(json_object *counts, const char *device);

/* Whether emulator and GPU have the same number. */
bool mutant_counts_agree(json_object *counts, const struct mutant *mutant);

/* Holds a count of the emulator to the file's: its own, and the GPU's where that is known. */
MUST_CHECK bool mutant_counts_check(json_object *counts, const struct mutant *mutant, size_t wrong,
                                    struct error *error);

#endif
