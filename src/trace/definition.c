#include "trace/definition.h"

#include <string.h>

#include "trace/fields.h"

static bool parse_axis(struct json at, const char *name, struct axis *axis, struct error *error)
{
    const char *type;
    struct json value;
    uint64_t size;

    axis->name = name;
    if (!field_text(at, "type", &type, error))
        return false;
    if (!strcmp(type, "var")) {
        axis->kind = AXIS_VAR;
        return true;
    }
    if (strcmp(type, "const") != 0)
        return json_error(at, error, "axis type must be \"const\" or \"var\", found \"%s\"", type);
    axis->kind = AXIS_CONST;
    if (!json_member(at, "value", &value, error) || !json_u64(value, &size, error))
        return false;
    if (size > INT64_MAX)
        return json_error(value, error, "axis size is too large");
    axis->value = (int64_t)size;
    return true;
}

static bool parse_axes(struct json at, struct arena *arena, struct definition *definition, struct error *error)
{
    struct json axes;

    if (!json_member(at, "axes", &axes, error) || !json_expect(axes, JSON_OBJECT, error))
        return false;
    definition->axis_count = json_length(axes);
    definition->axes = arena_calloc(arena, definition->axis_count, sizeof *definition->axes);
    for (size_t i = 0; i < definition->axis_count; i++) {
        const char *name;
        struct json axis = json_entry(axes, i, &name);
        if (!*name)
            return json_error(axes, error, "axis without a name");
        if (!parse_axis(axis, name, &definition->axes[i], error))
            return false;
    }
    return true;
}

static bool parse_shape(struct json at, const struct definition *definition, struct tensor_spec *spec,
                        struct error *error)
{
    struct json shape;

    if (!json_member(at, "shape", &shape, error))
        return false;
    if (json_kind_of(shape) == JSON_NULL) {
        spec->scalar = true;
        return true;
    }
    if (json_kind_of(shape) != JSON_ARRAY)
        return json_error(shape, error, "expected an array of axis names, or null for a scalar, found %s",
                          json_kind_text(json_kind_of(shape)));
    if (json_length(shape) > TENSOR_MAX_RANK)
        return json_error(shape, error, "rank %zu is larger than %d", json_length(shape), TENSOR_MAX_RANK);
    spec->rank = (int)json_length(shape);
    for (int i = 0; i < spec->rank; i++) {
        const char *axis;
        struct json entry = json_at(shape, (size_t)i);
        if (!json_string(entry, &axis, error))
            return false;
        spec->axes[i] = definition_find_axis(definition, axis);
        if (spec->axes[i] < 0)
            return json_error(entry, error, "axis \"%s\" is not declared in axes", axis);
    }
    return true;
}

static bool parse_tensors(struct json at, const char *key, struct arena *arena, const struct definition *definition,
                          struct tensor_spec **out, size_t *count, struct error *error)
{
    struct json tensors;

    if (!json_member(at, key, &tensors, error) || !json_expect(tensors, JSON_OBJECT, error))
        return false;
    *count = json_length(tensors);
    *out = arena_calloc(arena, *count, sizeof **out);
    for (size_t i = 0; i < *count; i++) {
        struct tensor_spec *spec = &(*out)[i];
        const char *dtype;
        struct json member;
        struct json tensor = json_entry(tensors, i, &spec->name);
        if (!*spec->name)
            return json_error(tensors, error, "tensor without a name");
        if (!json_member(tensor, "dtype", &member, error) || !json_string(member, &dtype, error))
            return false;
        if (!dtype_parse(dtype, &spec->dtype))
            return json_error(member, error, "unknown dtype \"%s\"", dtype);
        if (!parse_shape(tensor, definition, spec, error))
            return false;
    }
    return true;
}

/* Whether some line starts with "def run(": what can be told without a Python parser. */
static bool defines_run(const char *text)
{
    for (const char *line = text; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (strncmp(line, "def", 3) != 0)
            continue;
        const char *name = line + 3 + strspn(line + 3, " \t");
        if (name > line + 3 && !strncmp(name, "run", 3) && name[3 + strspn(name + 3, " \t")] == '(')
            return true;
    }
    return false;
}

/* Whether brackets and quotes of an expression close; constraints are never evaluated. */
static bool is_balanced(const char *text)
{
    char open[32];
    size_t depth = 0;

    for (const char *at = text; *at; at++) {
        if (*at == '\'' || *at == '"') {
            at = strchr(at + 1, *at);
            if (!at)
                return false;
        } else if (strchr("([{", *at)) {
            if (depth == sizeof open)
                return false;
            open[depth++] = *at == '(' ? ')' : *at == '[' ? ']' : '}';
        } else if (strchr(")]}", *at)) {
            if (!depth || open[--depth] != *at)
                return false;
        }
    }
    return !depth;
}

static bool check_names(struct json at, const struct definition *definition, struct error *error)
{
    if (!definition->output_count)
        return json_error(at, error, "a definition needs at least one output");
    for (size_t i = 0; i < definition->output_count; i++)
        if (definition_find_input(definition, definition->outputs[i].name) >= 0)
            return json_error(at, error, "\"%s\" is both an input and an output", definition->outputs[i].name);
    return true;
}

static bool parse_reference(struct json at, struct definition *definition, struct error *error)
{
    struct json reference;

    if (!field_text(at, "reference", &definition->reference, error) || !json_member(at, "reference", &reference, error))
        return false;
    if (!defines_run(definition->reference))
        return json_error(reference, error, "the reference must define a top-level function: def run(...)");
    return true;
}

static bool parse_constraints(struct json at, struct arena *arena, struct definition *definition, struct error *error)
{
    struct json list;

    if (!field_text_list(at, "constraints", arena, &definition->constraints, &definition->constraint_count, error))
        return false;
    for (size_t i = 0; i < definition->constraint_count; i++)
        if (!is_balanced(definition->constraints[i]) && json_optional(at, "constraints", &list))
            return json_error(json_at(list, i), error, "not an expression: unbalanced brackets or quotes");
    return true;
}

bool definition_parse(struct json at, struct arena *arena, struct definition **out, struct error *error)
{
    struct definition *definition = arena_alloc(arena, sizeof *definition);

    definition->source = at;
    if (!json_expect(at, JSON_OBJECT, error) || !field_text(at, "name", &definition->name, error) ||
        !field_text(at, "op_type", &definition->op_type, error) ||
        !field_optional_text(at, "description", &definition->description, error) ||
        !parse_axes(at, arena, definition, error) ||
        !parse_tensors(at, "inputs", arena, definition, &definition->inputs, &definition->input_count, error) ||
        !parse_tensors(at, "outputs", arena, definition, &definition->outputs, &definition->output_count, error) ||
        !check_names(at, definition, error) || !parse_reference(at, definition, error) ||
        !field_text_list(at, "tags", arena, &definition->tags, &definition->tag_count, error) ||
        !parse_constraints(at, arena, definition, error))
        return false;
    *out = definition;
    return true;
}

int definition_find_axis(const struct definition *definition, const char *name)
{
    for (size_t i = 0; i < definition->axis_count; i++)
        if (!strcmp(definition->axes[i].name, name))
            return (int)i;
    return -1;
}

static int find_tensor(const struct tensor_spec *specs, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(specs[i].name, name))
            return (int)i;
    return -1;
}

int definition_find_input(const struct definition *definition, const char *name)
{
    return find_tensor(definition->inputs, definition->input_count, name);
}

int definition_find_output(const struct definition *definition, const char *name)
{
    return find_tensor(definition->outputs, definition->output_count, name);
}

bool definition_has_tag(const struct definition *definition, const char *tag)
{
    for (size_t i = 0; i < definition->tag_count; i++)
        if (!strcmp(definition->tags[i], tag))
            return true;
    return false;
}
