#include "agent/run_config.h"

static const struct record_field name_fields[] = {RECORD_TEXT(struct run_name, name)};
static const struct record_type name_record = RECORD_TYPE(struct run_name, name_fields);

static const struct record_field task_fields[] = {
    RECORD_TEXT(struct run_task, definition),
    RECORD_ITEMS(struct run_task, workloads, &name_record),
    RECORD_TEXT(struct run_task, axes),
};
static const struct record_type task_record = RECORD_TYPE(struct run_task, task_fields);

static const struct record_field evaluation_fields[] = {
    RECORD_TEXT(struct run_evaluation, sanitizer),     RECORD_TEXT(struct run_evaluation, tolerance),
    RECORD_INTEGER(struct run_evaluation, trials),     RECORD_INTEGER(struct run_evaluation, warmup),
    RECORD_INTEGER(struct run_evaluation, iterations), RECORD_INTEGER(struct run_evaluation, compile_timeout_s),
    RECORD_INTEGER(struct run_evaluation, timeout_s),  RECORD_INTEGER(struct run_evaluation, sample),
};
static const struct record_type evaluation_record = RECORD_TYPE(struct run_evaluation, evaluation_fields);

static const struct record_field config_fields[] = {
    RECORD_TEXT(struct run_config, name),
    RECORD_ITEMS(struct run_config, models, &name_record),
    RECORD_ITEMS(struct run_config, task_roots, &name_record),
    RECORD_ITEMS(struct run_config, tasks, &task_record),
    RECORD_ITEMS(struct run_config, variants, &name_record),
    RECORD_INTEGER(struct run_config, trajectories),
    RECORD_INTEGER(struct run_config, turns),
    RECORD_TEXT(struct run_config, context),
    RECORD_TEXT(struct run_config, arch),
    RECORD_TEXT(struct run_config, language),
    RECORD_TEXT(struct run_config, binding),
    RECORD_BOOL(struct run_config, guidance),
    RECORD_TEXT(struct run_config, notes),
    RECORD_BOOL(struct run_config, notes_with_fix),
    RECORD_ITEMS(struct run_config, devices, &name_record),
    RECORD_INTEGER(struct run_config, parallel),
    RECORD_INTEGER(struct run_config, retries),
    RECORD_INTEGER(struct run_config, retry_delay_ms),
    RECORD_INTEGER(struct run_config, call_attempts),
    RECORD_INTEGER(struct run_config, seed),
    RECORD_NESTED(struct run_config, evaluation, &evaluation_record),
};
static const struct record_type config_record = RECORD_TYPE(struct run_config, config_fields);

static json_object *budget_to_json(const struct run_budget *budget)
{
    json_object *object = json_object_new_object();

    json_put_i64(object, "tokens", budget->tokens);
    json_put_double(object, "usd", budget->usd);
    json_put_double(object, "hours", budget->hours);
    return object;
}

static bool read_real(struct json object, const char *key, double *out, struct error *error)
{
    struct json member;

    return json_member(object, key, &member, error) && json_double(member, out, error);
}

static bool read_budget(struct json config, const char *key, struct run_budget *out, struct error *error)
{
    struct json object;
    struct json tokens;

    return json_member(config, key, &object, error) && json_member(object, "tokens", &tokens, error) &&
           json_i64(tokens, &out->tokens, error) && read_real(object, "usd", &out->usd, error) &&
           read_real(object, "hours", &out->hours, error);
}

json_object *run_config_to_json(const struct run_config *config)
{
    json_object *object = record_to_json(config, &config_record);

    json_put_double(object, "target_speedup", config->target_speedup);
    json_put(object, "budget", budget_to_json(&config->budget));
    json_put(object, "trajectory_budget", budget_to_json(&config->trajectory_budget));
    return object;
}

bool run_config_from_json(struct json at, struct arena *arena, struct run_config *config, struct error *error)
{
    *config = (struct run_config){0};
    return record_from_json(at, &config_record, config, arena, error) &&
           read_real(at, "target_speedup", &config->target_speedup, error) &&
           read_budget(at, "budget", &config->budget, error) &&
           read_budget(at, "trajectory_budget", &config->trajectory_budget, error);
}
