#define _GNU_SOURCE
#include "agent/run_export.h"

#include <string.h>
#include <time.h>

/* Seconds since 1970 of "2026-08-01T12:00:00Z"; 0 for anything else. */
static double seconds_of(const char *utc)
{
    struct tm time = {0};
    const char *end = utc ? strptime(utc, "%Y-%m-%dT%H:%M:%SZ", &time) : NULL;

    return end && !*end ? (double)timegm(&time) : 0;
}

static json_object *message(const char *role, const char *content)
{
    json_object *object = json_object_new_object();

    json_put_string(object, "role", role);
    json_put_string(object, "content", content);
    return object;
}

static void put_number(json_object *object, const char *key, struct number number)
{
    if (number.known)
        json_put_double(object, key, number.value);
    else
        json_put(object, key, NULL);
}

static json_object *assistant(const struct run_view_trajectory *trajectory, int turn)
{
    const struct trajectory_turn *done = &trajectory->state.turns[turn];
    json_object *object = message("assistant", done->reply);
    json_object *extra = json_object_new_object();
    json_object *response = json_object_new_object();
    json_object *usage = json_object_new_object();

    if (done->tokens.known)
        json_put_i64(usage, "total_tokens", done->tokens.value);
    if (done->reasoning_tokens.known)
        json_put_i64(usage, "reasoning_tokens", done->reasoning_tokens.value);
    json_put(response, "usage", usage);
    json_put(extra, "actions", json_object_new_array());
    json_put(extra, "response", response);
    put_number(extra, "cost", done->cost_usd);
    json_put_double(extra, "timestamp", seconds_of(trajectory->reply_times[turn]));
    if (done->reasoning)
        json_put_string(object, "reasoning_content", done->reasoning);
    json_put(object, "extra", extra);
    return object;
}

static json_object *observation(const struct run_view_trajectory *trajectory, int turn)
{
    const struct trajectory_turn *done = &trajectory->state.turns[turn];
    json_object *object = message("user", done->feedback);
    json_object *extra = json_object_new_object();
    bool passed = done->status && !strcmp(done->status, "PASSED");

    json_put_string(extra, "event", done->status ? "evaluation" : "no_code");
    json_put_string(extra, "status", done->status);
    if (done->status)
        json_put_bool(extra, "all_passed", passed);
    put_number(extra, "min_speedup", done->speedup);
    json_put_string(extra, "raw_output", done->feedback);
    json_put_i64(extra, "returncode", passed ? 0 : 1);
    json_put_string(extra, "exception_info", NULL);
    json_put_double(extra, "timestamp", seconds_of(trajectory->times[turn]));
    json_put(object, "extra", extra);
    return object;
}

static const char *exit_status_of(const struct trajectory *state)
{
    static const char *const texts[] = {
        [END_TURNS] = "LimitsExceeded",
        [END_TARGET] = "Submitted",
        [END_CONTEXT] = "ContextWindowExceeded",
        [END_BUDGET] = "LimitsExceeded",
        [END_INFRASTRUCTURE] = "InfrastructureError",
        [END_PROVIDER] = "ProviderError",
    };

    return trajectory_is_done(state) ? texts[state->end_reason] : "Interrupted";
}

static const char *submission_of(const struct trajectory *state)
{
    bool submitted = trajectory_is_done(state) && state->end_reason == END_TARGET && state->turn > 0;

    return submitted ? state->turns[state->turn - 1].code : "";
}

static json_object *info(const struct run_view *view, const struct trajectory *state)
{
    json_object *object = json_object_new_object();
    json_object *stats = json_object_new_object();
    json_object *config = json_object_new_object();
    json_object *agent = json_object_new_object();
    json_object *model = json_object_new_object();
    json_object *environment = json_object_new_object();

    json_put_double(stats, "instance_cost", state->sums.cost_usd);
    json_put_i64(stats, "api_calls", state->sums.calls);
    json_put_i64(agent, "step_limit", state->plan.planned_turns);
    json_put_double(agent, "target_speedup", state->plan.target_speedup);
    json_put_string(agent, "context", state->plan.context);
    json_put_string(agent, "prompt_variant", state->plan.variant_name);
    json_put_string(model, "model_name", state->plan.model);
    json_put_string(environment, "definition", state->plan.definition);
    json_put_string(environment, "workload", state->plan.workload);
    json_put_string(environment, "arch", state->plan.arch);
    json_put(config, "agent", agent);
    json_put_string(config, "agent_type", "ptxbench");
    json_put(config, "model", model);
    json_put_string(config, "model_type", "ptxbench");
    json_put(config, "environment", environment);
    json_put_string(config, "environment_type", "ptxbench");
    json_put(object, "model_stats", stats);
    json_put(object, "config", config);
    json_put_string(object, "mini_version", NULL);
    json_put_string(object, "exit_status", exit_status_of(state));
    json_put_string(object, "submission", submission_of(state));
    json_put_string(object, "run", view->config.name);
    json_put_string(object, "trajectory", state->plan.name);
    return object;
}

json_object *run_export_mini(const struct run_view *view, const struct run_view_trajectory *trajectory)
{
    const struct trajectory *state = &trajectory->state;
    json_object *object = json_object_new_object();
    json_object *messages = json_object_new_array();

    (void)json_object_array_add(messages, message("system", trajectory->system));
    (void)json_object_array_add(messages, message("user", trajectory->task));
    for (int turn = 0; turn < state->turn; turn++) {
        (void)json_object_array_add(messages, assistant(trajectory, turn));
        (void)json_object_array_add(messages, observation(trajectory, turn));
    }
    json_object *last = message("exit", submission_of(state));
    json_object *extra = json_object_new_object();
    json_put_string(extra, "exit_status", exit_status_of(state));
    json_put_string(extra, "submission", submission_of(state));
    put_number(extra, "min_speedup", state->best_speedup);
    json_put(last, "extra", extra);
    (void)json_object_array_add(messages, last);
    json_put(object, "info", info(view, state));
    json_put(object, "messages", messages);
    json_put_string(object, "trajectory_format", "mini-swe-agent-1.1");
    return object;
}

json_object *run_export_answer(const struct run_view_trajectory *trajectory, int turn)
{
    const struct trajectory_turn *done = &trajectory->state.turns[turn];
    json_object *object = json_object_new_object();

    json_put_string(object, "trajectory", trajectory->state.plan.name);
    json_put_i64(object, "turn", turn);
    json_put_string(object, "text", done->reply);
    if (done->reasoning)
        json_put_string(object, "reasoning", done->reasoning);
    if (done->finish_reason)
        json_put_string(object, "finish_reason", done->finish_reason);
    if (done->cost_usd.known)
        json_put_double(object, "cost_usd", done->cost_usd.value);
    return object;
}
