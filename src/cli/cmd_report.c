/* ptxbench report: metrics and tables of runs, and run against run. */
#include <argp.h>
#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/report_output.h"
#include "report/figure_render.h"
#include "report/paper_figures.h"
#include "report/read.h"

enum { MAX_PATHS = 256, MAX_METRICS = 32, WARNINGS_SHOWN = 20 };
enum {
    OPTION_TURNS = 256,
    OPTION_METRIC,
    OPTION_SEED,
    OPTION_RESAMPLES,
    OPTION_SPEEDUP,
    OPTION_KEEP,
    OPTION_BASELINE,
    OPTION_PAPER,
    OPTION_MARGIN,
    OPTION_FIGURES,
    OPTION_FIGURE_FORMATS
};

struct report_arguments {
    const char *paths[MAX_PATHS];
    size_t path_count;
    const struct report_table *metrics[MAX_METRICS];
    size_t metric_count;
    enum table_format format;
    const char *paper;
    const char *out;
    const char *figures;
    unsigned figure_formats;
    double margin;
    struct report_options report;
};

static const struct argp_option option_table[] = {
    {"format", 'f', "NAME", 0, "text, markdown, csv, json, latex or html (default text)", 0},
    {"metric", OPTION_METRIC, "NAME,...", 0,
     "Tables to print, or all (default: the brief ones; csv: metrics; json, html: all)", 0},
    {"turns", OPTION_TURNS, "N,...", 0, "Turn limits (default 1,4,8)", 0},
    {"seed", OPTION_SEED, "N", 0, "Seed of the bootstrap (default 0)", 0},
    {"resamples", OPTION_RESAMPLES, "N", 0, "Draws of the bootstrap (default 1000; 0: no intervals)", 0},
    {"speedup", OPTION_SPEEDUP, "KIND", 0, "Over several workloads: min, max or geomean (default min)", 0},
    {"keep-infrastructure", OPTION_KEEP, NULL, 0, "Count infrastructure trouble as failed turns, as the paper does", 0},
    {"baseline", OPTION_BASELINE, "AUTHOR", 0, "Leaderboard: compare with this author (default: the reference)", 0},
    {"margin", OPTION_MARGIN, "X", 0, "diff: difference that counts as the same (default 0.05)", 0},
    {"paper", OPTION_PAPER, "DIR", 0, "Reproduce the paper's tables from its published turns", 0},
    {"figures", OPTION_FIGURES, "DIR", 0, "Also draw figures there, with gnuplot", 0},
    {"figure-formats", OPTION_FIGURE_FORMATS, "NAME,...", 0, "Of figures: svg, pdf, png (default all)", 0},
    {"out", 'o', "FILE", 0, "Write to a file", 0},
    {0},
};

static const char usage_text[] = "RUN...\ndiff A B\n--paper DIR";

static const char doc[] = "Metrics and tables of runs: folders, per-turn CSV, verdicts, FlashInfer-Trace traces.\v"
                          "diff: A and B are paths, or PATH@NAME for the runs whose model or run is NAME.";

static void parse_turns(struct argp_state *state, struct report_options *into, const char *text)
{
    into->limit_count = 0;
    while (*text) {
        char *end;
        errno = 0;
        long limit = strtol(text, &end, 10);
        if (errno || end == text || (*end && *end != ',') || limit < 1 || limit > TURN_INDEX_MAX ||
            (into->limit_count && limit <= into->limits[into->limit_count - 1]))
            argp_error(state, "--turns: expected rising numbers such as 1,4,8");
        if (into->limit_count == TABLE_LIMITS_MAX)
            argp_error(state, "--turns: more than %d limits", TABLE_LIMITS_MAX);
        into->limits[into->limit_count++] = (int)limit;
        text = *end ? end + 1 : end;
    }
    if (into->limit_count == 0)
        argp_error(state, "--turns: expected numbers such as 1,4,8");
}

static void add_metric(struct argp_state *state, struct report_arguments *into, const struct report_table *table)
{
    if (into->metric_count == MAX_METRICS)
        argp_error(state, "--metric: more than %d tables", MAX_METRICS);
    into->metrics[into->metric_count++] = table;
}

static void parse_metrics(struct argp_state *state, struct report_arguments *into, const char *text)
{
    size_t count;
    const struct report_table *tables = report_tables(&count);

    while (*text) {
        size_t length = strcspn(text, ",");
        char name[64];
        const struct report_table *found;
        (void)snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), text);
        found = report_table_find(name);
        if (!found && strcmp(name, "all") != 0) {
            AUTO_BUFFER known = buffer_new(1 << 16);
            for (size_t i = 0; i < count; i++)
                (void)buffer_printf(&known, "%s%s", i ? ", " : "", tables[i].id);
            argp_error(state, "--metric: \"%s\" is none of %s, all", name, known.data);
        }
        for (size_t i = 0; i < count && !found; i++)
            if (strcmp(tables[i].id, "fastp_variants") != 0)
                add_metric(state, into, &tables[i]);
        if (found)
            add_metric(state, into, found);
        text += length + (text[length] == ',');
    }
}

static enum speedup_kind parse_speedup(struct argp_state *state, const char *text)
{
    for (int kind = 0; kind < SPEEDUP_KINDS; kind++)
        if (!strcmp(text, speedup_kind_text((enum speedup_kind)kind)))
            return (enum speedup_kind)kind;
    argp_error(state, "--speedup: \"%s\" is none of min, max, geomean", text);
    return SPEEDUP_MIN;
}

static double parse_margin(struct argp_state *state, const char *text)
{
    char *end;
    double margin = strtod(text, &end);

    if (end == text || *end || !(margin >= 0 && margin < 1000))
        argp_error(state, "--margin: \"%s\" is not a number that is 0 or more", text);
    return margin;
}

static error_t parse_statistics(int key, char *value, struct argp_state *state)
{
    struct report_arguments *into = state->input;
    long draws;

    switch (key) {
    case OPTION_TURNS:
        parse_turns(state, &into->report, value);
        return 0;
    case OPTION_SEED:
        into->report.metric.seed = (uint64_t)cli_parse_number(state, "seed", value, 0, INT32_MAX);
        return 0;
    case OPTION_RESAMPLES:
        draws = cli_parse_number(state, "resamples", value, 0, 1000000);
        into->report.metric.resamples = draws ? (int)draws : -1;
        return 0;
    case OPTION_SPEEDUP:
        into->report.metric.speedup = parse_speedup(state, value);
        return 0;
    case OPTION_KEEP:
        into->report.metric.keep_infrastructure = true;
        return 0;
    case OPTION_MARGIN:
        into->margin = parse_margin(state, value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static unsigned parse_figure_formats(struct argp_state *state, const char *text)
{
    unsigned formats = 0;

    while (*text) {
        size_t length = strcspn(text, ",");
        unsigned format = 0;
        while (format < FIGURE_FORMAT_COUNT && (strlen(figure_format_text((enum figure_format)format)) != length ||
                                                strncmp(figure_format_text((enum figure_format)format), text, length)))
            format++;
        if (format == FIGURE_FORMAT_COUNT)
            argp_error(state, "--figure-formats: \"%.*s\" is none of svg, pdf, png", (int)length, text);
        formats |= 1u << format;
        text += length + (text[length] == ',');
    }
    return formats;
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct report_arguments *into = state->input;

    switch (key) {
    case 'f':
        if (!table_format_parse(value, &into->format))
            argp_error(state, "--format: \"%s\" is none of text, markdown, csv, json, latex, html", value);
        return 0;
    case 'o':
        into->out = value;
        return 0;
    case OPTION_METRIC:
        parse_metrics(state, into, value);
        return 0;
    case OPTION_FIGURES:
        into->figures = value;
        return 0;
    case OPTION_FIGURE_FORMATS:
        into->figure_formats = parse_figure_formats(state, value);
        return 0;
    case OPTION_BASELINE:
        into->report.baseline = value;
        return 0;
    case OPTION_PAPER:
        into->paper = value;
        return 0;
    case ARGP_KEY_ARG:
        if (into->path_count == MAX_PATHS)
            argp_error(state, "more than %d runs", MAX_PATHS);
        into->paths[into->path_count++] = value;
        return 0;
    default:
        return parse_statistics(key, value, state);
    }
}

static void show_warnings(const struct turn_set *set)
{
    size_t shown = set->warning_count < WARNINGS_SHOWN ? set->warning_count : WARNINGS_SHOWN;

    for (size_t i = 0; i < shown; i++) {
        AUTO_BUFFER clean = buffer_new(4096); /* names in it come from the file */
        (void)buffer_append_sanitized(&clean, set->warnings[i], strlen(set->warnings[i]));
        (void)fprintf(stderr, "ptxbench: warning: %s\n", clean.data);
    }
    if (shown < set->warning_count)
        (void)fprintf(stderr, "ptxbench: warning: and %zu more\n", set->warning_count - shown);
}

/* Tables of many rows that only those get who name them: a page shows the steps of curves as curves, and the curves of
 * each variant are a part of what the others tell. */
static bool is_bulky(const struct report_arguments *arguments, const struct report_table *table)
{
    return !strcmp(table->id, "fastp_variants") || (arguments->format == TABLE_AS_HTML && !strcmp(table->id, "fastp"));
}

static bool is_wanted(const struct report_arguments *arguments, const struct report_table *table)
{
    if (arguments->metric_count)
        return true;
    if (arguments->format == TABLE_AS_JSON || arguments->format == TABLE_AS_HTML)
        return !is_bulky(arguments, table);
    return arguments->format == TABLE_AS_CSV ? !strcmp(table->id, "metrics") : table->brief;
}

/* Writes what was made; `report` NULL: the tables are not of one. */
static bool print(const struct report_arguments *arguments, struct table *const *tables, const struct turn_set *set,
                  const struct report *report, const char *title, struct error *error)
{
    const struct report_output output = {.tables = tables,
                                         .set = set,
                                         .report = report,
                                         .options = &arguments->report,
                                         .format = arguments->format,
                                         .title = title,
                                         .path = arguments->out};

    return report_output(&output, error);
}

/* The tables that were asked for; in the arena, NULL behind the last. */
static bool make_tables(const struct report_arguments *arguments, const struct report *report, struct table ***out,
                        struct error *error)
{
    size_t count;
    const struct report_table *all = report_tables(&count);
    size_t chosen = arguments->metric_count ? arguments->metric_count : count;
    struct table **tables = arena_calloc(report->arena, chosen + 1, sizeof(struct table *));
    size_t made = 0;

    for (size_t i = 0; i < chosen; i++) {
        const struct report_table *table = arguments->metric_count ? arguments->metrics[i] : &all[i];
        if (is_wanted(arguments, table) && !table->make(report, &tables[made], error))
            return false;
        made += tables[made] != NULL;
    }
    *out = tables;
    return made > 0 || error_set(error, ERROR_INPUT, "nothing to report: no traces were read");
}

static bool draw(const struct report_arguments *arguments, const struct report *report, struct error *error)
{
    struct figures figures;

    if (!arguments->figures)
        return true;
    figures = figures_of_report(report, report->arena);
    return figures_render(&figures, arguments->figures, arguments->figure_formats, error);
}

static bool report_runs(const struct report_arguments *arguments, struct arena *arena, struct error *error)
{
    AUTO_TURN_SET *set = turn_set_new();
    AUTO_LEADERBOARD *board = leaderboard_new();
    struct table **tables;

    for (size_t i = 0; i < arguments->path_count; i++)
        if (!read_path(set, board, arguments->paths[i], error))
            return false;
    if (!turn_set_close(set, error))
        return false;
    show_warnings(set);
    if (set->turn_count == 0)
        return error_set(error, ERROR_INPUT, "%s: no turns", arguments->paths[0]);
    const struct report *report = report_new(arena, set, board, &arguments->report);
    const char *title = arena_printf(arena, "Report on %s%s", file_basename(arguments->paths[0]),
                                     arguments->path_count > 1 ? " and more" : "");
    return make_tables(arguments, report, &tables, error) && draw(arguments, report, error) &&
           print(arguments, tables, set, report, title, error);
}

/* "PATH@NAME" unless a file has that very name. `*name` is NULL without one. */
static const char *split_operand(struct arena *arena, const char *operand, const char **name)
{
    const char *at = strrchr(operand, '@');

    *name = NULL;
    if (!at || file_exists(operand))
        return operand;
    *name = at + 1;
    return arena_strndup(arena, operand, (size_t)(at - operand));
}

static bool read_side(const struct report_arguments *arguments, struct arena *arena, const char *operand,
                      struct turn_set *set, struct report **out, struct error *error)
{
    const char *name;
    const char *path = split_operand(arena, operand, &name);

    if (!read_path(set, NULL, path, error) || !turn_set_close(set, error))
        return false;
    show_warnings(set);
    struct report_options options = arguments->report;
    options.metric.resamples = -1; /* the metrics themselves are not shown */
    *out = report_new(arena, set, NULL, &options);
    (*out)->options = arguments->report;
    return !name || report_select(*out, name, error) || error_prefix(error, "%s", path);
}

static bool report_difference(const struct report_arguments *arguments, struct arena *arena, struct error *error)
{
    AUTO_TURN_SET *first = turn_set_new();
    AUTO_TURN_SET *second = turn_set_new();
    struct table *tables[2] = {NULL};
    struct report *a;
    struct report *b;
    const char *name = arena_printf(arena, "%s (B) against %s (A)", arguments->paths[2], arguments->paths[1]);

    return read_side(arguments, arena, arguments->paths[1], first, &a, error) &&
           read_side(arguments, arena, arguments->paths[2], second, &b, error) &&
           report_make_diff(a, b, name, arguments->margin, &tables[0], error) &&
           print(arguments, tables, first, NULL, name, error);
}

static bool report_paper(const struct report_arguments *arguments, struct arena *arena, struct error *error)
{
    AUTO_TURN_SET *set = turn_set_new();
    AUTO_JSON_DOCUMENT *published = NULL;
    struct metric_options options = arguments->report.metric;
    struct paper_tables paper;
    struct figures figures;

    options.keep_infrastructure = true;
    if (!read_path(set, NULL, arguments->paper, error) || !turn_set_close(set, error) ||
        !json_read_file(file_join(arena, arguments->paper, "paper_tables.json"), 16 << 20, &published, error))
        return false;
    show_warnings(set);
    if (!paper_tables_read(json_root(published), set, &options, arena, &paper, error))
        return false;
    if (arguments->figures && (!paper_figures(&paper, &options, arena, &figures, error) ||
                               !figures_render(&figures, arguments->figures, arguments->figure_formats, error)))
        return false;
    return print(arguments, paper_all(&paper, arena), set, NULL, "The paper's tables", error);
}

/* Messages quote names and cells of the files that were read. */
static int fail(struct error *error)
{
    AUTO_BUFFER clean = buffer_new(sizeof error->message);

    (void)buffer_append_sanitized(&clean, error->message, strlen(error->message));
    (void)snprintf(error->message, sizeof error->message, "%s", clean.data);
    return cli_fail(error);
}

int cmd_report(int argc, char **argv)
{
    static const struct argp parser = {option_table, parse_option, usage_text, doc, NULL, NULL, NULL};
    struct report_arguments arguments = {.margin = 0.05,
                                         .figure_formats = (1u << FIGURE_FORMAT_COUNT) - 1,
                                         .report = {.limits = {1, 4, 8}, .limit_count = 3}};
    AUTO_ARENA *arena = arena_new();
    struct error error;
    bool done;

    if (argp_parse(&parser, argc, argv, 0, NULL, &arguments))
        return CLI_USAGE;
    bool diff = arguments.path_count && !strcmp(arguments.paths[0], "diff");
    if (arguments.paper && arguments.path_count)
        return cli_usage("report", "--paper takes no runs");
    if (!arguments.paper && arguments.path_count == 0)
        return cli_usage("report", "no run given");
    if (diff && arguments.path_count != 3)
        return cli_usage("report", "diff needs two runs, A and B");
    if (diff && arguments.figures)
        return cli_usage("report", "diff draws no figures");
    if (arguments.paper)
        done = report_paper(&arguments, arena, &error);
    else
        done = diff ? report_difference(&arguments, arena, &error) : report_runs(&arguments, arena, &error);
    return done ? CLI_PASSED : fail(&error);
}
