/*
 * A FlashInfer-Trace workload: concrete axis sizes and the origin of every input of one definition.
 * Format and our extension `derived`: docs/formats/trace-set.md. Lifetime as in trace/definition.h.
 */
#ifndef PTXBENCH_TRACE_WORKLOAD_H
#define PTXBENCH_TRACE_WORKLOAD_H

#include "trace/definition.h"

/* enumerator, text in JSON */
#define INPUT_KINDS(X)                                                                                                 \
    X(INPUT_RANDOM, "random") /* by seed: trace/random.h */                                                            \
    X(INPUT_SCALAR, "scalar")                                                                                          \
    X(INPUT_SAFETENSORS, "safetensors") /* stored in a file */                                                         \
    X(INPUT_DERIVED, "derived")         /* ours: computed from the other inputs by a named forward operation */

enum input_kind {
#define X(name, text) name,
    INPUT_KINDS(X)
#undef X
};

const char *input_kind_text(enum input_kind kind);

struct workload_input {
    const char *name;
    enum input_kind kind;
    double real;            /* scalar: the value; also set for integers and bools */
    int64_t integer;        /* scalar of an integer dtype or bool: the value */
    const char *path;       /* safetensors: resolved against the trace set root */
    const char *tensor_key; /* safetensors */
    const char *from;       /* derived: operation that yields it, for example "mha_with_lse" */
    const char *output;     /* derived: name of that operation's output; the input's own name when not given */
};

struct workload {
    const char *uuid;
    const struct definition *definition; /* borrowed */
    int64_t *axes;                       /* one size per definition axis (const ones included), >= 0 */
    struct workload_input *inputs;       /* one per definition input, same order */
    struct workload_input *outputs;      /* stored expected outputs, one per definition output; NULL: none */
    struct json source;                  /* the `workload` object, unknown members included */
};

/* Checks and reads the `workload` object `at` of `definition`. Relative safetensors paths are resolved against `root`.
 * Guarantees that elements and bytes of every input and output fit int64. Errors name file, line and JSON path. */
MUST_CHECK bool workload_parse(struct json at, const struct definition *definition, const char *root,
                               struct arena *arena, struct workload **out, struct error *error);

/* Copy in the arena with other sizes of var axes, "M=64,S=128"; for small variants of a task. `uuid` of the copy gets
 * "+M=64,S=128" appended; `source` is that of the original. Refuses const or unknown axes, stored tensors, overflow. */
MUST_CHECK bool workload_resize(const struct workload *workload, const char *sizes, struct arena *arena,
                                struct workload **out, struct error *error);

/* Concrete shape of an input or output. ERROR_INPUT when elements or bytes do not fit int64 (never after
 * workload_parse). A scalar has rank 0. */
MUST_CHECK bool workload_tensor_shape(const struct workload *workload, const struct tensor_spec *spec,
                                      struct tensor_shape *out, struct error *error);

/* Sum of the bytes of all inputs (outputs) that are tensors. */
int64_t workload_input_bytes(const struct workload *workload);
int64_t workload_output_bytes(const struct workload *workload);

/* "M=8192 N=7168 K=5120" into `out`, or var axes only. */
void workload_axes_text(const struct workload *workload, bool var_only, char *out, size_t size);

#endif
