#include <ctype.h>
#include <string.h>

#include "report/figure.h"
#include "report/flow.h"

/* After Okabe and Ito's palette; its yellow and black are left out: one is not seen on white, the other is text. */
color figure_ink(size_t row)
{
    static const color inks[FIGURE_ROWS_MAX] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9};

    return inks[row % FIGURE_ROWS_MAX];
}

color figure_outcome_ink(int state)
{
    static const color inks[FLOW_STATES] = {
        [OUTCOME_CORRECT_TARGET] = 0x0072b2, [OUTCOME_CORRECT_PLAIN] = 0x56b4e9,  [OUTCOME_CORRECT_UNKNOWN] = 0xb5def5,
        [OUTCOME_NUMERICAL] = 0xf0e442,      [OUTCOME_SHAPE_DTYPE] = 0xc9b800,    [OUTCOME_HANG] = 0xcc79a7,
        [OUTCOME_RUNTIME] = 0xe69f00,        [OUTCOME_BANNED_LIBRARY] = 0x7a4b00, [OUTCOME_SCREENING] = 0x000000,
        [OUTCOME_COMPILE] = 0xd55e00,        [OUTCOME_EXTRACTION] = 0x6b6b6b,     [OUTCOME_OTHER] = 0x9a9a9a,
        [OUTCOME_INFRASTRUCTURE] = 0x009e73, [FLOW_MISSING] = 0xdadada,
    };

    return inks[state];
}

struct figure_view *figure_view_new(struct arena *arena, const char *id, const char *name, size_t rows,
                                    const char **definitions, size_t definition_count)
{
    struct figure_view *view = arena_alloc(arena, sizeof *view);

    *view = (struct figure_view){.id = id,
                                 .name = name,
                                 .definitions = definitions,
                                 .definition_count = definition_count,
                                 .rows = arena_calloc(arena, rows, sizeof *view->rows),
                                 .row_count = rows};
    for (size_t i = 0; i < rows; i++)
        view->rows[i].scopes = arena_calloc(arena, definition_count, sizeof *view->rows[i].scopes);
    return view;
}

const struct metric_scope *figure_scope(const struct figure_view *view, size_t row, size_t definition)
{
    const struct metric_scope *scope = &view->rows[row].scopes[definition];

    return scope->set ? scope : NULL;
}

struct figure_view *figure_view_slice(struct arena *arena, const struct figure_view *view, const char *id, size_t begin,
                                      size_t end)
{
    const char **definitions = arena_calloc(arena, view->definition_count, sizeof *definitions);
    struct figure_view *slice =
        figure_view_new(arena, id, view->name, end - begin, definitions, view->definition_count);

    slice->limit = view->limit;
    slice->options = view->options;
    slice->definition_count = 0;
    for (size_t row = begin; row < end; row++)
        slice->rows[row - begin].label = view->rows[row].label;
    for (size_t d = 0; d < view->definition_count; d++) {
        bool any = false;
        for (size_t row = begin; row < end; row++) {
            slice->rows[row - begin].scopes[slice->definition_count] = view->rows[row].scopes[d];
            any |= figure_scope(view, row, d) != NULL;
        }
        definitions[slice->definition_count] = view->definitions[d];
        slice->definition_count += any;
    }
    return slice;
}

/* Series of a group on a definition, the `skip`-th; SIZE_MAX: none. */
static size_t find_series(const struct report *report, const struct report_group *group, const char *definition,
                          size_t skip)
{
    for (size_t i = 0; i < group->series_count; i++)
        if (!strcmp(report->set->series[group->series[i]].definition, definition) && skip-- == 0)
            return group->series[i];
    return SIZE_MAX;
}

/* The row `further` of a group; false when it has no series left. */
static bool fill_row(const struct report *report, const struct report_group *group, size_t further,
                     struct figure_row *row, struct arena *arena)
{
    bool any = false;

    row->label = further ? arena_printf(arena, "%s (%zu)", group->model, further + 1) : group->model;
    for (size_t d = 0; d < report->definition_count; d++) {
        size_t number = find_series(report, group, report->definitions[d], further);
        row->scopes[d] = (struct metric_scope){0};
        if (number == SIZE_MAX)
            continue;
        row->scopes[d] = (struct metric_scope){.set = report->set, .series = (uint32_t)number};
        any = true;
    }
    return any;
}

/* "sm_90a" as part of a file name; `number` tells architectures apart whose names differ in odd characters only. */
static const char *id_of(struct arena *arena, const char *arch, size_t number)
{
    char *id = arena_strdup(arena, *arch ? arch : "unknown");
    bool odd = strlen(id) > 32;

    for (char *c = id; *c; c++) {
        odd |= !islower((unsigned char)*c) && !isdigit((unsigned char)*c) && *c != '_';
        *c = isalnum((unsigned char)*c) ? (char)tolower((unsigned char)*c) : '_';
    }
    return odd ? arena_printf(arena, "%.32s_%zu", id, number) : id;
}

/* Rows of an architecture: of each group as many as it has series on one definition. */
static size_t rows_of_arch(const struct report *report, const char *arch)
{
    size_t rows = 0;

    for (size_t g = 0; g < report->group_count; g++) {
        size_t most = 0;
        for (size_t d = 0; !strcmp(report->groups[g].arch, arch) && d < report->definition_count; d++)
            while (find_series(report, &report->groups[g], report->definitions[d], most) != SIZE_MAX)
                most++;
        rows += most;
    }
    return rows;
}

static struct figure_view *view_of_arch(const struct report *report, const char *id, const char *arch,
                                        struct arena *arena)
{
    size_t room = rows_of_arch(report, arch);
    struct figure_view *all =
        figure_view_new(arena, id, report_arch_words(arch), room, report->definitions, report->definition_count);

    all->limit = report->options.limits[report->options.limit_count - 1];
    all->options = &report->options.metric;
    all->row_count = 0;
    for (size_t g = 0; g < report->group_count; g++) {
        const struct report_group *group = &report->groups[g];
        if (strcmp(group->arch, arch) != 0)
            continue;
        for (size_t further = 0; all->row_count < room; further++) {
            if (!fill_row(report, group, further, &all->rows[all->row_count], arena))
                break;
            all->row_count++;
        }
    }
    return figure_view_slice(arena, all, all->id, 0, all->row_count);
}

static void add_figure(struct figures *figures, struct drawing *drawing)
{
    if (drawing)
        figures->items[figures->count++] = drawing;
}

static const char *title_of(struct arena *arena, const struct figure_view *view, const char *what)
{
    return arena_printf(arena, "%s, %s%s%d turns", what, view->name, *view->name ? ", " : "", view->limit);
}

/* Figures that tell rows by their ink: a part of the view. */
static void add_part(struct figures *figures, const struct figure_view *view, size_t part, size_t begin,
                     struct arena *arena)
{
    size_t end = begin + FIGURE_ROWS_MAX < view->row_count ? begin + FIGURE_ROWS_MAX : view->row_count;
    struct figure_view *slice = figure_view_slice(arena, view, view->id, begin, end);
    const char *suffix = part ? arena_printf(arena, "%s_%zu", view->id, part) : view->id;
    struct figure_strip strips[] = {{slice, false}, {slice, true}};

    add_figure(figures,
               figure_fastp(arena, arena_printf(arena, "fastp_%s", suffix),
                            title_of(arena, view, "Share of turns that are faster than p"), strips, ARRAY_LEN(strips)));
    add_figure(figures, figure_reasoning_by_row(arena, arena_printf(arena, "reasoning_by_definition_%s", suffix),
                                                title_of(arena, view, "Reasoning tokens of a turn"), slice));
}

/* At most this many figures of curves for one architecture. */
enum { PARTS_MAX = 20 };

static void add_view(struct figures *figures, const struct figure_view *view, struct arena *arena)
{
    size_t parts = (view->row_count + FIGURE_ROWS_MAX - 1) / FIGURE_ROWS_MAX;

    for (size_t part = 0; part < parts && part < PARTS_MAX; part++)
        add_part(figures, view, parts > 1 ? part + 1 : 0, part * FIGURE_ROWS_MAX, arena);
    add_figure(figures, figure_heatmap(arena, arena_printf(arena, "heatmap_%s", view->id),
                                       title_of(arena, view, "All correct turns"), view, false));
    add_figure(figures, figure_heatmap(arena, arena_printf(arena, "heatmap_target_%s", view->id),
                                       title_of(arena, view, "Correct turns with target instructions"), view, true));
    add_figure(figures, figure_outcomes(arena, arena_printf(arena, "outcomes_%s", view->id),
                                        title_of(arena, view, "What became of the turns"), view));
    add_figure(figures, figure_transitions(arena, arena_printf(arena, "transitions_%s", view->id),
                                           title_of(arena, view, "From turn to turn"), view));
    add_figure(figures, figure_reasoning_by_turn(arena, arena_printf(arena, "reasoning_%s", view->id),
                                                 title_of(arena, view, "Reasoning tokens, turn by turn"), view));
    add_figure(figures, figure_cost(arena, arena_printf(arena, "cost_%s", view->id),
                                    title_of(arena, view, "Cost of a solved task"), view));
}

struct figures figures_of_report(const struct report *report, struct arena *arena)
{
    struct figures figures = {0};
    const char *last = NULL;

    figures.items = arena_calloc(arena, report->group_count * (2 * PARTS_MAX + 8), sizeof(struct drawing *));
    for (size_t g = 0; g < report->group_count; g++) {
        const char *arch = report->groups[g].arch;
        if (last && !strcmp(arch, last)) /* groups are sorted by architecture */
            continue;
        last = arch;
        add_view(&figures, view_of_arch(report, id_of(arena, arch, g), arch, arena), arena);
    }
    return figures;
}
