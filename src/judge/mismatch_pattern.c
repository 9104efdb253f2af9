#include "judge/mismatch_pattern.h"

#include <stdbool.h>

struct extent {
    int64_t tiles;      /* with at least one wrong element */
    int64_t full_tiles; /* with nothing but wrong elements */
    int64_t wrong;
    int64_t first_row, last_row, first_column, last_column;
};

static int64_t tile_elements(int64_t index, int64_t elements, int tile)
{
    int64_t left = elements - index * tile;

    return left < tile ? left : tile;
}

static struct extent measure(const uint32_t *counts, int64_t rows, int64_t columns, int64_t element_rows,
                             int64_t element_columns, int tile)
{
    struct extent extent = {.first_row = rows, .first_column = columns, .last_row = -1, .last_column = -1};

    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < columns; c++) {
            int64_t count = counts[r * columns + c];
            if (!count)
                continue;
            extent.tiles++;
            extent.wrong += count;
            extent.full_tiles +=
                count == tile_elements(r, element_rows, tile) * tile_elements(c, element_columns, tile);
            extent.first_row = r < extent.first_row ? r : extent.first_row;
            extent.last_row = r > extent.last_row ? r : extent.last_row;
            extent.first_column = c < extent.first_column ? c : extent.first_column;
            extent.last_column = c > extent.last_column ? c : extent.last_column;
        }
    return extent;
}

/* Whether every tile row (or column) has its wrong tiles where the one `period` before has them. */
static bool has_period(const uint32_t *counts, int64_t rows, int64_t columns, bool along_rows, int64_t period)
{
    int64_t lines = along_rows ? rows : columns;
    int64_t across = along_rows ? columns : rows;

    for (int64_t line = period; line < lines; line++)
        for (int64_t k = 0; k < across; k++) {
            int64_t here = along_rows ? line * columns + k : k * columns + line;
            int64_t before = along_rows ? (line - period) * columns + k : k * columns + line - period;
            if ((counts[here] != 0) != (counts[before] != 0))
                return false;
        }
    return true;
}

/* Smallest period, at most 64 tiles and seen at least twice; 0 when there is none or nothing changes that way. */
static int64_t find_period(const uint32_t *counts, int64_t rows, int64_t columns, bool along_rows)
{
    int64_t lines = along_rows ? rows : columns;

    for (int64_t period = 1; period <= 64 && 2 * period <= lines; period++)
        if (has_period(counts, rows, columns, along_rows, period))
            return period > 1 ? period : 0;
    return 0;
}

const char *mismatch_pattern(struct arena *arena, const uint32_t *counts, int64_t rows, int64_t columns,
                             int64_t element_rows, int64_t element_columns, int tile)
{
    struct extent extent = measure(counts, rows, columns, element_rows, element_columns, tile);
    int64_t last_row = (extent.last_row + 1) * tile - 1, last_column = (extent.last_column + 1) * tile - 1;

    if (!extent.tiles)
        return NULL;
    if (last_row >= element_rows)
        last_row = element_rows - 1;
    if (last_column >= element_columns)
        last_column = element_columns - 1;
    const char *density = extent.full_tiles == extent.tiles ? "every element of them"
                          : extent.full_tiles               ? "some of them whole"
                                                            : "scattered within them";
    if (extent.tiles == rows * columns)
        return arena_printf(arena, "all %lld %dx%d tiles, %s", (long long)extent.tiles, tile, tile, density);
    int64_t row_period = find_period(counts, rows, columns, true);
    int64_t column_period = find_period(counts, rows, columns, false);
    const char *period = "";
    if (row_period)
        period = arena_printf(arena, ", repeating every %lld rows", (long long)(row_period * tile));
    if (column_period)
        period = arena_printf(arena, "%s, repeating every %lld columns", period, (long long)(column_period * tile));
    return arena_printf(arena, "%lld of %lld %dx%d tiles, rows %lld-%lld, columns %lld-%lld, %s%s",
                        (long long)extent.tiles, (long long)(rows * columns), tile, tile,
                        (long long)(extent.first_row * tile), (long long)last_row,
                        (long long)(extent.first_column * tile), (long long)last_column, density, period);
}
