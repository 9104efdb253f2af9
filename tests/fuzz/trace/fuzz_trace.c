/* Definitions, workloads (of a fixed definition), solutions and traces from arbitrary JSON. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "trace/solution.h"
#include "trace/trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char fixed[] =
    "{\"name\":\"d\",\"op_type\":\"o\",\"axes\":{\"M\":{\"type\":\"var\"},\"N\":{\"type\":\"const\",\"value\":64}},"
    "\"inputs\":{\"X\":{\"shape\":[\"M\",\"N\"],\"dtype\":\"bfloat16\"},\"a\":{\"shape\":null,\"dtype\":\"int8\"}},"
    "\"outputs\":{\"Y\":{\"shape\":[\"M\"],\"dtype\":\"float4_e2m1\"}},\"reference\":\"def run(X, a): pass\"}";

static void use_workload(struct json at, struct arena *arena)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    struct definition *definition;
    struct workload *workload;
    struct workload *resized;
    struct error error;
    char text[128];

    if (!json_parse(fixed, strlen(fixed), "fixed", 1, &document, &error) ||
        !definition_parse(json_root(document), arena, &definition, &error))
        abort();
    if (!workload_parse(at, definition, "root", arena, &workload, &error))
        return;
    if (workload_input_bytes(workload) < 0 || workload_output_bytes(workload) < 0)
        abort();
    workload_axes_text(workload, false, text, sizeof text);
    (void)!workload_resize(workload, "M=3", arena, &resized, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_JSON_DOCUMENT *document = NULL;
    AUTO_ARENA *arena = arena_new();
    struct definition *definition;
    struct solution *solution;
    struct trace trace;
    struct error error;

    if (!json_parse((const char *)data, size, "fuzz", 1, &document, &error))
        return 0;
    struct json root = json_root(document);
    if (definition_parse(root, arena, &definition, &error) &&
        (!definition->output_count || definition_find_output(definition, definition->outputs[0].name) != 0))
        abort();
    if (solution_parse(root, arena, &solution, &error) && solution_path_problem(solution->entry_file))
        abort();
    if (trace_parse(root, arena, &trace, &error))
        use_workload(trace.workload, arena);
    return 0;
}
