/* `ptxbench task list` and `ptxbench task show`. */
#include <inttypes.h>
#include <string.h>

#include "base/buffer.h"
#include "cli/task_internal.h"

bool task_print_json(json_object *value, struct error *error)
{
    AUTO_FREE char *text = NULL;

    if (!json_to_text(value, true, &text, error))
        return false;
    (void)printf("%s\n", text);
    return true;
}

void task_spec_text(const struct definition *definition, const struct tensor_spec *spec, char *out, size_t size)
{
    struct buffer text = buffer_new(size - 1);

    (void)buffer_append_text(&text, dtype_text(spec->dtype));
    if (spec->scalar)
        (void)buffer_append_text(&text, " scalar");
    else
        (void)buffer_append_text(&text, "[");
    for (int i = 0; i < spec->rank; i++)
        (void)buffer_printf(&text, "%s%s", i ? ", " : "", definition->axes[spec->axes[i]].name);
    if (!spec->scalar)
        (void)buffer_append_text(&text, "]");
    memcpy(out, text.data, text.length + 1);
    buffer_free(&text);
}

void task_bytes_text(int64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 999.5 && unit + 1 < ARRAY_LEN(units)) {
        value /= 1000;
        unit++;
    }
    (void)snprintf(out, size, unit && value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static bool is_listed(const struct definition *definition, const struct task_options *options)
{
    const char *text = options->argument_count ? options->arguments[0] : "";

    return strstr(definition->name, text) && (!options->op_type || !strcmp(definition->op_type, options->op_type));
}

static void axes_text(const struct definition *definition, char *out, size_t size)
{
    struct buffer text = buffer_new(size - 1);

    for (size_t i = 0; i < definition->axis_count; i++) {
        const struct axis *axis = &definition->axes[i];
        (void)buffer_printf(&text, "%s%s", i ? " " : "", axis->name);
        if (axis->kind == AXIS_CONST)
            (void)buffer_printf(&text, "=%" PRId64, axis->value);
    }
    memcpy(out, text.data, text.length + 1);
    buffer_free(&text);
}

static json_object *summary(const struct trace_set *set, const struct definition *definition)
{
    json_object *row = json_object_new_object();
    json_object *axes = json_object_new_object();
    json_object *tags = json_object_new_array();

    json_put_string(row, "name", definition->name);
    json_put_string(row, "op_type", definition->op_type);
    for (size_t i = 0; i < definition->axis_count; i++)
        json_put(axes, definition->axes[i].name,
                 definition->axes[i].kind == AXIS_CONST ? json_object_new_int64(definition->axes[i].value) : NULL);
    json_put(row, "axes", axes);
    for (size_t i = 0; i < definition->tag_count; i++)
        (void)json_object_array_add(tags, json_object_new_string(definition->tags[i]));
    json_put(row, "tags", tags);
    json_put_u64(row, "workload_count", trace_set_workload_count(set, definition));
    return row;
}

bool task_list(const struct trace_set *set, const struct task_options *options, struct error *error)
{
    AUTO_JSON_OBJECT *rows = json_object_new_array();
    char axes[512];
    size_t listed = 0;
    int width = 10;

    for (size_t i = 0; i < trace_set_definition_count(set); i++) {
        const struct definition *definition = trace_set_definition(set, i);
        if (!is_listed(definition, options))
            continue;
        listed++;
        if ((int)strlen(definition->name) > width)
            width = (int)strlen(definition->name);
        if (options->json)
            (void)json_object_array_add(rows, summary(set, definition));
    }
    if (options->json)
        return task_print_json(rows, error);
    if (!listed) {
        (void)error_set(error, ERROR_NOT_FOUND, "none of %zu definitions matches", trace_set_definition_count(set));
        return error_hint(error, "ptxbench task list shows them all");
    }
    (void)printf("%-*s  %-14s  %9s  %s\n", width, "DEFINITION", "OP_TYPE", "WORKLOADS", "AXES");
    for (size_t i = 0; i < trace_set_definition_count(set); i++) {
        const struct definition *definition = trace_set_definition(set, i);
        if (!is_listed(definition, options))
            continue;
        axes_text(definition, axes, sizeof axes);
        (void)printf("%-*s  %-14s  %9zu  %s\n", width, definition->name, definition->op_type,
                     trace_set_workload_count(set, definition), axes);
    }
    return true;
}

static void print_specs(const struct definition *definition, const char *title, const struct tensor_spec *specs,
                        size_t count)
{
    char text[512];

    (void)printf("%s:\n", title);
    for (size_t i = 0; i < count; i++) {
        task_spec_text(definition, &specs[i], text, sizeof text);
        (void)printf("  %-8s %s\n", specs[i].name, text);
    }
}

static void print_origin(const struct workload_input *input)
{
    (void)printf("  %s", input_kind_text(input->kind));
    if (input->kind == INPUT_SCALAR)
        (void)printf(" %.17g", input->real);
    else if (input->kind == INPUT_SAFETENSORS)
        (void)printf(" %s of %s", input->tensor_key, input->path);
    else if (input->kind == INPUT_DERIVED)
        (void)printf(" from %s, output %s", input->from, input->output);
}

static bool print_tensors(const struct workload *workload, struct error *error)
{
    const struct definition *definition = workload->definition;
    size_t inputs = definition->input_count;

    for (size_t i = 0; i < inputs + definition->output_count; i++) {
        const struct tensor_spec *spec = i < inputs ? &definition->inputs[i] : &definition->outputs[i - inputs];
        struct tensor_shape shape;
        char text[256];
        char bytes[32];
        if (!workload_tensor_shape(workload, spec, &shape, error))
            return false;
        tensor_shape_text(&shape, text, sizeof text);
        task_bytes_text(tensor_bytes(&shape), bytes, sizeof bytes);
        (void)printf("  %-6s %-8s %-34s %9s", i < inputs ? "input" : "output", spec->name, text, bytes);
        if (i < inputs)
            print_origin(&workload->inputs[i]);
        else if (workload->outputs)
            print_origin(&workload->outputs[i - inputs]);
        (void)printf("\n");
    }
    return true;
}

static void print_workloads(const struct trace_set *set, const struct definition *definition)
{
    size_t count = trace_set_workload_count(set, definition);

    (void)printf("workloads (%zu; the first is the default):\n", count);
    for (size_t i = 0; i < count; i++) {
        const struct workload *workload = trace_set_workload(set, definition, i);
        char axes[512];
        char inputs[32];
        char outputs[32];
        workload_axes_text(workload, true, axes, sizeof axes);
        task_bytes_text(workload_input_bytes(workload), inputs, sizeof inputs);
        task_bytes_text(workload_output_bytes(workload), outputs, sizeof outputs);
        (void)printf("  %-36s  %-12s  %7s in  %7s out\n", workload->uuid, axes, inputs, outputs);
    }
}

static bool show_workload(const struct trace_set *set, const struct task_options *options, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const struct workload *workload;
    struct workload *resized;
    char axes[512];

    if (!trace_set_find_workload(set, options->arguments[0], options->workload, &workload, error))
        return false;
    if (options->json)
        return task_print_json(workload->source.value, error);
    if (options->axes) {
        if (!workload_resize(workload, options->axes, arena, &resized, error))
            return false;
        workload = resized;
    }
    workload_axes_text(workload, false, axes, sizeof axes);
    (void)printf("%s  workload %s\naxes: %s\n", workload->definition->name, workload->uuid, axes);
    return print_tensors(workload, error);
}

static bool show_json(const struct trace_set *set, const struct definition *definition, struct error *error)
{
    AUTO_JSON_OBJECT *root = json_object_new_object();
    json_object *workloads = json_object_new_array();

    json_put(root, "definition", json_object_get(definition->source.value));
    for (size_t i = 0; i < trace_set_workload_count(set, definition); i++)
        (void)json_object_array_add(workloads, json_object_get(trace_set_workload(set, definition, i)->source.value));
    json_put(root, "workloads", workloads);
    return task_print_json(root, error);
}

bool task_show(const struct trace_set *set, const struct task_options *options, struct error *error)
{
    const struct definition *definition;
    char axes[512];

    if (options->workload || options->axes)
        return show_workload(set, options, error);
    if (!trace_set_find_definition(set, options->arguments[0], &definition, error))
        return false;
    if (options->json)
        return show_json(set, definition, error);
    axes_text(definition, axes, sizeof axes);
    (void)printf("%s  (%s)\n", definition->name, definition->op_type);
    if (definition->description)
        (void)printf("%s\n", definition->description);
    (void)printf("axes: %s\n", axes);
    for (size_t i = 0; i < definition->tag_count; i++)
        (void)printf("%s%s%s", i ? ", " : "tags: ", definition->tags[i], i + 1 == definition->tag_count ? "\n" : "");
    print_specs(definition, "inputs", definition->inputs, definition->input_count);
    print_specs(definition, "outputs", definition->outputs, definition->output_count);
    print_workloads(set, definition);
    (void)printf("reference:\n%s", definition->reference);
    return true;
}
