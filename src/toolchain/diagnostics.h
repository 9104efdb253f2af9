/*
 * What nvcc, cudafe++, gcc, ld, ptxas and nvlink print, as data.
 *
 * Pure functions over text. The text is untrusted: any bytes are accepted, every result is bounded by the caps below.
 */
#ifndef PTXBENCH_TOOLCHAIN_DIAGNOSTICS_H
#define PTXBENCH_TOOLCHAIN_DIAGNOSTICS_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"

enum { DIAGNOSTICS_MAX = 1000, DIAGNOSTICS_KERNELS_MAX = 4096, DIAGNOSTICS_MESSAGE_MAX = 2000 };

enum diagnostic_severity { DIAGNOSTIC_ERROR, DIAGNOSTIC_WARNING, DIAGNOSTIC_ADVISORY, DIAGNOSTIC_NOTE };

enum diagnostic_tool {
    DIAGNOSTIC_NVCC, /* the driver, cudafe++, cicc */
    DIAGNOSTIC_PTXAS,
    DIAGNOSTIC_GCC,
    DIAGNOSTIC_LD,
    DIAGNOSTIC_NVLINK
};

/* One message. Texts belong to the arena; unknown ones are NULL, unknown numbers 0. */
struct diagnostic {
    enum diagnostic_severity severity; /* advisory: ptxas tells of lost performance or changed synchronisation */
    enum diagnostic_tool tool;
    const char *code;    /* "C7510", "#20-D", "-Wunused-variable" */
    const char *file;    /* as the candidate named it; NULL when only a temporary file of nvcc is known */
    int line;            /* 1-based */
    int column;          /* 1-based */
    bool ptx_line;       /* only the line of the generated PTX is known */
    const char *message; /* one line, printable UTF-8 */
    const char *kernel;  /* mangled name, where ptxas names one */
    const char *hint;    /* what to try; static text */
};

/* What ptxas -v says of one kernel or device function. */
struct kernel_resources {
    const char *kernel; /* mangled */
    const char *arch;   /* "sm_90a"; NULL when not told */
    bool entry;         /* a __global__ function; false: a device function with its own frame */
    uint32_t registers;
    uint32_t barriers;
    uint64_t stack_bytes;
    uint64_t spill_store_bytes;
    uint64_t spill_load_bytes;
    uint64_t shared_bytes;   /* static shared memory */
    uint64_t constant_bytes; /* all constant banks */
};

struct diagnostics {
    struct diagnostic *items; /* in the order of the text */
    size_t count;
    struct kernel_resources *kernels;
    size_t kernel_count;
    size_t dropped; /* messages beyond the caps */
};

/* How names in the text map to the names of the candidate. */
struct diagnostics_paths {
    const char *folder; /* stripped from the front of paths; may be NULL */
    const char *entry;  /* what temporary names (tmpxft_...) stand for; may be NULL */
    const char *ptx;    /* PTX text that ptxas read (with .loc lines): turns its lines into source lines; may be NULL */
    size_t ptx_length;
};

/* Parses `length` bytes. `out` borrows from the arena only. */
void diagnostics_parse(struct arena *arena, const char *text, size_t length, const struct diagnostics_paths *paths,
                       struct diagnostics *out);

size_t diagnostics_count(const struct diagnostics *diagnostics, enum diagnostic_severity severity);

/* First message of that severity, or NULL. */
const struct diagnostic *diagnostics_first(const struct diagnostics *diagnostics, enum diagnostic_severity severity);

/* Short advice for a ptxas advisory code ("C7510") or an nvcc code; NULL when there is none. Static text. */
const char *diagnostics_hint(const char *code);

const char *diagnostic_severity_text(enum diagnostic_severity severity);
const char *diagnostic_tool_text(enum diagnostic_tool tool);

/* Arrays of docs/formats/diagnostics.md. The caller owns the result. */
json_object *diagnostics_to_json(const struct diagnostics *diagnostics);
json_object *diagnostics_kernels_to_json(const struct diagnostics *diagnostics);

#endif
