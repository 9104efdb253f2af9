/*
 * A knowledge pack: the reference material that a model gets in front of a task. A pack is composed of parts by a small
 * YAML file (docs/formats/pack.md); a part is a text, a source file (or a section of one) that becomes a fenced block,
 * or another pack. What a model reads in a fenced block is the text that `pack_check` compiles.
 *
 * Packs that ship are the files packs/NAME.yaml; parts are found relative to the folder `packs`, those of a user's own
 * YAML file relative to its folder first.
 *
 * Everything here belongs to the arena given. Not thread-safe for one arena.
 */
#ifndef PTXBENCH_AGENT_PACK_H
#define PTXBENCH_AGENT_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

enum pack_part_kind { PACK_TEXT, PACK_CODE };

/* One part after nested packs are resolved. */
struct pack_part {
    enum pack_part_kind kind;
    const char *path;    /* of the file, as found */
    const char *name;    /* as the composition writes it: "hopper/tma.cuh" */
    const char *section; /* PACK_CODE: only this section; NULL: the whole file */
    const char *title;   /* heading in front of it; NULL: none */
};

struct pack {
    const char *name;   /* "hopper"; file name without .yaml */
    const char *path;   /* of the YAML file */
    const char *folder; /* parts are looked for here, then in the shipped packs */
    const char *title;  /* one line */
    const char *arch;   /* "sm_90a" or "sm_100a" */
    int64_t max_tokens; /* 0: no limit of its own */
    const struct pack_part *parts;
    size_t part_count;
    const char *const *kernels; /* paths of kernels that use the wrappers (pack_check compiles them) */
    size_t kernel_count;
};

enum { PACK_BYTES_MAX = 1 << 20, PACK_DEPTH_MAX = 8, PACK_PARTS_MAX = 256 };

/* Opens a composition by the name of a shipped pack, or by the path of a YAML file (it ends in .yaml or has a slash).
 * Nested packs are resolved; a cycle, a missing file and a member that is unknown are ERROR_INPUT or ERROR_NOT_FOUND
 * and name file and member. */
MUST_CHECK bool pack_open(struct arena *arena, const char *name_or_path, struct pack **pack, struct error *error);

/* The text of the pack, at most PACK_BYTES_MAX bytes, the same bytes for the same files on every machine. */
MUST_CHECK bool pack_text(struct arena *arena, const struct pack *pack, const char **text, struct error *error);

/* Names of the shipped packs, sorted. */
MUST_CHECK bool pack_list(struct arena *arena, char ***names, size_t *count, struct error *error);

/*
 * Variants. As in the paper, a task family on an architecture is asked with PACK_VARIANTS prompts. Index 0 is the base
 * pack, 1 and 2 add a pattern. The ablation of the paper's Table 3 has three levels.
 */
enum { PACK_VARIANTS = 3, PACK_LEVELS = 3 };

enum pack_family { PACK_GEMM, PACK_MHA_FORWARD, PACK_MHA_BACKWARD, PACK_FAMILIES };

/* "gemm", "mha_fwd", "mha_bwd". */
const char *pack_family_text(enum pack_family family);

/* Family of a definition by its operation type and name: "gemm_...", "mha_bwd_...", "mha_...". False: it has none. */
bool pack_family_of(const char *op_type, const char *definition, enum pack_family *family);

/* Name of the shipped pack, static; NULL for an architecture without packs or an index out of range. */
const char *pack_variant_for(enum pack_family family, const char *arch, int index);

/* Ablation: 0 parameters, 1 + templates, 2 + contract (the base pack). */
const char *pack_level_for(const char *arch, int level);

#endif
