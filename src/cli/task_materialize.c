/* `ptxbench task materialize`: inputs and CPU reference outputs of a workload as a safetensors file. */
#include <inttypes.h>
#include <string.h>
#include <sys/statvfs.h>

#include "base/clock.h"
#include "base/file.h"
#include "cli/task_internal.h"
#include "reference/cpu_reference.h"
#include "trace/safetensors.h"

/* Multiply-adds a second of the CPU reference on one core, for the notice about long runs. */
static const double WORK_PER_SECOND = 3e9;

static bool check_space(const char *path, int64_t bytes, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    char *folder = arena_strdup(arena, path);
    char *slash = strrchr(folder, '/');
    struct statvfs disk;
    char need[32];
    char room[32];

    if (slash == folder)
        slash++;
    if (slash)
        *slash = '\0';
    else
        folder = arena_strdup(arena, ".");
    if (!file_is_folder(folder))
        return error_set(error, ERROR_NOT_FOUND, "%s: no such folder", folder);
    if (statvfs(folder, &disk))
        return true; /* the write itself will tell */
    double available = (double)disk.f_bavail * (double)disk.f_frsize;
    if ((double)bytes <= available)
        return true;
    task_bytes_text(bytes, need, sizeof need);
    task_bytes_text((int64_t)available, room, sizeof room);
    (void)error_set(error, ERROR_SYSTEM, "%s: needs %s, but only %s are free on this disk", path, need, room);
    return error_hint(error, "choose another disk, or a smaller variant with --axes");
}

static json_object *provenance(const struct workload *workload, const struct task_options *options)
{
    json_object *metadata = json_object_new_object();
    char seed[32];
    char axes[512];

    (void)snprintf(seed, sizeof seed, "%" PRIu64, options->seed);
    workload_axes_text(workload, false, axes, sizeof axes);
    json_put_string(metadata, "definition", workload->definition->name);
    json_put_string(metadata, "workload", workload->uuid);
    json_put_string(metadata, "axes", axes);
    json_put_string(metadata, "seed", seed);
    json_put_string(metadata, "outputs", "ptxbench CPU reference");
    return metadata;
}

static bool report(const struct workload *workload, const struct safetensors_entry *entries, size_t count,
                   const struct task_options *options, int64_t bytes, struct error *error)
{
    char text[256];

    if (!options->json) {
        (void)printf("%s: %zu tensors, %" PRId64 " bytes of data\n", options->out, count, bytes);
        return true;
    }
    AUTO_JSON_OBJECT *root = provenance(workload, options);
    json_object *tensors = json_object_new_array();
    json_put_string(root, "file", options->out);
    json_put_i64(root, "data_bytes", bytes);
    for (size_t i = 0; i < count; i++) {
        json_object *row = json_object_new_object();
        tensor_shape_text(&entries[i].shape, text, sizeof text);
        json_put_string(row, "name", entries[i].name);
        json_put_string(row, "role", i < workload->definition->input_count ? "input" : "output");
        json_put_string(row, "shape", text);
        (void)json_object_array_add(tensors, row);
    }
    json_put(root, "tensors", tensors);
    return task_print_json(root, error);
}

/* Names and shapes of all inputs, then all outputs. */
static bool describe(const struct workload *workload, struct safetensors_entry *entries, struct error *error)
{
    const struct definition *definition = workload->definition;
    size_t inputs = definition->input_count;

    for (size_t i = 0; i < inputs + definition->output_count; i++) {
        const struct tensor_spec *spec = i < inputs ? &definition->inputs[i] : &definition->outputs[i - inputs];
        entries[i].name = spec->name;
        if (!workload_tensor_shape(workload, spec, &entries[i].shape, error))
            return false;
    }
    return true;
}

static bool compute_and_write(const struct workload *workload, struct safetensors_entry *entries, size_t count,
                              const struct task_options *options, struct error *error)
{
    const struct definition *definition = workload->definition;
    AUTO_JSON_OBJECT *metadata = provenance(workload, options);
    void **inputs;
    void **outputs;
    int64_t start = clock_now_ns();

    if (!cpu_reference_inputs(workload, options->seed, &inputs, error))
        return false;
    (void)fprintf(stderr, "inputs ready after %.1f s\n", (double)(clock_now_ns() - start) * 1e-9);
    bool ok = cpu_reference_outputs(workload, inputs, &outputs, error);
    if (ok) {
        (void)fprintf(stderr, "reference ready after %.1f s, writing\n", (double)(clock_now_ns() - start) * 1e-9);
        for (size_t i = 0; i < count; i++)
            entries[i].data = i < definition->input_count ? inputs[i] : outputs[i - definition->input_count];
        ok = safetensors_write(options->out, entries, count, metadata, error);
        cpu_reference_free(outputs, definition->output_count);
    }
    cpu_reference_free(inputs, definition->input_count);
    return ok;
}

bool task_materialize(const struct trace_set *set, const struct task_options *options, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const struct workload *workload;
    struct workload *resized;
    char size[32];

    if (!options->out)
        return error_set(error, ERROR_USAGE, "materialize needs --out FILE.safetensors");
    if (!trace_set_find_workload(set, options->arguments[0], options->workload, &workload, error))
        return false;
    if (options->axes) {
        if (!workload_resize(workload, options->axes, arena, &resized, error))
            return false;
        workload = resized;
    }
    const struct definition *definition = workload->definition;
    size_t count = definition->input_count + definition->output_count;
    struct safetensors_entry *entries = arena_calloc(arena, count, sizeof *entries);
    if (cpu_reference_classify(definition) == CPU_OTHER)
        return error_set(error, ERROR_UNSUPPORTED,
                         "%s: there is no CPU reference for op_type \"%s\" with these inputs "
                         "and outputs",
                         definition->name, definition->op_type);
    if (!describe(workload, entries, error))
        return false;
    int64_t bytes = safetensors_data_bytes(entries, count);
    if (!check_space(options->out, bytes, error))
        return false;
    task_bytes_text(bytes, size, sizeof size);
    (void)fprintf(stderr, "%s workload %s: %s, %.2g multiply-adds on one core (about %.0f s)\n", definition->name,
                  workload->uuid, size, cpu_reference_work(workload), cpu_reference_work(workload) / WORK_PER_SECOND);
    return compute_and_write(workload, entries, count, options, error) &&
           report(workload, entries, count, options, bytes, error);
}
