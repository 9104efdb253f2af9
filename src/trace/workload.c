#include "trace/workload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "trace/fields.h"

const char *input_kind_text(enum input_kind kind)
{
    static const char *const texts[] = {
#define X(name, text) [name] = text,
        INPUT_KINDS(X)
#undef X
    };

    return texts[kind];
}

static bool parse_axes(struct json at, struct arena *arena, struct workload *workload, struct error *error)
{
    const struct definition *definition = workload->definition;
    struct json axes;

    if (!json_member(at, "axes", &axes, error) || !json_expect(axes, JSON_OBJECT, error))
        return false;
    workload->axes = arena_calloc(arena, definition->axis_count, sizeof *workload->axes);
    for (size_t i = 0; i < definition->axis_count; i++) {
        workload->axes[i] = definition->axes[i].value;
        if (definition->axes[i].kind == AXIS_VAR && !json_has(axes, definition->axes[i].name))
            return json_error(axes, error, "axis \"%s\" of %s has no size", definition->axes[i].name, definition->name);
    }
    for (size_t i = 0; i < json_length(axes); i++) {
        const char *name;
        uint64_t size;
        struct json member = json_entry(axes, i, &name);
        int axis = definition_find_axis(definition, name);
        if (axis < 0)
            return json_error(member, error, "%s has no axis \"%s\"", definition->name, name);
        if (!json_u64(member, &size, error))
            return false;
        if (size > INT64_MAX)
            return json_error(member, error, "axis size is too large");
        if (definition->axes[axis].kind == AXIS_CONST && (int64_t)size != definition->axes[axis].value)
            return json_error(member, error, "axis is %" PRId64 " in %s", definition->axes[axis].value,
                              definition->name);
        workload->axes[axis] = (int64_t)size;
    }
    return true;
}

static bool integer_range(enum dtype dtype, int64_t *low, int64_t *high)
{
    switch (dtype) {
    case DTYPE_BOOL:
        *low = 0;
        *high = 1;
        return true;
    case DTYPE_INT8:
    case DTYPE_INT16:
    case DTYPE_INT32:
    case DTYPE_INT64:
        *high = (int64_t)(UINT64_MAX >> (65 - dtype_bits(dtype)));
        *low = -*high - 1;
        return true;
    default:
        return false;
    }
}

static bool parse_scalar(struct json at, const struct tensor_spec *spec, struct workload_input *input,
                         struct error *error)
{
    struct json value;
    int64_t low;
    int64_t high;
    bool truth;

    if (!spec->scalar)
        return json_error(at, error, "\"%s\" is a tensor, a scalar does not fit", spec->name);
    if (!json_member(at, "value", &value, error))
        return false;
    if (!integer_range(spec->dtype, &low, &high))
        return field_extended_number(at, "value", &input->real, error);
    if (json_kind_of(value) == JSON_BOOL) {
        if (!json_boolean(value, &truth, error))
            return false;
        input->integer = truth;
    } else if (!json_i64(value, &input->integer, error)) {
        return false;
    }
    if (input->integer < low || input->integer > high)
        return json_error(value, error, "%" PRId64 " does not fit %s", input->integer, dtype_text(spec->dtype));
    input->real = (double)input->integer;
    return true;
}

static bool parse_input(struct json at, const struct tensor_spec *spec, const char *root, struct arena *arena,
                        struct workload_input *input, struct error *error)
{
    const char *type;
    const char *path;

    input->name = spec->name;
    if (!field_text(at, "type", &type, error))
        return false;
    if (!strcmp(type, "random")) {
        input->kind = INPUT_RANDOM;
        return true;
    }
    if (!strcmp(type, "scalar")) {
        input->kind = INPUT_SCALAR;
        return parse_scalar(at, spec, input, error);
    }
    if (!strcmp(type, "safetensors")) {
        input->kind = INPUT_SAFETENSORS;
        if (!field_text(at, "path", &path, error) || !field_text(at, "tensor_key", &input->tensor_key, error))
            return false;
        input->path = file_join(arena, root, path);
        return true;
    }
    if (!strcmp(type, "derived")) {
        input->kind = INPUT_DERIVED;
        if (!field_text(at, "from", &input->from, error) || !field_optional_text(at, "output", &input->output, error))
            return false;
        if (!input->output)
            input->output = input->name;
        return true;
    }
    return json_error(at, error, "input type must be random, scalar, safetensors or derived, found \"%s\"", type);
}

/* Reads `key` for each of the specs; every name must be there and nothing else. */
static bool parse_inputs(struct json object, const struct tensor_spec *specs, size_t count, const char *root,
                         struct arena *arena, struct workload_input **out, struct error *error)
{
    if (!json_expect(object, JSON_OBJECT, error))
        return false;
    *out = arena_calloc(arena, count, sizeof **out);
    for (size_t i = 0; i < count; i++) {
        struct json member;
        if (!json_member(object, specs[i].name, &member, error) ||
            !parse_input(member, &specs[i], root, arena, &(*out)[i], error))
            return false;
    }
    for (size_t i = 0; json_length(object) > count && i < json_length(object); i++) {
        const char *name;
        bool known = false;
        struct json member = json_entry(object, i, &name);
        for (size_t k = 0; k < count; k++)
            known |= !strcmp(specs[k].name, name);
        if (!known)
            return json_error(member, error, "the definition declares no \"%s\"", name);
    }
    return true;
}

static bool parse_outputs(struct json at, const char *root, struct arena *arena, struct workload *workload,
                          struct error *error)
{
    const struct definition *definition = workload->definition;
    struct json outputs;

    if (!json_optional(at, "outputs", &outputs))
        return true;
    if (!parse_inputs(outputs, definition->outputs, definition->output_count, root, arena, &workload->outputs, error))
        return false;
    for (size_t i = 0; i < definition->output_count; i++)
        if (workload->outputs[i].kind != INPUT_SAFETENSORS)
            return json_error(outputs, error, "stored outputs must be of type safetensors");
    return true;
}

static bool check_shapes(struct json at, const struct workload *workload, struct error *error)
{
    const struct definition *definition = workload->definition;
    struct tensor_shape shape;
    struct error problem;
    int64_t total = 0;

    for (size_t i = 0; i < definition->input_count + definition->output_count; i++) {
        const struct tensor_spec *spec =
            i < definition->input_count ? &definition->inputs[i] : &definition->outputs[i - definition->input_count];
        if (!workload_tensor_shape(workload, spec, &shape, &problem))
            return json_error(at, error, "%s", problem.message);
        if (__builtin_add_overflow(total, tensor_bytes(&shape), &total))
            return json_error(at, error, "the tensors together are too large");
    }
    return true;
}

bool workload_parse(struct json at, const struct definition *definition, const char *root, struct arena *arena,
                    struct workload **out, struct error *error)
{
    struct workload *workload = arena_alloc(arena, sizeof *workload);
    struct json inputs;

    workload->definition = definition;
    workload->source = at;
    if (!json_expect(at, JSON_OBJECT, error) || !field_text(at, "uuid", &workload->uuid, error) ||
        !parse_axes(at, arena, workload, error) || !json_member(at, "inputs", &inputs, error) ||
        !parse_inputs(inputs, definition->inputs, definition->input_count, root, arena, &workload->inputs, error) ||
        !parse_outputs(at, root, arena, workload, error) || !check_shapes(at, workload, error))
        return false;
    *out = workload;
    return true;
}

static bool apply_size(const struct definition *definition, char *assignment, int64_t *axes, struct error *error)
{
    char *equals = strchr(assignment, '=');
    char *end;

    if (!equals)
        return error_set(error, ERROR_USAGE, "\"%s\": expected AXIS=SIZE", assignment);
    *equals = '\0';
    int axis = definition_find_axis(definition, assignment);
    if (axis < 0)
        return error_set(error, ERROR_USAGE, "%s has no axis \"%s\"", definition->name, assignment);
    if (definition->axes[axis].kind == AXIS_CONST)
        return error_set(error, ERROR_USAGE, "axis \"%s\" of %s is constant (%" PRId64 ")", assignment,
                         definition->name, definition->axes[axis].value);
    const char *digits = equals + 1;
    if (!*digits || strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > 18)
        return error_set(error, ERROR_USAGE, "axis \"%s\": \"%s\" is not a size", assignment, digits);
    axes[axis] = strtoll(digits, &end, 10);
    return true;
}

bool workload_resize(const struct workload *workload, const char *sizes, struct arena *arena, struct workload **out,
                     struct error *error)
{
    const struct definition *definition = workload->definition;
    struct workload *copy = arena_alloc(arena, sizeof *copy);
    char *rest = arena_strdup(arena, sizes);
    struct error problem;

    *copy = *workload;
    copy->uuid = arena_printf(arena, "%s+%s", workload->uuid, sizes);
    copy->axes = arena_calloc(arena, definition->axis_count, sizeof *copy->axes);
    memcpy(copy->axes, workload->axes, definition->axis_count * sizeof *copy->axes);
    for (char *assignment; (assignment = strsep(&rest, ","));)
        if (!apply_size(definition, assignment, copy->axes, error))
            return false;
    for (size_t i = 0; i < definition->input_count; i++)
        if (workload->inputs[i].kind == INPUT_SAFETENSORS)
            return error_set(error, ERROR_USAGE, "input \"%s\" is stored: its axes cannot change",
                             workload->inputs[i].name);
    copy->outputs = NULL;
    if (!check_shapes(workload->source, copy, &problem))
        return error_set(error, ERROR_USAGE, "%s: the tensors are too large", sizes);
    *out = copy;
    return true;
}

bool workload_tensor_shape(const struct workload *workload, const struct tensor_spec *spec, struct tensor_shape *out,
                           struct error *error)
{
    *out = (struct tensor_shape){.dtype = spec->dtype, .rank = spec->rank};
    for (int i = 0; i < spec->rank; i++)
        out->dims[i] = workload->axes[spec->axes[i]];
    if (tensor_shape_valid(out))
        return true;
    char text[256];
    tensor_shape_text(out, text, sizeof text);
    return error_set(error, ERROR_INPUT, "\"%s\": %s is too large", spec->name, text);
}

static int64_t sum_bytes(const struct workload *workload, const struct tensor_spec *specs, size_t count)
{
    struct tensor_shape shape;
    struct error unused;
    int64_t total = 0;

    for (size_t i = 0; i < count; i++)
        if (!specs[i].scalar && workload_tensor_shape(workload, &specs[i], &shape, &unused))
            total += tensor_bytes(&shape);
    return total;
}

int64_t workload_input_bytes(const struct workload *workload)
{
    return sum_bytes(workload, workload->definition->inputs, workload->definition->input_count);
}

int64_t workload_output_bytes(const struct workload *workload)
{
    return sum_bytes(workload, workload->definition->outputs, workload->definition->output_count);
}

void workload_axes_text(const struct workload *workload, bool var_only, char *out, size_t size)
{
    const struct definition *definition = workload->definition;
    size_t length = 0;

    out[0] = '\0';
    for (size_t i = 0; i < definition->axis_count; i++) {
        if (var_only && definition->axes[i].kind != AXIS_VAR)
            continue;
        int added = snprintf(out + length, size - length, "%s%s=%" PRId64, length ? " " : "", definition->axes[i].name,
                             workload->axes[i]);
        if (added < 0 || length + (size_t)added >= size)
            return;
        length += (size_t)added;
    }
}
