#include "report/report.h"

#include <stdlib.h>
#include <string.h>

/* Prefixes of definitions in the order of the paper's columns. */
static const char *const definition_order[] = {"gemm", "mha_with_lse", "mha_bwd", "mha", "gqa"};
static const char *const arch_order[] = {"hopper", "sm_90a", "blackwell", "sm_100a"};

static size_t definition_rank(const char *name)
{
    size_t rank = 0;

    while (rank < ARRAY_LEN(definition_order) &&
           strncmp(name, definition_order[rank], strlen(definition_order[rank])) != 0)
        rank++;
    return rank;
}

int report_compare_definitions(const char *a, const char *b)
{
    size_t x = definition_rank(a);
    size_t y = definition_rank(b);

    return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

static size_t arch_rank(const char *name)
{
    size_t rank = 0;

    while (rank < ARRAY_LEN(arch_order) && strcmp(name, arch_order[rank]) != 0)
        rank++;
    return rank;
}

int report_compare_arches(const char *a, const char *b)
{
    size_t x = arch_rank(a);
    size_t y = arch_rank(b);

    return x != y ? (x < y ? -1 : 1) : strcmp(a, b);
}

const char *report_arch_words(const char *arch)
{
    if (!strcmp(arch, "hopper"))
        return "Hopper";
    return strcmp(arch, "blackwell") == 0 ? "Blackwell" : arch;
}

static int compare_definition_names(const void *a, const void *b)
{
    return report_compare_definitions(*(const char *const *)a, *(const char *const *)b);
}

static void list_definitions(struct report *report)
{
    const struct turn_set *set = report->set;
    size_t distinct = 0;
    const char **names = arena_calloc(report->arena, set->series_count, sizeof *names);

    for (size_t i = 0; i < set->series_count; i++)
        names[i] = set->series[i].definition;
    qsort(names, set->series_count, sizeof *names, compare_definition_names);
    for (size_t i = 0; i < set->series_count; i++)
        if (i == 0 || strcmp(names[i], names[distinct - 1]) != 0)
            names[distinct++] = names[i];
    report->definitions = names;
    report->definition_count = distinct;
}

/* Order of table rows: architecture, model, definition, run. */
static int compare_places(const struct series *a, const struct series *b)
{
    int order = report_compare_arches(a->arch, b->arch);

    if (!order)
        order = strcmp(a->model, b->model);
    return order;
}

struct place {
    const struct series *series;
    uint32_t number;
};

static int compare_series_places(const void *a, const void *b)
{
    const struct place *x = a;
    const struct place *y = b;
    int order = compare_places(x->series, y->series);

    if (!order)
        order = report_compare_definitions(x->series->definition, y->series->definition);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

static void make_groups(struct report *report)
{
    const struct turn_set *set = report->set;
    struct place *places = arena_calloc(report->arena, set->series_count, sizeof *places);
    uint32_t *numbers = arena_calloc(report->arena, set->series_count, sizeof *numbers);

    report->groups = arena_calloc(report->arena, set->series_count, sizeof *report->groups);
    for (uint32_t i = 0; i < set->series_count; i++)
        places[i] = (struct place){&set->series[i], i};
    qsort(places, set->series_count, sizeof *places, compare_series_places);
    for (size_t i = 0; i < set->series_count; i++) {
        struct report_group *group;
        numbers[i] = places[i].number;
        if (i == 0 || compare_places(places[i].series, places[i - 1].series) != 0)
            report->groups[report->group_count++] =
                (struct report_group){places[i].series->arch, places[i].series->model, numbers + i, 0};
        group = &report->groups[report->group_count - 1];
        group->series_count++;
    }
}

struct report *report_new(struct arena *arena, const struct turn_set *set, const struct leaderboard *board,
                          const struct report_options *options)
{
    struct report *report = arena_alloc(arena, sizeof *report);

    *report = (struct report){.arena = arena, .set = set, .board = board, .options = *options};
    report->metrics = arena_calloc(arena, set->series_count * options->limit_count, sizeof *report->metrics);
    for (uint32_t i = 0; i < set->series_count; i++) {
        struct metric_scope scope = {.set = set, .series = i};
        for (size_t l = 0; l < options->limit_count; l++)
            report->metrics[i * options->limit_count + l] = metrics_of(&scope, options->limits[l], &options->metric);
    }
    list_definitions(report);
    make_groups(report);
    return report;
}

const struct metrics *report_metrics(const struct report *report, uint32_t series, size_t limit_index)
{
    return &report->metrics[series * report->options.limit_count + limit_index];
}

bool report_select(struct report *report, const char *name, struct error *error)
{
    size_t groups = 0;

    for (size_t g = 0; g < report->group_count; g++) {
        struct report_group group = report->groups[g];
        size_t kept = 0;
        for (size_t i = 0; i < group.series_count; i++) {
            const struct series *series = &report->set->series[group.series[i]];
            if (!strcmp(series->model, name) || !strcmp(series->run, name))
                group.series[kept++] = group.series[i];
        }
        group.series_count = kept;
        if (kept)
            report->groups[groups++] = group;
    }
    report->group_count = groups;
    if (groups)
        return true;
    (void)error_set(error, ERROR_NOT_FOUND, "no model and no run is named \"%s\"", name);
    if (report->set->series_count)
        return error_hint(
            error, "there is model \"%s\", run \"%s\"; `ptxbench report --metric metrics --format csv` lists all",
            report->set->series[0].model, report->set->series[0].run);
    return false;
}

static const struct report_table tables[] = {
    {"correctness", "turn correctness rates in the paper's layout", true, report_make_correctness},
    {"speedup", "best speed-ups in the paper's layout", true, report_make_speedup},
    {"outcomes", "what became of the turns, per model", true, report_make_outcomes},
    {"cost", "tokens and cost per solved task", true, report_make_cost},
    {"leaderboard", "author scores and win rates of traces", true, report_make_leaderboard},
    {"metrics", "every metric of every series and turn limit, with intervals", false, report_make_metrics},
    {"pass_at_k", "chance that one of k trajectories succeeds", false, report_make_pass_at_k},
    {"variants", "correctness and best speed-up per prompt variant", false, report_make_variants},
    {"heatmap", "correctness and best speed-up of each model on each definition", false, report_make_heatmap},
    {"fastp", "Fast_p step functions with the band between prompt variants", false, report_make_fastp},
    {"fastp_variants", "Fast_p step functions of all turns, and of each prompt variant", false,
     report_make_fastp_variants},
    {"outcomes_by_turn", "what became of the turns, turn by turn", false, report_make_outcomes_by_turn},
    {"transitions", "from one outcome to the next", false, report_make_transitions},
    {"reasoning", "reasoning lengths, turn by turn", false, report_make_reasoning},
};

const struct report_table *report_tables(size_t *count)
{
    *count = ARRAY_LEN(tables);
    return tables;
}

const struct report_table *report_table_find(const char *id)
{
    for (size_t i = 0; i < ARRAY_LEN(tables); i++)
        if (!strcmp(tables[i].id, id))
            return &tables[i];
    return NULL;
}
