/* paper_tables.json: which runs and which of their trajectories a published value is of. */
#include <string.h>

#include "report/paper_tables.h"
#include "report/report.h"

struct reader {
    struct paper_tables *out;
    const struct turn_set *set;
    const struct metric_options *options;
    struct arena *arena;
    size_t room;
};

static bool read_triplet(struct json object, const char *key, struct number out[TABLE_LIMITS_MAX], struct error *error)
{
    struct json list;

    if (!json_member(object, key, &list, error) || !json_expect(list, JSON_ARRAY, error))
        return false;
    if (json_length(list) != PAPER_LIMITS)
        return json_error(list, error, "expected %d values", PAPER_LIMITS);
    for (size_t i = 0; i < PAPER_LIMITS; i++) {
        out[i].known = true;
        if (!json_double(json_at(list, i), &out[i].value, error))
            return false;
    }
    return true;
}

static bool read_variants(struct json list, struct reader *reader, struct paper_cell *cell, struct error *error)
{
    if (!json_expect(list, JSON_ARRAY, error))
        return false;
    cell->variant_count = json_length(list);
    cell->variants = arena_calloc(reader->arena, cell->variant_count, sizeof *cell->variants);
    for (size_t i = 0; i < cell->variant_count; i++) {
        uint64_t value;
        if (!json_u64(json_at(list, i), &value, error))
            return false;
        if (value > UINT16_MAX)
            return json_error(json_at(list, i), error, "not the number of a block");
        cell->variants[i] = (uint32_t)value;
    }
    return true;
}

/* Adds a cell of `run`; computes our values. The caller has filled the rest. */
static bool add_cell(struct reader *reader, struct paper_cell cell, const char *run, struct error *error)
{
    struct paper_tables *out = reader->out;
    struct metric_scope scope = {.set = reader->set};

    if (!turn_set_find(reader->set, run, NULL, NULL, &cell.series, error))
        return false;
    scope.series = cell.series;
    scope.variants = cell.variants;
    scope.variant_count = cell.variant_count;
    for (size_t i = 0; i < PAPER_LIMITS; i++)
        cell.ours[i] = metrics_of(&scope, out->limits[i], reader->options);
    if (out->cell_count == reader->room) {
        struct paper_cell *grown = arena_calloc(reader->arena, 2 * reader->room + 64, sizeof *grown);
        if (out->cell_count)
            memcpy(grown, out->cells, out->cell_count * sizeof *grown);
        out->cells = grown;
        reader->room = 2 * reader->room + 64;
    }
    out->cells[out->cell_count++] = cell;
    return true;
}

/* Tables 1 and 7: run -> both triplets. */
static bool read_by_run(struct reader *reader, struct json root, const char *key, const char *number, bool speedup,
                        struct error *error)
{
    struct json table;

    if (!json_member(root, key, &table, error) || !json_expect(table, JSON_OBJECT, error))
        return false;
    for (size_t i = 0; i < json_length(table); i++) {
        struct paper_cell cell = {.table = number, .speedup = speedup, .has_target = true};
        const char *run;
        struct json entry = json_entry(table, i, &run);
        uint32_t series;
        if (!turn_set_find(reader->set, run, NULL, NULL, &series, error) ||
            !read_triplet(entry, "target_instruction", cell.published.target, error) ||
            !read_triplet(entry, "unrestricted", cell.published.all, error))
            return false;
        cell.gpu = report_arch_words(reader->set->series[series].arch);
        cell.row = reader->set->series[series].model;
        cell.column = reader->set->series[series].definition;
        if (!add_cell(reader, cell, run, error))
            return false;
    }
    return true;
}

/* Tables 8 and 9: checkpoint -> task -> unrestricted triplet, over some blocks of trajectories. */
static bool read_checkpoint(struct reader *reader, struct json root, struct json tasks, const char *checkpoint,
                            const struct paper_cell *like, struct error *error)
{
    struct json runs;
    struct json selection;

    if (!json_member(root, "sft_runs", &runs, error) || !json_member(runs, checkpoint, &runs, error) ||
        !json_member(root, "sft_trajectory_selection", &selection, error))
        return false;
    for (size_t i = 0; i < json_length(tasks); i++) {
        struct paper_cell cell = *like;
        const char *task;
        const char *run;
        struct json blocks;
        (void)json_entry(tasks, i, &task);
        cell.gpu = "";
        cell.row = checkpoint;
        cell.column = task;
        if (!json_member_string(runs, task, &run, error) || !json_member(selection, task, &blocks, error) ||
            !read_variants(blocks, reader, &cell, error) || !read_triplet(tasks, task, cell.published.all, error) ||
            !add_cell(reader, cell, run, error))
            return false;
    }
    return true;
}

static bool read_by_checkpoint(struct reader *reader, struct json root, const char *key, const char *number,
                               bool speedup, struct error *error)
{
    struct paper_cell like = {.table = number, .speedup = speedup};
    struct json table;

    if (!json_member(root, key, &table, error) || !json_expect(table, JSON_OBJECT, error))
        return false;
    for (size_t i = 0; i < json_length(table); i++) {
        const char *checkpoint;
        struct json tasks = json_entry(table, i, &checkpoint);
        if (!json_expect(tasks, JSON_OBJECT, error) || !read_checkpoint(reader, root, tasks, checkpoint, &like, error))
            return false;
    }
    return true;
}

/* One prompt of table 3: a cell of rates and one of speed-ups. */
static bool read_prompt(struct reader *reader, struct json table, const char *prompt, struct error *error)
{
    struct paper_cell cell = {.table = "3", .gpu = "", .row = prompt, .has_target = true};
    struct json entry;
    struct json blocks;
    struct json at;
    const char *run;

    if (!json_member(table, prompt, &entry, error) || !json_member(table, "blocks_of_4", &blocks, error) ||
        !json_member_string(json_has(entry, "run") ? entry : table, "run", &run, error))
        return false;
    if (json_optional(blocks, prompt, &at) && !read_variants(at, reader, &cell, error))
        return false;
    for (int speedup = 0; speedup < 2; speedup++) {
        cell.speedup = speedup;
        cell.column = speedup ? "best speed-up" : "turn correctness (%)";
        if (!read_triplet(entry, speedup ? "best_target" : "target_instruction", cell.published.target, error) ||
            !read_triplet(entry, speedup ? "best" : "unrestricted", cell.published.all, error) ||
            !add_cell(reader, cell, run, error))
            return false;
    }
    return true;
}

static bool read_table3(struct reader *reader, struct json root, struct error *error)
{
    static const char *const prompts[] = {"parameters_only", "parameters_templates", "parameters_templates_contract"};
    struct json table;

    if (!json_member(root, "table3_prompt_ablation_mha_bwd", &table, error))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(prompts); i++)
        if (!read_prompt(reader, table, prompts[i], error))
            return false;
    return true;
}

static bool read_limits(struct json root, struct paper_tables *out, struct error *error)
{
    struct number limits[TABLE_LIMITS_MAX] = {0};

    if (!read_triplet(root, "turn_limits", limits, error))
        return false;
    for (size_t i = 0; i < PAPER_LIMITS; i++) {
        if (!(limits[i].value >= 1 && limits[i].value <= TURN_INDEX_MAX))
            return json_error(root, error, "turn_limits out of range");
        out->limits[i] = (int)limits[i].value;
    }
    return true;
}

static bool read_differences(struct json root, struct arena *arena, struct paper_tables *out, struct error *error)
{
    struct json table;

    if (!json_optional(root, "known_differences", &table))
        return true;
    if (!json_expect(table, JSON_OBJECT, error))
        return false;
    out->differences = arena_calloc(arena, json_length(table), sizeof *out->differences);
    for (size_t i = 0; i < json_length(table); i++) {
        const char *what;
        const char *why;
        if (!json_string(json_entry(table, i, &what), &why, error))
            return false;
        out->differences[out->difference_count++] = arena_printf(arena, "%s: %s", what, why);
    }
    return true;
}

bool paper_tables_read(struct json at, const struct turn_set *set, const struct metric_options *options,
                       struct arena *arena, struct paper_tables *out, struct error *error)
{
    struct reader reader = {out, set, options, arena, 0};

    *out = (struct paper_tables){.set = set};
    return json_expect(at, JSON_OBJECT, error) && read_limits(at, out, error) &&
           read_differences(at, arena, out, error) &&
           read_by_run(&reader, at, "table1_turn_correctness_percent", "1", false, error) &&
           read_table3(&reader, at, error) && read_by_run(&reader, at, "table7_best_speedup", "7", true, error) &&
           read_by_checkpoint(&reader, at, "table8_sft_turn_correctness_percent_unrestricted", "8", false, error) &&
           read_by_checkpoint(&reader, at, "table9_sft_best_speedup_unrestricted", "9", true, error);
}
