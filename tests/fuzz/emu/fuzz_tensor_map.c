/*
 * Tensor maps from any bytes: decoded as they are, replaced field by field, encoded from arbitrary arguments, and the
 * tile walked. Every valid byte of a tile must lie in the tensor, every shared address in the box.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/tensor_map.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input as a supply of bytes; zeros when it is used up. */
struct supply {
    const uint8_t *data;
    size_t size;
};

static uint64_t take(struct supply *supply, size_t bytes)
{
    uint64_t value = 0;
    size_t count = bytes < supply->size ? bytes : supply->size;

    memcpy(&value, supply->data, count);
    supply->data += count;
    supply->size -= count;
    return value;
}

static void walk(const struct tensor_map *map, struct supply *supply)
{
    int32_t coordinates[TENSOR_MAP_MAX_RANK];
    struct tensor_tile tile;
    struct error error;

    for (int i = 0; i < TENSOR_MAP_MAX_RANK; i++)
        coordinates[i] = (int32_t)take(supply, 4);
    if (!tensor_tile_init(&tile, map, coordinates, (uint32_t)take(supply, 2) * 128, &error))
        return;
    uint32_t step = tile.chunks > 256 ? tile.chunks / 256 : 1;
    for (uint32_t i = 0; i < tile.chunks; i += step) {
        struct tensor_tile_chunk chunk;
        int64_t coordinate[TENSOR_MAP_MAX_RANK];
        tensor_tile_chunk_at(&tile, i, &chunk);
        if (chunk.valid_begin > chunk.valid_end || chunk.valid_end > TENSOR_MAP_CHUNK_BYTES)
            abort();
        if (!tensor_tile_locate(&tile, chunk.shared_address + (chunk.halves_swapped ? 8 : 0), coordinate) ||
            memcmp(coordinate, chunk.coordinate, sizeof coordinate) != 0)
            abort();
        for (int byte = 0; byte < TENSOR_MAP_CHUNK_BYTES; byte++) {
            int64_t at[TENSOR_MAP_MAX_RANK];
            memcpy(at, chunk.coordinate, sizeof at);
            at[0] += byte / (int)tile.element_bytes;
            if (tensor_map_contains(map, at) != (byte >= chunk.valid_begin && byte < chunk.valid_end))
                abort();
        }
    }
}

static void use(const uint8_t block[TENSOR_MAP_BYTES], struct supply *supply)
{
    struct tensor_map map;
    struct error error;

    if (tensor_map_decode(block, &map, &error))
        walk(&map, supply);
    else if (error.code == ERROR_NONE || !error.message[0])
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct supply supply = {data, size};
    uint8_t block[TENSOR_MAP_BYTES] = {0};
    uint64_t dim[TENSOR_MAP_MAX_RANK], stride[TENSOR_MAP_MAX_RANK];
    uint32_t box[TENSOR_MAP_MAX_RANK], step[TENSOR_MAP_MAX_RANK];
    struct error error = {0};

    memcpy(block, data, size < sizeof block ? size : sizeof block);
    use(block, &supply);

    /* a byte or three of each argument, shifted so that many inputs are valid */
    struct tensor_map_arguments arguments = {
        .type = (uint32_t)take(&supply, 1) % 17,
        .rank = (uint32_t)take(&supply, 1) % 7,
        .address = take(&supply, 3) << 4,
        .global_dim = dim,
        .global_strides = stride,
        .box_dim = box,
        .element_strides = step,
        .interleave = (uint32_t)take(&supply, 1) % 4 / 2,
        .swizzle = (uint32_t)take(&supply, 1) % 8,
        .promotion = (uint32_t)take(&supply, 1) % 5,
        .fill = (uint32_t)take(&supply, 1) % 3,
    };
    for (int i = 0; i < TENSOR_MAP_MAX_RANK; i++) {
        dim[i] = take(&supply, 1 + (size_t)i % 4);
        stride[i] = take(&supply, 3) << 4;
        box[i] = (uint32_t)take(&supply, 1) + 1;
        step[i] = (uint32_t)take(&supply, 1) % 9;
    }
    if (tensor_map_encode_tiled(block, &arguments, &error)) {
        if (!tensor_map_is_encoded(block))
            abort();
        use(block, &supply);
    } else {
        memset(block, 0, sizeof block); /* a map built on the device */
    }
    while (supply.size) {
        enum tensor_map_field field = (enum tensor_map_field)(take(&supply, 1) % TENSOR_MAP_FIELD_COUNT);
        int ordinal = (int)take(&supply, 1) % 6;
        uint64_t value = field == TENSOR_MAP_FIELD_GLOBAL_STRIDE ? take(&supply, 2) << 4 : take(&supply, 2);
        if (tensor_map_replace(block, field, ordinal, value, &error))
            use(block, &supply);
    }
    return 0;
}
