/* The numbers behind a page's charts, as JSON. */
#include <math.h>

#include "report/figure.h"
#include "report/flow.h"
#include "report/html.h"

/* Steps of a curve: as many as a screen shows. */
enum { STEPS_MAX = 300, TURNS_MAX = 64 };

struct page {
    struct buffer *out;
    const struct report *report;
    struct html_links *links;
    int limit;
    bool lists_turns;
};

static void write_key(struct buffer *out, const char *key)
{
    (void)buffer_printf(out, "\"%s\":", key);
}

static void write_text(struct buffer *out, const char *key, const char *text)
{
    write_key(out, key);
    html_write_json_text(out, text);
    (void)buffer_append_text(out, ",");
}

static void write_number(struct buffer *out, const char *key, struct number number, double factor)
{
    write_key(out, key);
    if (number.known && isfinite(number.value))
        (void)buffer_printf(out, "%.6g,", number.value * factor);
    else
        (void)buffer_append_text(out, "null,");
}

/* Replaces the comma behind the last item. */
static void close_list(struct buffer *out, char bracket)
{
    if (out->length && out->data[out->length - 1] == ',')
        out->data[out->length - 1] = bracket;
    else
        (void)buffer_append(out, &bracket, 1);
}

static void write_band(const struct page *page, const struct metric_scope *scope, bool target)
{
    AUTO_ARENA *arena = arena_new();
    struct fastp_band band = metric_fastp_band(arena, scope, page->limit, target, &page->report->options.metric);
    size_t stride = band.count / STEPS_MAX + 1;

    write_key(page->out, target ? "target" : "all");
    (void)buffer_printf(page->out, "{\"best\":%.6g,\"steps\":[", band.best);
    for (size_t i = 0; i < band.count; i += stride)
        (void)buffer_printf(page->out, "[%.5g,%.4g,%.4g,%.4g],", band.steps[i].p, 100 * band.steps[i].mean,
                            100 * band.steps[i].low, 100 * band.steps[i].high);
    close_list(page->out, ']');
    (void)buffer_append_text(page->out, "},");
}

static void write_flow(const struct page *page, const struct metric_scope *scope)
{
    AUTO_ARENA *arena = arena_new();
    int limit = page->limit < TURNS_MAX ? page->limit : TURNS_MAX;
    struct flow_shares shares = flow_shares_new(arena, limit);
    struct flow_steps steps = flow_steps_new(arena, limit);
    struct buffer *out = page->out;

    flow_shares_add(&shares, scope);
    flow_steps_add(&steps, scope);
    (void)buffer_append_text(out, "\"outcomes\":[");
    for (int turn = 0; turn < limit; turn++) {
        (void)buffer_append_text(out, "[");
        for (int state = 0; state < FLOW_STATES; state++)
            if (flow_shares_at(&shares, turn, state))
                (void)buffer_printf(out, "[%d,%lld],", state, (long long)flow_shares_at(&shares, turn, state));
        close_list(out, ']');
        (void)buffer_append_text(out, ",");
    }
    close_list(out, ']');
    (void)buffer_append_text(out, ",\"steps\":[");
    for (int turn = 0; turn + 1 < limit; turn++)
        for (int from = 0; from < FLOW_STATES; from++)
            for (int to = 0; to < FLOW_STATES; to++)
                if (flow_steps_at(&steps, turn, from, to))
                    (void)buffer_printf(out, "[%d,%d,%d,%lld],", turn, from, to,
                                        (long long)flow_steps_at(&steps, turn, from, to));
    close_list(out, ']');
    (void)buffer_append_text(out, ",");
}

static void write_link(const struct page *page, const char *link)
{
    if (link)
        html_write_json_text(page->out, link);
    else
        (void)buffer_append_text(page->out, "0");
}

static void write_turn(const struct page *page, const struct series *series, const struct trajectory *trajectory,
                       const struct turn *turn)
{
    const char *code = html_link(page->links, series, trajectory, turn->index, "kernel.cu");
    const char *verdict = html_link(page->links, series, trajectory, turn->index, "verdict.json");

    (void)buffer_printf(page->out, "[%u,%u,%.5g,%d", turn->index, turn->outcome,
                        turn->speedup[page->report->options.metric.speedup], turn->reasoning_tokens);
    if (code || verdict) {
        (void)buffer_append_text(page->out, ",");
        write_link(page, code);
        (void)buffer_append_text(page->out, ",");
        write_link(page, verdict);
    }
    (void)buffer_append_text(page->out, "],");
}

static void write_trajectories(const struct page *page, const struct series *series)
{
    (void)buffer_append_text(page->out, "\"rows\":[");
    for (uint32_t i = 0; i < series->trajectory_count; i++) {
        const struct trajectory *trajectory = &series_trajectories(page->report->set, series)[i];
        const struct turn *turns = trajectory_turns(page->report->set, trajectory);
        (void)buffer_append_text(page->out, "{");
        write_text(page->out, "name", trajectory->name);
        (void)buffer_printf(page->out, "\"variant\":%u,\"turns\":[", trajectory->variant);
        for (uint32_t t = 0; t < trajectory->turn_count; t++)
            write_turn(page, series, trajectory, &turns[t]);
        close_list(page->out, ']');
        (void)buffer_append_text(page->out, "},");
    }
    close_list(page->out, ']');
    (void)buffer_append_text(page->out, ",");
}

static void write_series(const struct page *page, uint32_t number)
{
    const struct series *series = &page->report->set->series[number];
    const struct metric_scope scope = {.set = page->report->set, .series = number};
    const struct metrics *metrics = report_metrics(page->report, number, page->report->options.limit_count - 1);
    struct buffer *out = page->out;

    (void)buffer_append_text(out, "\n{");
    write_text(out, "model", series->model);
    write_text(out, "arch", report_arch_words(series->arch));
    write_text(out, "definition", series->definition);
    write_text(out, "run", series->run);
    (void)buffer_printf(out, "\"planned\":%d,\"trajectories\":%u,", series->planned_turns, series->trajectory_count);
    write_number(out, "turn_correctness_percent", metrics->turn_correctness.value, 100);
    write_number(out, "target_turn_correctness_percent", metrics->target_turn_correctness.value, 100);
    write_number(out, "best_speedup", metrics->best_speedup.value, 1);
    write_number(out, "target_best_speedup", metrics->target_best_speedup.value, 1);
    write_band(page, &scope, false);
    write_band(page, &scope, true);
    write_flow(page, &scope);
    if (page->lists_turns)
        write_trajectories(page, series);
    close_list(out, '}');
    (void)buffer_append_text(out, ",");
}

/* Quartiles of reasoning tokens, from the table that has them. */
static void write_reasoning(struct buffer *out, const struct report *report)
{
    enum { ARCH, MODEL, TURN, TURNS, MEAN, P05, P25, MEDIAN, P75, P95 };
    struct table *table = NULL;
    struct error ignored;

    (void)buffer_append_text(out, "\"reasoning\":[");
    if (report_make_reasoning(report, &table, &ignored) && table) {
        for (size_t row = 0; row < table_row_count(table); row++) {
            (void)buffer_append_text(out, "{");
            write_text(out, "arch", table_cell(table, row, ARCH)->text);
            write_text(out, "model", table_cell(table, row, MODEL)->text);
            (void)buffer_printf(out, "\"turn\":%.0f,\"turns\":%.0f,\"q\":[", table_cell(table, row, TURN)->number.value,
                                table_cell(table, row, TURNS)->number.value);
            for (size_t c = P05; c <= P95; c++)
                (void)buffer_printf(out, "%.6g%s", table_cell(table, row, c)->number.value, c < P95 ? "," : "]},");
        }
    }
    close_list(out, ']');
    (void)buffer_append_text(out, ",");
}

void html_write_data(struct buffer *out, const struct report *report, const struct html_options *options)
{
    AUTO_ARENA *arena = arena_new();
    struct page page = {out, report, html_links_new(arena, options->folder), 0, false};

    (void)buffer_append_text(out, "{\"outcomes\":[");
    for (int state = 0; state < FLOW_STATES; state++) {
        (void)buffer_append_text(out, "{");
        write_text(out, "words", flow_state_words(state));
        (void)buffer_printf(out, "\"ink\":\"#%06x\"},", figure_outcome_ink(state));
    }
    close_list(out, ']');
    (void)buffer_append_text(out, ",\"definitions\":[");
    for (size_t i = 0; report && i < report->definition_count; i++) {
        html_write_json_text(out, report->definitions[i]);
        (void)buffer_append_text(out, ",");
    }
    close_list(out, ']');
    (void)buffer_append_text(out, ",");
    if (report) {
        page.limit = report->options.limits[report->options.limit_count - 1];
        page.lists_turns = report->set->turn_count <= HTML_TURNS_MAX;
        write_reasoning(out, report);
    }
    (void)buffer_append_text(out, "\"series\":[");
    for (size_t g = 0; report && g < report->group_count; g++)
        for (size_t i = 0; i < report->groups[g].series_count; i++)
            write_series(&page, report->groups[g].series[i]);
    close_list(out, ']');
    (void)buffer_append_text(out, "}");
}
