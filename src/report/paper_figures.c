#include "report/paper_figures.h"

#include <stdlib.h>
#include <string.h>

/* The five tasks of the paper, in the order of its columns. */
static const char *const tasks[] = {"gemm_n7168_k5120", "mha_with_lse_d128", "mha_with_lse_d128_causal", "mha_bwd_d128",
                                    "mha_bwd_d128_causal"};

enum { TASKS = ARRAY_LEN(tasks), ROWS_MAX = 8, SELECTED_TRAJECTORIES = 12, DEFINITIONS_MAX = 32 };

/* Runs of a row, task by task; NULL: none. A run of more than 12 trajectories is cut to those that the paper uses. */
struct row_runs {
    const char *label;
    const char *runs[TASKS];
};

static const struct row_runs guidance_rows[] = {
    {"Qwen3.6-27B without guidance",
     {NULL, "qwen36-27b-nopatched-mha-d128", "qwen36-27b-nopatched-mha-d128-causal",
      "qwen36-27b-nopatched-mha-bwd-d128", "qwen36-27b-nopatched-mha-bwd-d128-causal"}},
    {"Qwen3.6-27B",
     {NULL, "qwen36-27b-mha-d128", "qwen36-27b-mha-d128-causal", "qwen36-27b-mha-bwd-d128",
      "qwen36-27b-mha-bwd-d128-causal"}},
    {"s1 without guidance",
     {NULL, "2026-0624-0939-nopatched-mha-d128", "2026-0624-0939-nopatched-mha-d128-causal",
      "2026-0624-0939-nopatched-mha-bwd-d128", "2026-0624-0939-nopatched-mha-bwd-d128-causal"}},
    {"s1",
     {NULL, "2026-0624-0939-mha-d128", "2026-0624-0939-mha-d128-causal", "2026-0624-0939-mha-bwd-d128",
      "2026-0624-0939-mha-bwd-d128-causal"}},
    {"with repair notes",
     {NULL, "qwen36-27b-retrieved-notes-3prompt-mha-d128", "qwen36-27b-retrieved-notes-3prompt-mha-d128-causal",
      "qwen36-27b-retrieved-notes-3prompt-mha-bwd-d128", "qwen36-27b-retrieved-notes-3prompt-mha-bwd-d128-causal"}},
    {"with notes and fixed kernel",
     {NULL, "qwen36-27b-note-feedback2-3prompt-mha-d128", "qwen36-27b-note-feedback2-3prompt-mha-d128-causal",
      "qwen36-27b-note-feedback2-3prompt-mha-bwd-d128", "qwen36-27b-note-feedback2-3prompt-mha-bwd-d128-causal"}},
};

#define BASE_RUNS                                                                                                      \
    {                                                                                                                  \
        "qwen36-27b-nopatched-gemm", "qwen36-27b-mha-d128", "qwen36-27b-mha-d128-causal", "qwen36-27b-mha-bwd-d128",   \
            "qwen36-27b-mha-bwd-d128-causal"                                                                           \
    }
#define S1_RUNS                                                                                                        \
    {                                                                                                                  \
        "2026-0624-0939-gemm", "2026-0624-0939-mha-d128", "2026-0624-0939-mha-d128-causal",                            \
            "2026-0624-0939-mha-bwd-d128", "2026-0624-0939-mha-bwd-d128-causal"                                        \
    }
static const struct row_runs tuned_rows[] = {{"Qwen3.6-27B", BASE_RUNS}, {"s1", S1_RUNS}};
static const struct row_runs length_rows[] = {
    {"Qwen3.6-27B", BASE_RUNS},
    {"s0",
     {"2026-0624-1022-gemm", "2026-0624-1022-mha-d128", "2026-0624-1022-mha-d128-causal", "2026-0624-1022-mha-bwd-d128",
      "2026-0624-1022-mha-bwd-d128-causal"}},
    {"s3",
     {"2026-0626-0012-gemm", "2026-0626-0012-mha-d128", "2026-0626-0012-mha-d128-causal", "2026-0626-0012-mha-bwd-d128",
      "2026-0626-0012-mha-bwd-d128-causal"}},
    {"Gemini 3.1 Pro",
     {"gemini-31-pro-gemm", "gemini-31-pro-mha-d128", "gemini-31-pro-mha-d128-causal", "gemini-31-pro-mha-bwd-d128",
      "gemini-31-pro-mha-bwd-d128-causal"}},
};

struct builder {
    const struct paper_tables *paper;
    const struct metric_options *options;
    struct arena *arena;
    struct figures *out;
};

static size_t task_of(const char *definition)
{
    size_t task = 0;

    while (task < TASKS && strcmp(tasks[task], definition) != 0)
        task++;
    return task;
}

static struct figure_view *new_view(const struct builder *builder, const char *name, size_t rows)
{
    const char **definitions = arena_calloc(builder->arena, TASKS, sizeof *definitions);
    struct figure_view *view;

    for (size_t i = 0; i < TASKS; i++)
        definitions[i] = tasks[i];
    view = figure_view_new(builder->arena, "", name, rows, definitions, TASKS);
    view->limit = builder->paper->limits[PAPER_LIMITS - 1];
    view->options = builder->options;
    return view;
}

/* The rows that a table of the paper has for one GPU, or all. */
static struct figure_view *view_of_table(const struct builder *builder, const char *number, const char *gpu,
                                         const char *name)
{
    const struct paper_tables *paper = builder->paper;
    struct figure_view *view = new_view(builder, name, ROWS_MAX);

    view->row_count = 0;
    for (size_t i = 0; i < paper->cell_count; i++) {
        const struct paper_cell *cell = &paper->cells[i];
        size_t task = task_of(paper->set->series[cell->series].definition);
        size_t row = 0;
        if (strcmp(cell->table, number) != 0 || strcmp(cell->gpu, gpu) != 0 || task == TASKS)
            continue;
        while (row < view->row_count && strcmp(view->rows[row].label, cell->row) != 0)
            row++;
        if (row == ROWS_MAX)
            continue;
        view->row_count += row == view->row_count;
        view->rows[row].label = cell->row;
        view->rows[row].scopes[task] =
            (struct metric_scope){paper->set, cell->series, cell->variants, cell->variant_count};
    }
    return view;
}

/* The blocks of trajectories that table 8 uses of the runs of a task. */
static void select_blocks(const struct builder *builder, size_t task, struct metric_scope *scope)
{
    const struct paper_tables *paper = builder->paper;

    if (paper->set->series[scope->series].trajectory_count <= SELECTED_TRAJECTORIES)
        return;
    for (size_t i = 0; i < paper->cell_count; i++) {
        const struct paper_cell *cell = &paper->cells[i];
        if (strcmp(cell->table, "8") != 0 || task_of(paper->set->series[cell->series].definition) != task)
            continue;
        scope->variants = cell->variants;
        scope->variant_count = cell->variant_count;
        return;
    }
}

static bool view_of_runs(const struct builder *builder, const struct row_runs *rows, size_t count, const char *name,
                         struct figure_view **out, struct error *error)
{
    struct figure_view *view = new_view(builder, name, count);

    for (size_t row = 0; row < count; row++) {
        view->rows[row].label = rows[row].label;
        for (size_t task = 0; task < TASKS; task++) {
            struct metric_scope scope = {.set = builder->paper->set};
            if (!rows[row].runs[task])
                continue;
            if (!turn_set_find(scope.set, rows[row].runs[task], NULL, NULL, &scope.series, error))
                return false;
            select_blocks(builder, task, &scope);
            view->rows[row].scopes[task] = scope;
        }
    }
    *out = figure_view_slice(builder->arena, view, "", 0, count);
    return true;
}

static void add(const struct builder *builder, struct drawing *drawing)
{
    if (drawing)
        builder->out->items[builder->out->count++] = drawing;
}

static void add_curves(const struct builder *builder)
{
    struct figure_view *hopper = view_of_table(builder, "1", "Hopper", "H100");
    struct figure_view *blackwell = view_of_table(builder, "1", "Blackwell", "B200");
    const struct figure_strip both[] = {{hopper, true}, {blackwell, true}};
    const struct figure_strip on_hopper[] = {{hopper, false}, {hopper, true}};
    const struct figure_strip on_blackwell[] = {{blackwell, false}, {blackwell, true}};

    add(builder, figure_fastp(builder->arena, "figure02_fastp", "As figure 2: Fast_p with target instructions, 8 turns",
                              both, ARRAY_LEN(both)));
    add(builder, figure_fastp(builder->arena, "figure13_fastp_h100", "As figure 13: Fast_p on H100, 8 turns", on_hopper,
                              ARRAY_LEN(on_hopper)));
    add(builder, figure_fastp(builder->arena, "figure14_fastp_b200", "As figure 14: Fast_p on B200, 8 turns",
                              on_blackwell, ARRAY_LEN(on_blackwell)));
}

static int compare_definitions(const void *a, const void *b)
{
    const struct series *const *x = a;
    const struct series *const *y = b;

    return report_compare_definitions((*x)->definition, (*y)->definition);
}

/* Series of checkpoint s1, one for each definition; further runs of a definition are those without guidance. */
static size_t list_s1(const struct turn_set *set, const struct series **list)
{
    size_t count = 0;

    for (uint32_t s = 0; s < set->series_count && count < DEFINITIONS_MAX; s++)
        if (!strcmp(set->series[s].model, "Qwen3.6-27B-s1") && !strstr(set->series[s].run, "nopatched"))
            list[count++] = &set->series[s];
    qsort(list, count, sizeof *list, compare_definitions);
    return count;
}

/* Figure 6: all definitions on which checkpoint s1 ran. */
static void add_generalization(const struct builder *builder)
{
    const struct turn_set *set = builder->paper->set;
    const struct series *list[DEFINITIONS_MAX];
    size_t count = list_s1(set, list);
    const char **definitions = arena_calloc(builder->arena, count, sizeof *definitions);
    struct figure_view *view = figure_view_new(builder->arena, "", "", 1, definitions, count);

    view->limit = builder->paper->limits[PAPER_LIMITS - 1];
    view->options = builder->options;
    view->rows[0].label = "s1";
    for (size_t i = 0; i < count; i++) {
        struct metric_scope *scope = &view->rows[0].scopes[i];
        size_t task = task_of(list[i]->definition);
        *scope = (struct metric_scope){.set = set, .series = (uint32_t)(list[i] - set->series)};
        if (task < TASKS)
            select_blocks(builder, task, scope);
        definitions[i] = list[i]->definition;
    }
    add(builder, figure_heatmap(builder->arena, "figure06_heatmap",
                                "As figure 6: s1 on tasks that it was and was not trained on, 8 turns", view, false));
}

static void add_tuning(const struct builder *builder, const struct figure_view *tuned, const struct figure_view *guided,
                       const struct figure_view *lengths)
{
    struct arena *arena = builder->arena;
    const struct figure_strip strip = {guided, true};
    struct figure_view *gemm = figure_view_slice(arena, tuned, "", 0, tuned->row_count);

    gemm->definition_count = 1; /* the first task */
    add(builder, figure_outcomes(arena, "figure07_outcomes",
                                 "As figure 7: outcomes before and after fine-tuning, 8 turns", tuned));
    add(builder, figure_reasoning_by_turn(arena, "figure07_reasoning",
                                          "As figure 7: reasoning tokens before and after fine-tuning", tuned));
    add(builder, figure_transitions(arena, "figure09_transitions", "As figure 9: GEMM from turn to turn", gemm));
    add(builder, figure_fastp(arena, "figure10_fastp", "As figure 10: Fast_p with fine-tuning and with notes, 8 turns",
                              &strip, 1));
    add(builder,
        figure_reasoning_by_row(arena, "figure15_reasoning", "As figure 15: reasoning tokens of a turn", lengths));
}

bool paper_figures(const struct paper_tables *paper, const struct metric_options *options, struct arena *arena,
                   struct figures *out, struct error *error)
{
    enum { FIGURES_MAX = 16 };
    struct builder builder = {paper, options, arena, out};
    struct figure_view *tuned;
    struct figure_view *guided;
    struct figure_view *lengths;

    *out = (struct figures){.items = arena_calloc(arena, FIGURES_MAX, sizeof(struct drawing *))};
    if (!view_of_runs(&builder, tuned_rows, ARRAY_LEN(tuned_rows), "", &tuned, error) ||
        !view_of_runs(&builder, guidance_rows, ARRAY_LEN(guidance_rows), "H100", &guided, error) ||
        !view_of_runs(&builder, length_rows, ARRAY_LEN(length_rows), "", &lengths, error))
        return false;
    add_curves(&builder);
    add(&builder, figure_heatmap(arena, "figure05_heatmap", "As figure 5: recipes of fine-tuning, 8 turns",
                                 view_of_table(&builder, "8", "", ""), false));
    add_generalization(&builder);
    add_tuning(&builder, tuned, guided, lengths);
    return true;
}
