/* The tiles of emu/tensor_map.h against a naive loop over elements, with random maps, boxes and coordinates. */
#include "emu_test.h"

#include <stdlib.h>

#include "emu/tensor_map.h"

enum { GLOBAL_BYTES = 1 << 16, SHARED_BYTES = 1 << 16 };

/* The naive definition: where element `index` of the box goes, and whether it is inside. */
struct element {
    int64_t coordinate[5];
    bool inside;
    int64_t global;  /* byte offset */
    uint32_t shared; /* byte address before the swizzle */
};

static struct element naive_element(const struct tensor_map *map, const int32_t *coordinates, uint32_t shared,
                                    uint32_t size, const uint32_t *index)
{
    struct element e = {.inside = true};
    uint32_t linear = 0, pitch = map->box[0] * size;

    for (int i = 4; i >= 0; i--) {
        uint32_t step = i && i < map->rank ? map->element_stride[i] : 1;
        uint32_t extent = (map->box[i] + step - 1) / step;
        e.coordinate[i] = (i < map->rank ? coordinates[i] : 0) + (int64_t)index[i] * step;
        e.inside = e.inside && e.coordinate[i] >= 0 && (uint64_t)e.coordinate[i] < map->dim[i];
        e.global += e.coordinate[i] * (int64_t)(i == 0 ? size : map->stride[i]);
        linear = i ? linear * extent + index[i] : linear;
    }
    if (map->swizzle != SMEM_SWIZZLE_NONE) /* measured: rows lie as far apart as the pattern is wide */
        pitch = smem_swizzle_span(map->swizzle);
    e.shared = shared + linear * pitch + index[0] * size;
    return e;
}

/* As in the ISA's pictures: 16-byte chunk c of row r of the pattern lies at chunk c ^ (r % 8, / 2, / 4). */
static uint32_t naive_swizzle(enum smem_swizzle swizzle, uint32_t address)
{
    uint32_t line = address / 128 % 8, chunk = address / 16 % 8;

    switch (swizzle) {
    case SMEM_SWIZZLE_32B:
        chunk = (chunk & 6) | ((chunk & 1) ^ (line & 1));
        break;
    case SMEM_SWIZZLE_64B:
        chunk = (chunk & 4) | ((chunk & 3) ^ (line & 3));
        break;
    case SMEM_SWIZZLE_128B:
        chunk ^= line;
        break;
    case SMEM_SWIZZLE_128B_ATOM_32B: /* pairs of chunks among four */
        chunk = ((chunk / 2) ^ (line & 3)) * 2 + chunk % 2;
        break;
    case SMEM_SWIZZLE_128B_ATOM_64B:
        chunk = ((chunk / 4) ^ (line & 1)) * 4 + chunk % 4;
        break;
    default:
        break;
    }
    return address / 128 * 128 + chunk * 16 + address % 16;
}

static struct tensor_map random_map(uint64_t *random)
{
    static const enum tensor_map_type TYPES[] = {TENSOR_MAP_UINT8, TENSOR_MAP_BFLOAT16, TENSOR_MAP_FLOAT32,
                                                 TENSOR_MAP_INT64};
    static const enum smem_swizzle SWIZZLES[] = {SMEM_SWIZZLE_NONE,          SMEM_SWIZZLE_32B,
                                                 SMEM_SWIZZLE_64B,           SMEM_SWIZZLE_128B,
                                                 SMEM_SWIZZLE_128B_ATOM_32B, SMEM_SWIZZLE_128B_ATOM_64B};
    struct tensor_map map = {.type = TYPES[random_below(random, 4)],
                             .address = 0x10000,
                             .rank = 1 + (int)random_below(random, 5),
                             .swizzle = SWIZZLES[random_below(random, 6)]};
    uint32_t size = (uint32_t)tensor_map_type_bits(map.type) / 8;
    uint32_t span = map.swizzle == SMEM_SWIZZLE_NONE ? 128 : smem_swizzle_span(map.swizzle);
    uint64_t stride = 0;

    for (int i = 0; i < 5; i++) {
        bool used = i < map.rank;
        map.dim[i] = used ? 1 + random_below(random, i ? 5 : 40) : 1;
        map.box[i] = used ? 1 + random_below(random, 4) : 1;
        map.element_stride[i] = used ? 1 + random_below(random, 3) : 1;
        stride = i == 0   ? 0
                 : i == 1 ? (map.dim[0] * size + 15) / 16 * 16 + 16 * random_below(random, 2)
                          : stride * map.dim[i - 1];
        map.stride[i] = used ? stride : 0;
    }
    map.box[0] = (1 + random_below(random, span / 16)) * 16 / size;
    return map;
}

static uint8_t global[GLOBAL_BYTES], expected[SHARED_BYTES], actual[SHARED_BYTES], written[SHARED_BYTES];

static uint32_t extent_of(const struct tensor_map *map, int i)
{
    uint32_t step = i > 0 && i < map->rank ? map->element_stride[i] : 1;

    return (map->box[i] + step - 1) / step;
}

/* Fills `expected` element by element, and asks where each byte of it comes from. Returns the number of elements. */
static uint32_t load_naively(const struct tensor_map *map, const struct tensor_tile *tile, const int32_t *coordinates)
{
    uint32_t size = tile->element_bytes, count = 1;

    memset(expected, 0xcc, sizeof expected);
    for (int i = 0; i < 5; i++)
        count *= extent_of(map, i);
    for (uint32_t element = 0; element < count; element++) {
        uint32_t index[5], rest = element;
        for (int i = 0; i < 5; i++) {
            index[i] = rest % extent_of(map, i);
            rest /= extent_of(map, i);
        }
        struct element e = naive_element(map, coordinates, tile->shared_address, size, index);
        for (uint32_t byte = 0; byte < size; byte++) {
            uint32_t at = naive_swizzle(map->swizzle, e.shared + byte);
            int64_t found[5];
            expected[at] = e.inside ? global[e.global + byte] : 0;
            if (!tensor_tile_locate(tile, at, found) || memcmp(found, e.coordinate, sizeof found) != 0)
                fail_msg("byte 0x%x is not located", at);
        }
    }
    return count;
}

/* Fills `actual` chunk by chunk; no byte twice. */
static void load_by_chunks(const struct tensor_map *map, const struct tensor_tile *tile)
{
    uint8_t fill[16];

    memset(actual, 0xcc, sizeof actual);
    memset(written, 0, sizeof written);
    tensor_map_fill_bytes(map, fill);
    for (uint32_t i = 0; i < tile->chunks; i++) {
        struct tensor_tile_chunk chunk;
        tensor_tile_chunk_at(tile, i, &chunk);
        assert_int_equal(chunk.shared_address % 16, 0);
        assert_int_equal((chunk.linear_address - tile->shared_address) % tile->row_pitch,
                         i % (tile->row_bytes / 16) * 16);
        for (int b = 0; b < 16; b++) {
            uint32_t at = chunk.shared_address + (uint32_t)b;
            bool valid = b >= chunk.valid_begin && b < chunk.valid_end;
            int64_t coordinate[5];
            assert_int_equal(written[at]++, 0);
            actual[at] = valid ? global[chunk.global_offset + b] : fill[b];
            memcpy(coordinate, chunk.coordinate, sizeof coordinate);
            coordinate[0] += b / (int)tile->element_bytes;
            assert_int_equal(tensor_map_contains(map, coordinate), valid);
        }
    }
}

static void compare_tile(const struct tensor_map *map, const int32_t *coordinates, uint32_t shared)
{
    struct tensor_tile tile;
    struct error error;

    for (size_t i = 0; i < sizeof global; i++)
        global[i] = (uint8_t)(i * 31 + i / 251);
    if (!tensor_tile_init(&tile, map, coordinates, shared, &error))
        fail_msg("%s", error.message);
    uint32_t count = load_naively(map, &tile, coordinates);
    assert_int_equal(tile.bytes, count * tile.element_bytes);
    assert_int_equal(tile.chunks * 16, tile.bytes);
    assert_int_equal(tile.rows * tile.row_bytes, tile.bytes);
    load_by_chunks(map, &tile);
    assert_memory_equal(actual, expected, sizeof expected);
}

static void random_tiles(void **state)
{
    (void)state;
    uint64_t random = 20;
    for (int round = 0; round < 3000; round++) {
        struct tensor_map map = random_map(&random);
        int32_t coordinates[5];
        for (int i = 0; i < 5; i++)
            coordinates[i] = (int32_t)random_below(&random, (uint32_t)map.dim[i] + 8) - 6;
        coordinates[0] -= coordinates[0] % (128 / tensor_map_type_bits(map.type));
        compare_tile(&map, coordinates, 128 * random_below(&random, 20));
    }
}

static void flipped_halves(void **state)
{
    (void)state;
    struct tensor_map map = {.type = TENSOR_MAP_UINT8,
                             .rank = 2,
                             .address = 16,
                             .dim = {128, 8, 1, 1, 1},
                             .stride = {0, 128},
                             .box = {128, 8, 1, 1, 1},
                             .element_stride = {1, 1, 1, 1, 1},
                             .swizzle = SMEM_SWIZZLE_128B_ATOM_32B_FLIP_8B};
    int32_t coordinates[2] = {0, 0};
    struct tensor_tile tile;
    struct error error;
    assert_true(tensor_tile_init(&tile, &map, coordinates, 0, &error));
    for (uint32_t i = 0; i < tile.chunks; i++) {
        struct tensor_tile_chunk chunk;
        tensor_tile_chunk_at(&tile, i, &chunk);
        uint32_t row = i / 8, column = i % 8;
        assert_int_equal(chunk.halves_swapped, row % 2);
        assert_int_equal(chunk.shared_address, row * 128 + ((column / 2) ^ (row % 4)) * 32 + column % 2 * 16);
    }
}

static void fill_patterns(void **state)
{
    (void)state;
    struct tensor_map map = {.type = TENSOR_MAP_BFLOAT16, .fill = TENSOR_MAP_FILL_NAN};
    uint8_t bytes[16];
    uint16_t half;
    uint32_t word;
    tensor_map_fill_bytes(&map, bytes);
    memcpy(&half, bytes + 14, 2);
    assert_int_equal(half, 0x7ff7);
    map.type = TENSOR_MAP_FLOAT32;
    tensor_map_fill_bytes(&map, bytes);
    memcpy(&word, bytes + 4, 4);
    assert_int_equal(word, 0x7ff77ff7);
    map.fill = TENSOR_MAP_FILL_ZERO;
    tensor_map_fill_bytes(&map, bytes);
    memcpy(&word, bytes, 4);
    assert_int_equal(word, 0);
}

/* Far outside, at the limits of the types: nothing valid, nothing undefined. */
static void extreme_coordinates(void **state)
{
    (void)state;
    struct tensor_map map = {.type = TENSOR_MAP_UINT8,
                             .rank = 3,
                             .address = 16,
                             .dim = {1ull << 32, 1ull << 32, 4, 1, 1},
                             .stride = {0, (1ull << 40) - 16, (1ull << 40) - 16},
                             .box = {32, 2, 2, 1, 1},
                             .element_stride = {1, 8, 8, 1, 1}};
    int32_t extremes[] = {INT32_MIN, INT32_MAX - 15};
    struct error error;
    for (int e = 0; e < 2; e++) {
        int32_t coordinates[3] = {extremes[e], extremes[e], extremes[e]};
        struct tensor_tile tile;
        assert_true(tensor_tile_init(&tile, &map, coordinates, 1024, &error));
        for (uint32_t i = 0; i < tile.chunks; i++) {
            struct tensor_tile_chunk chunk;
            tensor_tile_chunk_at(&tile, i, &chunk);
            assert_int_equal(chunk.valid_end, 0);
        }
    }
}

static void refusals(void **state)
{
    (void)state;
    struct tensor_map map = {.type = TENSOR_MAP_UINT8,
                             .rank = 3,
                             .address = 16,
                             .dim = {256, 256, 256, 1, 1},
                             .stride = {0, 256, 65536},
                             .box = {256, 256, 4, 1, 1},
                             .element_stride = {1, 1, 1, 1, 1}};
    int32_t coordinates[3] = {0, 0, 0};
    struct tensor_tile tile;
    struct error error;
    assert_false(tensor_tile_init(&tile, &map, coordinates, 0, &error));
    assert_non_null(strstr(error.message, "262144 bytes"));
    map.box[2] = 1;
    assert_true(tensor_tile_init(&tile, &map, coordinates, 0, &error));
    assert_false(tensor_tile_init(&tile, &map, coordinates, 64, &error));
    assert_non_null(strstr(error.message, "0x40 is not aligned to 128 bytes"));
    coordinates[0] = 24;
    assert_false(tensor_tile_init(&tile, &map, coordinates, 0, &error));
    assert_non_null(strstr(error.message, "first coordinate 24 is byte 24"));
    coordinates[0] = -16;
    assert_true(tensor_tile_init(&tile, &map, coordinates, 0, &error));
    assert_false(tensor_tile_check_store(&tile, &error));
    assert_non_null(strstr(error.message, "coordinate -16 of dimension 0 is negative"));
    map.address = 0;
    assert_false(tensor_tile_init(&tile, &map, coordinates, 0, &error));
    assert_non_null(strstr(error.message, "NULL"));
    map.interleave = TENSOR_MAP_INTERLEAVE_16B;
    assert_false(tensor_tile_init(&tile, &map, coordinates, 0, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
    map.interleave = TENSOR_MAP_INTERLEAVE_NONE;
    map.type = TENSOR_MAP_16U4_ALIGN8B;
    assert_false(tensor_tile_init(&tile, &map, coordinates, 0, &error));
    assert_int_equal(error.code, ERROR_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_tiles),        cmocka_unit_test(flipped_halves), cmocka_unit_test(fill_patterns),
        cmocka_unit_test(extreme_coordinates), cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
