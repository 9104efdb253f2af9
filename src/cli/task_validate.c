/* `ptxbench task validate`: every file that this program would read, checked as it would be read. */
#include <string.h>

#include "base/file.h"
#include "base/jsonl.h"
#include "cli/cli.h"
#include "cli/task_internal.h"
#include "cli/task_roots.h"
#include "trace/safetensors.h"

struct counts {
    size_t definitions;
    size_t workloads;
    size_t solutions;
    size_t traces;
    size_t stored; /* tensors in safetensors files */
};

static bool check_stored(const struct workload *workload, const struct workload_input *input,
                         const struct tensor_spec *spec, struct counts *counts, struct error *error)
{
    AUTO_SAFETENSORS *file = NULL;
    const struct safetensors_tensor *tensor;
    struct tensor_shape shape;

    if (input->kind != INPUT_SAFETENSORS)
        return true;
    counts->stored++;
    return (workload_tensor_shape(workload, spec, &shape, error) && safetensors_open(input->path, &file, error) &&
            safetensors_get(file, input->tensor_key, &shape, &tensor, error)) ||
           error_prefix(error, "workload %s, \"%s\"", workload->uuid, spec->name);
}

static bool check_workload(const struct workload *workload, struct counts *counts, struct error *error)
{
    const struct definition *definition = workload->definition;

    counts->workloads++;
    for (size_t i = 0; i < definition->input_count; i++)
        if (!check_stored(workload, &workload->inputs[i], &definition->inputs[i], counts, error))
            return false;
    for (size_t i = 0; workload->outputs && i < definition->output_count; i++)
        if (!check_stored(workload, &workload->outputs[i], &definition->outputs[i], counts, error))
            return false;
    return true;
}

struct trace_check {
    const struct trace_set *set;
    const char *root;
    struct counts *counts;
};

/* A trace repeats its workload: definition and workload are checked again, as a reader of this line alone would. */
static bool check_trace(const struct trace *trace, void *context, struct error *error)
{
    struct trace_check *check = context;
    AUTO_ARENA *arena = arena_new();
    const struct definition *definition;
    struct workload *workload;

    if (!trace_set_find_definition(check->set, trace->definition, &definition, error))
        return error_prefix(error, "%s:%d", json_document_name(trace->source.document), json_line(trace->source));
    if (!workload_parse(trace->workload, definition, check->root, arena, &workload, error))
        return false;
    if (trace->has_evaluation) {
        check->counts->traces++;
        return true;
    }
    return check_workload(workload, check->counts, error);
}

static bool validate_folder(const char *path, struct counts *counts, struct error *error)
{
    AUTO_TRACE_SET *set = NULL;

    if (!trace_set_open(&path, 1, &set, error))
        return false;
    counts->definitions = trace_set_definition_count(set);
    counts->solutions = trace_set_solution_count(set);
    for (size_t i = 0; i < counts->definitions; i++) {
        const struct definition *definition = trace_set_definition(set, i);
        for (size_t k = 0; k < trace_set_workload_count(set, definition); k++)
            if (!check_workload(trace_set_workload(set, definition, k), counts, error))
                return false;
    }
    for (size_t i = 0; i < counts->solutions; i++) {
        const struct solution *solution = trace_set_solution(set, i);
        const struct definition *definition;
        if (!trace_set_find_definition(set, solution->definition, &definition, error))
            return error_prefix(error, "%s", json_document_name(solution->source.document));
    }
    struct trace_check check = {.set = set, .root = path, .counts = counts};
    if (!trace_set_each_trace(set, JSONL_REFUSE, check_trace, &check, error))
        return false;
    if (!counts->definitions && !counts->solutions && !counts->traces)
        return error_set(error, ERROR_INPUT, "%s: holds no definitions, solutions or traces", path);
    return true;
}

/* A definition has axes, a solution has sources; anything else is told apart by what it lacks. */
static bool validate_json(const char *path, struct counts *counts, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    AUTO_ARENA *arena = arena_new();
    struct definition *definition;
    struct solution *solution;

    if (!json_read_file(path, 64 << 20, &document, error))
        return false;
    struct json root = json_root(document);
    if (json_has(root, "axes") && !json_has(root, "sources")) {
        counts->definitions = 1;
        return definition_parse(root, arena, &definition, error);
    }
    if (json_has(root, "sources")) {
        counts->solutions = 1;
        return solution_parse(root, arena, &solution, error);
    }
    return json_error(root, error, "neither a definition (axes) nor a solution (sources)");
}

static bool validate_line(struct json_document *line, void *context, struct error *error)
{
    AUTO_JSON_DOCUMENT *document = line;
    AUTO_ARENA *arena = arena_new();
    struct trace trace;

    return trace_parse(json_root(document), arena, &trace, error) && check_trace(&trace, context, error);
}

/* Lines need their definitions: those of the trace set that --tasks names. */
static bool validate_jsonl(const char *path, const struct task_options *options, struct counts *counts,
                           struct error *error)
{
    AUTO_TRACE_SET *set = NULL;

    if (!file_exists(path))
        return error_set(error, ERROR_NOT_FOUND, "%s: no such file", path);
    if (!task_roots_open(options->roots, options->root_count, &set, error))
        return false;
    struct trace_check check = {.set = set, .root = options->root_count ? options->roots[0] : ".", .counts = counts};
    return jsonl_each(path, 32 << 20, JSONL_REFUSE, validate_line, &check, error);
}

static bool validate_path(const char *path, const struct task_options *options, struct counts *counts,
                          struct error *error)
{
    size_t length = strlen(path);

    if (file_is_folder(path))
        return validate_folder(path, counts, error);
    if (length > 6 && !strcmp(path + length - 6, ".jsonl"))
        return validate_jsonl(path, options, counts, error);
    return validate_json(path, counts, error);
}

static json_object *report_json(const char *path, bool ok, const struct counts *counts, const struct error *error)
{
    json_object *row = json_object_new_object();

    json_put_string(row, "path", path);
    json_put_bool(row, "valid", ok);
    if (!ok) {
        json_put_string(row, "error", error->message);
        json_put_string(row, "hint", error->hint[0] ? error->hint : NULL);
        return row;
    }
    json_put_u64(row, "definitions", counts->definitions);
    json_put_u64(row, "workloads", counts->workloads);
    json_put_u64(row, "solutions", counts->solutions);
    json_put_u64(row, "traces", counts->traces);
    json_put_u64(row, "stored_tensors", counts->stored);
    return row;
}

static void report_text(const char *path, bool ok, const struct counts *counts, const struct error *error)
{
    if (!ok) {
        (void)printf("%s: invalid\n", path);
        (void)cli_fail(error);
        return;
    }
    (void)printf("%s: valid (%zu definitions, %zu workloads, %zu solutions, %zu traces, %zu stored tensors)\n", path,
                 counts->definitions, counts->workloads, counts->solutions, counts->traces, counts->stored);
}

int task_validate(const struct task_options *options)
{
    AUTO_JSON_OBJECT *rows = json_object_new_array();
    struct error error;
    int status = CLI_PASSED;

    for (size_t i = 0; i < options->argument_count; i++) {
        const char *path = options->arguments[i];
        struct counts counts = {0};
        error_clear(&error);
        bool ok = validate_path(path, options, &counts, &error);
        if (!ok && status == CLI_PASSED)
            status = error_exit_status(error.code);
        if (options->json)
            (void)json_object_array_add(rows, report_json(path, ok, &counts, &error));
        else
            report_text(path, ok, &counts, &error);
    }
    if (options->json && !task_print_json(rows, &error))
        return cli_fail(&error);
    return status;
}
