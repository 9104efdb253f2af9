/* Inside of packs: one composition as its file says it, and code out of a source file. */
#ifndef PTXBENCH_AGENT_PACK_INTERNAL_H
#define PTXBENCH_AGENT_PACK_INTERNAL_H

#include "agent/pack.h"
#include "base/buffer.h"

/* Exactly one of pack, text and code; section only with code; the others NULL. */
struct pack_file_part {
    const char *pack, *text, *code, *section, *title;
};

struct pack_file {
    const char *path; /* borrowed */
    const char *title, *arch;
    int64_t max_tokens;
    struct pack_file_part *parts;
    size_t part_count;
    const char **kernels;
    size_t kernel_count;
};

/* Reads one YAML file. Unknown members, aliases, missing members and an architecture without packs are ERROR_INPUT. */
MUST_CHECK bool pack_file_read(struct arena *arena, const char *path, struct pack_file *file, struct error *error);

/* The lines of a source file that a pack shows: those of part->section (between "// [section NAME]" and "// [end]") or
 * all; never markers, "#pragma once" and includes of local files. A section that is not there, or not ended, is
 * ERROR_INPUT. */
MUST_CHECK bool pack_code_extract(const char *source, const struct pack_part *part, struct buffer *out,
                                  struct error *error);

#endif
