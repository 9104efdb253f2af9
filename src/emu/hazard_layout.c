/* Matrix descriptors and stores against the tiles that lie in shared memory: what an element is, and what it should be. */
#include <inttypes.h>
#include <string.h>

#include "emu/hazard_state.h"

/* Where in a tile 16 bytes lie. */
struct spot {
    const struct hazard_tile *tile;
    uint32_t row, column; /* of the box without swizzle; column in 16 bytes */
};

static bool find_spot(const struct hazard_cta *cta, uint32_t address, struct spot *spot)
{
    struct hazard_event write;
    uint32_t offset;

    if (!hazard_writer_at(cta, address, &write, &spot->tile) || !spot->tile || !spot->tile->has_map)
        return false;
    const struct tensor_tile *tile = &spot->tile->tile;

    offset = smem_swizzle_address(tile->map.swizzle, address) - tile->shared_address;
    if (offset >= tile->shared_bytes)
        return false;
    spot->row = offset / tile->row_pitch;
    spot->column = offset % tile->row_pitch / HAZARD_GRANULE_BYTES;
    return offset % tile->row_pitch < tile->row_bytes;
}

static void print_coordinates(const struct spot *spot, char *out, size_t size)
{
    const struct tensor_tile *tile = &spot->tile->tile;
    struct tensor_tile_row row;
    size_t used = 0;

    tensor_tile_row_at(tile, spot->row, &row);
    row.coordinate[0] += spot->column * HAZARD_GRANULE_BYTES / tile->element_bytes;
    for (int i = 0; i < tile->map.rank && used < size; i++)
        used += (size_t)snprintf(out + used, size - used, "%s%" PRId64, i ? ", " : "(", row.coordinate[i]);
    if (used < size)
        (void)snprintf(out + used, size - used, ")");
}

static const char *place_of(const struct hazard_view *view, const struct hazard_tile *tile, char out[256])
{
    return emu_place(emu_grid_of(view->warp)->program, tile->write.op, out, 256);
}

struct layout {
    const struct hazard_view *view;
    const struct smem_operand *operand;
    struct spot first;
    char name;
};

static void report_spot(const struct layout *layout, int line, int chunk, uint32_t address, const struct spot *spot)
{
    const struct smem_operand *operand = layout->operand;
    const struct wgmma_descriptor *d = &operand->descriptor;
    int inner = chunk * HAZARD_GRANULE_BYTES / operand->element_bytes;
    char found[96], first[96], place[256];

    print_coordinates(spot, found, sizeof found);
    print_coordinates(&layout->first, first, sizeof first);
    (void)emu_report(
        layout->view->warp, layout->view->op, -1, EMU_DESCRIPTOR_TILE,
        "matrix %c: element (row %d, k %d) is read from shared+0x%x, which holds tensor coordinates %s of "
        "the copy at %s; from (row 0, k 0) at %s on, that is another one: stride offset %u, leading offset "
        "%u, %s-major",
        layout->name, operand->mn_major ? inner : line, operand->mn_major ? line : inner, address, found,
        place_of(layout->view, spot->tile, place), first, d->stride_offset, d->leading_offset,
        operand->mn_major ? "MN" : "K");
}

/* Whether a chunk in the tile of the first one is where the box says. */
static bool is_expected(const struct layout *layout, int line, int chunk, const struct spot *spot)
{
    const struct tensor_tile *tile = &layout->first.tile->tile;
    uint32_t columns = tile->row_pitch / HAZARD_GRANULE_BYTES;
    uint32_t column = layout->first.column + (uint32_t)chunk;

    /* Spans beside each other are one above the other when the map splits its columns into a dimension of their own. */
    if (spot->tile == layout->first.tile)
        return spot->column == column % columns &&
               spot->row == layout->first.row + (uint32_t)line + column / columns * tile->extent[1];
    if (!layout->operand->mn_major || spot->tile->tile.map.address != tile->map.address)
        return true; /* rows of several copies need not be neighbours */
    return spot->column == column % columns && spot->row == layout->first.row + (uint32_t)line;
}

static bool check_chunks(const struct layout *layout, const struct hazard_cta *cta)
{
    const struct smem_operand *operand = layout->operand;
    uint32_t limit = layout->view->warp->cta->shared_bytes;
    bool compared = true;

    for (int line = 0; line < smem_operand_line_count(operand); line++)
        for (int chunk = 0; chunk < smem_operand_chunk_count(operand); chunk++) {
            uint32_t address = smem_operand_chunk(operand, line, chunk);
            struct spot spot;

            if (address >= limit || !find_spot(cta, address, &spot))
                compared = false;
            else if (!is_expected(layout, line, chunk, &spot)) {
                report_spot(layout, line, chunk, address, &spot);
                return false;
            }
        }
    return compared;
}

bool hazard_check_layout(const struct hazard_view *view, const struct hazard_cta *cta,
                         const struct smem_operand *operand, char name)
{
    const struct wgmma_descriptor *d = &operand->descriptor;
    struct layout layout = {.view = view, .operand = operand, .name = name};
    uint32_t first = smem_operand_chunk(operand, 0, 0);
    struct hazard_event write;
    char place[256];

    if (d->base_offset || !hazard_writer_at(cta, first, &write, &layout.first.tile))
        return false;
    const struct tensor_tile *tile = &layout.first.tile->tile;

    if (tile->map.swizzle != d->swizzle) {
        (void)emu_report(view->warp, view->op, -1, EMU_DESCRIPTOR_SWIZZLE,
                         "matrix %c: the descriptor says swizzle %s, but the copy at %s wrote the tile at shared+0x%x "
                         "with swizzle %s",
                         name, smem_swizzle_text(d->swizzle), place_of(view, layout.first.tile, place),
                         tile->shared_address, smem_swizzle_text(tile->map.swizzle));
        return false;
    }
    if (d->swizzle == SMEM_SWIZZLE_NONE || tile->row_pitch != smem_swizzle_span(d->swizzle) ||
        !find_spot(cta, first, &layout.first))
        return false;
    return check_chunks(&layout, cta);
}

/* The column of a tensor, also when its map splits columns into dimensions of their own. */
static int64_t column_of(const struct tensor_tile *tile, const struct tensor_tile_row *row)
{
    int64_t column = row->coordinate[0];

    for (int i = 2; i < tile->map.rank; i++)
        if (tile->map.stride[i] < tile->map.stride[1])
            column += row->coordinate[i] * (int64_t)(tile->map.stride[i] / tile->element_bytes);
    return column;
}

/* The coordinate along k of element (0, 0). */
static bool find_k(const struct hazard_cta *cta, const struct smem_operand *operand, int64_t *k,
                   const struct hazard_tile **tile)
{
    struct tensor_tile_row row;
    struct spot spot;

    if (!find_spot(cta, smem_operand_chunk(operand, 0, 0), &spot))
        return false;
    tensor_tile_row_at(&spot.tile->tile, spot.row, &row);
    *k = operand->mn_major
             ? row.coordinate[1]
             : column_of(&spot.tile->tile, &row) + spot.column * HAZARD_GRANULE_BYTES / spot.tile->tile.element_bytes;
    *tile = spot.tile;
    return true;
}

void hazard_check_k(const struct hazard_view *view, const struct hazard_cta *cta, const struct smem_operand *a,
                    const struct smem_operand *b)
{
    const struct hazard_tile *a_tile, *b_tile;
    char a_place[256], b_place[256];
    int64_t a_k, b_k;
    uint32_t limit = view->warp->cta->shared_bytes;

    if (smem_operand_chunk(a, 0, 0) >= limit || smem_operand_chunk(b, 0, 0) >= limit ||
        !find_k(cta, a, &a_k, &a_tile) || !find_k(cta, b, &b_k, &b_tile) || a_k == b_k)
        return;
    (void)emu_report(view->warp, view->op, -1, EMU_OPERAND_K,
                     "k 0 of matrix A is tensor coordinate %" PRId64 " (copy at %s), of matrix B %" PRId64
                     " (copy at %s)",
                     a_k, place_of(view, a_tile, a_place), b_k, place_of(view, b_tile, b_place));
}

/* Who wrote 16 bytes of the source of a store: one store instruction of a warp writes one column of 8x8 blocks. */
static bool same_writer(const struct hazard_cta *cta, uint32_t a, uint32_t b)
{
    struct hazard_event x, y;
    const struct hazard_tile *tile;

    return hazard_writer_at(cta, a, &x, &tile) && !tile && hazard_writer_at(cta, b, &y, &tile) && !tile &&
           x.column == y.column && x.op == y.op;
}

/* How the 16-byte columns of the first rows of a tile were laid out by those who wrote them. */
struct pattern {
    bool straight; /* one below the other */
    bool absolute; /* swizzled by address, as the copy reads them */
    bool relative; /* swizzled by the row of the tile */
};

static struct pattern find_pattern(const struct hazard_cta *cta, const struct tensor_tile *tile)
{
    enum smem_swizzle swizzle = tile->map.swizzle;
    uint32_t span = smem_swizzle_span(swizzle), base = tile->shared_address;
    struct pattern pattern = {true, true, true};

    for (uint32_t row = 1; row < 8; row++)
        for (uint32_t column = 0; column < span / HAZARD_GRANULE_BYTES; column++) {
            uint32_t first = column * HAZARD_GRANULE_BYTES, here = first + row * span;

            pattern.straight &= same_writer(cta, base + first, base + here);
            pattern.absolute &= same_writer(cta, smem_swizzle_address(swizzle, base + first),
                                            smem_swizzle_address(swizzle, base + here));
            pattern.relative &= same_writer(cta, base + smem_swizzle_address(swizzle, first),
                                            base + smem_swizzle_address(swizzle, here));
        }
    return pattern;
}

void hazard_check_store(const struct hazard_view *view, const struct hazard_cta *cta, const struct tensor_tile *tile)
{
    uint32_t base = tile->shared_address, period = smem_swizzle_period(tile->map.swizzle);
    const char *swizzle = smem_swizzle_text(tile->map.swizzle);
    const struct hazard_tile *none;
    struct hazard_event write;
    struct pattern pattern;
    char place[256];

    if (tile->map.swizzle == SMEM_SWIZZLE_NONE || tile->row_bytes != smem_swizzle_span(tile->map.swizzle) ||
        tile->rows < 8 || !hazard_writer_at(cta, base, &write, &none))
        return;
    pattern = find_pattern(cta, tile);
    if (pattern.absolute || (!pattern.straight && !pattern.relative))
        return;
    (void)emu_place(emu_grid_of(view->warp)->program, write.op, place, sizeof place);
    if (pattern.straight)
        (void)emu_report(
            view->warp, view->op, view->lane, EMU_STORE_LAYOUT,
            "the tile at shared+0x%x is stored with swizzle %s, but the writes at %s put each column of 16 "
            "bytes at the same place of every row, without swizzle",
            base, swizzle, place);
    else
        (void)emu_report(
            view->warp, view->op, view->lane, EMU_STORE_LAYOUT,
            "the tile at shared+0x%x is stored with swizzle %s, which goes by address, but the writes at %s "
            "swizzle by the row of the tile: that is the same only for tiles on a %u-byte boundary",
            base, swizzle, place, period);
}
