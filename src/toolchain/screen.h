/*
 * The library ban: a candidate must do the work itself. Screens the source text, the files that it includes, and the
 * built object (libraries, imports, strings, embedded device code).
 *
 * An offence fails the candidate; a note is only told. Comments, strings in diagnostics and look-alike identifiers
 * (my_cudnn_like) are no offence.
 */
#ifndef PTXBENCH_TOOLCHAIN_SCREEN_H
#define PTXBENCH_TOOLCHAIN_SCREEN_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "toolchain/compile.h"
#include "toolchain/toolchain.h"

/* code, "what it means" */
#define SCREEN_CODES(X)                                                                                                \
    X(SCREEN_VENDOR_INCLUDE, "vendor_include", "includes a vendor library's header")                                   \
    X(SCREEN_TEMPLATE_LIBRARY, "template_library", "includes CUTLASS, CuTe, thrust or CUB")                            \
    X(SCREEN_VENDOR_CALL, "vendor_call", "names a vendor library's function or type")                                  \
    X(SCREEN_LOADER_CALL, "loader_call", "names a function that loads code or starts programs")                        \
    X(SCREEN_INCBIN, "incbin", "includes a binary file by assembly or #embed")                                         \
    X(SCREEN_FOREIGN_INCLUDE, "foreign_include", "reads a file outside the toolkit, TVM-FFI and itself")               \
    X(SCREEN_FOREIGN_LIBRARY, "foreign_library", "is linked with a library that is not allowed")                       \
    X(SCREEN_DENIED_IMPORT, "denied_import", "imports a function that loads code, starts programs or does the work")   \
    X(SCREEN_DENIED_STRING, "denied_string", "holds the name of a denied library or function")                         \
    X(SCREEN_EMBEDDED_CODE, "embedded_code", "holds device code that this compilation did not make")                   \
    X(SCREEN_HOST_ASSEMBLY, "host_assembly", "has assembly for the host processor")                                    \
    X(SCREEN_CONSTRUCTOR, "constructor", "runs code when it is loaded")

enum screen_code {
#define X(code, text, meaning) code,
    SCREEN_CODES(X)
#undef X
};

enum screen_severity { SCREEN_NOTE, SCREEN_OFFENCE };

struct screen_finding {
    enum screen_code code;
    enum screen_severity severity;
    const char *message; /* one line: what, where, why */
    const char *file;    /* source file, or NULL for the object */
    int line;            /* 1-based, 0 when unknown */
    const char *hint;    /* static */
};

struct screen_report {
    struct screen_finding *findings; /* in the arena; at most SCREEN_FINDINGS_MAX */
    size_t count;
    size_t offences;
    size_t dropped;
};

enum { SCREEN_FINDINGS_MAX = 200 };

struct screen_policy {
    bool allow_libraries; /* CUTLASS, CuTe, thrust, CUB (never cuBLAS, cuDNN and other binaries) */
};

/* Before compiling: lexes each source. Adds to the report; start with a zeroed one. Pure; any bytes are accepted. */
void screen_sources(struct arena *arena, const struct compile_source *sources, size_t count,
                    const struct screen_policy *policy, struct screen_report *report);

/* After compiling: every file the preprocessor read must be the candidate's or lie in an allowed folder. */
void screen_dependencies(struct arena *arena, const struct toolchain *toolchain, const struct compile_result *result,
                         const struct screen_policy *policy, struct screen_report *report);

/* The built object as bytes. ERROR_INPUT when it is no ELF object. */
MUST_CHECK bool screen_object(struct arena *arena, const void *bytes, size_t length, struct screen_report *report,
                              struct error *error);

/* All of it for a compiled candidate (for one that failed to compile: the parts that apply). */
MUST_CHECK bool screen_candidate(struct arena *arena, const struct toolchain *toolchain,
                                 const struct compile_request *request, const struct compile_result *result,
                                 const struct screen_policy *policy, struct screen_report *report, struct error *error);

const char *screen_code_text(enum screen_code code); /* "vendor_include" */

/* Array of {code, severity, message, file, line, hint}. The caller owns it. */
json_object *screen_report_to_json(const struct screen_report *report);

#endif
