#include "report/turn.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "report/turn_internal.h"

struct turn_set *turn_set_new(void)
{
    struct turn_set *set = calloc(1, sizeof *set);
    struct turn_builder *builder = calloc(1, sizeof *builder);

    if (!set || !builder)
        abort();
    builder->arena = arena_new();
    builder->texts = intern_new(builder->arena);
    builder->series_keys = intern_new(builder->arena);
    builder->trajectory_keys = intern_new(builder->arena);
    set->builder = builder;
    set->warnings = arena_calloc(builder->arena, TURN_WARNINGS_MAX, sizeof *set->warnings);
    return set;
}

void turn_set_free(struct turn_set *set)
{
    struct turn_builder *builder;

    if (!set)
        return;
    builder = set->builder;
    intern_free(&builder->texts);
    intern_free(&builder->series_keys);
    intern_free(&builder->trajectory_keys);
    free(builder->rows);
    free(builder->series);
    free(builder->trajectories);
    arena_free(builder->arena);
    free(builder);
    free(set->series);
    free(set->trajectories);
    free(set->turns);
    free(set);
}

void turn_set_warn(struct turn_set *set, const char *file, size_t line, const char *format, ...)
{
    char text[1024];
    va_list args;

    if (set->warning_count++ >= TURN_WARNINGS_MAX)
        return;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    set->warnings[set->warning_count - 1] = arena_printf(set->builder->arena, "%s:%zu: %s", file, line, text);
}

void turn_set_begin(struct turn_set *set, const char *source)
{
    set->builder->source = intern_text(&set->builder->texts, source);
    set->builder->has_source = true;
}

void turn_set_plan(struct turn_set *set, int turns)
{
    struct source_plan *plan = LIST_APPEND(set->builder->arena, &set->builder->plans);

    *plan = (struct source_plan){set->builder->source, turns};
}

/* Room for one more item; the array is the caller's. Out of memory ends the program, as in an arena. */
static void *grow(void *items, size_t count, size_t *capacity, size_t size)
{
    void *grown;

    if (count < *capacity)
        return items;
    *capacity = *capacity ? *capacity * 2 : 256;
    grown = reallocarray(items, *capacity, size);
    if (!grown)
        abort();
    return grown;
}

static uint32_t add_text(struct turn_builder *builder, const char *text)
{
    return intern_text(&builder->texts, text ? text : "");
}

static struct built_series key_of(struct turn_builder *builder, const struct turn_row *row)
{
    return (struct built_series){add_text(builder, row->model), add_text(builder, row->arch),
                                 add_text(builder, row->definition), add_text(builder, row->run), builder->source};
}

static uint32_t add_series(struct turn_builder *builder, const struct turn_row *row)
{
    struct built_series series = key_of(builder, row);
    uint32_t known = builder->series_keys.count;
    uint32_t key = intern_bytes(&builder->series_keys, &series, sizeof series);

    if (key == known) {
        builder->series = grow(builder->series, key, &builder->series_capacity, sizeof *builder->series);
        builder->series[key] = series;
    }
    return key;
}

static uint32_t add_trajectory(struct turn_builder *builder, const struct turn_row *row)
{
    uint32_t pair[2] = {add_series(builder, row), add_text(builder, row->trajectory)};
    uint32_t known = builder->trajectory_keys.count;
    uint32_t key = intern_bytes(&builder->trajectory_keys, pair, sizeof pair);

    if (key == known) {
        builder->trajectories =
            grow(builder->trajectories, key, &builder->trajectory_capacity, sizeof *builder->trajectories);
        builder->trajectories[key] = (struct built_trajectory){pair[0], pair[1], row->variant};
    }
    return key;
}

static bool check_row(const struct turn_row *row, const char *file, size_t line, struct error *error)
{
    bool correct = outcome_is_correct(row->outcome);

    if (row->index < 0 || row->index > TURN_INDEX_MAX)
        return error_set(error, ERROR_INPUT, "%s:%zu: turn %lld is not between 0 and %d", file, line,
                         (long long)row->index, TURN_INDEX_MAX);
    if (row->variant > UINT16_MAX)
        return error_set(error, ERROR_INPUT, "%s:%zu: variant %lld is out of range", file, line,
                         (long long)row->variant);
    if (row->speedup.known && (!isfinite(row->speedup.value) || row->speedup.value < 0))
        return error_set(error, ERROR_INPUT, "%s:%zu: speed-up %g is not a number that is 0 or more", file, line,
                         row->speedup.value);
    if (row->speedup.known && row->speedup.value > 0 && !correct)
        return error_set(error, ERROR_INPUT, "%s:%zu: a speed-up (%g) although the turn is not correct (%s)", file,
                         line, row->speedup.value, outcome_words(row->outcome));
    if (row->reasoning_tokens.known && (row->reasoning_tokens.value < 0 || row->reasoning_tokens.value > INT32_MAX))
        return error_set(error, ERROR_INPUT, "%s:%zu: %lld reasoning tokens are out of range", file, line,
                         (long long)row->reasoning_tokens.value);
    if (row->tokens.known && (row->tokens.value < 0 || row->tokens.value > TURN_TOKENS_MAX))
        return error_set(error, ERROR_INPUT, "%s:%zu: %lld tokens are out of range", file, line,
                         (long long)row->tokens.value);
    if (row->cost_usd.known && !(row->cost_usd.value >= 0 && isfinite(row->cost_usd.value)))
        return error_set(error, ERROR_INPUT, "%s:%zu: cost %g is not a number that is 0 or more", file, line,
                         row->cost_usd.value);
    return true;
}

bool turn_set_add(struct turn_set *set, const struct turn_row *row, const char *file, size_t line, struct error *error)
{
    struct turn_builder *builder = set->builder;
    double speedup = row->speedup.known ? row->speedup.value : 0;
    struct built_row *built;

    if (!builder->has_source)
        turn_set_begin(set, file);
    if (!check_row(row, file, line, error))
        return false;
    if (builder->row_count >= TURN_ROWS_MAX || line > UINT32_MAX)
        return error_set(error, ERROR_LIMIT, "%s:%zu: more than %d turns", file, line, TURN_ROWS_MAX);
    builder->rows = grow(builder->rows, builder->row_count, &builder->row_capacity, sizeof *builder->rows);
    built = &builder->rows[builder->row_count++];
    *built = (struct built_row){
        .turn = {.speedup = {speedup, speedup, speedup},
                 .cost_usd = row->cost_usd.known ? row->cost_usd.value : NAN,
                 .tokens = row->tokens.known ? row->tokens.value : -1,
                 .reasoning_tokens = row->reasoning_tokens.known ? (int32_t)row->reasoning_tokens.value : -1,
                 .index = (uint16_t)row->index,
                 .workloads = 1,
                 .outcome = (uint8_t)row->outcome},
        .workload = add_text(builder, row->workload),
        .file = add_text(builder, file),
        .line = (uint32_t)line,
        .repeatable = row->repeatable,
    };
    built->trajectory = add_trajectory(builder, row);
    return true;
}

void turn_set_add_sass(struct turn_set *set, const struct turn_row *series, const struct series_sass *sass,
                       const char *date, const char *file)
{
    struct built_note *note = LIST_APPEND(set->builder->arena, &set->builder->notes);

    *note = (struct built_note){key_of(set->builder, series), *sass, arena_strdup(set->builder->arena, date),
                                set->builder->texts.items[add_text(set->builder, file)], sass->line};
}

void turn_set_expect(struct turn_set *set, const struct turn_row *series, const char *file, size_t line)
{
    struct series_sass none = {.line = line};

    turn_set_add_sass(set, series, &none, NULL, file);
}

bool turn_set_find(const struct turn_set *set, const char *run, const char *model, const char *definition,
                   uint32_t *series, struct error *error)
{
    bool found = false;

    for (uint32_t i = 0; i < set->series_count; i++) {
        const struct series *at = &set->series[i];
        if (strcmp(at->run, run) != 0 || (model && strcmp(at->model, model) != 0) ||
            (definition && strcmp(at->definition, definition) != 0))
            continue;
        if (found)
            return error_set(error, ERROR_INPUT, "run \"%s\" has several series; name model and definition", run);
        found = true;
        *series = i;
    }
    return found || error_set(error, ERROR_NOT_FOUND, "no turns of run \"%s\"", run);
}

const char *speedup_kind_text(enum speedup_kind kind)
{
    static const char *const names[] = {"min", "max", "geomean"};

    return (size_t)kind < ARRAY_LEN(names) ? names[kind] : "min";
}
