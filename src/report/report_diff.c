/* Run against run: which differences are more than chance. */
#include <string.h>

#include "report/report.h"
#include "report/resample.h"

struct match {
    uint32_t a;
    uint32_t b;
};

static const struct series *series_of(const struct report *report, uint32_t number)
{
    return &report->set->series[number];
}

static bool same_task(const struct series *x, const struct series *y)
{
    return !strcmp(x->arch, y->arch) && !strcmp(x->definition, y->definition);
}

/* Series of a report on the task of `like`: `*count` of them, `*found` the last; only those of its model when
 * `same_model`. */
static size_t candidates(const struct report *report, const struct series *like, bool same_model, uint32_t *found)
{
    size_t count = 0;

    for (size_t g = 0; g < report->group_count; g++) {
        for (size_t i = 0; i < report->groups[g].series_count; i++) {
            const struct series *series = series_of(report, report->groups[g].series[i]);
            if (!same_task(series, like) || (same_model && strcmp(series->model, like->model) != 0))
                continue;
            *found = report->groups[g].series[i];
            count++;
        }
    }
    return count;
}

/* The partner of one series of A: that of the same model, else the only one on the task. `*has` false: none. */
static bool find_partner(const struct report *a, const struct report *b, uint32_t of, struct match *out, bool *has,
                         struct error *error)
{
    const struct series *like = series_of(a, of);
    uint32_t ignored;
    bool same_model = candidates(b, like, true, &ignored) > 0;
    size_t in_a = candidates(a, like, same_model, &ignored);
    size_t in_b = candidates(b, like, same_model, &out->b);

    *has = in_b > 0;
    out->a = of;
    if (in_b > 0 && (in_a > 1 || in_b > 1)) {
        (void)error_set(error, ERROR_INPUT, "%s has several runs on %s%s%s", in_a > 1 ? "A" : "B", like->definition,
                        same_model ? " by " : "", same_model ? like->model : "");
        return error_hint(error, "name a model or a run behind the path: PATH@NAME");
    }
    return true;
}

static bool match_all(const struct report *a, const struct report *b, struct match *matches, size_t *count,
                      struct error *error)
{
    *count = 0;
    for (size_t g = 0; g < a->group_count; g++) {
        for (size_t i = 0; i < a->groups[g].series_count; i++) {
            bool has;
            if (!find_partner(a, b, a->groups[g].series[i], &matches[*count], &has, error))
                return false;
            *count += has;
        }
    }
    return *count > 0 || error_set(error, ERROR_INPUT, "A and B have no definition and architecture in common");
}

/* The highest limit that all matched runs were planned to reach. */
static bool common_limit(const struct report *a, const struct report *b, const struct match *matches, size_t count,
                         int *out, struct error *error)
{
    for (size_t l = a->options.limit_count; l-- > 0;) {
        bool planned = true;
        *out = a->options.limits[l];
        for (size_t i = 0; i < count; i++)
            planned &=
                *out <= series_of(a, matches[i].a)->planned_turns && *out <= series_of(b, matches[i].b)->planned_turns;
        if (planned)
            return true;
    }
    return error_set(error, ERROR_INPUT, "A and B were not both planned for %d turns", a->options.limits[0]);
}

/* Trajectories of equal names and variants in equal order are those of one plan. */
static bool is_paired(const struct turn_set *x, const struct series *a, const struct turn_set *y,
                      const struct series *b)
{
    if (a->trajectory_count != b->trajectory_count)
        return false;
    for (uint32_t i = 0; i < a->trajectory_count; i++) {
        const struct trajectory *one = &series_trajectories(x, a)[i];
        const struct trajectory *other = &series_trajectories(y, b)[i];
        if (strcmp(one->name, other->name) != 0 || one->variant != other->variant)
            return false;
    }
    return true;
}

static const struct tally *tallies_of(const struct report *report, uint32_t series, int limit, size_t *count)
{
    struct metric_scope scope = {.set = report->set, .series = series};
    struct tally *tallies;

    *count = metric_scope_count(&scope);
    tallies = arena_calloc(report->arena, *count, sizeof *tallies);
    metric_tally(&scope, limit, &report->options.metric, tallies);
    return tallies;
}

static void put_difference(struct table *table, const char *name, const char *arch, size_t pairs,
                           enum estimate estimate, const struct difference *difference)
{
    double scale = estimate_is_speedup(estimate) ? 1 : 100;

    table_text(table, arch);
    table_text(table, name);
    table_text(table, estimate_key(estimate));
    table_number(table, (struct number){difference->a.known, scale * difference->a.value});
    table_number(table, (struct number){difference->b.known, scale * difference->b.value});
    table_range(table, (struct number){difference->difference.known, scale * difference->difference.value},
                (struct interval){difference->ci95.known, scale * difference->ci95.low, scale * difference->ci95.high});
    table_text(table, comparison_text(difference->comparison));
    table_count(table, (int64_t)pairs);
}

static void put_rows(struct table *table, const struct report *report, const char *name, const char *arch,
                     const struct difference_pair *pairs, size_t count, double margin)
{
    struct difference differences[ESTIMATES];

    resample_difference(pairs, count, report->options.metric.resamples, report->options.metric.seed, margin,
                        differences);
    for (int e = 0; e < ESTIMATES; e++)
        put_difference(table, name, arch, count, (enum estimate)e, &differences[e]);
}

bool report_make_diff(const struct report *a, const struct report *b, const char *name, double margin,
                      struct table **out, struct error *error)
{
    static const struct table_column columns[] = {
        {"arch", "GPU", TABLE_TEXT, 0},      {"definition", "definition", TABLE_TEXT, 0},
        {"metric", "metric", TABLE_TEXT, 0}, {"a", "A", TABLE_NUMBER, 3},
        {"b", "B", TABLE_NUMBER, 3},         {"difference", "B - A", TABLE_RANGE, 3},
        {"verdict", "B is", TABLE_TEXT, 0},  {"pairs", "pairs", TABLE_COUNT, 0},
    };
    size_t room = a->set->series_count;
    struct match *matches = arena_calloc(a->arena, room, sizeof *matches);
    struct difference_pair *pairs = arena_calloc(a->arena, room, sizeof *pairs);
    struct table *table;
    size_t count;
    int limit;

    if (!match_all(a, b, matches, &count, error) || !common_limit(a, b, matches, count, &limit, error))
        return false;
    table = table_new(a->arena, "diff",
                      arena_printf(a->arena, "%s, %d turns (rates in %%, speed-ups in times)", name, limit), columns,
                      ARRAY_LEN(columns));
    for (size_t i = 0; i < count; i++) {
        const struct series *x = series_of(a, matches[i].a);
        const struct series *y = series_of(b, matches[i].b);
        pairs[i].a = tallies_of(a, matches[i].a, limit, &pairs[i].a_count);
        pairs[i].b = tallies_of(b, matches[i].b, limit, &pairs[i].b_count);
        pairs[i].paired = is_paired(a->set, x, b->set, y);
        put_rows(table, a, x->definition, report_arch_words(x->arch), &pairs[i], 1, margin);
    }
    if (count > 1)
        put_rows(table, a, "(mean of all)", "", pairs, count, margin);
    table_note(table,
               "SAME: the whole 95 %% interval lies within %g points of a rate or %g of a speed-up. BETTER, WORSE: "
               "the interval excludes 0. UNCLEAR: neither, or fewer than %d trajectories.",
               100 * margin, margin, RESAMPLE_LEAST);
    *out = table;
    return true;
}
