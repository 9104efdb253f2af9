#include "report/paper_tables.h"

#include <stdio.h>
#include <string.h>

#include "report/report.h"

static int decimals_of(const struct paper_cell *cell)
{
    return cell->speedup ? 3 : 1;
}

struct metric_value paper_cell_value(const struct paper_cell *cell, size_t limit_index, bool target)
{
    const struct metrics *metrics = &cell->ours[limit_index];
    struct metric_value value = cell->speedup ? (target ? metrics->target_best_speedup : metrics->best_speedup)
                                              : (target ? metrics->target_turn_correctness : metrics->turn_correctness);

    if (!cell->speedup) {
        value.value.value *= 100;
        value.ci95.low *= 100;
        value.ci95.high *= 100;
    }
    return value;
}

static const struct number *published_of(const struct paper_cell *cell, bool target)
{
    return target ? cell->published.target : cell->published.all;
}

bool paper_cell_agrees(const struct paper_cell *cell, size_t limit_index, bool target)
{
    struct metric_value value = paper_cell_value(cell, limit_index, target);
    char ours[32];
    char theirs[32];

    (void)snprintf(ours, sizeof ours, "%.*f", decimals_of(cell), value.value.value);
    (void)snprintf(theirs, sizeof theirs, "%.*f", decimals_of(cell), published_of(cell, target)[limit_index].value);
    return value.value.known && !strcmp(ours, theirs);
}

static const char *title_of(const char *number)
{
    static const struct {
        const char *number;
        const char *title;
    } titles[] = {
        {"1", "Table 1: turn correctness rates (%)"},
        {"3", "Table 3: ablation of prompt knowledge, MHA backward, Gemini 3.1 Pro"},
        {"7", "Table 7: best speed-ups"},
        {"8", "Table 8: turn correctness rates (%) after fine-tuning"},
        {"9", "Table 9: best speed-ups after fine-tuning"},
    };

    for (size_t i = 0; i < ARRAY_LEN(titles); i++)
        if (!strcmp(titles[i].number, number))
            return titles[i].title;
    return number;
}

static bool is_same_row(const struct paper_cell *a, const struct paper_cell *b)
{
    return !strcmp(a->gpu, b->gpu) && !strcmp(a->row, b->row);
}

/* Columns of a table of the paper, as its cells name them. */
static size_t list_columns(const struct paper_tables *paper, const char *number, struct arena *arena,
                           struct table_column **out)
{
    struct table_column *columns = arena_calloc(arena, paper->cell_count + 2, sizeof *columns);
    size_t count = 2;

    columns[0] = (struct table_column){"gpu", "GPU", TABLE_TEXT, 0};
    columns[1] = (struct table_column){"row", "", TABLE_TEXT, 0};
    for (size_t i = 0; i < paper->cell_count; i++) {
        const struct paper_cell *cell = &paper->cells[i];
        bool known = strcmp(cell->table, number) != 0;
        for (size_t c = 2; c < count && !known; c++)
            known = !strcmp(columns[c].key, cell->column);
        if (!known)
            columns[count++] = (struct table_column){cell->column, cell->column, TABLE_TRIPLET, decimals_of(cell)};
    }
    *out = columns;
    return count;
}

static void put_cell(struct table *table, const struct paper_tables *paper, const struct paper_cell *row,
                     const char *column)
{
    struct table_triplet triplet = {0};

    for (size_t i = 0; i < paper->cell_count; i++) {
        const struct paper_cell *cell = &paper->cells[i];
        if (strcmp(cell->table, row->table) != 0 || strcmp(cell->column, column) != 0 || !is_same_row(cell, row))
            continue;
        for (size_t l = 0; l < PAPER_LIMITS; l++) {
            triplet.target[l] = paper_cell_value(cell, l, true).value;
            triplet.all[l] = paper_cell_value(cell, l, false).value;
        }
        table_put_triplet(table, &triplet);
        return;
    }
    table_put_triplet(table, NULL);
}

struct table *paper_layout(const struct paper_tables *paper, const char *number, struct arena *arena)
{
    struct table_column *columns;
    size_t count = list_columns(paper, number, arena, &columns);
    struct table *table = table_new(arena, arena_printf(arena, "table%s", number), title_of(number), columns, count);

    table_set_limits(table, paper->limits, PAPER_LIMITS);
    for (size_t i = 0; i < paper->cell_count; i++) {
        const struct paper_cell *row = &paper->cells[i];
        bool first = !strcmp(row->table, number);
        for (size_t j = 0; j < i && first; j++)
            first = strcmp(paper->cells[j].table, number) != 0 || !is_same_row(&paper->cells[j], row);
        if (!first)
            continue;
        table_text(table, row->gpu);
        table_text(table, row->row);
        for (size_t c = 2; c < count; c++)
            put_cell(table, paper, row, columns[c].key);
    }
    return table;
}

/* "33.3 / 60.4 / 56.2" */
static const char *published_text(struct arena *arena, const struct paper_cell *cell, bool target)
{
    const struct number *values = published_of(cell, target);
    int decimals = decimals_of(cell);

    return arena_printf(arena, "%.*f / %.*f / %.*f", decimals, values[0].value, decimals, values[1].value, decimals,
                        values[2].value);
}

static void put_line(struct table *table, struct arena *arena, const struct paper_cell *cell, bool target)
{
    bool agrees = true;

    table_text(table, cell->gpu);
    table_text(table, cell->row);
    table_text(table, cell->column);
    table_text(table, target ? "target" : "all");
    for (size_t l = 0; l < PAPER_LIMITS; l++) {
        struct metric_value value = paper_cell_value(cell, l, target);
        agrees &= paper_cell_agrees(cell, l, target);
        table_range(table, value.value, value.ci95);
    }
    table_text(table, published_text(arena, cell, target));
    table_text(table, agrees ? "yes" : "no");
}

struct table *paper_comparison(const struct paper_tables *paper, const char *number, bool speedup, struct arena *arena)
{
    struct table_column columns[] = {
        {"gpu", "GPU", TABLE_TEXT, 0},     {"row", "", TABLE_TEXT, 0},
        {"column", "", TABLE_TEXT, 0},     {"kind", "turns", TABLE_TEXT, 0},
        {"limit_1", "", TABLE_RANGE, 1},   {"limit_2", "", TABLE_RANGE, 1},
        {"limit_3", "", TABLE_RANGE, 1},   {"published", "published", TABLE_TEXT, 0},
        {"equal", "equal", TABLE_TEXT, 0},
    };
    struct table *table;
    int64_t values = 0;
    int64_t equal = 0;

    for (size_t l = 0; l < PAPER_LIMITS; l++) {
        columns[4 + l].heading = arena_printf(arena, "\xe2\x89\xa4%d", paper->limits[l]);
        columns[4 + l].decimals = speedup ? 3 : 1;
    }
    table = table_new(arena, arena_printf(arena, "table%s_%s_compared", number, speedup ? "speedups" : "rates"),
                      arena_printf(arena, "Table %s, %s compared", number, speedup ? "speed-ups" : "rates"), columns,
                      ARRAY_LEN(columns));
    for (size_t i = 0; i < paper->cell_count; i++) {
        const struct paper_cell *cell = &paper->cells[i];
        if (strcmp(cell->table, number) != 0 || cell->speedup != speedup)
            continue;
        for (int target = cell->has_target ? 1 : 0; target >= 0; target--) {
            put_line(table, arena, cell, target != 0);
            for (size_t l = 0; l < PAPER_LIMITS; l++, values++)
                equal += paper_cell_agrees(cell, l, target != 0);
        }
    }
    table_note(table, "%lld of %lld values equal the published ones.", (long long)equal, (long long)values);
    return values ? table : NULL;
}

/* Counts of a series below a limit, as the aggregates count them: flags of turns, not confirmations. */
static struct series_sass derive(const struct turn_set *set, uint32_t series, int limit)
{
    static const struct metric_options options = {.keep_infrastructure = true, .resamples = -1};
    struct metric_scope scope = {.set = set, .series = series};
    size_t count = metric_scope_count(&scope);
    struct series_sass out = {.limit = limit, .trajectories = (int64_t)count};
    AUTO_ARENA *arena = arena_new();
    struct tally *tallies = arena_calloc(arena, count, sizeof *tallies);

    metric_tally(&scope, limit, &options, tallies);
    for (size_t i = 0; i < count; i++) {
        out.trajectories_with_target += tallies[i].target > 0;
        out.correct_turns += tallies[i].correct;
    }
    return out;
}

struct table *paper_aggregates(const struct turn_set *set, struct arena *arena, int64_t *checked)
{
    static const struct table_column columns[] = {
        {"run", "run", TABLE_TEXT, 0},
        {"turn_limit", "turns", TABLE_COUNT, 0},
        {"count", "count", TABLE_TEXT, 0},
        {"from_turns", "from the turns", TABLE_COUNT, 0},
        {"published", "published", TABLE_COUNT, 0},
    };
    struct table *table = table_new(arena, "aggregates", "Aggregates by run that do not derive from the turns", columns,
                                    ARRAY_LEN(columns));

    *checked = 0;
    for (uint32_t s = 0; s < set->series_count; s++) {
        for (size_t i = 0; i < set->series[s].sass_count; i++) {
            const struct series_sass *stated = &set->series[s].sass[i];
            struct series_sass ours = derive(set, s, stated->limit);
            const struct {
                const char *name;
                int64_t ours;
                int64_t stated;
            } counts[] = {
                {"trajectories", ours.trajectories, stated->trajectories},
                {"correct turns", ours.correct_turns, stated->correct_turns},
                {"trajectories with target instructions", ours.trajectories_with_target,
                 stated->trajectories_with_target},
            };
            for (size_t c = 0; c < ARRAY_LEN(counts); c++, ++*checked) {
                if (counts[c].ours == counts[c].stated)
                    continue;
                table_text(table, set->series[s].run);
                table_count(table, stated->limit);
                table_text(table, counts[c].name);
                table_count(table, counts[c].ours);
                table_count(table, counts[c].stated);
            }
        }
    }
    table_note(table,
               "%lld counts compared. The turns carry the flag of the PTX text, the aggregates what was executed: "
               "a trajectory whose flagged turns were not confirmed counts in the first only.",
               (long long)*checked);
    return table;
}

/* Table 8 and 9 are of some trajectories of a run; what the run leaves unknown may lie outside of them. */
static void note_selection(const struct paper_tables *paper, struct table *table, const char *number)
{
    for (size_t i = 0; i < paper->cell_count; i++) {
        const struct paper_cell *cell = &paper->cells[i];
        const struct metrics *last = &cell->ours[PAPER_LIMITS - 1];
        if (strcmp(cell->table, number) != 0 || !last->unconfirmed || cell->speedup)
            continue;
        table_note(table, "%s%s%s %s: %lld of %lld flagged turns were not confirmed to execute target instructions%s.",
                   cell->gpu, *cell->gpu ? " " : "", cell->row, cell->column, (long long)last->unconfirmed,
                   (long long)(last->target + last->unconfirmed),
                   cell->variant_count ? " somewhere in the run, perhaps outside the selected trajectories; they are "
                                         "taken out of the numerator here"
                                       : "; they are not in the numerator");
    }
}

struct table **paper_all(const struct paper_tables *paper, struct arena *arena)
{
    static const char *const numbers[] = {"1", "3", "7", "8", "9"};
    struct table **all = arena_calloc(arena, 3 * ARRAY_LEN(numbers) + 2, sizeof(struct table *));
    size_t count = 0;
    int64_t checked;

    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        all[count] = paper_layout(paper, numbers[i], arena);
        note_selection(paper, all[count++], numbers[i]);
        for (int speedup = 0; speedup < 2; speedup++) {
            all[count] = paper_comparison(paper, numbers[i], speedup != 0, arena);
            count += all[count] != NULL;
        }
    }
    for (size_t i = 0; i < paper->difference_count; i++)
        table_note(all[1], "Published note on %s", paper->differences[i]);
    all[count] = paper_aggregates(paper->set, arena, &checked);
    return all;
}
