/* What one trajectory does next, and what comes of calls and evaluations. Every event is in the log before the next step
 * is taken. */
#include <string.h>

#include "agent/run_internal.h"
#include "base/clock.h"
#include "base/interrupt.h"

enum { CHOICE_TOKENS = 2048 };

bool run_record(struct run *run, struct member *member, struct event *event, struct error *error)
{
    struct trajectory_sums before = member->trajectory.sums;

    event->turn = event->kind == EVENT_STARTED ? 0 : member->trajectory.turn;
    if (!event_log_append(member->log, event, error) || !trajectory_apply(&member->trajectory, event, error))
        return false;
    run->dirty = true;
    const struct trajectory_sums *now = &member->trajectory.sums;
    run->sums.input_tokens += now->input_tokens - before.input_tokens;
    run->sums.output_tokens += now->output_tokens - before.output_tokens;
    run->sums.cost_usd += now->cost_usd - before.cost_usd;
    run_member_show(member);
    if (run->options.observer.event)
        run->options.observer.event(run->options.observer.context, &member->line, event);
    return true;
}

static bool start(struct run *run, struct member *member, struct error *error)
{
    const struct planned *planned = member->planned;
    struct run_config *config = &run->config;

    if (!run_prompts_make(run, planned, &member->prompts, error))
        return false;
    struct event event = {
        .kind = EVENT_STARTED,
        .started = {
            .name = planned->name,
            .run = config->name,
            .model = planned->model->name,
            .definition = planned->workload->definition->name,
            .workload = planned->workload->uuid,
            .arch = config->arch,
            .variant_name = planned->variant_name,
            .variant = planned->variant,
            .planned_turns = config->turns,
            .target_speedup = config->target_speedup,
            .context = config->context,
            .seed = (config->seed + (int64_t)member->position * (TRAJECTORY_TURNS_MAX + 1)) & INT32_MAX,
            .system_sha256 = member->prompts->system_sha256,
            .task_sha256 = member->prompts->task_sha256,
        }};
    return run_record(run, member, &event, error);
}

/* Why no further turn is begun; NULL: one is. */
static const char *reason_to_pause(const struct run *run)
{
    const struct run_budget *budget = &run->config.budget;

    if (budget->tokens && run->sums.input_tokens + run->sums.output_tokens >= budget->tokens)
        return "the run's limit of tokens is reached";
    if (budget->usd > 0 && run->sums.cost_usd >= budget->usd)
        return "the run's limit of cost is reached";
    if (budget->hours > 0 && (double)(clock_now_ns() - run->started_ns) >= budget->hours * 3600e9)
        return "the run's limit of time is reached";
    return NULL;
}

static void find_code(const struct run *run, const struct member *member, struct arena *arena,
                      struct extract_result *out)
{
    const char *reply = trajectory_current(&member->trajectory)->reply;

    extract_code_of(reply, strlen(reply), prompt_extract_language(run->config.language), arena, out);
}

static bool call_model(struct run *run, struct member *member, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const struct trajectory *trajectory = &member->trajectory;
    const struct prompt_pair *prompts = member->prompts;
    bool choose = trajectory->purpose == CALL_CHOOSE;
    struct context context;
    struct extract_result found;

    if (choose) {
        find_code(run, member, arena, &found);
        context_build_choice(trajectory, prompts->system, prompts->task, run->policy, extract_question(arena, &found),
                             arena, &context);
    } else {
        context_build(trajectory, prompts->system, prompts->task, run->policy, arena, &context);
    }
    struct chat_request request = {
        .model = member->planned->model,
        .messages = context.messages,
        .message_count = context.count,
        .max_output_tokens = choose ? CHOICE_TOKENS : 0,
        .seed = (uint64_t)((trajectory->plan.seed + trajectory->turn) & INT32_MAX),
        .has_seed = true,
        .trajectory = member->line.name,
        .turn = trajectory->turn,
    };
    member->call_open = chat_client_start(run->chat, &request, member, error);
    return member->call_open || error_prefix(error, "%s", member->line.name);
}

static bool request(struct run *run, struct member *member, struct error *error)
{
    struct event event = {.kind = EVENT_REQUEST, .purpose = CALL_KERNEL};

    if (!run->pause)
        run->pause = reason_to_pause(run);
    if (run->pause) {
        member->parked = true;
        return true;
    }
    return run_record(run, member, &event, error) && call_model(run, member, error);
}

static bool retry(struct run *run, struct member *member, const char *cause, const char *message, struct error *error)
{
    struct event event = {.kind = EVENT_RETRY, .retry = {cause, message}};

    if (!run_record(run, member, &event, error))
        return false;
    int shift = member->trajectory.retries < 8 ? member->trajectory.retries : 8;
    member->not_before_ns = clock_now_ns() + (run->config.retry_delay_ms * 1000000 << (shift ? shift - 1 : 0));
    return true;
}

/* Asks which block is meant when the answer leaves it open, but only once, and not for an answer cut by its limit. */
static bool extract(struct run *run, struct member *member, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    const struct trajectory_turn *turn = trajectory_current(&member->trajectory);
    struct event event = {.kind = EVENT_EXTRACTION};
    struct extract_result found;
    struct text_span code;

    find_code(run, member, arena, &found);
    if (found.status == EXTRACT_UNSURE && !turn->choice && !run->pause) {
        struct event question = {.kind = EVENT_REQUEST, .purpose = CALL_CHOOSE};
        return run_record(run, member, &question, error) && call_model(run, member, error);
    }
    code = found.code;
    if (found.status == EXTRACT_UNSURE && turn->choice)
        (void)extract_read_choice(arena, &found, turn->choice, strlen(turn->choice), &code);
    bool usable = (found.status == EXTRACT_FOUND || found.status == EXTRACT_UNSURE) && code.length > 0;
    event.extraction = (struct event_extraction){
        .status = usable                              ? "found"
                  : found.status == EXTRACT_TRUNCATED ? "truncated"
                                                      : "none",
        .code = usable ? arena_strndup(arena, code.text, code.length) : NULL,
        .reason = found.reason,
        .blocks = found.blocks,
    };
    return run_record(run, member, &event, error);
}

static void put_text(json_object *object, const char *key, const char *text)
{
    if (text)
        json_put_string(object, key, text);
}

static void put_number(json_object *object, const char *key, int64_t value)
{
    if (value)
        json_put_i64(object, key, value);
}

/* A line of docs/formats/worker.md. A resized workload is named by its origin and its axes. */
static json_object *judge_request(const struct run *run, const struct member *member)
{
    const struct workload *workload = member->planned->workload;
    const struct run_evaluation *evaluation = &run->config.evaluation;
    AUTO_ARENA *arena = arena_new();
    size_t plain = strcspn(workload->uuid, "+");
    json_object *object = json_object_new_object();

    json_put_string(object, "id", arena_printf(arena, "%s.turn_%d", member->line.name, member->trajectory.turn));
    json_put_string(object, "definition", workload->definition->name);
    json_put_string(object, "workload", arena_strndup(arena, workload->uuid, plain));
    put_text(object, "axes", workload->uuid[plain] ? workload->uuid + plain + 1 : NULL);
    json_put_string(object, "solution", arena_printf(arena, "%s.turn_%d", member->line.name, member->trajectory.turn));
    json_put_string(object, "source", trajectory_current(&member->trajectory)->code);
    json_put_string(object, "arch", run->config.arch);
    put_text(object, "sanitizer", evaluation->sanitizer);
    put_text(object, "tolerance", evaluation->tolerance);
    put_number(object, "trials", evaluation->trials);
    put_number(object, "warmup", evaluation->warmup);
    put_number(object, "iterations", evaluation->iterations);
    put_number(object, "compile_timeout_s", evaluation->compile_timeout_s);
    return object;
}

/* A turn without a kernel is over without an evaluation. */
static bool judge_nothing(struct run *run, struct member *member, struct error *error)
{
    AUTO_ARENA *arena = arena_new();
    struct event event = {.kind = EVENT_VERDICT, .verdict = {.outcome = "extraction"}};
    int turn = member->trajectory.turn;

    if (!run_feedback(run, member, NULL, arena, &event.verdict.feedback, error) ||
        !run_record(run, member, &event, error))
        return false;
    run->session_turns++;
    return run_derive_turn(run, member, turn, &event.verdict, error);
}

static bool evaluate(struct run *run, struct member *member, struct error *error)
{
    if (!trajectory_current(&member->trajectory)->code)
        return judge_nothing(run, member, error);
    AUTO_JSON_OBJECT *line = judge_request(run, member);
    member->evaluation_open = evaluator_submit(run->evaluator, line, member, error);
    return member->evaluation_open || error_prefix(error, "%s", member->line.name);
}

/* Trouble that hits one trajectory after another is not the trajectories': no further ones are sent into it. */
static void notice_end(struct run *run, const struct member *member)
{
    struct model_state *model = &run->model_states[member->planned->model - run->models];
    enum end_reason reason = member->trajectory.end_reason;
    const char *message = member->trajectory.end_message ? member->trajectory.end_message : "";
    bool evaluation = reason == END_INFRASTRUCTURE && trajectory_current(&member->trajectory)->code;
    bool provider = reason == END_PROVIDER || (reason == END_INFRASTRUCTURE && !evaluation);

    run->evaluation_failures = evaluation ? run->evaluation_failures + 1 : run->evaluation_failures;
    model->failures = provider ? model->failures + 1 : 0;
    if (run->evaluation_failures >= FAILURES_MAX && !run->pause)
        run->pause = arena_printf(run->arena, "evaluation does not work: %s", message);
    if (model->failures >= FAILURES_MAX || reason == END_PROVIDER)
        model->dead = arena_strdup(run->arena, message);
}

static bool end(struct run *run, struct member *member, struct error *error)
{
    struct event event = {.kind = EVENT_ENDED,
                          .ended = {member->trajectory.end_reason, member->trajectory.end_message}};

    if (!run_record(run, member, &event, error))
        return false;
    notice_end(run, member);
    return run_derive_member(run, member, error);
}

bool run_advance(struct run *run, struct member *member, struct error *error)
{
    while (!member->call_open && !member->evaluation_open && !member->parked &&
           member->not_before_ns <= clock_now_ns() && !interrupt_requested()) {
        bool ok = true;
        switch (member->trajectory.step) {
        case STEP_START:
            ok = start(run, member, error);
            break;
        case STEP_REQUEST:
            ok = request(run, member, error);
            break;
        case STEP_REPLY:
            ok = call_model(run, member, error);
            break;
        case STEP_RETRY:
            ok = retry(run, member, "provider", member->trajectory.end_message, error);
            break;
        case STEP_EXTRACT:
            ok = extract(run, member, error);
            break;
        case STEP_EVALUATE:
            ok = evaluate(run, member, error);
            break;
        case STEP_END:
            ok = end(run, member, error);
            break;
        case STEP_DONE:
            return true;
        }
        if (!ok)
            return false;
    }
    return true;
}

static struct count known(int64_t value)
{
    return value < 0 ? (struct count){0} : count_of(value);
}

bool run_take_reply(struct run *run, struct member *member, const struct chat_reply *reply, struct error *error)
{
    member->call_open = false;
    if (reply->status == CHAT_CANCELLED) /* by us: as if it had never been made */
        return true;
    /* An answer that ended without saying why was cut by its server: half of one is not the model's. */
    bool cut = reply->status == CHAT_OK && !reply->finish_reason;
    enum chat_status status = cut ? CHAT_PROTOCOL : reply->status;
    struct event event = {.kind = EVENT_REPLY,
                          .purpose = member->trajectory.purpose,
                          .reply = {
                              .status = chat_status_text(status),
                              .text = reply->text,
                              .reasoning = reply->reasoning && *reply->reasoning ? reply->reasoning : NULL,
                              .finish_reason = reply->finish_reason,
                              .input_tokens = known(reply->usage.input_tokens),
                              .cached_tokens = known(reply->usage.cached_tokens),
                              .output_tokens = known(reply->usage.output_tokens),
                              .reasoning_tokens = known(reply->usage.reasoning_tokens),
                              .cost_usd = reply->cost_usd < 0 ? (struct number){0} : number_of(reply->cost_usd),
                              .provider = reply->provider,
                              .served_model = reply->served_model,
                              .fingerprint = reply->fingerprint,
                              .request_id = reply->request_id,
                              .attempts = reply->attempts,
                              .elapsed_ms = (reply->elapsed_ns + 500000) / 1000000,
                              .first_token_ms = known(reply->first_token_ns < 0 ? -1 : reply->first_token_ns / 1000000),
                              .error = cut                 ? "the answer ended without a finish reason"
                                       : status != CHAT_OK ? reply->error.message
                                                           : NULL,
                          }};
    return run_record(run, member, &event, error);
}

bool run_take_evaluation(struct run *run, struct member *member, const struct judgement *evaluation,
                         struct error *error)
{
    const struct verdict *verdict = evaluation->verdict;
    AUTO_ARENA *arena = arena_new();
    int turn = member->trajectory.turn;

    member->evaluation_open = false;
    if (!verdict)
        return retry(run, member, "evaluation", evaluation->trouble.message, error);
    if (verdict->status == VERDICT_INFRA_ERROR)
        return retry(run, member, "evaluation", verdict->summary ? verdict->summary : "INFRA_ERROR", error);
    run->evaluation_failures = 0;
    struct event event = {
        .kind = EVENT_VERDICT,
        .verdict = {
            .status = verdict_status_text(verdict->status),
            .speedup = verdict->status == VERDICT_PASSED ? verdict->performance.speedup : (struct number){0},
            .executed = verdict_executed_text(verdict->target.executed),
            .elapsed_ms = evaluation->elapsed_ns / 1000000,
            .verdict = evaluation->at.value,
        }};
    if (!run_feedback(run, member, verdict, arena, &event.verdict.feedback, error) ||
        !run_record(run, member, &event, error))
        return false;
    run->session_turns++;
    return run_derive_turn(run, member, turn, &event.verdict, error);
}
