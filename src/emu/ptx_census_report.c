/* The census as text and as JSON. */
#include <inttypes.h>

#include "base/json.h"
#include "emu/ptx_census.h"

static void print_extent(FILE *stream, const char *text, const uint32_t extent[3])
{
    if (extent[0])
        (void)fprintf(stream, ", %s %" PRIu32 "x%" PRIu32 "x%" PRIu32, text, extent[0], extent[1], extent[2]);
}

static void print_place(const struct ptx_census_problem *problem, FILE *stream)
{
    const struct ptx_source *source = &problem->source;

    if (source->file)
        (void)fprintf(stream, "%s:%" PRIu32, source->file, source->line);
    if (source->caller_file)
        (void)fprintf(stream, ", inlined at %s:%" PRIu32, source->caller_file, source->caller_line);
    (void)fprintf(stream, "%sline %" PRIu32 " of the PTX\n", source->file ? "; " : "", problem->line);
}

static void print_function(const struct ptx_census_function *census, FILE *stream)
{
    const struct ptx_function *function = census->function;

    (void)fprintf(stream, "\n%s %s\n", function->is_entry ? "kernel" : "function", function->name);
    (void)fprintf(stream,
                  "  %" PRIu32 " instructions, %" PRIu32 " virtual registers, %" PRIu64 " bytes of shared memory%s",
                  function->instruction_count, function->register_count, census->shared_bytes,
                  census->dynamic_shared ? " and dynamic" : "");
    print_extent(stream, "at most", function->launch.max_threads);
    print_extent(stream, "exactly", function->launch.required_threads);
    print_extent(stream, "clusters of", function->launch.cluster);
    (void)fprintf(stream, "\n  target instructions in the text:");
    for (int i = 0; i < PTX_TARGET_COUNT; i++)
        (void)fprintf(stream, "%s %s %" PRIu32, i ? "," : "", ptx_target_text((enum ptx_target)i), census->target[i]);
    (void)fprintf(stream, "\n  opcodes:\n");
    for (uint32_t i = 0; i < census->opcode_count; i++)
        (void)fprintf(stream, "  %8" PRIu32 "  %s\n", census->opcodes[i].count, census->opcodes[i].text);
    for (uint32_t i = 0; i < census->problem_count; i++) {
        const struct ptx_census_problem *problem = &census->problems[i];
        (void)fprintf(stream, "%s    %s (%" PRIu32 "x): %s\n      ", i ? "" : "  not emulated:\n", problem->text,
                      problem->count, problem->reason);
        print_place(problem, stream);
    }
}

void ptx_census_print(const struct ptx_census *census, FILE *stream)
{
    const struct ptx_module *module = census->module;

    (void)fprintf(stream, "%s: PTX %" PRIu32 ".%" PRIu32 " for %s\n", module->name, module->version_major,
                  module->version_minor, module->target);
    for (uint32_t i = 0; i < census->function_count; i++)
        print_function(&census->functions[i], stream);
}

static json_object *extent_to_json(const uint32_t extent[3])
{
    json_object *array = json_object_new_array();

    if (!extent[0]) {
        json_object_put(array);
        return NULL;
    }
    for (int i = 0; i < 3; i++)
        json_object_array_add(array, json_object_new_int64(extent[i]));
    return array;
}

static json_object *problem_to_json(const struct ptx_census_problem *problem)
{
    json_object *object = json_object_new_object();

    json_put_string(object, "instruction", problem->text);
    json_put_string(object, "reason", problem->reason);
    json_put_string(object, "support", ptx_support_text(problem->support));
    json_put_u64(object, "count", problem->count);
    json_put_u64(object, "ptx_line", problem->line);
    json_put_string(object, "file", problem->source.file);
    json_put_u64(object, "line", problem->source.line);
    json_put_string(object, "caller_file", problem->source.caller_file);
    json_put_u64(object, "caller_line", problem->source.caller_line);
    return object;
}

static json_object *function_to_json(const struct ptx_census_function *census)
{
    const struct ptx_function *function = census->function;
    json_object *object = json_object_new_object(), *targets = json_object_new_object();
    json_object *opcodes = json_object_new_array(), *problems = json_object_new_array();

    json_put_string(object, "name", function->name);
    json_put_string(object, "kind", function->is_entry ? "kernel" : "function");
    json_put_u64(object, "ptx_line", function->line);
    json_put_u64(object, "instructions", function->instruction_count);
    json_put_u64(object, "virtual_registers", function->register_count);
    json_put_u64(object, "shared_bytes", census->shared_bytes);
    json_put_bool(object, "dynamic_shared", census->dynamic_shared);
    json_put(object, "max_threads", extent_to_json(function->launch.max_threads));
    json_put(object, "required_threads", extent_to_json(function->launch.required_threads));
    json_put(object, "cluster", extent_to_json(function->launch.cluster));
    for (int i = 0; i < PTX_TARGET_COUNT; i++)
        json_put_u64(targets, ptx_target_text((enum ptx_target)i), census->target[i]);
    json_put(object, "target_instructions", targets);
    for (uint32_t i = 0; i < census->opcode_count; i++) {
        json_object *opcode = json_object_new_object();
        json_put_string(opcode, "text", census->opcodes[i].text);
        json_put_u64(opcode, "count", census->opcodes[i].count);
        json_object_array_add(opcodes, opcode);
    }
    json_put(object, "opcodes", opcodes);
    for (uint32_t i = 0; i < census->problem_count; i++)
        json_object_array_add(problems, problem_to_json(&census->problems[i]));
    json_put(object, "problems", problems);
    return object;
}

json_object *ptx_census_to_json(const struct ptx_census *census)
{
    const struct ptx_module *module = census->module;
    json_object *object = json_object_new_object(), *functions = json_object_new_array();
    char version[32];

    (void)snprintf(version, sizeof version, "%" PRIu32 ".%" PRIu32, module->version_major, module->version_minor);
    json_put_string(object, "name", module->name);
    json_put_string(object, "version", version);
    json_put_string(object, "target", module->target);
    for (uint32_t i = 0; i < census->function_count; i++)
        json_object_array_add(functions, function_to_json(&census->functions[i]));
    json_put(object, "functions", functions);
    json_put_bool(object, "supported", !census->problem_count);
    return object;
}
