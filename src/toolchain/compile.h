/*
 * One candidate source to one shared object that serves GPU and emulator: nvcc -shared -O3 with cubin and PTX embedded.
 *
 * nvcc runs in a fresh private folder under limits; the toolkit, the headers and the candidate's own files are all it
 * can read (Landlock). Results, also failures that would repeat, are kept in a content-addressed cache
 * (compile_cache.h). The key covers sources, flags, `nvcc --version`, the C binding's header and TVM-FFI's version.
 */
#ifndef PTXBENCH_TOOLCHAIN_COMPILE_H
#define PTXBENCH_TOOLCHAIN_COMPILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/hash.h"
#include "toolchain/diagnostics.h"
#include "toolchain/toolchain.h"

enum compile_binding {
    COMPILE_BINDING_AUTO, /* tvm-ffi when a source names TVM_FFI_DLL_EXPORT_TYPED_FUNC or tvm/ffi, else c */
    COMPILE_BINDING_TVM_FFI,
    COMPILE_BINDING_C
};

struct compile_source {
    const char *path;    /* relative, no ".."; folders are fine */
    const char *content; /* `length` bytes */
    size_t length;
};

enum { COMPILE_SOURCES_MAX = 256, COMPILE_SOURCE_BYTES_MAX = 16 << 20 /* all files together */ };

/* Limits that are 0 take the defaults. */
struct compile_request {
    const struct compile_source *sources;
    size_t source_count;
    const char *entry; /* path of the source that nvcc is given */
    enum compile_binding binding;
    const char *arch;       /* "sm_90a" or "sm_100a" */
    const char *cache_root; /* NULL: $PTXBENCH_CACHE or the user's cache folder */
    bool rebuild;           /* compile even when the cache has it */
    int64_t timeout_ns;     /* default 60 s */
    uint64_t memory_bytes;  /* default 16 GiB of address space for each tool */
    uint64_t file_bytes;    /* default 512 MiB for each file that a tool writes */
    size_t output_bytes;    /* default 1 MiB of compiler output kept */
    uint64_t cache_bytes;   /* default 20 GiB */
};

enum compile_status {
    COMPILE_OK,
    COMPILE_FAILED,    /* the compiler refused the source: the candidate's fault */
    COMPILE_TIMED_OUT, /* longer than timeout_ns: the candidate's fault, not cached */
    COMPILE_LIMIT      /* ran into memory_bytes or file_bytes: the candidate's fault, not cached */
};

/* Texts belong to the arena of compile_run. */
struct compile_result {
    enum compile_status status;
    enum compile_binding binding; /* never AUTO */
    const char *arch;
    char key[HASH_TEXT_BYTES];
    const char *folder;       /* of the cache entry, NULL when not cached: sass.json is kept there */
    const char *object_path;  /* the shared object; NULL unless COMPILE_OK */
    const char *summary;      /* one line: "compiled", "compile error: ...", "compilation timed out after 60 s" */
    const char *log;          /* what the tools printed, printable, candidate's file names */
    size_t log_dropped_bytes; /* output beyond output_bytes */
    struct diagnostics diagnostics;
    const char *const *dependencies; /* files that the preprocessor read: absolute, or relative to the candidate */
    size_t dependency_count;
    const char *ptx; /* the PTX that ptxas got, with .loc lines; NULL when there is none */
    size_t ptx_length;
    const char *expanded; /* the candidate's own lines after host preprocessing, with line markers; or NULL */
    size_t expanded_length;
    const char *const *entries; /* entry points that the object exports: "run" (tvm-ffi), "ptxbench_run" (c) */
    size_t entry_count;
    int64_t wall_ns; /* of the compilation, also when it came from the cache */
    bool cache_hit;
    const char *nvcc_version;    /* "13.0.88" */
    const char *tvm_ffi_version; /* NULL for binding c */
    const char *sandbox;         /* process_sandbox_text at the time */
};

/*
 * Compiles or fetches from the cache. Returns false for trouble that is not the candidate's: a bad request
 * (ERROR_USAGE, ERROR_INPUT), a missing tool (ERROR_TOOL), a cache that is not writable, a full disk or a compiler that
 * was killed from outside (ERROR_SYSTEM). Safe from several threads and processes at once.
 */
MUST_CHECK bool compile_run(const struct toolchain *toolchain, const struct compile_request *request,
                            struct arena *arena, struct compile_result *result, struct error *error);

/* "auto", "tvm-ffi", "c" <-> enum; parse returns false for anything else. */
const char *compile_binding_text(enum compile_binding binding);
MUST_CHECK bool compile_binding_parse(const char *text, enum compile_binding *out);
const char *compile_status_text(enum compile_status status); /* "ok", "failed", "timed out", "limit" */
bool compile_arch_known(const char *arch);

/* Member "compile" of docs/formats/diagnostics.md. The caller owns it. */
json_object *compile_result_to_json(const struct compile_result *result);

#endif
