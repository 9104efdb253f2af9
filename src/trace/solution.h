/*
 * A FlashInfer-Trace solution: an implementation of a definition as source text. Format: docs/formats/trace-set.md.
 * Lifetime as in trace/definition.h. A solution under evaluation is a candidate.
 */
#ifndef PTXBENCH_TRACE_SOLUTION_H
#define PTXBENCH_TRACE_SOLUTION_H

#include "base/hash.h"
#include "base/json.h"

#define SOLUTION_LANGUAGES(X)                                                                                          \
    X(LANGUAGE_PYTHON, "python")                                                                                       \
    X(LANGUAGE_TRITON, "triton")                                                                                       \
    X(LANGUAGE_CPP, "cpp")                                                                                             \
    X(LANGUAGE_CUDA, "cuda")                                                                                           \
    X(LANGUAGE_TILELANG, "tilelang")

enum solution_language {
#define X(name, text) name,
    SOLUTION_LANGUAGES(X)
#undef X
};

/* BINDING_NONE: the member is absent (or the text "none"). "c" is ours: include/ptxbench/candidate.h. */
#define SOLUTION_BINDINGS(X)                                                                                           \
    X(BINDING_NONE, "none")                                                                                            \
    X(BINDING_TVM_FFI, "tvm-ffi")                                                                                      \
    X(BINDING_TORCH, "torch")                                                                                          \
    X(BINDING_C, "c")

enum solution_binding {
#define X(name, text) name,
    SOLUTION_BINDINGS(X)
#undef X
};

struct solution_source {
    const char *path;    /* relative, normal, without ".."; unique */
    const char *content; /* not empty */
};

struct solution {
    const char *name;
    const char *definition;
    const char *author;
    const char *description; /* may be NULL */
    enum solution_language language;
    enum solution_binding binding;
    const char *entry_point;  /* "kernel.cu::run" */
    const char *entry_file;   /* "kernel.cu": one of the sources */
    const char *entry_symbol; /* "run" */
    const char **target_hardware;
    size_t target_hardware_count; /* >= 1 */
    const char **dependencies;
    size_t dependency_count;
    bool destination_passing_style;
    struct solution_source *sources;
    size_t source_count;
    char hash[HASH_TEXT_BYTES]; /* SHA-256 of definition, language, entry point, binding, dependencies and sources:
                                 * equal for solutions that differ only in name, author or target hardware */
    struct json source;         /* with unknown members */
};

/* Checks and reads a solution. Errors (ERROR_INPUT) name file, line and JSON path. */
MUST_CHECK bool solution_parse(struct json at, struct arena *arena, struct solution **out, struct error *error);

/* "name_1a2b3c4d": the name with the first 8 digits of the hash; in the arena. */
const char *solution_unique_name(const struct solution *solution, struct arena *arena);

/* Builds the JSON of a one-file CUDA solution; the caller owns the tree. Checked by solution_parse when read. */
json_object *solution_new_cuda(const char *name, const char *definition, const char *author,
                               enum solution_binding binding, const char *file, const char *symbol,
                               const char *target_hardware, const char *content);

/* NULL or "": a usable source path. Otherwise why it is not: "is absolute", "contains \"..\"", ... */
const char *solution_path_problem(const char *path);

const char *solution_language_text(enum solution_language language);
const char *solution_binding_text(enum solution_binding binding);

#endif
