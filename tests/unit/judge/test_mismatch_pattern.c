#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judge/mismatch_pattern.h"

enum { TILE = 64, MOST = 64 };

struct fixture {
    struct arena *arena;
    uint32_t counts[MOST * MOST];
};

static int set_up(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);

    fixture->arena = arena_new();
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;

    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

/* Tiles of a matrix whose sides are whole numbers of tiles. */
static const char *pattern(struct fixture *fixture, int64_t rows, int64_t columns)
{
    return mismatch_pattern(fixture->arena, fixture->counts, rows, columns, rows * TILE, columns * TILE, TILE);
}

static void test_nothing(void **state)
{
    assert_null(pattern(*state, 4, 4));
}

static void test_everything(void **state)
{
    struct fixture *fixture = *state;

    for (int i = 0; i < 6; i++)
        fixture->counts[i] = TILE * TILE;
    assert_string_equal(pattern(fixture, 2, 3), "all 6 64x64 tiles, every element of them");
    fixture->counts[3]--;
    assert_string_equal(pattern(fixture, 2, 3), "all 6 64x64 tiles, some of them whole");
    for (int i = 0; i < 6; i++)
        fixture->counts[i] = 1;
    assert_string_equal(pattern(fixture, 2, 3), "all 6 64x64 tiles, scattered within them");
}

static void test_one_tile(void **state)
{
    struct fixture *fixture = *state;

    fixture->counts[1 * 5 + 2] = TILE * TILE;
    assert_string_equal(pattern(fixture, 3, 5),
                        "1 of 15 64x64 tiles, rows 64-127, columns 128-191, every element of them");
    fixture->counts[2 * 5 + 4] = 3;
    assert_string_equal(pattern(fixture, 3, 5),
                        "2 of 15 64x64 tiles, rows 64-191, columns 128-319, some of them whole");
}

/* Tiles at the edges are smaller: whole means all that is there, and ranges end with the matrix. */
static void test_edges(void **state)
{
    struct fixture *fixture = *state;

    fixture->counts[3] = 36 * 10; /* 100 x 74 elements: 2 x 2 tiles, the last of 36 x 10 */
    assert_string_equal(mismatch_pattern(fixture->arena, fixture->counts, 2, 2, 100, 74, TILE),
                        "1 of 4 64x64 tiles, rows 64-99, columns 64-73, every element of them");
    fixture->counts[0] = 1;
    assert_string_equal(mismatch_pattern(fixture->arena, fixture->counts, 2, 2, 100, 74, TILE),
                        "2 of 4 64x64 tiles, rows 0-99, columns 0-73, some of them whole");
    memset(fixture->counts, 0, sizeof fixture->counts);
    fixture->counts[0] = 5;
    assert_string_equal(mismatch_pattern(fixture->arena, fixture->counts, 1, 1, 1, 5, TILE),
                        "all 1 64x64 tiles, every element of them");
}

static void fill(struct fixture *fixture, int rows, int columns, int row_period, int row_phase, int column_period,
                 int column_phase)
{
    memset(fixture->counts, 0, sizeof fixture->counts);
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < columns; c++)
            if (r % row_period == row_phase && c % column_period == column_phase)
                fixture->counts[r * columns + c] = 7;
}

static void test_periods(void **state)
{
    struct fixture *fixture = *state;

    fill(fixture, 8, 4, 2, 1, 1, 0);
    assert_string_equal(pattern(fixture, 8, 4),
                        "16 of 32 64x64 tiles, rows 64-511, columns 0-255, scattered within them, "
                        "repeating every 128 rows");
    fill(fixture, 4, 12, 1, 0, 3, 0);
    assert_string_equal(pattern(fixture, 4, 12),
                        "16 of 48 64x64 tiles, rows 0-255, columns 0-639, scattered within them, "
                        "repeating every 192 columns");
    fill(fixture, 8, 12, 4, 2, 3, 1);
    assert_string_equal(pattern(fixture, 8, 12),
                        "8 of 96 64x64 tiles, rows 128-447, columns 64-703, scattered within them, "
                        "repeating every 256 rows, repeating every 192 columns");
    /* One tile off the rule, and it is none. */
    fixture->counts[0] = 1;
    assert_null(strstr(pattern(fixture, 8, 12), "repeating"));
    /* Half a matrix is no period: it must be seen at least twice. */
    memset(fixture->counts, 0, sizeof fixture->counts);
    for (int i = 0; i < 16; i++)
        fixture->counts[i] = 1;
    assert_null(strstr(pattern(fixture, 8, 4), "repeating"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_nothing), TEST(test_everything), TEST(test_one_tile), TEST(test_edges), TEST(test_periods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
