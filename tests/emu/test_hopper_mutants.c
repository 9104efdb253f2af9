/*
 * The score of the emulator: how many of the defects of mutants/ it notices, and how many it names with the right cause
 * and line. The counts of wrong elements of the layout mutants are held to tests/data/mutants/sm_90a.json.
 *
 * test_hopper_mutants --write FILE: writes the counts, and keeps what FILE knows of a GPU.
 * test_hopper_mutants --only TEXT: the mutants whose name contains TEXT.
 */
#include "../unit/emu/emu_test.h"

#include <stdlib.h>

#include "base/attributes.h"
#include "base/json.h"
#include "mutants/mutant_counts.h"
#include "mutants/mutant_emulate.h"

enum { CAUGHT_PERCENT = 95, NAMED_PERCENT = 85, MUTANTS_MIN = 40 };
#define COUNTS SOURCE_ROOT "/tests/data/mutants/sm_90a.json"

static const char *only = "";
static const char *write_path;

struct score {
    size_t total, caught, named;
};

static bool emulate(const struct mutant *mutant, const struct mutant_work *work, struct mutant_outcome *outcome,
                    struct error *error)
{
    AUTO_BUFFER source = buffer_new(1 << 20);
    AUTO_BUFFER ptx = buffer_new(8 << 20);

    return mutant_source(mutant->kernel, mutant, &source, error) &&
           mutant_compile(&source, mutant->kernel, "-ptx", &ptx, error) &&
           mutant_emulate(mutant, &source, &ptx, work, outcome, error);
}

/* Layouts do not depend on the order of events. */
static void check_counts(const struct mutant *mutant, const struct mutant_outcome *outcome, json_object *counts)
{
    if (!outcome->completed || outcome->eager_wrong != outcome->late_wrong)
        fail_msg("%s: %zu wrong elements at once, %zu late, %s", mutant->name, outcome->eager_wrong,
                 outcome->late_wrong, outcome->completed ? "completed" : "not completed");
    struct error error = {0};
    if (write_path)
        mutant_counts_set_emulator(counts, mutant, outcome->eager_wrong);
    else if (!mutant_counts_check(counts, mutant, outcome->eager_wrong, &error))
        fail_msg("%s", error.message);
}

static void print_outcome(const struct mutant *mutant, const struct mutant_outcome *outcome)
{
    const char *verdict = outcome->named ? "named" : outcome->found || outcome->wrong ? "caught" : "MISSED";

    printf("%-7s %-55s wrong %6zu/%6zu  %.200s\n", verdict, mutant->name, outcome->eager_wrong, outcome->late_wrong,
           outcome->root);
    (void)fflush(stdout);
}

static void check_mutant(const struct mutant *mutant, const struct mutant_work *work, json_object *counts,
                         struct score *score)
{
    struct mutant_outcome outcome;
    struct error error = {0};

    if (!emulate(mutant, work, &outcome, &error))
        fail_msg("%s: %s", mutant->name, error.message);
    print_outcome(mutant, &outcome);
    score->total++;
    score->caught += outcome.found || outcome.wrong;
    score->named += outcome.named;
    if (mutant->layout)
        check_counts(mutant, &outcome, counts);
}

static void every_defect_is_named(void **state)
{
    struct mutant_work work[2];
    struct score score = {0};
    struct error error = {0};
    AUTO_JSON_OBJECT *counts = mutant_counts_read(write_path ? write_path : COUNTS, &error);

    (void)state;
    if (!counts || !mutant_work_new(MUTANT_GEMM, &work[MUTANT_GEMM], &error) ||
        !mutant_work_new(MUTANT_MHA, &work[MUTANT_MHA], &error))
        fail_msg("%s", error.message);
    for (size_t i = 0; i < mutant_count; i++)
        if (strstr(mutants[i].name, only))
            check_mutant(&mutants[i], &work[mutants[i].kernel], counts, &score);
    printf("mutants: %zu, noticed %zu (%.1f %%), named with cause and line %zu (%.1f %%)\n", score.total, score.caught,
           100.0 * (double)score.caught / (double)score.total, score.named,
           100.0 * (double)score.named / (double)score.total);
    mutant_work_free(&work[MUTANT_GEMM]);
    mutant_work_free(&work[MUTANT_MHA]);
    if (write_path && !json_write_file(counts, write_path, &error))
        fail_msg("%s", error.message);
    if (*only)
        return;
    assert_true(score.total >= MUTANTS_MIN);
    assert_true(score.caught * 100 >= score.total * CAUGHT_PERCENT);
    assert_true(score.named * 100 >= score.total * NAMED_PERCENT);
}

/* The kernels without a defect, in the same harness: nothing is found. */
static void the_kernels_are_clean(void **state)
{
    static const struct mutant clean[] = {{.name = "gemm", .kernel = MUTANT_GEMM, .code = "", .line = ""},
                                          {.name = "mha", .kernel = MUTANT_MHA, .code = "", .line = ""}};

    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(clean); i++) {
        struct mutant_work work;
        struct mutant_outcome outcome;
        struct error error = {0};

        if (!mutant_work_new(clean[i].kernel, &work, &error) || !emulate(&clean[i], &work, &outcome, &error))
            fail_msg("%s: %s", clean[i].name, error.message);
        mutant_work_free(&work);
        if (outcome.root[0] || outcome.wrong)
            fail_msg("%s: %zu wrong, %s", clean[i].name, outcome.eager_wrong, outcome.root);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_kernels_are_clean),
                                       cmocka_unit_test(every_defect_is_named)};

    for (int i = 1; i + 1 < argc; i += 2) {
        if (!strcmp(argv[i], "--only"))
            only = argv[i + 1];
        else if (!strcmp(argv[i], "--write"))
            write_path = argv[i + 1];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
