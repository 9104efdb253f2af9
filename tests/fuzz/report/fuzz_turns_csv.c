/* Per-turn CSV: whatever is accepted has turns in order and finite numbers, and survives every metric. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/read.h"
#include "report/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_set(const struct turn_set *set)
{
    for (size_t i = 0; i < set->trajectory_count; i++) {
        const struct trajectory *trajectory = &set->trajectories[i];
        const struct turn *turns = trajectory_turns(set, trajectory);
        for (uint32_t t = 0; t < trajectory->turn_count; t++) {
            if ((t && turns[t].index <= turns[t - 1].index) || !isfinite(turns[t].speedup[SPEEDUP_GEOMEAN]) ||
                turns[t].speedup[SPEEDUP_MIN] < 0 || turns[t].outcome >= OUTCOME_COUNT)
                abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_ARENA *arena = arena_new();
    AUTO_TURN_SET *set = turn_set_new();
    struct report_options options = {.limits = {1, 4, 8}, .limit_count = 3, .metric = {.resamples = 20}};
    struct error error = {0};
    size_t count;
    const struct report_table *tables = report_tables(&count);

    if (!read_csv_text(set, (const char *)data, size, "fuzz", &error) || !turn_set_close(set, &error)) {
        if (!*error.message)
            abort();
        return 0;
    }
    check_set(set);
    const struct report *report = report_new(arena, set, NULL, &options);
    for (size_t i = 0; i < count; i++) {
        AUTO_BUFFER out = buffer_new(1 << 20);
        struct table *table;
        if (!tables[i].make(report, &table, &error))
            abort();
        if (table)
            table_write_text(&out, table);
        if (table)
            table_write_csv(&out, table);
    }
    return 0;
}
