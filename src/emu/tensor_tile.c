#include "emu/tensor_map_internal.h"

#include <inttypes.h>
#include <string.h>

enum {
    SHARED_ALIGNMENT = 128,
    SHARED_MAX_BYTES = 232448 /* what one CTA can have on sm_90 and sm_100 */
};

static bool check_tile(const struct tensor_map *map, uint32_t shared_address, struct error *error)
{
    if (map->interleave != TENSOR_MAP_INTERLEAVE_NONE)
        return error_set(error, ERROR_UNSUPPORTED, "tensor copy: interleaved tensor maps are not emulated");
    if (tensor_map_type_bits(map->type) < 8)
        return error_set(error, ERROR_UNSUPPORTED, "tensor copy: tensor maps of type %s are not emulated",
                         tensor_map_type_text(map->type));
    if (!map->address)
        return error_set(error, ERROR_INPUT, "tensor copy: the global address of the tensor map is NULL");
    if (shared_address % SHARED_ALIGNMENT) {
        (void)error_set(error, ERROR_INPUT, "tensor copy: shared address 0x%x is not aligned to 128 bytes",
                        shared_address);
        return error_hint(error, "align the tile to the period of its swizzle: %u bytes",
                          map->swizzle == SMEM_SWIZZLE_NONE ? 128 : smem_swizzle_period(map->swizzle));
    }
    return true;
}

static bool check_first_coordinate(const struct tensor_map *map, int32_t coordinate, struct error *error)
{
    int size = tensor_map_type_bits(map->type) / 8;

    if ((int64_t)coordinate * size % TENSOR_MAP_CHUNK_BYTES == 0)
        return true;
    (void)error_set(error, ERROR_INPUT,
                    "tensor copy: the first coordinate %d is byte %" PRId64 " of a row, not a multiple of 16: the box "
                    "would begin between two 16-byte units, which a GPU answers with an illegal instruction",
                    coordinate, (int64_t)coordinate * size);
    return error_hint(error, "make it a multiple of %d elements", TENSOR_MAP_CHUNK_BYTES / size);
}

bool tensor_tile_init(struct tensor_tile *tile, const struct tensor_map *map, const int32_t *coordinates,
                      uint32_t shared_address, struct error *error)
{
    uint64_t rows = 1;

    if (!check_tile(map, shared_address, error) || !check_first_coordinate(map, coordinates[0], error))
        return false;
    *tile = (struct tensor_tile){
        .map = *map,
        .shared_address = shared_address,
        .element_bytes = (uint32_t)tensor_map_type_bits(map->type) / 8,
    };
    for (int i = 0; i < TENSOR_MAP_MAX_RANK; i++) {
        uint32_t step = i == 0 ? 1 : map->element_stride[i]; /* dimension 0 has no step unless interleaved */
        tile->coordinate[i] = i < map->rank ? coordinates[i] : 0;
        tile->extent[i] = (map->box[i] + step - 1) / step;
        if (i > 0)
            rows *= tile->extent[i];
    }
    tile->row_bytes = tile->extent[0] * tile->element_bytes;
    tile->row_pitch = tile->row_bytes;
    if (map->swizzle != SMEM_SWIZZLE_NONE && tile->row_bytes < smem_swizzle_span(map->swizzle))
        tile->row_pitch = smem_swizzle_span(map->swizzle);
    uint64_t bytes = (rows - 1) * tile->row_pitch + tile->row_bytes;
    if (bytes > SHARED_MAX_BYTES)
        return error_set(error, ERROR_INPUT,
                         "tensor copy: the box has %" PRIu64 " bytes, shared memory of a CTA at most %d", bytes,
                         SHARED_MAX_BYTES);
    tile->rows = (uint32_t)rows;
    tile->shared_bytes = (uint32_t)bytes;
    tile->bytes = tile->rows * tile->row_bytes;
    tile->chunks = tile->bytes / TENSOR_MAP_CHUNK_BYTES;
    return true;
}

bool tensor_tile_check_store(const struct tensor_tile *tile, struct error *error)
{
    for (int i = 0; i < tile->map.rank; i++)
        if (tile->coordinate[i] < 0) {
            (void)error_set(
                error, ERROR_INPUT,
                "tensor store: coordinate %d of dimension %d is negative, which a GPU answers with an illegal "
                "instruction",
                tile->coordinate[i], i);
            return error_hint(error, "only loads may begin before the tensor");
        }
    return true;
}

bool tensor_map_contains(const struct tensor_map *map, const int64_t coordinate[TENSOR_MAP_MAX_RANK])
{
    for (int i = 0; i < map->rank; i++)
        if (coordinate[i] < 0 || (uint64_t)coordinate[i] >= map->dim[i])
            return false;
    return true;
}

/* Bytes of a row inside of the tensor along dimension 0. */
static void clip_row(const struct tensor_tile *tile, struct tensor_tile_row *row)
{
    int64_t first = row->coordinate[0], count = tile->extent[0], size = tile->element_bytes;
    int64_t begin = first < 0 ? -first : 0;
    int64_t end = (int64_t)tile->map.dim[0] - first;

    end = end > count ? count : end;
    if (begin >= end)
        return;
    row->valid_begin = (uint32_t)(begin * size);
    row->valid_end = (uint32_t)(end * size);
}

void tensor_tile_row_at(const struct tensor_tile *tile, uint32_t index, struct tensor_tile_row *out)
{
    const struct tensor_map *map = &tile->map;
    uint64_t offset = (uint64_t)(int64_t)tile->coordinate[0] * tile->element_bytes;
    uint32_t rest = index;
    bool inside = true;

    *out = (struct tensor_tile_row){.linear_address = tile->shared_address + index * tile->row_pitch};
    out->coordinate[0] = tile->coordinate[0];
    for (int i = 1; i < map->rank; i++) {
        int64_t coordinate = (int64_t)tile->coordinate[i] + (int64_t)(rest % tile->extent[i]) * map->element_stride[i];
        rest /= tile->extent[i];
        out->coordinate[i] = coordinate;
        inside = inside && coordinate >= 0 && (uint64_t)coordinate < map->dim[i];
        offset += (uint64_t)coordinate * map->stride[i]; /* modulo 2^64: only offsets of valid bytes matter */
    }
    out->global_offset = (int64_t)offset;
    if (inside)
        clip_row(tile, out);
}

static uint8_t clamp_to_chunk(uint32_t position, uint32_t chunk_begin)
{
    if (position <= chunk_begin)
        return 0;
    position -= chunk_begin;
    return (uint8_t)(position < TENSOR_MAP_CHUNK_BYTES ? position : TENSOR_MAP_CHUNK_BYTES);
}

void tensor_tile_chunk_at(const struct tensor_tile *tile, uint32_t index, struct tensor_tile_chunk *out)
{
    uint32_t chunks_of_row = tile->row_bytes / TENSOR_MAP_CHUNK_BYTES;
    uint32_t begin = index % chunks_of_row * TENSOR_MAP_CHUNK_BYTES;
    struct tensor_tile_row row;

    tensor_tile_row_at(tile, index / chunks_of_row, &row);
    *out = (struct tensor_tile_chunk){
        .global_offset = (int64_t)((uint64_t)row.global_offset + begin),
        .linear_address = row.linear_address + begin,
        .valid_begin = clamp_to_chunk(row.valid_begin, begin),
        .valid_end = clamp_to_chunk(row.valid_end, begin),
    };
    if (out->valid_begin == out->valid_end)
        out->valid_begin = out->valid_end = 0;
    uint32_t address = smem_swizzle_address(tile->map.swizzle, out->linear_address);
    out->shared_address = address & ~(uint32_t)(TENSOR_MAP_CHUNK_BYTES - 1);
    out->halves_swapped = address & 8;
    memcpy(out->coordinate, row.coordinate, sizeof out->coordinate);
    out->coordinate[0] += begin / tile->element_bytes;
}

bool tensor_tile_locate(const struct tensor_tile *tile, uint32_t address, int64_t coordinate[TENSOR_MAP_MAX_RANK])
{
    uint32_t offset = smem_swizzle_address(tile->map.swizzle, address) - tile->shared_address;
    struct tensor_tile_row row;

    if (offset >= tile->shared_bytes || offset % tile->row_pitch >= tile->row_bytes)
        return false;
    tensor_tile_row_at(tile, offset / tile->row_pitch, &row);
    memcpy(coordinate, row.coordinate, sizeof row.coordinate);
    coordinate[0] += offset % tile->row_pitch / tile->element_bytes;
    return true;
}

void tensor_map_fill_bytes(const struct tensor_map *map, uint8_t out[TENSOR_MAP_CHUNK_BYTES])
{
    bool nan = map->fill == TENSOR_MAP_FILL_NAN;

    for (int i = 0; i < TENSOR_MAP_CHUNK_BYTES; i += 2) {
        out[i] = nan ? 0xf7 : 0;
        out[i + 1] = nan ? 0x7f : 0;
    }
}
