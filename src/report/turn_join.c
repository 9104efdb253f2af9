/* Closing a turn set: rows become turns, trajectories and series in their final order. */
#define _GNU_SOURCE /* qsort_r, strverscmp */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/turn_internal.h"

enum { TRAJECTORIES_PER_VARIANT = 4 };

/* qsort_r contexts: order of names, with digits compared as numbers ("exp_2" before "exp_10"). */
static int compare_texts(const struct intern *texts, uint32_t a, uint32_t b)
{
    return a == b ? 0 : strverscmp(texts->items[a], texts->items[b]);
}

static int compare_series(const void *a, const void *b, void *context)
{
    const struct turn_builder *builder = context;
    const struct built_series *x = &builder->series[*(const uint32_t *)a];
    const struct built_series *y = &builder->series[*(const uint32_t *)b];
    int order;

    if ((order = compare_texts(&builder->texts, x->model, y->model)) != 0 ||
        (order = compare_texts(&builder->texts, x->arch, y->arch)) != 0 ||
        (order = compare_texts(&builder->texts, x->definition, y->definition)) != 0 ||
        (order = compare_texts(&builder->texts, x->run, y->run)) != 0)
        return order;
    return compare_texts(&builder->texts, x->source, y->source);
}

struct trajectory_order {
    const struct turn_builder *builder;
    const uint32_t *series_rank;
};

static int compare_trajectories(const void *a, const void *b, void *context)
{
    const struct trajectory_order *order = context;
    const struct built_trajectory *x = &order->builder->trajectories[*(const uint32_t *)a];
    const struct built_trajectory *y = &order->builder->trajectories[*(const uint32_t *)b];
    uint32_t rank_x = order->series_rank[x->series];
    uint32_t rank_y = order->series_rank[y->series];

    if (rank_x != rank_y)
        return rank_x < rank_y ? -1 : 1;
    return compare_texts(&order->builder->texts, x->name, y->name);
}

/* By trajectory (its number is its final rank by now), turn, workload, then order of arrival. */
static int compare_rows(const void *a, const void *b)
{
    const struct built_row *x = a;
    const struct built_row *y = b;

    if (x->trajectory != y->trajectory)
        return x->trajectory < y->trajectory ? -1 : 1;
    if (x->turn.index != y->turn.index)
        return x->turn.index < y->turn.index ? -1 : 1;
    if (x->workload != y->workload)
        return x->workload < y->workload ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

static void *allocate(size_t count, size_t size)
{
    void *items = calloc(count ? count : 1, size);

    if (!items)
        abort();
    return items;
}

static void order_series(struct turn_set *set, uint32_t *rank)
{
    struct turn_builder *builder = set->builder;
    const char *const *texts = builder->texts.items;
    AUTO_FREE uint32_t *order = allocate(builder->series_keys.count, sizeof *order);

    set->series_count = builder->series_keys.count;
    set->series = allocate(set->series_count, sizeof *set->series);
    for (uint32_t i = 0; i < set->series_count; i++)
        order[i] = i;
    qsort_r(order, set->series_count, sizeof *order, compare_series, builder);
    for (uint32_t i = 0; i < set->series_count; i++) {
        const struct built_series *from = &builder->series[order[i]];
        rank[order[i]] = i;
        set->series[i] = (struct series){.model = texts[from->model],
                                         .arch = texts[from->arch],
                                         .definition = texts[from->definition],
                                         .run = texts[from->run],
                                         .source = texts[from->source]};
    }
}

static void order_trajectories(struct turn_set *set, const uint32_t *series_rank, uint32_t *rank)
{
    struct turn_builder *builder = set->builder;
    struct trajectory_order context = {builder, series_rank};
    size_t count = builder->trajectory_keys.count;
    AUTO_FREE uint32_t *order = allocate(count, sizeof *order);

    set->trajectory_count = count;
    set->trajectories = allocate(count, sizeof *set->trajectories);
    for (uint32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, count, sizeof *order, compare_trajectories, &context);
    for (uint32_t i = 0; i < count; i++) {
        const struct built_trajectory *from = &builder->trajectories[order[i]];
        struct series *series = &set->series[series_rank[from->series]];
        rank[order[i]] = i;
        if (series->trajectory_count == 0)
            series->trajectory_begin = i;
        set->trajectories[i] = (struct trajectory){
            .name = builder->texts.items[from->name],
            .series = series_rank[from->series],
            .variant =
                from->variant >= 0 ? (uint32_t)from->variant : series->trajectory_count / TRAJECTORIES_PER_VARIANT,
        };
        series->trajectory_count++;
    }
}

static bool same_number(double a, double b)
{
    return (isnan(a) && isnan(b)) || (a >= b && a <= b);
}

static bool same_turn(const struct turn *a, const struct turn *b)
{
    return a->outcome == b->outcome && same_number(a->speedup[0], b->speedup[0]) &&
           same_number(a->cost_usd, b->cost_usd) && a->reasoning_tokens == b->reasoning_tokens &&
           a->tokens == b->tokens;
}

/* Two rows of one turn on one workload: keeps the first, or the better one of repeated judgements. */
static bool join_duplicate(struct turn_set *set, struct built_row *kept, const struct built_row *again,
                           struct error *error)
{
    const char *file = set->builder->texts.items[again->file];
    const struct trajectory *trajectory = &set->trajectories[kept->trajectory];

    if (kept->repeatable && again->repeatable) {
        if (again->turn.outcome < kept->turn.outcome ||
            (again->turn.outcome == kept->turn.outcome && again->turn.speedup[0] > kept->turn.speedup[0]))
            kept->turn = again->turn;
        return true;
    }
    if (!same_turn(&kept->turn, &again->turn))
        return error_set(error, ERROR_INPUT,
                         "%s:%u: turn %u of trajectory \"%s\" of run \"%s\" was already read from %s:%u, with "
                         "other content",
                         file, again->line, again->turn.index, trajectory->name, set->series[trajectory->series].run,
                         set->builder->texts.items[kept->file], kept->line);
    turn_set_warn(set, file, again->line, "turn %u of trajectory \"%s\" repeats %s:%u; counted once", again->turn.index,
                  trajectory->name, set->builder->texts.items[kept->file], kept->line);
    return true;
}

/* Of one turn on two workloads: what is farther from correct, but a failure of the candidate stands whatever became of
 * the other workload. */
static enum turn_outcome join_outcomes(enum turn_outcome a, enum turn_outcome b)
{
    enum turn_outcome near = a < b ? a : b;
    enum turn_outcome far = a < b ? b : a;

    return far == OUTCOME_INFRASTRUCTURE && !outcome_is_correct(near) ? near : far;
}

/* Folds another workload of the same turn into it. */
static void join_workload(struct turn *turn, const struct turn *other, double *log_sum)
{
    turn->workloads++;
    turn->outcome = (uint8_t)join_outcomes((enum turn_outcome)turn->outcome, (enum turn_outcome)other->outcome);
    turn->speedup[SPEEDUP_MIN] = fmin(turn->speedup[SPEEDUP_MIN], other->speedup[SPEEDUP_MIN]);
    turn->speedup[SPEEDUP_MAX] = fmax(turn->speedup[SPEEDUP_MAX], other->speedup[SPEEDUP_MAX]);
    *log_sum += log(other->speedup[SPEEDUP_MIN]);
    if (turn->tokens < 0)
        turn->tokens = other->tokens;
    if (isnan(turn->cost_usd))
        turn->cost_usd = other->cost_usd;
    if (turn->reasoning_tokens < 0)
        turn->reasoning_tokens = other->reasoning_tokens;
}

static void finish_turn(struct turn *turn, double log_sum)
{
    if (turn->workloads > 1)
        turn->speedup[SPEEDUP_GEOMEAN] = exp(log_sum / turn->workloads);
    if (!outcome_is_correct(turn->outcome))
        memset(turn->speedup, 0, sizeof turn->speedup);
}

/* Rows [*at, ...) of one turn become set->turns[set->turn_count]. */
static bool join_turn(struct turn_set *set, size_t *at, struct error *error)
{
    struct turn_builder *builder = set->builder;
    struct built_row *first = &builder->rows[*at];
    struct trajectory *trajectory = &set->trajectories[first->trajectory];
    struct series *series = &set->series[trajectory->series];
    struct turn turn = {0};
    double log_sum = 0;
    bool started = false;

    while (*at < builder->row_count && builder->rows[*at].trajectory == first->trajectory &&
           builder->rows[*at].turn.index == first->turn.index) {
        struct built_row kept = builder->rows[(*at)++];
        for (; *at < builder->row_count && builder->rows[*at].trajectory == kept.trajectory &&
               builder->rows[*at].turn.index == kept.turn.index && builder->rows[*at].workload == kept.workload;
             ++*at) {
            if (!join_duplicate(set, &kept, &builder->rows[*at], error))
                return false;
        }
        if (started) {
            join_workload(&turn, &kept.turn, &log_sum);
        } else {
            turn = kept.turn;
            log_sum = log(turn.speedup[SPEEDUP_MIN]);
        }
        started = true;
    }
    finish_turn(&turn, log_sum);
    if (trajectory->turn_count++ == 0)
        trajectory->turn_begin = (uint32_t)set->turn_count;
    if (turn.index >= series->planned_turns)
        series->planned_turns = turn.index + 1;
    set->turns[set->turn_count++] = turn;
    return true;
}

/* Trajectories of one source were planned alike. */
static void spread_plan(struct turn_set *set)
{
    struct turn_builder *builder = set->builder;
    AUTO_FREE int *planned = allocate(builder->texts.count, sizeof *planned);

    for (size_t i = 0; i < builder->plans.count; i++)
        if (builder->plans.items[i].turns > planned[builder->plans.items[i].source])
            planned[builder->plans.items[i].source] = builder->plans.items[i].turns;
    for (size_t i = 0; i < set->series_count; i++) {
        uint32_t source = intern_text(&builder->texts, set->series[i].source);
        if (set->series[i].planned_turns > planned[source])
            planned[source] = set->series[i].planned_turns;
    }
    for (size_t i = 0; i < set->series_count; i++)
        set->series[i].planned_turns = planned[intern_text(&builder->texts, set->series[i].source)];
}

static void name_workloads(struct turn_set *set)
{
    struct turn_builder *builder = set->builder;
    AUTO_FREE bool *several = allocate(set->series_count, sizeof *several);

    for (size_t i = 0; i < builder->row_count; i++) {
        uint32_t index = set->trajectories[builder->rows[i].trajectory].series;
        const char *workload = builder->texts.items[builder->rows[i].workload];
        if (!set->series[index].workload)
            set->series[index].workload = workload;
        else if (set->series[index].workload != workload)
            several[index] = true;
    }
    for (size_t i = 0; i < set->series_count; i++)
        if (several[i])
            set->series[i].workload = NULL;
}

/* Number of the series that a note speaks of: of the same source, else of any; series_count when there is none. Keys
 * are compared by number: every text is interned once. */
static uint32_t find_noted(const struct turn_set *set, const struct built_series *key)
{
    const struct built_series *series = set->builder->series;
    uint32_t found = (uint32_t)set->series_count;

    for (uint32_t i = 0; i < set->series_count; i++) {
        if (series[i].model != key->model || series[i].arch != key->arch || series[i].definition != key->definition ||
            series[i].run != key->run)
            continue;
        found = i;
        if (series[i].source == key->source)
            break;
    }
    return found;
}

static void spread_notes(struct turn_set *set, const uint32_t *series_rank)
{
    struct turn_builder *builder = set->builder;

    for (size_t i = 0; i < builder->notes.count; i++) {
        const struct built_note *note = &builder->notes.items[i];
        uint32_t key = find_noted(set, &note->series);
        if (key == set->series_count) {
            turn_set_warn(set, note->file, note->line, "no turns of run \"%s\" (%s, %s)",
                          builder->texts.items[note->series.run], builder->texts.items[note->series.model],
                          builder->texts.items[note->series.definition]);
            continue;
        }
        struct series *series = &set->series[series_rank[key]];
        if (note->date)
            series->date = note->date;
        if (note->sass.limit && series->sass_count == SERIES_SASS_MAX)
            turn_set_warn(set, note->file, note->line, "more than %d turn limits of one run", SERIES_SASS_MAX);
        else if (note->sass.limit)
            series->sass[series->sass_count++] = note->sass;
    }
}

bool turn_set_close(struct turn_set *set, struct error *error)
{
    struct turn_builder *builder = set->builder;
    AUTO_FREE uint32_t *series_rank = allocate(builder->series_keys.count, sizeof *series_rank);
    AUTO_FREE uint32_t *trajectory_rank = allocate(builder->trajectory_keys.count, sizeof *trajectory_rank);

    order_series(set, series_rank);
    order_trajectories(set, series_rank, trajectory_rank);
    for (size_t i = 0; i < builder->row_count; i++)
        builder->rows[i].trajectory = trajectory_rank[builder->rows[i].trajectory];
    if (builder->row_count)
        qsort(builder->rows, builder->row_count, sizeof *builder->rows, compare_rows);
    set->turns = allocate(builder->row_count, sizeof *set->turns);
    for (size_t at = 0; at < builder->row_count;)
        if (!join_turn(set, &at, error))
            return false;
    spread_plan(set);
    name_workloads(set);
    spread_notes(set, series_rank);
    free(builder->rows);
    builder->rows = NULL;
    builder->row_count = builder->row_capacity = 0;
    return true;
}
