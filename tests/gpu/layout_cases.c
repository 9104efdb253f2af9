#include "layout_cases.h"

#include <stdio.h>
#include <string.h>

/* Axes of the tables below. */
static const enum smem_swizzle SWIZZLES[] = {SMEM_SWIZZLE_NONE, SMEM_SWIZZLE_32B, SMEM_SWIZZLE_64B, SMEM_SWIZZLE_128B};
static const enum number_format FORMATS[] = {NUMBER_BF16, NUMBER_F16, NUMBER_TF32, NUMBER_E4M3,
                                             NUMBER_E5M2, NUMBER_S8,  NUMBER_U8};
enum { SWIZZLE_COUNT = 4, FORMAT_COUNT = 7 };

/* One TMA probe: a tensor of rows x columns and a box of it; fields of struct tensor_map. */
struct tma_probe {
    const char *text;
    enum tensor_map_type type;
    int rank;
    uint64_t dim[3], stride[3];
    uint32_t box[3], step[3];
    int32_t coordinate[3];
    enum tensor_map_fill fill;
};

static const struct tma_probe TMA_PROBES[] = {
    {"inside", TENSOR_MAP_BFLOAT16, 2, {64, 64, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {8, 5}, TENSOR_MAP_FILL_ZERO},
    {"edge", TENSOR_MAP_BFLOAT16, 2, {61, 61, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {50, 53}, TENSOR_MAP_FILL_ZERO},
    {"edge_nan", TENSOR_MAP_BFLOAT16, 2, {61, 61, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {50, 53}, TENSOR_MAP_FILL_NAN},
    {"negative", TENSOR_MAP_BFLOAT16, 2, {64, 64, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {-5, -3}, TENSOR_MAP_FILL_ZERO},
    {"float_nan", TENSOR_MAP_FLOAT32, 2, {29, 64, 1}, {0, 128}, {8, 16, 1}, {1, 1, 1}, {24, 60}, TENSOR_MAP_FILL_NAN},
    {"bytes", TENSOR_MAP_UINT8, 2, {100, 64, 1}, {0, 112}, {32, 24, 1}, {1, 1, 1}, {80, 50}, TENSOR_MAP_FILL_ZERO},
    {"step", TENSOR_MAP_BFLOAT16, 2, {64, 64, 1}, {0, 128}, {16, 17, 1}, {1, 3, 1}, {8, 5}, TENSOR_MAP_FILL_ZERO},
    {"cube",
     TENSOR_MAP_BFLOAT16,
     3,
     {32, 10, 12},
     {0, 64, 640},
     {16, 5, 4},
     {1, 1, 2},
     {8, 7, -1},
     TENSOR_MAP_FILL_ZERO},
    {"edge_aligned",
     TENSOR_MAP_BFLOAT16,
     2,
     {61, 61, 1},
     {0, 128},
     {16, 16, 1},
     {1, 1, 1},
     {48, 53},
     TENSOR_MAP_FILL_ZERO},
    {"unaligned", TENSOR_MAP_BFLOAT16, 2, {64, 64, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {9, 5}, TENSOR_MAP_FILL_ZERO},
    {"unaligned_4", TENSOR_MAP_FLOAT32, 2, {32, 64, 1}, {0, 128}, {8, 16, 1}, {1, 1, 1}, {5, 5}, TENSOR_MAP_FILL_ZERO},
    {"even_size",
     TENSOR_MAP_BFLOAT16,
     2,
     {56, 61, 1},
     {0, 128},
     {16, 16, 1},
     {1, 1, 1},
     {48, 53},
     TENSOR_MAP_FILL_ZERO},
    {"nan_aligned",
     TENSOR_MAP_BFLOAT16,
     2,
     {61, 61, 1},
     {0, 128},
     {16, 16, 1},
     {1, 1, 1},
     {48, 53},
     TENSOR_MAP_FILL_NAN},
    {"nan_f16", TENSOR_MAP_FLOAT16, 2, {61, 61, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {48, 53}, TENSOR_MAP_FILL_NAN},
    {"nan_f64", TENSOR_MAP_FLOAT64, 2, {15, 61, 1}, {0, 128}, {4, 16, 1}, {1, 1, 1}, {12, 53}, TENSOR_MAP_FILL_NAN},
    {"before", TENSOR_MAP_BFLOAT16, 2, {64, 64, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {-8, -3}, TENSOR_MAP_FILL_ZERO},
    {"above", TENSOR_MAP_BFLOAT16, 2, {64, 64, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {8, -3}, TENSOR_MAP_FILL_ZERO},
    {"left", TENSOR_MAP_BFLOAT16, 2, {64, 64, 1}, {0, 128}, {16, 16, 1}, {1, 1, 1}, {-8, 5}, TENSOR_MAP_FILL_ZERO},
    {"odd_bytes", TENSOR_MAP_UINT8, 2, {101, 64, 1}, {0, 128}, {32, 16, 1}, {1, 1, 1}, {80, 5}, TENSOR_MAP_FILL_ZERO},
    {"odd_words", TENSOR_MAP_FLOAT32, 2, {29, 64, 1}, {0, 128}, {8, 16, 1}, {1, 1, 1}, {24, 5}, TENSOR_MAP_FILL_ZERO},
    {"narrow_row", TENSOR_MAP_BFLOAT16, 2, {64, 64, 1}, {0, 128}, {8, 16, 1}, {1, 1, 1}, {0, 0}, TENSOR_MAP_FILL_ZERO},
};
/* Of them, those that are stored too: inside, edge, negative, step, cube, edge_aligned, even_size, before,
 * above, left, odd_bytes, odd_words. */
static const int TMA_STORE_PROBES[] = {0, 1, 3, 6, 7, 8, 11, 15, 16, 17, 18, 19};
enum {
    TMA_PROBE_COUNT = sizeof TMA_PROBES / sizeof TMA_PROBES[0],
    TMA_STORE_PROBE_COUNT = sizeof TMA_STORE_PROBES / sizeof TMA_STORE_PROBES[0]
};
static const uint32_t FULL_ROW = 0; /* the box gets as wide as the swizzle */

/* mma.sync: operand type and k. */
static const struct {
    enum number_format format;
    int k;
} MMAS[] = {{NUMBER_BF16, 8}, {NUMBER_BF16, 16}, {NUMBER_F16, 8}, {NUMBER_F16, 16},  {NUMBER_TF32, 4}, {NUMBER_TF32, 8},
            {NUMBER_S8, 16},  {NUMBER_S8, 32},   {NUMBER_U8, 32}, {NUMBER_E4M3, 32}, {NUMBER_E5M2, 32}};
enum { MMA_COUNT = sizeof MMAS / sizeof MMAS[0], N_COUNT = 32, MATRIX_COUNT = 12 };

/* Sections of the case list, in order. B: K-major for every type and N; MN-major for the 16-bit types. */
enum {
    TMA_LOADS = SWIZZLE_COUNT * TMA_PROBE_COUNT + SWIZZLE_COUNT, /* and one full row per swizzle */
    TMA_STORES = SWIZZLE_COUNT * TMA_STORE_PROBE_COUNT,
    B_K_MAJOR = FORMAT_COUNT * SWIZZLE_COUNT * N_COUNT,
    B_MN_MAJOR = 2 * SWIZZLE_COUNT * N_COUNT,
    B_HALF = N_COUNT,
    A_K_MAJOR = FORMAT_COUNT * SWIZZLE_COUNT,
    A_MN_MAJOR = 2 * SWIZZLE_COUNT,
};

static void set_words(struct layout_case *c, int count)
{
    c->words = (uint32_t)count;
}

static void tma_case(struct layout_case *c, const struct tma_probe *probe, enum smem_swizzle swizzle)
{
    struct tensor_map *map = &c->map;

    *map = (struct tensor_map){
        .type = probe->type, .rank = probe->rank, .address = 0x1000, .swizzle = swizzle, .fill = probe->fill};
    for (int i = 0; i < TENSOR_MAP_MAX_RANK; i++) {
        bool used = i < probe->rank;
        map->dim[i] = used ? probe->dim[i] : 1;
        map->stride[i] = used ? probe->stride[i] : 0;
        map->box[i] = used ? probe->box[i] : 1;
        map->element_stride[i] = used ? probe->step[i] : 1;
        c->coordinate[i] = used ? probe->coordinate[i] : 0;
    }
    if (map->box[0] == FULL_ROW)
        map->box[0] = swizzle == SMEM_SWIZZLE_NONE ? 64 : smem_swizzle_span(swizzle) / 2;
    set_words(c, (c->kind == LAYOUT_TMA_LOAD ? 8192 : LAYOUT_GLOBAL_BYTES) / 4);
    (void)snprintf(c->name, sizeof c->name, "tma_%s/%s/swizzle_%s", c->kind == LAYOUT_TMA_LOAD ? "load" : "store",
                   probe->text, smem_swizzle_text(swizzle));
}

static const struct tma_probe FULL_PROBE = {"full_row", TENSOR_MAP_BFLOAT16, 2,      {64, 64, 1},         {0, 128},
                                            {0, 24, 1}, {1, 1, 1},           {0, 3}, TENSOR_MAP_FILL_ZERO};

/* Offsets that keep the operand within the image and free of overlaps. */
static void wgmma_case(struct layout_case *c, enum number_format format, enum smem_swizzle swizzle, int rows,
                       bool mn_major)
{
    uint32_t span = smem_swizzle_span(swizzle);

    c->format = format;
    c->rows = rows;
    c->k = 32 / number_bytes(format);
    c->mn_major = mn_major;
    c->descriptor.swizzle = swizzle;
    c->descriptor.leading_offset = 16;
    c->descriptor.stride_offset = 8 * span;
    if (mn_major && swizzle == SMEM_SWIZZLE_NONE) {
        c->descriptor.leading_offset = 128;
        c->descriptor.stride_offset = 256;
    } else if (mn_major) {
        c->descriptor.leading_offset = 2 * 8 * span;
    } else if (swizzle == SMEM_SWIZZLE_NONE) {
        c->descriptor.leading_offset = 128;
        c->descriptor.stride_offset = 256;
    }
    /* the integer kinds have no odd multiples of 8 above 24 */
    set_words(c, number_is_integer(format) && rows > 24 && rows % 16 ? 0 : rows * c->k);
    (void)snprintf(c->name, sizeof c->name, "wgmma_%s/%s%s/swizzle_%s/%s_major/%d",
                   c->kind == LAYOUT_WGMMA_A ? "a" : "b", number_text(format), c->half_accumulator ? "_f16" : "",
                   smem_swizzle_text(swizzle), mn_major ? "mn" : "k", rows);
}

static void matrix_case(struct layout_case *c, int index)
{
    bool store = index >= MATRIX_COUNT / 2;

    c->kind = store ? LAYOUT_STMATRIX : LAYOUT_LDMATRIX;
    c->count = 1 << index % 6 / 2;
    c->transposed = index % 2;
    set_words(c, store ? 32 * 32 / 4 : 32 * c->count);
    (void)snprintf(c->name, sizeof c->name, "%s/x%d%s", store ? "stmatrix" : "ldmatrix", c->count,
                   c->transposed ? "/trans" : "");
}

static void mma_case(struct layout_case *c, int index)
{
    c->kind = LAYOUT_MMA;
    c->format = MMAS[index].format;
    c->k = MMAS[index].k;
    set_words(c, 32 * 4);
    (void)snprintf(c->name, sizeof c->name, "mma/m16n8k%d/%s", c->k, number_text(c->format));
}

int layout_case_count(void)
{
    return TMA_LOADS + TMA_STORES + B_K_MAJOR + B_MN_MAJOR + B_HALF + A_K_MAJOR + A_MN_MAJOR + MATRIX_COUNT + MMA_COUNT;
}

/* Whether `index` falls into a section of `count` cases; moves it past the section otherwise. */
static bool in_section(int *index, int count)
{
    if (*index < count)
        return true;
    *index -= count;
    return false;
}

struct layout_case layout_case_at(int index)
{
    struct layout_case c = {.kind = LAYOUT_TMA_LOAD};

    if (in_section(&index, TMA_LOADS)) {
        int probe = index / SWIZZLE_COUNT;
        tma_case(&c, probe < TMA_PROBE_COUNT ? &TMA_PROBES[probe] : &FULL_PROBE, SWIZZLES[index % SWIZZLE_COUNT]);
    } else if (in_section(&index, TMA_STORES)) {
        c.kind = LAYOUT_TMA_STORE;
        tma_case(&c, &TMA_PROBES[TMA_STORE_PROBES[index / SWIZZLE_COUNT]], SWIZZLES[index % SWIZZLE_COUNT]);
    } else if (in_section(&index, B_K_MAJOR)) {
        c.kind = LAYOUT_WGMMA_B;
        wgmma_case(&c, FORMATS[index / (SWIZZLE_COUNT * N_COUNT)], SWIZZLES[index / N_COUNT % SWIZZLE_COUNT],
                   8 * (index % N_COUNT + 1), false);
    } else if (in_section(&index, B_MN_MAJOR)) {
        c.kind = LAYOUT_WGMMA_B;
        wgmma_case(&c, FORMATS[index / (SWIZZLE_COUNT * N_COUNT)], SWIZZLES[index / N_COUNT % SWIZZLE_COUNT],
                   8 * (index % N_COUNT + 1), true);
    } else if (in_section(&index, B_HALF)) {
        c.kind = LAYOUT_WGMMA_B;
        c.half_accumulator = true;
        wgmma_case(&c, NUMBER_F16, SMEM_SWIZZLE_128B, 8 * (index + 1), false);
    } else if (in_section(&index, A_K_MAJOR)) {
        c.kind = LAYOUT_WGMMA_A;
        wgmma_case(&c, FORMATS[index / SWIZZLE_COUNT], SWIZZLES[index % SWIZZLE_COUNT], 64, false);
    } else if (in_section(&index, A_MN_MAJOR)) {
        c.kind = LAYOUT_WGMMA_A;
        wgmma_case(&c, FORMATS[index / SWIZZLE_COUNT], SWIZZLES[index % SWIZZLE_COUNT], 64, true);
    } else if (in_section(&index, MATRIX_COUNT)) {
        matrix_case(&c, index);
    } else {
        mma_case(&c, index);
    }
    return c;
}

uint8_t layout_global_byte(uint32_t index)
{
    return (uint8_t)(index * 31 + index / 251);
}

int layout_mma_value(int matrix, int row, int column)
{
    return (row * 13 + column * 7 + row * column * 3 + matrix * 5) % 8 - 4;
}

uint32_t layout_matrix_row(int row)
{
    return (uint32_t)(row * 5 % 32) * 32; /* scattered and not dense, so that a wrong lane or stride shows */
}

struct fragment layout_mma_a(const struct layout_case *c)
{
    return fragment_mma_a(16, c->k, 4 / number_bytes(c->format));
}

struct fragment layout_mma_b(const struct layout_case *c)
{
    return fragment_mma_b(c->k, 4 / number_bytes(c->format));
}

uint64_t layout_digest(const uint32_t *words, uint32_t count)
{
    uint64_t hash = 0xcbf29ce484222325;

    for (uint32_t i = 0; i < count; i++)
        for (int byte = 0; byte < 4; byte++)
            hash = (hash ^ (words[i] >> 8 * byte & 0xff)) * 0x100000001b3;
    return hash;
}

static void expect_tma(const struct layout_case *c, uint32_t *out)
{
    uint8_t *bytes = (uint8_t *)out, fill[TENSOR_MAP_CHUNK_BYTES];
    bool load = c->kind == LAYOUT_TMA_LOAD;
    struct tensor_tile tile;
    struct error error;

    memset(out, load ? 0xcc : 0, c->words * sizeof *out);
    if (load)
        out[c->words - 1] = 1; /* all bytes were counted */
    if (!tensor_tile_init(&tile, &c->map, c->coordinate, 0, &error) ||
        (!load && !tensor_tile_check_store(&tile, &error)))
        return;
    tensor_map_fill_bytes(&c->map, fill);
    for (uint32_t i = 0; i < tile.chunks; i++) {
        struct tensor_tile_chunk chunk;
        tensor_tile_chunk_at(&tile, i, &chunk);
        for (uint32_t b = 0; b < TENSOR_MAP_CHUNK_BYTES; b++) {
            uint32_t shared = chunk.shared_address + b, global = (uint32_t)chunk.global_offset + b;
            bool valid = b >= chunk.valid_begin && b < chunk.valid_end;
            if (load)
                bytes[shared] = valid ? layout_global_byte(global) : fill[b];
            else if (chunk.valid_end) /* stores clip by units of 16 bytes */
                bytes[global] = layout_global_byte(shared);
        }
    }
}

static void expect_wgmma(const struct layout_case *c, uint32_t *out)
{
    struct smem_operand operand;
    struct error error;
    uint32_t size = (uint32_t)number_bytes(c->format);

    memset(out, 0, c->words * sizeof *out);
    if (!smem_operand_init(&operand, wgmma_descriptor_encode(&c->descriptor), (int)size, c->rows, c->mn_major, &error))
        return;
    for (int row = 0; row < c->rows; row++)
        for (int k = 0; k < c->k; k++)
            out[row * c->k + k] = smem_operand_address(&operand, row, k) / size;
}

static void expect_matrix(const struct layout_case *c, uint32_t *out)
{
    struct fragment f = fragment_ldmatrix(c->count, c->transposed);
    uint16_t *image = (uint16_t *)out;

    if (c->kind == LAYOUT_STMATRIX)
        memset(out, 0xcc, c->words * sizeof *out);
    for (int lane = 0; lane < 32; lane++)
        for (int r = 0; r < c->count; r++) {
            uint32_t value = 0;
            for (int part = 0; part < 2; part++) {
                struct fragment_element e = fragment_at(&f, lane, r, part);
                uint32_t index = layout_matrix_row(e.row) / 2 + (uint32_t)e.column;
                value |= index << 16 * part;
                if (c->kind == LAYOUT_STMATRIX)
                    image[index] = (uint16_t)(lane << 8 | r << 1 | part);
            }
            if (c->kind == LAYOUT_LDMATRIX)
                out[lane * c->count + r] = value;
        }
}

static void expect_mma(const struct layout_case *c, uint32_t *out)
{
    struct fragment d = fragment_mma_d(16, 1);
    bool unsigned_type = c->format == NUMBER_U8;

    for (int lane = 0; lane < 32; lane++)
        for (int r = 0; r < 4; r++) {
            struct fragment_element e = fragment_at(&d, lane, r, 0);
            int sum = 0;
            for (int k = 0; k < c->k; k++)
                sum += (layout_mma_value(0, e.row, k) + (unsigned_type ? 4 : 0)) *
                       (layout_mma_value(1, k, e.column) + (unsigned_type ? 4 : 0));
            out[lane * 4 + r] = (uint32_t)sum;
        }
}

void layout_case_expect(const struct layout_case *c, uint32_t *out)
{
    switch (c->kind) {
    case LAYOUT_TMA_LOAD:
    case LAYOUT_TMA_STORE:
        expect_tma(c, out);
        break;
    case LAYOUT_WGMMA_B:
    case LAYOUT_WGMMA_A:
        expect_wgmma(c, out);
        break;
    case LAYOUT_LDMATRIX:
    case LAYOUT_STMATRIX:
        expect_matrix(c, out);
        break;
    case LAYOUT_MMA:
        expect_mma(c, out);
        break;
    }
}
