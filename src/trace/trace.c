#include "trace/trace.h"

#include "trace/fields.h"

bool trace_parse(struct json at, struct arena *arena, struct trace *out, struct error *error)
{
    struct json evaluation;

    *out = (struct trace){.source = at};
    if (!json_expect(at, JSON_OBJECT, error) || !field_text(at, "definition", &out->definition, error) ||
        !json_member(at, "workload", &out->workload, error) || !json_expect(out->workload, JSON_OBJECT, error) ||
        !field_optional_text(at, "solution", &out->solution, error))
        return false;
    out->has_evaluation = json_optional(at, "evaluation", &evaluation);
    if (out->has_evaluation != (out->solution != NULL))
        return json_error(at, error, "solution and evaluation are either both present or both null");
    return !out->has_evaluation || evaluation_parse(evaluation, arena, &out->evaluation, error);
}

bool trace_to_json(const struct workload *workload, const char *solution, const struct evaluation *evaluation,
                   json_object **out, struct error *error)
{
    json_object *record;

    if (!evaluation_to_json(evaluation, &record, error))
        return false;
    *out = json_object_new_object();
    json_put_string(*out, "definition", workload->definition->name);
    json_put(*out, "workload", json_object_get(workload->source.value));
    json_put_string(*out, "solution", solution);
    json_put(*out, "evaluation", record);
    return true;
}
