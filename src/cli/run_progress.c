#include "cli/run_progress.h"

#include <string.h>
#include <sys/ioctl.h>

enum { ROWS_DEFAULT = 24, COLUMNS_DEFAULT = 80, NAME_WIDTH_MAX = 60 };

static void duration_text(double seconds, char *out, size_t size)
{
    if (seconds < 100)
        (void)snprintf(out, size, "%.0f s", seconds);
    else if (seconds < 100 * 60)
        (void)snprintf(out, size, "%.0f min", seconds / 60);
    else
        (void)snprintf(out, size, "%.1f h", seconds / 3600);
}

static void tokens_text(int64_t tokens, char *out, size_t size)
{
    if (tokens < 10000)
        (void)snprintf(out, size, "%lld", (long long)tokens);
    else if (tokens < 10000000)
        (void)snprintf(out, size, "%.1fk", (double)tokens / 1e3);
    else
        (void)snprintf(out, size, "%.2fM", (double)tokens / 1e6);
}

/* How long the rest takes at the pace of this session. */
static void eta_text(const struct run_totals *totals, char *out, size_t size)
{
    int64_t left = totals->turns_planned - totals->turns;

    if (left <= 0 || totals->session_turns < 1) {
        (void)snprintf(out, size, "%s", left <= 0 ? "0 s" : "?");
        return;
    }
    duration_text((double)totals->elapsed_ns * 1e-9 / (double)totals->session_turns * (double)left, out, size);
}

static void totals_line(const struct run_totals *totals, char *out, size_t size)
{
    char tokens[32], eta[32], elapsed[32], cost[32] = "";

    int64_t known = totals->sums.input_tokens + totals->sums.output_tokens;

    tokens_text(known, tokens, sizeof tokens);
    if (!known && totals->sums.calls) /* some servers do not say */
        (void)snprintf(tokens, sizeof tokens, "unknown");
    eta_text(totals, eta, sizeof eta);
    duration_text((double)totals->elapsed_ns * 1e-9, elapsed, sizeof elapsed);
    if (totals->sums.cost_usd > 0 || (totals->sums.cost_known && totals->sums.calls))
        (void)snprintf(cost, sizeof cost, ", %s$%.4g", totals->sums.cost_known ? "" : "at least ",
                       totals->sums.cost_usd);
    (void)snprintf(out, size,
                   "%zu/%zu trajectories done, turn %lld/%lld, %zu calls open, %zu judging, %zu waiting, %s tokens%s, "
                   "%s, %s left",
                   totals->done, totals->trajectories, (long long)totals->turns, (long long)totals->turns_planned,
                   totals->calls_open, totals->evaluations.running, totals->evaluations.waiting, tokens, cost, elapsed,
                   eta);
}

static void best_text(const struct run_line *line, char *out, size_t size)
{
    if (line->best_speedup.known)
        (void)snprintf(out, size, "best %.2fx", line->best_speedup.value);
    else
        (void)snprintf(out, size, "%s", line->passed ? "correct" : "");
}

void run_progress_clear(struct run_progress *progress)
{
    if (progress->drawn)
        (void)fprintf(progress->stream, "\033[%dA\r\033[J", progress->drawn);
    progress->drawn = 0;
}

static void draw_line(struct run_progress *progress, const struct run_line *line, int columns)
{
    char best[32], row[512];

    best_text(line, best, sizeof best);
    (void)snprintf(row, sizeof row, "  %-*.*s %3d/%-3lld %-9s %-22s %s", NAME_WIDTH_MAX, NAME_WIDTH_MAX, line->name,
                   line->turn + (line->turn < line->planned_turns), (long long)line->planned_turns,
                   trajectory_step_text(line->step), line->last_status ? line->last_status : "", best);
    (void)fprintf(progress->stream, "%.*s\n", columns - 1, row);
    progress->drawn++;
}

static void draw(struct run_progress *progress, const struct run *run)
{
    struct winsize window = {0};
    struct run_totals totals = run_totals_of(run);
    char text[512];

    (void)ioctl(fileno(progress->stream), TIOCGWINSZ, &window);
    int rows = window.ws_row ? window.ws_row : ROWS_DEFAULT;
    int columns = window.ws_col ? window.ws_col : COLUMNS_DEFAULT;
    run_progress_clear(progress);
    int room = rows - 4;
    size_t hidden = 0;
    for (size_t i = 0; i < run_line_count(run); i++) {
        const struct run_line *line = run_line_at(run, i);
        if (line->state != RUN_ACTIVE)
            continue;
        if (room-- > 0)
            draw_line(progress, line, columns);
        else
            hidden++;
    }
    if (hidden) {
        (void)fprintf(progress->stream, "  and %zu more\n", hidden);
        progress->drawn++;
    }
    totals_line(&totals, text, sizeof text);
    (void)fprintf(progress->stream, "%.*s\n", columns - 1, text);
    progress->drawn++;
    (void)fflush(progress->stream);
}

static void on_tick(void *context, const struct run *run)
{
    struct run_progress *progress = context;
    struct run_totals totals;
    char text[512];

    if (progress->quiet)
        return;
    if (progress->terminal) {
        draw(progress, run);
        return;
    }
    totals = run_totals_of(run);
    if (totals.turns == progress->turns)
        return;
    progress->turns = totals.turns;
    totals_line(&totals, text, sizeof text);
    (void)fprintf(progress->stream, "%s\n", text);
}

static void on_event(void *context, const struct run_line *line, const struct event *event)
{
    struct run_progress *progress = context;
    char best[32];

    if (progress->quiet || progress->terminal)
        return;
    best_text(line, best, sizeof best);
    if (event->kind == EVENT_VERDICT) {
        const struct event_verdict *verdict = &event->verdict;
        (void)fprintf(progress->stream, "%s turn %d/%lld: %s", line->name, line->turn, (long long)line->planned_turns,
                      verdict->status ? verdict->status : "no code in the answer");
        if (verdict->speedup.known)
            (void)fprintf(progress->stream, " %.2fx", verdict->speedup.value);
        (void)fprintf(progress->stream, "\n");
    } else if (event->kind == EVENT_RETRY) {
        (void)fprintf(progress->stream, "%s turn %d/%lld: again, not the model's fault: %s\n", line->name,
                      line->turn + 1, (long long)line->planned_turns, event->retry.message);
    } else if (event->kind == EVENT_ENDED) {
        (void)fprintf(progress->stream, "%s: ended: %s%s%s%s%s\n", line->name, end_reason_text(event->ended.reason),
                      *best ? ", " : "", best, event->ended.message ? ": " : "",
                      event->ended.message ? event->ended.message : "");
    }
    (void)fflush(progress->stream);
}

struct run_observer run_progress_observer(struct run_progress *progress)
{
    return (struct run_observer){
        .context = progress,
        .event = on_event,
        .tick = on_tick,
        .tick_ns = progress->terminal ? INT64_C(500) * 1000000 : INT64_C(30) * 1000000000,
    };
}

void run_progress_summary(const struct run *run, const char *folder, FILE *stream)
{
    struct run_totals totals = run_totals_of(run);
    size_t passed = 0;
    const struct run_line *best = NULL;
    char text[512];

    for (size_t i = 0; i < run_line_count(run); i++) {
        const struct run_line *line = run_line_at(run, i);
        passed += line->passed;
        if (line->best_speedup.known && (!best || line->best_speedup.value > best->best_speedup.value))
            best = line;
    }
    totals_line(&totals, text, sizeof text);
    (void)fprintf(stream, "%s\n", text);
    (void)fprintf(stream, "trajectories with a correct kernel: %zu", passed);
    if (best)
        (void)fprintf(stream, ", best %.2fx (%s)", best->best_speedup.value, best->name);
    (void)fprintf(stream, "\nended:");
    for (int reason = 0; reason <= END_PROVIDER; reason++)
        if (totals.ended[reason])
            (void)fprintf(stream, " %zu %s", totals.ended[reason], end_reason_text((enum end_reason)reason));
    if (totals.done < totals.trajectories)
        (void)fprintf(stream, "%s %zu open", totals.done ? "," : "", totals.trajectories - totals.done);
    (void)fprintf(stream, "\n");
    if (totals.pause)
        (void)fprintf(stream, "paused: %s\n", totals.pause);
    if (totals.pause || totals.done < totals.trajectories || totals.ended[END_INFRASTRUCTURE] ||
        totals.ended[END_PROVIDER])
        (void)fprintf(stream, "to go on: ptxbench run --resume %s\n", folder);
    (void)fprintf(stream, "tables: ptxbench report %s\n", folder);
}
