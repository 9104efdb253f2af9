/* Drawings: where things are, that texts never overlap, and that no text can become a command. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "report/figure_chart.h"
#include "report/figure_render.h"
#include "trace/random.h"

#define assert_near(value, expected, tolerance) assert_true(fabs((value) - (expected)) <= (tolerance))

static const char *const hostile[] = {
    "plain",
    "`touch owned`",
    "\"; system(\"touch owned\"); \"",
    "a\nset output 'owned'\nb",
    "\\\"@macro^{x}_y~",
    "\xe5\x90\x8d\xe5\x89\x8d",
    "a name that is longer than any place for it, again and again, until nobody would want to read it any more",
    "x\xff\xfe",
};

/* Eight models with odd names on seven definitions and two architectures, twelve trajectories of `turns` turns. */
static struct turn_set *make_set(int turns)
{
    struct turn_set *set = turn_set_new();
    AUTO_ARENA *arena = arena_new();
    struct error error;
    uint64_t number = 0;

    for (size_t m = 0; m < ARRAY_LEN(hostile); m++) {
        for (int d = 0; d < 7; d++) {
            for (int t = 0; t < 12 * turns; t++) {
                uint64_t bits = random_bits(7, m, number++);
                struct turn_row row = {.model = hostile[m],
                                       .arch = m % 2 ? "hopper" : "sm_100a",
                                       .definition = arena_printf(arena, "definition_with_a_name_%d", d),
                                       .run = "r",
                                       .variant = -1,
                                       .index = t % turns,
                                       .trajectory = arena_printf(arena, "t%d", t / turns),
                                       .reasoning_tokens = count_of((int64_t)(bits >> 40) % 90000),
                                       .tokens = count_of(100000),
                                       .cost_usd = number_of(0.25),
                                       .outcome = (enum turn_outcome)(bits % OUTCOME_COUNT)};
                if (outcome_is_correct(row.outcome))
                    row.speedup = number_of((double)(1 + (bits >> 20) % 1300) / 1000);
                assert_true(turn_set_add(set, &row, "f", (size_t)number, &error));
            }
        }
    }
    assert_true(turn_set_close(set, &error));
    return set;
}

static struct figures make_figures(struct arena *arena, const struct turn_set *set, int limit)
{
    struct report_options options = {.limits = {1, limit}, .limit_count = 2, .metric = {.resamples = -1}};

    return figures_of_report(report_new(arena, set, NULL, &options), arena);
}

static void test_no_text_overlaps(void **state)
{
    (void)state;
    for (int turns = 4; turns <= 24; turns += 10) {
        AUTO_ARENA *arena = arena_new();
        AUTO_TURN_SET *set = make_set(turns);
        struct figures figures = make_figures(arena, set, turns);
        assert_int_equal(figures.count, 2 * 8);
        for (size_t i = 0; i < figures.count; i++) {
            const char *overlap = drawing_overlap(figures.items[i]);
            if (overlap)
                fail_msg("%d turns, %s", turns, overlap);
            assert_true(figures.items[i]->width > 100 && figures.items[i]->height > 100);
        }
    }
}

static void test_overlap_is_seen(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    struct drawing *drawing = drawing_new(arena, "d", "d", 200, 100);

    drawing_text(drawing, (struct point){10, 20}, "first", 10, 0, ALIGN_LEFT);
    drawing_text(drawing, (struct point){10, 40}, "below", 10, 0, ALIGN_LEFT);
    drawing_text_upwards(drawing, (struct point){100, 60}, "up", 10, 0, ALIGN_LEFT);
    assert_null(drawing_overlap(drawing));
    drawing_text(drawing, (struct point){12, 24}, "second", 10, 0, ALIGN_LEFT);
    assert_string_equal(drawing_overlap(drawing), "d: \"second\" overlaps \"first\"");
    drawing->texts.count--;
    drawing_text(drawing, (struct point){190, 60}, "out", 10, 0, ALIGN_LEFT);
    assert_string_equal(drawing_overlap(drawing), "d: \"out\" leaves the page");
}

static void test_texts_are_escaped(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    struct drawing *drawing = drawing_new(arena, "d", "d", 100, 100);
    AUTO_BUFFER script = buffer_new(1 << 16);

    for (size_t i = 0; i < ARRAY_LEN(hostile); i++)
        drawing_text(drawing, (struct point){1, 1}, hostile[i], 10, 0, ALIGN_LEFT);
    drawing_write_gnuplot(&script, drawing);
    assert_non_null(strstr(script.data, "set label \"\\140touch owned\\140\" at"));
    assert_null(strchr(script.data, '`'));
    assert_null(strchr(script.data, '@'));
    assert_null(strstr(script.data, "\nset output"));
    assert_null(strstr(script.data, "system(\""));
    assert_string_equal(drawing->texts.items[5].text, "\xe2\x96\xa1\xe2\x96\xa1"); /* no font has to have them */
}

static void test_layers(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    struct drawing *drawing = drawing_new(arena, "d", "d", 100, 50);
    AUTO_BUFFER script = buffer_new(1 << 16);

    drawing_raised_rect(drawing, (struct point){1, 2}, (struct point){3, 4}, 0x0000ff);
    drawing_line(drawing, (struct point){0, 0}, (struct point){9, 10}, 0xff0000, 2);
    drawing_rect(drawing, (struct point){5, 6}, (struct point){7, 8}, 0x00ff00);
    drawing_dot(drawing, (struct point){20, 30}, 3, 0);
    drawing_write_gnuplot(&script, drawing);
    assert_non_null(strstr(script.data, "$b1 << EOD\n5.0 7.0 44.0 42.0 65280\nEOD\n"
                                        "$b2 << EOD\n0.0 50.0\n9.0 40.0\n\nEOD\n"
                                        "$b3 << EOD\n1.0 3.0 48.0 46.0 255\nEOD\n"
                                        "$b4 << EOD\n20.0 20.0 3.0 0\nEOD\n"));
}

static void test_charts(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();

    assert_near(chart_step(100, 5), 20, 1e-9);
    assert_near(chart_step(0.99, 5), 0.2, 1e-9);
    assert_near(chart_step(3, 5), 1, 1e-9);
    assert_string_equal(chart_fit(arena, "short", 10, 500), "short");
    assert_string_equal(chart_fit(arena, "Qwen3.6-27B + retrieved repair notes", 10, 90), "Qwen3.6\xe2\x80\xa6 notes");
    assert_string_equal(chart_fit(arena, "anything", 10, 1), "");
    assert_int_equal(chart_mix(0x000000, 0xffffff, 0.5), 0x808080);
    assert_int_equal(chart_contrast(0xffffff), 0);
    assert_int_equal(chart_contrast(0x08306b), 0xffffff);
}

static const struct drawing *find_figure(const struct figures *figures, const char *id)
{
    for (size_t i = 0; i < figures->count; i++)
        if (!strcmp(figures->items[i]->id, id))
            return figures->items[i];
    fail_msg("no figure %s", id);
    return NULL;
}

static bool has_text(const struct drawing *drawing, const char *text)
{
    for (size_t i = 0; i < drawing->texts.count; i++)
        if (!strcmp(drawing->texts.items[i].text, text))
            return true;
    return false;
}

/* Two trajectories, the second of one turn: rates, best and cost can be counted by hand. */
static void test_values(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    AUTO_TURN_SET *set = turn_set_new();
    struct turn_row row = {
        .model = "m", .arch = "hopper", .definition = "d", .run = "r", .trajectory = "a", .variant = 0};
    struct error error;

    row.tokens = count_of(6000);
    row.outcome = OUTCOME_COMPILE;
    assert_true(turn_set_add(set, &row, "f", 1, &error));
    row.index = 1;
    row.outcome = OUTCOME_CORRECT_TARGET;
    row.speedup = number_of(0.625);
    assert_true(turn_set_add(set, &row, "f", 2, &error));
    row.trajectory = "b";
    row.index = 0;
    row.outcome = OUTCOME_CORRECT_PLAIN;
    row.speedup = number_of(0.75);
    row.variant = 1;
    assert_true(turn_set_add(set, &row, "f", 3, &error));
    assert_true(turn_set_close(set, &error));
    struct figures figures = make_figures(arena, set, 2);
    const struct drawing *fastp = find_figure(&figures, "fastp_hopper");
    assert_true(has_text(fastp, "0.750")); /* all */
    assert_true(has_text(fastp, "0.625")); /* with target instructions */
    assert_true(has_text(find_figure(&figures, "heatmap_hopper"), "50.0"));
    assert_true(has_text(find_figure(&figures, "heatmap_target_hopper"), "25.0"));
    assert_true(has_text(find_figure(&figures, "heatmap_target_hopper"), "0.625"));
    assert_true(has_text(find_figure(&figures, "outcomes_hopper"), "turn not taken"));
    assert_true(has_text(find_figure(&figures, "transitions_hopper"), "turn not taken"));
    assert_true(has_text(find_figure(&figures, "cost_hopper"), "18")); /* thousand tokens, one task, solved */
}

/* gnuplot may be missing here: then the message is what counts. */
static void test_rendering(void **state)
{
    (void)state;
    AUTO_ARENA *arena = arena_new();
    AUTO_TURN_SET *set = make_set(4);
    struct figures figures = make_figures(arena, set, 4);
    struct error error;
    char *folder;

    figures.count = 2;
    assert_true(file_make_temporary_folder(arena, file_temporary_root(), "test-figure", &folder, &error));
    const char *path = arena_strdup(arena, getenv("PATH"));
    assert_int_equal(setenv("PATH", folder, 1), 0);
    assert_false(figures_render(&figures, folder, 7, &error));
    assert_int_equal(error.code, ERROR_TOOL);
    assert_string_equal(error.message, "figures need gnuplot, and there is none");
    assert_non_null(strstr(error.hint, "apt-get install gnuplot-nox"));
    assert_int_equal(setenv("PATH", path, 1), 0);
    if (file_find_program(arena, "gnuplot")) {
        static const char *const starts[] = {"<?xml", "%PDF-", "\x89PNG"};
        if (!figures_render(&figures, file_join(arena, folder, "new/deep"), 7, &error))
            fail_msg("%s", error.message);
        for (size_t i = 0; i < 2 * FIGURE_FORMAT_COUNT; i++) {
            AUTO_FREE char *bytes = NULL;
            size_t length;
            const char *format = figure_format_text((enum figure_format)(i / 2));
            const char *file = arena_printf(arena, "%s/new/deep/%s.%s", folder, figures.items[i % 2]->id, format);
            if (!file_read(file, 1 << 26, &bytes, &length, &error))
                fail_msg("%s", error.message);
            assert_memory_equal(bytes, starts[i / 2], strlen(starts[i / 2]));
        }
        assert_false(file_exists("owned"));
    }
    assert_true(file_remove_tree(folder));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_text_overlaps),
        cmocka_unit_test(test_overlap_is_seen),
        cmocka_unit_test(test_texts_are_escaped),
        cmocka_unit_test(test_layers),
        cmocka_unit_test(test_charts),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_rendering),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
