/*
 * A FlashInfer-Trace definition: the contract of one operation (axes, ordered inputs and outputs, reference program).
 * Format: docs/formats/trace-set.md.
 *
 * A definition lives in the arena it was parsed into and borrows texts from the JSON document it came from: it is valid
 * while both live. Immutable after parsing, so threads may share it for reading (except `source`, see base/json.h).
 */
#ifndef PTXBENCH_TRACE_DEFINITION_H
#define PTXBENCH_TRACE_DEFINITION_H

#include "base/json.h"
#include "trace/dtype.h"

enum axis_kind { AXIS_CONST, AXIS_VAR };

struct axis {
    const char *name;
    enum axis_kind kind;
    int64_t value; /* >= 0; of const axes only */
};

/* Declaration of one input or output. */
struct tensor_spec {
    const char *name;
    enum dtype dtype;
    bool scalar;               /* shape null: passed by value, not as a tensor; rank is 0 */
    int rank;                  /* 0..TENSOR_MAX_RANK */
    int axes[TENSOR_MAX_RANK]; /* indices into definition.axes */
};

struct definition {
    const char *name;
    const char *op_type;
    const char *description; /* may be NULL */
    struct axis *axes;
    size_t axis_count;
    struct tensor_spec *inputs; /* in declared order */
    size_t input_count;
    struct tensor_spec *outputs; /* in declared order */
    size_t output_count;         /* >= 1 */
    const char *reference;       /* Python text that defines a top-level `run` */
    const char **tags;
    size_t tag_count;
    const char **constraints; /* Python expressions over axes; never evaluated */
    size_t constraint_count;
    struct json source; /* with members that this program does not know */
};

/* Checks and reads a definition. Errors (ERROR_INPUT) name file, line and JSON path. */
MUST_CHECK bool definition_parse(struct json at, struct arena *arena, struct definition **out, struct error *error);

/* Index of an axis, input or output by name; -1 when there is none. */
int definition_find_axis(const struct definition *definition, const char *name);
int definition_find_input(const struct definition *definition, const char *name);
int definition_find_output(const struct definition *definition, const char *name);

/* Whether a tag is present. */
bool definition_has_tag(const struct definition *definition, const char *tag);

#endif
