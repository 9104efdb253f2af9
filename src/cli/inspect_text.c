#include "cli/inspect_text.h"

#include <string.h>

#include "agent/line_diff.h"
#include "judge/summary.h"

enum { DIFF_CONTEXT = 3, PART_BYTES_MAX = 4 << 20 };

static const char *const parts[INSPECT_PARTS] = {"diff", "code", "verdict", "feedback", "answer"};

const char *inspect_part_text(enum inspect_part part)
{
    return parts[part];
}

bool inspect_part_parse(const char *text, enum inspect_part *out)
{
    for (int i = 0; i < INSPECT_PARTS; i++)
        if (!strcmp(text, parts[i])) {
            *out = (enum inspect_part)i;
            return true;
        }
    return false;
}

static const char *outcome_of(const struct trajectory_turn *turn)
{
    if (turn->status)
        return turn->status;
    return turn->outcome && !strcmp(turn->outcome, "extraction") ? "no code" : "?";
}

void inspect_write_row(struct buffer *out, const char *name, int width, const struct trajectory *state)
{
    const struct trajectory_turn *last = state->turn ? &state->turns[state->turn - 1] : NULL;
    bool begun = state->step != STEP_START;

    (void)buffer_printf(out, "%-*s %3d/%-3lld %-14s %-19s", width, name, state->turn,
                        begun ? (long long)state->plan.planned_turns : 0,
                        !begun                      ? "not begun"
                        : trajectory_is_done(state) ? end_reason_text(state->end_reason)
                                                    : trajectory_step_text(state->step),
                        last ? outcome_of(last) : "");
    if (state->best_speedup.known)
        (void)buffer_printf(out, " %6.2fx", state->best_speedup.value);
    else
        (void)buffer_printf(out, " %7s", state->passed ? "correct" : "");
    int64_t tokens = state->sums.input_tokens + state->sums.output_tokens;
    if (tokens || !state->sums.calls)
        (void)buffer_printf(out, " %10lld", (long long)tokens);
    else
        (void)buffer_printf(out, " %10s", "?"); /* some servers do not say */
    if (state->sums.cost_usd > 0)
        (void)buffer_printf(out, " $%.4g", state->sums.cost_usd);
}

void inspect_write_list(struct buffer *out, const struct run_view *view, const struct run_view_trajectory *lines)
{
    int width = (int)strlen("trajectory");

    for (size_t i = 0; i < view->count; i++)
        if ((int)strlen(view->names[i]) > width)
            width = (int)strlen(view->names[i]);
    (void)buffer_printf(out, "run %s: %zu trajectories of %lld turns\n\n", view->config.name, view->count,
                        (long long)view->config.turns);
    (void)buffer_printf(out, "%-*s %7s %-14s %-19s %7s %10s cost\n", width, "trajectory", "turns", "state", "last turn",
                        "best", "tokens");
    for (size_t i = 0; i < view->count; i++) {
        inspect_write_row(out, view->names[i], width, &lines[i].state);
        (void)buffer_append_text(out, "\n");
    }
}

void inspect_write_head(struct buffer *out, const struct run_view_trajectory *trajectory)
{
    const struct trajectory *state = &trajectory->state;
    const struct event_started *plan = &state->plan;

    if (state->step == STEP_START) {
        (void)buffer_append_text(out, "not begun\n");
        return;
    }
    (void)buffer_printf(out, "%s\n", plan->name);
    (void)buffer_printf(out, "model %s, task %s, workload %s, %s, variant %s, context %s\n", plan->model,
                        plan->definition, plan->workload, plan->arch, plan->variant_name, plan->context);
    (void)buffer_printf(out, "%d of %lld turns, %s%s%s", state->turn, (long long)plan->planned_turns,
                        trajectory_is_done(state) ? "ended: " : "",
                        trajectory_is_done(state) ? end_reason_text(state->end_reason)
                                                  : trajectory_step_text(state->step),
                        state->passed ? ", correct" : "");
    if (state->best_speedup.known)
        (void)buffer_printf(out, ", best %.2fx", state->best_speedup.value);
    (void)buffer_printf(out, "; %lld calls", (long long)state->sums.calls);
    if (state->sums.input_tokens || state->sums.output_tokens)
        (void)buffer_printf(out, ", %lld tokens in, %lld out", (long long)state->sums.input_tokens,
                            (long long)state->sums.output_tokens);
    if (state->sums.cost_usd > 0)
        (void)buffer_printf(out, ", $%.4g", state->sums.cost_usd);
    if (state->sums.retries)
        (void)buffer_printf(out, ", %lld retries", (long long)state->sums.retries);
    (void)buffer_append_text(out, "\n");
    if (trajectory_is_done(state) && state->end_message) {
        (void)buffer_append_text(out, "because: ");
        (void)buffer_append_sanitized(out, state->end_message, strlen(state->end_message));
        (void)buffer_append_text(out, "\n");
    }
}

void inspect_write_turn(struct buffer *out, const struct run_view_trajectory *trajectory, int turn)
{
    const struct trajectory_turn *done = &trajectory->state.turns[turn];

    (void)buffer_printf(out, "turn %d of %lld: %s", turn + 1, (long long)trajectory->state.plan.planned_turns,
                        outcome_of(done));
    if (done->speedup.known)
        (void)buffer_printf(out, " %.2fx", done->speedup.value);
    if (done->status && !strcmp(done->status, "PASSED") && done->executed)
        (void)buffer_printf(out, ", target instructions: %s", done->executed);
    if (done->tokens.known)
        (void)buffer_printf(out, ", %lld tokens", (long long)done->tokens.value);
    if (done->cost_usd.known)
        (void)buffer_printf(out, ", $%.4g", done->cost_usd.value);
    (void)buffer_append_text(out, "\n");
}

/* Each line with "| " in front: so that nothing in it passes for ours. */
static void quote(struct buffer *out, const char *text)
{
    AUTO_BUFFER clean = buffer_new(PART_BYTES_MAX);

    (void)buffer_append_sanitized(&clean, text, strlen(text));
    for (const char *at = clean.data; *at;) {
        size_t length = strcspn(at, "\n");
        (void)buffer_printf(out, "| %.*s\n", (int)length, at);
        at += length + (at[length] == '\n');
    }
}

static const char *code_before(const struct run_view_trajectory *trajectory, int turn)
{
    while (--turn >= 0)
        if (trajectory->state.turns[turn].code)
            return trajectory->state.turns[turn].code;
    return NULL;
}

static void write_diff(struct buffer *out, const struct run_view_trajectory *trajectory, int turn, bool color)
{
    const char *code = trajectory->state.turns[turn].code;
    const char *before = code_before(trajectory, turn);
    AUTO_BUFFER old = buffer_new(PART_BYTES_MAX);
    AUTO_BUFFER new = buffer_new(PART_BYTES_MAX);
    AUTO_BUFFER lines = buffer_new(PART_BYTES_MAX);

    if (!code) {
        (void)buffer_append_text(out, "no code\n");
        return;
    }
    (void)buffer_append_sanitized(&old, before ? before : "", before ? strlen(before) : 0);
    (void)buffer_append_sanitized(&new, code, strlen(code));
    line_diff(old.data, new.data, DIFF_CONTEXT, &lines);
    if (!lines.length)
        (void)buffer_append_text(out, "the same code as before\n");
    for (const char *at = lines.data; *at;) {
        size_t length = strcspn(at, "\n");
        const char *paint = !color       ? ""
                            : *at == '+' ? "\033[32m"
                            : *at == '-' ? "\033[31m"
                            : *at == '@' ? "\033[36m"
                                         : "";
        (void)buffer_printf(out, "%s%.*s%s\n", paint, (int)length, at, *paint ? "\033[0m" : "");
        at += length + (at[length] == '\n');
    }
}

void inspect_write_part(struct buffer *out, const struct run_view_trajectory *trajectory, int turn,
                        enum inspect_part part, int width, bool color)
{
    const struct trajectory_turn *done = &trajectory->state.turns[turn];
    struct summary_options look = {.color = color, .width = width};

    switch (part) {
    case INSPECT_DIFF:
        write_diff(out, trajectory, turn, color);
        return;
    case INSPECT_CODE:
        quote(out, done->code ? done->code : "(no code)");
        return;
    case INSPECT_VERDICT:
        if (trajectory->verdicts[turn])
            summary_write(out, trajectory->verdicts[turn], &look);
        else
            (void)buffer_printf(out, "nothing was judged: %s\n", done->extraction ? done->extraction : "no code");
        return;
    case INSPECT_FEEDBACK:
        quote(out, done->feedback);
        return;
    case INSPECT_ANSWER:
        quote(out, done->reply);
        return;
    case INSPECT_PARTS:
        break;
    }
}
