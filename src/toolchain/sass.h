/*
 * Machine code of a compiled object: functions, opcodes with modifiers and their offsets, and which of them are the
 * target instructions of the paper (Table 5).
 */
#ifndef PTXBENCH_TOOLCHAIN_SASS_H
#define PTXBENCH_TOOLCHAIN_SASS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "toolchain/toolchain.h"

enum sass_family {
    SASS_OTHER,
    SASS_GMMA,       /* Hopper target: *GMMA, warpgroup tensor compute */
    SASS_TMA,        /* Hopper target: UTMALDG, UTMASTG, UTMAREDG */
    SASS_TCGEN,      /* Blackwell target: UTC*, LDTM*, STTM* */
    SASS_LEGACY_MMA, /* information only: HMMA, IMMA, DMMA, QMMA, OMMA, BMMA */
    SASS_FAMILY_COUNT
};

/* Offsets are bytes from the start of the function's code section: for a kernel what CUPTI reports as pcOffset. */
struct sass_instruction {
    uint32_t offset;
    const char *opcode; /* "HGMMA.64x256x16.F32.BF16", without predicate and operands; shared between instructions */
};

/* One code section: a kernel with the device functions that only it calls. */
struct sass_function {
    const char *name;                      /* mangled */
    uint32_t cubin;                        /* index of the cubin in the object */
    struct sass_instruction *instructions; /* ascending offsets */
    size_t count;
    uint64_t family_count[SASS_FAMILY_COUNT];
};

/* A device function inside the code section of a kernel. */
struct sass_symbol {
    const char *name;
    size_t function; /* index */
    uint32_t offset; /* of its first instruction in that section */
};

struct sass_report {
    struct sass_function *functions;
    size_t count;
    struct sass_symbol *symbols;
    size_t symbol_count;
    uint64_t family_count[SASS_FAMILY_COUNT];
    const char *arch; /* "sm_90a" */
    const char *nvdisasm_version;
    bool from_cache;
};

/*
 * Disassembles the cubins of an object for one architecture. `cache_folder` (may be NULL) keeps sass.json, so that a
 * second call runs no tool. Texts belong to the arena. ERROR_TOOL: nvdisasm missing or broken.
 */
MUST_CHECK bool sass_analyze(const struct toolchain *toolchain, const char *object_path, const char *arch,
                             const char *cache_folder, struct arena *arena, struct sass_report *out,
                             struct error *error);

/* Parses what `nvdisasm -c` prints (untrusted, any bytes) and appends functions. Pure. */
MUST_CHECK bool sass_parse_listing(struct arena *arena, const char *text, size_t length, uint32_t cubin,
                                   struct sass_report *out, struct error *error);

/* Opcode at a byte offset of a function, or NULL. `function` is the mangled name of a kernel (offset from its section)
 * or of a device function inside one (offset from that function). */
const char *sass_opcode_at(const struct sass_report *report, const char *function, uint32_t offset);
const struct sass_function *sass_find_function(const struct sass_report *report, const char *name);

/* Family of an opcode on an architecture: target families only on the architecture they belong to. */
enum sass_family sass_family(const char *opcode, const char *arch);
const char *sass_family_text(enum sass_family family); /* "gmma", "tma", "tcgen", "legacy mma", "other" */
bool sass_family_is_target(enum sass_family family);

/*
 * Multiply-add work, in floating (or integer) operations, of one warp executing the opcode once: 2*M*N*K of the
 * instruction divided by the warps that issue it together. 0 when the opcode does no matrix work; 0 with `*unknown`
 * set to a static reason when it does, but the mnemonic does not tell the shape (tcgen05: in a descriptor).
 */
uint64_t sass_mma_work(const char *opcode, const char **unknown);

/* {"arch", "nvdisasm", "families": {...}, "functions": [{name, instructions, families}]}. The caller owns it. */
json_object *sass_report_to_json(const struct sass_report *report);

#endif
