/*
 * What a user names as a candidate: a .cu file, with the files beside it that it includes in quotes, or a solution
 * JSON of FlashInfer-Trace. Texts belong to the arena.
 */
#ifndef PTXBENCH_CLI_CANDIDATE_INPUT_H
#define PTXBENCH_CLI_CANDIDATE_INPUT_H

#include "toolchain/compile.h"

struct candidate_input {
    const char *name;       /* of the solution: its own, or the file name without suffix */
    const char *definition; /* from a solution; NULL for a .cu file */
    struct compile_source *sources;
    size_t source_count;
    const char *entry_file;
    const char *entry_symbol; /* "run" */
    enum compile_binding binding;
};

/* Reads `path`. At most 64 files of 4 MiB each. An empty or missing file, a solution in another language than CUDA or
 * C++, and malformed JSON are errors of the input. */
MUST_CHECK bool candidate_input_read(struct arena *arena, const char *path, struct candidate_input *out,
                                     struct error *error);

#endif
