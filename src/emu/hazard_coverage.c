#include "emu/hazard_coverage.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/async_groups.h"
#include "emu/machine_new.h"

enum { GRANULE_BYTES = 16 };
#define GRANULES_MAX (UINT64_C(1) << 27) /* 2 GiB of a tensor */

/* One tensor, loaded or stored. */
struct hazard_coverage {
    struct hazard_coverage *next;
    struct tensor_map map;
    bool store;
    bool twice;  /* some elements were stored more than once */
    uint32_t op; /* the last copy */
    uint64_t row_granules, rows;
    uint64_t *touched; /* a bit for each 16 bytes */
};

static bool same_tensor(const struct tensor_map *a, const struct tensor_map *b)
{
    return a->address == b->address && a->rank == b->rank && a->type == b->type &&
           !memcmp(a->dim, b->dim, sizeof a->dim) && !memcmp(a->stride, b->stride, sizeof a->stride);
}

static struct hazard_coverage *find(struct emu_grid *grid, const struct tensor_tile *tile, bool store)
{
    for (struct hazard_coverage *at = grid->coverage; at; at = at->next)
        if (at->store == store && same_tensor(&at->map, &tile->map))
            return at;

    struct hazard_coverage *fresh = emu_async_allocate(sizeof *fresh);

    fresh->map = tile->map;
    fresh->store = store;
    fresh->row_granules = (tile->map.dim[0] * tile->element_bytes + GRANULE_BYTES - 1) / GRANULE_BYTES;
    fresh->rows = 1;
    for (int i = 1; i < tile->map.rank; i++)
        fresh->rows = fresh->rows > GRANULES_MAX ? fresh->rows : fresh->rows * tile->map.dim[i];
    if (fresh->rows <= GRANULES_MAX && fresh->row_granules <= GRANULES_MAX / fresh->rows)
        fresh->touched = emu_async_allocate((fresh->rows * fresh->row_granules / 64 + 1) * sizeof *fresh->touched);
    fresh->next = grid->coverage;
    grid->coverage = fresh;
    return fresh;
}

static void touch(struct hazard_coverage *coverage, uint64_t first, uint64_t count)
{
    for (uint64_t i = first; i < first + count; i++) {
        uint64_t bit = UINT64_C(1) << i % 64;

        coverage->twice |= coverage->touched[i / 64] & bit;
        coverage->touched[i / 64] |= bit;
    }
}

void hazard_coverage_copy(const struct bulk_copy *copy)
{
    struct emu_grid *grid = emu_grid_of(copy->async.warp);
    const struct tensor_tile *tile = copy->tile;
    struct hazard_coverage *coverage;

    if (!tile || grid->launch->sample)
        return;
    coverage = find(grid, tile, copy->to.kind == BULK_TENSOR);
    coverage->op = (uint32_t)(copy->async.op - grid->program->ops);
    for (uint32_t i = 0; coverage->touched && i < tile->rows; i++) {
        struct tensor_tile_row row;
        uint64_t index = 0;

        tensor_tile_row_at(tile, i, &row);
        if (row.valid_begin == row.valid_end)
            continue;
        for (int d = tile->map.rank - 1; d > 0; d--)
            index = index * tile->map.dim[d] + (uint64_t)row.coordinate[d];
        uint64_t begin = (uint64_t)(row.coordinate[0] * tile->element_bytes + row.valid_begin) / GRANULE_BYTES;
        uint64_t end =
            ((uint64_t)(row.coordinate[0] * tile->element_bytes + row.valid_end) + GRANULE_BYTES - 1) / GRANULE_BYTES;
        touch(coverage, index * coverage->row_granules + begin, end - begin);
    }
}

static void print_coordinates(const struct hazard_coverage *coverage, uint64_t granule, char *out, size_t size)
{
    uint64_t row = granule / coverage->row_granules;
    uint64_t element =
        granule % coverage->row_granules * GRANULE_BYTES * 8 / (uint64_t)tensor_map_type_bits(coverage->map.type);
    size_t used = (size_t)snprintf(out, size, "(%" PRIu64, element);

    for (int i = 1; i < coverage->map.rank && used < size; i++) {
        used += (size_t)snprintf(out + used, size - used, ", %" PRIu64, row % coverage->map.dim[i]);
        row /= coverage->map.dim[i];
    }
    if (used < size)
        (void)snprintf(out + used, size - used, ")");
}

static void tell(struct emu_grid *grid, const struct hazard_coverage *coverage)
{
    uint64_t total = coverage->rows * coverage->row_granules, missing = 0, first = 0;
    char coordinates[128];

    for (uint64_t i = total; i-- > 0;) {
        if (coverage->touched[i / 64] >> i % 64 & 1)
            continue;
        missing++;
        first = i;
    }
    if (!missing)
        return;
    print_coordinates(coverage, first, coordinates, sizeof coordinates);
    emu_report_grid(grid, coverage->op, EMU_TENSOR_COVERAGE,
                    "%s of this tensor map leave out %" PRIu64 " of %" PRIu64
                    " pieces of 16 bytes of the tensor, first the one at coordinates %s%s",
                    coverage->store ? "stores" : "loads", missing, total, coordinates,
                    coverage->store && coverage->twice ? ", and write others twice" : "");
}

void hazard_coverage_end(struct emu_grid *grid)
{
    for (const struct hazard_coverage *at = grid->coverage; at; at = at->next)
        if (at->touched)
            tell(grid, at);
}

void hazard_coverage_free(struct emu_grid *grid)
{
    while (grid->coverage) {
        struct hazard_coverage *coverage = grid->coverage;

        grid->coverage = coverage->next;
        free(coverage->touched);
        free(coverage);
    }
}
