#include "report/html.h"

extern const char asset_report_css[];
extern const char asset_report_js[];

static void write_head(struct buffer *out, const char *title)
{
    (void)buffer_append_text(
        out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
             "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
             "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
             "<link rel=\"icon\" href=\"data:,\">\n<title>");
    html_write_text(out, title);
    (void)buffer_append_text(out, "</title>\n<style>\n");
    (void)buffer_append_text(out, asset_report_css);
    (void)buffer_append_text(out, "</style>\n</head>\n<body>\n<header><h1>");
    html_write_text(out, title);
    (void)buffer_append_text(out, "</h1>\n");
}

static void write_summary(struct buffer *out, const struct report *report, const struct turn_set *set)
{
    (void)buffer_printf(out, "<p class=\"soft\">%zu turns, %zu trajectories, %zu series.", set->turn_count,
                        set->trajectory_count, set->series_count);
    if (report) {
        (void)buffer_append_text(out, " Turn limits:");
        for (size_t i = 0; i < report->options.limit_count; i++)
            (void)buffer_printf(out, " %d", report->options.limits[i]);
        (void)buffer_printf(out,
                            "; intervals: 95 %%, cluster bootstrap over trajectories, seed %llu; over several "
                            "workloads a speed-up is the %s.",
                            (unsigned long long)report->options.metric.seed,
                            speedup_kind_text(report->options.metric.speedup));
    }
    (void)buffer_append_text(out, "</p>\n");
}

static void write_warnings(struct buffer *out, const struct turn_set *set)
{
    size_t kept = set->warning_count < TURN_WARNINGS_MAX ? set->warning_count : TURN_WARNINGS_MAX;

    if (!kept)
        return;
    (void)buffer_printf(out, "<details class=\"card\"><summary>%zu warnings</summary><ul>\n", set->warning_count);
    for (size_t i = 0; i < kept; i++) {
        (void)buffer_append_text(out, "<li>");
        html_write_text(out, set->warnings[i]);
        (void)buffer_append_text(out, "</li>\n");
    }
    (void)buffer_append_text(out, "</ul></details>\n");
}

static void write_filter(struct buffer *out, bool hidden)
{
    (void)buffer_printf(
        out,
        "<nav aria-label=\"filter\"%s><div>\n"
        "<label>Find <input id=\"text\" type=\"search\" placeholder=\"model, definition or run\"></label>\n"
        "<details class=\"models\"><summary>Models</summary><div id=\"models\"><button type=\"button\" "
        "id=\"models-all\">all</button> <button type=\"button\" id=\"models-none\">none</button></div></details>\n"
        "<label>GPU <select id=\"arch\"><option value=\"\">all</option></select></label>\n"
        "<label>Definition <select id=\"definition\"><option value=\"\">all</option></select></label>\n"
        "<span id=\"count\" class=\"soft\" role=\"status\"></span>\n</div></nav>\n",
        hidden ? " hidden" : "");
}

static void write_charts(struct buffer *out, bool hidden)
{
    static const char parts[] =
        "<h2>Fast_p: share of turns faster than p</h2>\n<div class=\"card\"><div class=\"row\">"
        "<label>Definition <select id=\"fastp-definition\"></select></label>"
        "<label>Turns <select id=\"fastp-kind\"><option value=\"all\">all correct</option>"
        "<option value=\"target\">with target instructions</option></select></label></div>\n"
        "<div id=\"fastp\"></div><p id=\"fastp-none\" class=\"soft\"></p><p class=\"soft\">Line: mean over prompt "
        "variants; band: from the least to the greatest.</p></div>\n"
        "<h2>Heat map</h2>\n<div class=\"card\"><div class=\"row\"><label>Value <select id=\"heat-key\">"
        "<option value=\"turn_correctness_percent\">turn correctness, %</option>"
        "<option value=\"target_turn_correctness_percent\">with target instructions, %</option>"
        "<option value=\"best_speedup\">best speed-up</option>"
        "<option value=\"target_best_speedup\">best speed-up with target instructions</option>"
        "</select></label></div><div id=\"heatmap\"></div></div>\n"
        "<h2>What became of the turns</h2>\n<div class=\"card\" id=\"outcomes\"></div>\n"
        "<h2>From turn to turn</h2>\n<div class=\"card\"><div class=\"row\"><label>Model <select "
        "id=\"transition-group\"></select></label></div><div id=\"transitions\"></div><p class=\"soft\">Numbers: "
        "trajectories; width: share of the trajectories at that turn.</p></div>\n"
        "<h2>Reasoning tokens, thousands</h2>\n<div class=\"card\" id=\"reasoning\"></div>\n"
        "<h2>Turns</h2>\n<div class=\"card\"><div class=\"row\"><label>Series <select id=\"turn-series\"></select>"
        "</label></div><div class=\"scroll\" id=\"turns\"></div></div>\n";

    (void)buffer_printf(out, "<section%s>\n%s</section>\n", hidden ? " hidden" : "", parts);
}

void html_write(struct buffer *out, const struct report *report, struct table *const *tables,
                const struct turn_set *set, const struct html_options *options)
{
    write_head(out, options->title);
    write_summary(out, report, set);
    write_warnings(out, set);
    (void)buffer_append_text(out, "</header>\n");
    write_filter(out, !report);
    write_charts(out, !report);
    (void)buffer_append_text(out, "<section><h2>Tables</h2><p class=\"soft\">A click on a heading sorts.</p>\n");
    for (size_t i = 0; tables[i]; i++)
        html_write_table(out, tables[i]);
    (void)buffer_append_text(out, "</section>\n<script type=\"application/json\" id=\"data\">");
    html_write_data(out, report, options);
    (void)buffer_append_text(out, "</script>\n<script>\n");
    (void)buffer_append_text(out, asset_report_js);
    (void)buffer_append_text(out, "</script>\n</body>\n</html>\n");
}
