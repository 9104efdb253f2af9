/* Verdict, turn and trace lines. */
#include <stdint.h>
#include <stdlib.h>

#include "report/read.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_TURN_SET *set = turn_set_new();
    AUTO_LEADERBOARD *board = leaderboard_new();
    struct report_options options = {.limits = {1, 8}, .limit_count = 2, .metric = {.resamples = 20}};
    struct leaderboard_rows rows;
    struct error error = {0};

    if (!read_json_text(set, board, (const char *)data, size, "fuzz", &error) || !turn_set_close(set, &error)) {
        if (!*error.message)
            abort();
        return 0;
    }
    (void)report_new(arena, set, board, &options);
    if (!leaderboard_rank(board, NULL, arena, &rows, &error))
        abort();
    return 0;
}
