#include "report/leaderboard.h"

#include <stdlib.h>
#include <string.h>

#include "report/intern.h"

/* What the traces of one solution on one workload come to. */
struct result {
    uint32_t definition;
    uint32_t solution;
    uint32_t workload;
    bool passed;
    bool failed;
    double latency_ms; /* best passing one */
    double speedup;
};

struct leaderboard {
    struct arena *arena;
    struct intern texts;
    struct intern keys; /* (definition, solution, workload) -> result */
    RECORD_LIST(struct result) results;
    uint32_t *authors; /* by text number of the solution: author + 1, 0 unknown */
    size_t author_capacity;
    size_t traces;
};

struct leaderboard *leaderboard_new(void)
{
    struct leaderboard *board = calloc(1, sizeof *board);

    if (!board)
        abort();
    board->arena = arena_new();
    board->texts = intern_new(board->arena);
    board->keys = intern_new(board->arena);
    return board;
}

void leaderboard_free(struct leaderboard *board)
{
    if (!board)
        return;
    intern_free(&board->texts);
    intern_free(&board->keys);
    arena_free(board->arena);
    free(board->authors);
    free(board);
}

size_t leaderboard_trace_count(const struct leaderboard *board)
{
    return board->traces;
}

void leaderboard_author(struct leaderboard *board, const char *solution, const char *author)
{
    uint32_t number = intern_text(&board->texts, solution);
    uint32_t name = intern_text(&board->texts, author);

    if (number >= board->author_capacity) {
        size_t capacity = ((size_t)number + 1) * 2;
        uint32_t *grown = reallocarray(board->authors, capacity, sizeof *grown);
        if (!grown)
            abort();
        memset(grown + board->author_capacity, 0, (capacity - board->author_capacity) * sizeof *grown);
        board->authors = grown;
        board->author_capacity = capacity;
    }
    board->authors[number] = name + 1;
}

static uint32_t author_of(const struct leaderboard *board, uint32_t solution)
{
    if (solution < board->author_capacity && board->authors[solution])
        return board->authors[solution] - 1;
    return solution;
}

void leaderboard_add(struct leaderboard *board, const struct trace *trace, const char *workload)
{
    uint32_t key[3] = {intern_text(&board->texts, trace->definition), intern_text(&board->texts, trace->solution),
                       intern_text(&board->texts, workload)};
    uint32_t index = intern_bytes(&board->keys, key, sizeof key);
    const struct evaluation *evaluation = &trace->evaluation;
    struct result *result;

    board->traces++;
    if (index == board->results.count)
        *LIST_APPEND(board->arena, &board->results) = (struct result){key[0], key[1], key[2]};
    result = &board->results.items[index];
    if (evaluation->status != EVALUATION_PASSED || !(evaluation->latency_ms > 0)) {
        result->failed = true;
        return;
    }
    if (!result->passed || evaluation->latency_ms < result->latency_ms) {
        result->latency_ms = evaluation->latency_ms;
        result->speedup = evaluation->speedup_factor;
    }
    result->passed = true;
}

/* Results of one solution on one definition, against the baseline. */
struct standing {
    uint32_t author;
    uint32_t definition;
    uint32_t solution;
    double sum;
    int64_t workloads;
    int64_t wins;
    bool failed;
};

static int compare_results(const void *a, const void *b)
{
    const struct result *x = a;
    const struct result *y = b;

    if (x->definition != y->definition)
        return x->definition < y->definition ? -1 : 1;
    return x->workload < y->workload ? -1 : x->workload > y->workload;
}

/* The baseline's results, sorted for lookup. Each definition must have one solution of the baseline. */
static bool find_baseline(const struct leaderboard *board, const char *baseline, struct arena *arena,
                          struct result **out, size_t *count, struct error *error)
{
    struct result *found = arena_calloc(arena, board->results.count, sizeof *found);

    *count = 0;
    for (size_t i = 0; i < board->results.count; i++) {
        const struct result *result = &board->results.items[i];
        if (strcmp(board->texts.items[author_of(board, result->solution)], baseline) != 0)
            continue;
        for (size_t j = 0; j < *count; j++)
            if (found[j].definition == result->definition && found[j].solution != result->solution)
                return error_set(error, ERROR_INPUT, "baseline \"%s\" has two solutions for %s: %s and %s", baseline,
                                 board->texts.items[result->definition], board->texts.items[found[j].solution],
                                 board->texts.items[result->solution]);
        found[(*count)++] = *result;
    }
    if (*count == 0)
        return error_set(error, ERROR_NOT_FOUND, "no traces of baseline \"%s\"", baseline);
    qsort(found, *count, sizeof *found, compare_results);
    *out = found;
    return true;
}

/* Ratio of a result; unknown when it does not count. */
static struct number ratio_of(const struct result *result, const struct result *baseline, size_t count, bool *counts)
{
    const struct result *other = NULL;

    *counts = true;
    if (!baseline)
        return result->passed ? number_of(result->speedup) : (struct number){0};
    other = bsearch(result, baseline, count, sizeof *baseline, compare_results);
    *counts = other && other->passed;
    return *counts && result->passed ? number_of(other->latency_ms / result->latency_ms) : (struct number){0};
}

static struct standing *standings_of(const struct leaderboard *board, const struct result *baseline, size_t baselines,
                                     struct arena *arena, size_t *count)
{
    struct standing *all = arena_calloc(arena, board->results.count, sizeof *all);
    struct intern keys = intern_new(arena);

    *count = 0;
    for (size_t i = 0; i < board->results.count; i++) {
        const struct result *result = &board->results.items[i];
        uint32_t pair[2] = {result->definition, result->solution};
        bool counts;
        struct number ratio = ratio_of(result, baseline, baselines, &counts);
        if (!counts)
            continue;
        uint32_t index = intern_bytes(&keys, pair, sizeof pair);
        struct standing *standing = &all[index];
        if (index == *count) {
            *standing = (struct standing){author_of(board, result->solution), pair[0], pair[1], 0, 0, 0, false};
            ++*count;
        }
        standing->failed |= result->failed;
        standing->workloads++;
        standing->sum += ratio.known ? ratio.value : 0;
        standing->wins += ratio.known && ratio.value > 1;
    }
    intern_free(&keys);
    return all;
}

static double score_of(const struct standing *standing)
{
    return standing->failed ? 0 : standing->sum / (double)standing->workloads;
}

/* By author, definition, then best solution first. */
static int compare_standings(const void *a, const void *b)
{
    const struct standing *x = a;
    const struct standing *y = b;

    if (x->author != y->author)
        return x->author < y->author ? -1 : 1;
    if (x->definition != y->definition)
        return x->definition < y->definition ? -1 : 1;
    if (score_of(x) > score_of(y) || score_of(x) < score_of(y))
        return score_of(x) > score_of(y) ? -1 : 1;
    return x->solution < y->solution ? -1 : x->solution > y->solution;
}

static int compare_leaders(const void *a, const void *b)
{
    const struct leaderboard_row *x = a;
    const struct leaderboard_row *y = b;

    if (x->score.value > y->score.value || x->score.value < y->score.value)
        return x->score.value > y->score.value ? -1 : 1;
    return strcmp(x->author, y->author);
}

bool leaderboard_rank(const struct leaderboard *board, const char *baseline, struct arena *arena,
                      struct leaderboard_rows *out, struct error *error)
{
    struct result *base = NULL;
    size_t bases = 0;
    size_t count;

    *out = (struct leaderboard_rows){arena_calloc(arena, board->results.count, sizeof *out->items), 0};
    if (baseline && !find_baseline(board, baseline, arena, &base, &bases, error))
        return false;
    struct standing *all = standings_of(board, base, bases, arena, &count);
    qsort(all, count, sizeof *all, compare_standings);
    for (size_t i = 0; i < count; i++) {
        bool new_author = i == 0 || all[i].author != all[i - 1].author;
        struct leaderboard_row *row = &out->items[new_author ? out->count++ : out->count - 1];
        row->author = board->texts.items[all[i].author];
        row->failed += all[i].failed;
        if (!new_author && all[i].definition == all[i - 1].definition)
            continue; /* a worse solution of the same definition */
        row->score.value += score_of(&all[i]);
        row->win_rate.value += (double)all[i].wins;
        row->workloads += all[i].workloads;
        row->definitions++;
    }
    for (size_t i = 0; i < out->count; i++) {
        struct leaderboard_row *row = &out->items[i];
        row->score = number_of(row->score.value / (double)row->definitions);
        row->win_rate = number_of(row->win_rate.value / (double)row->workloads);
    }
    qsort(out->items, out->count, sizeof *out->items, compare_leaders);
    return true;
}
